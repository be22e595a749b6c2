"""What the HTML report shows, collected as plain data; `paddable.report` makes the page of it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import onnx
import onnx_ir as ir

from paddable.api.opened import Model, Opened, open_as_converted
from paddable.api.probe_given import signature
from paddable.api.probe_places import Place, found_place
from paddable.api.probing import probe, probe_zero_padding
from paddable.api.reporting_remedies import remedies
from paddable.api.versions import versions
from paddable.bundle import Metadata, read_bundle, read_metadata
from paddable.divergence import ProbeReport
from paddable.divergence.plain import Plain
from paddable.divergence.shown import about_probe, depth, heat, nearest_rows, ranges
from paddable.errors import MisuseError, PaddableError
from paddable.gates import GateReport
from paddable.gates.engine import Engine, asked_of
from paddable.gates.index_limits import index_limits
from paddable.gates.shown import about_gates, gate_rows, range_rows
from paddable.gates.signals import Signals
from paddable.gates.verdict import told_verdict
from paddable.graph.io.read import read_model
from paddable.providers.report import lint_for
from paddable.runtime.session.flavours import runtime_version

__all__ = ["about_probe", "about_result"]

_TIMED = 400_000_000
"""Bytes of a graph above which it is not timed: the report should not take longer than the conversion."""

_RUNS = 5


def about_result(
    command: str,
    place: str | os.PathLike[str],
    native: Model | None = None,
    gates: GateReport | None = None,
    *,
    inputs: Any = None,
    title: str | None = None,
) -> dict[str, Any]:
    """The data of a page about a padded file or bundle.

    Args:
        command: that made or judged it.
        place: the file or bundle.
        native: the model it was made from; None takes the one in the bundle.
        gates: what the gates found; None shows what they left in the metadata.
        inputs: what the two runs hear, as of ``probe``; random numbers by default.
        title: of the page; the name of the file by default.

    Raises:
        MisuseError: there is no native model to compare with.
    """
    where = Path(place)
    metadata = read_metadata(where)
    graph = found_place(where, None, None)
    source = native if native is not None else graph.native
    if source is None:
        raise MisuseError("there is no native model to report on", where=str(where), fix="name it with `native`")
    opened = open_as_converted(source, metadata)
    analysis = opened.analyse()
    probes = _probes(graph, source, opened, metadata, inputs)
    padded = ir_of(graph.file)
    plain = probes.get("plain zero padding")
    converted = probes.get("converted")
    ok = gates.ok if gates is not None else bool(converted is None or converted.ok)
    fork = converted.fork if converted is not None else None
    judged = _judged(gates, metadata)
    reach = _reach(metadata, list(_graphs(where, metadata)))
    return {
        "command": command,
        "title": title or where.name,
        "ok": ok,
        **({} if judged or not ok else {"outcome": "Not judged"}),
        "verdict": _verdict(ok, judged, reach, plain, converted, "random input" if inputs is None else "input"),
        "facts": {**_facts(where, source, metadata, graph, opened), **_stored(gates)},
        "fork": fork.to_json() if fork is not None else None,
        **(about_gates(gates) if gates is not None else {"gates": gate_rows(metadata.verified)}),
        "depth": depth(probes),
        "heat": heat(probes),
        "domain": _domain(where, metadata, opened),
        "remedies": remedies(analysis, padded, ok=ok),
        "islands": _islands(padded, metadata),
        "ranges": ranges(plain or converted),
        "range_rows": (range_rows(gates, _names(where)) if gates is not None else [])
        or nearest_rows(plain or converted),
        "times": _times(where, graph, source, opened),
        "versions": {**versions(), "onnxruntime": runtime_version()},
    }


def ir_of(file: Path) -> ir.Model:
    """The graph of a file, as it is written."""
    return read_model(file, any_opset=True)


def _probes(graph: Place, native: Model, opened: Opened, metadata: Metadata, inputs: Any) -> dict[str, ProbeReport]:
    """Plain zero padding and the converted model, both against native; none where it cannot be run."""
    found = {}
    if isinstance(native, onnx.ModelProto):
        return {}
    steps = None
    try:
        found["converted"] = probe(graph.file, native, inputs=inputs)
        first = next(iter(found["converted"].steps.values()), None)
        steps = first if inputs is None else None
    except PaddableError:
        pass
    if not metadata.mask_inputs:
        try:
            container = graph.metadata.container if graph.metadata is not None else {}
            size = dict(container) or (dict(found["converted"].containers[0]) if found else {})
            found["plain zero padding"] = probe_zero_padding(native, metadata, size, at=steps, inputs=inputs)
        except PaddableError:
            pass
    return {name: found[name] for name in ("plain zero padding", "converted") if name in found}


@dataclass(frozen=True)
class _Judged:
    """What gate C found: the largest error, of which runs of how many lengths; 0 where the metadata alone tells. And by
    precision, how far native in it is from native in fp32."""

    error: float | None
    tried: int
    moved: Mapping[str, float] = field(default_factory=dict)


def _judged(gates: GateReport | None, metadata: Metadata) -> _Judged | None:
    """None where no gate ran: what nobody tried is not promised."""
    summary = gates.summary() if gates is not None else dict(metadata.verified)
    if "C" not in summary:
        return None
    tried = len({row.length for row in gates.rows}) if gates is not None else 0
    moved = {
        precision: max(float(figures.get("error", 0)) for figures in outputs.values())
        for precision, outputs in (gates.precision if gates is not None else {}).items()
        if outputs
    }
    return _Judged(summary["C"].get("error"), tried, moved)


def _reach(metadata: Metadata, containers: Sequence[Mapping[str, int]]) -> str:
    """The lengths of each symbol that the model accepts and a container holds."""
    told = []
    for name, symbol in metadata.symbols.items():
        sizes = [size[name] for size in containers if name in size]
        ends = [end for end in (symbol.max, max(sizes, default=None)) if end is not None]
        last = symbol.min + (min(ends) - symbol.min) // symbol.step * symbol.step if ends else None
        told.append(f"{name} from {symbol.min:,}" + (f" to {last:,}" if last is not None else " on"))
    return "; ".join(told)


def _verdict(
    ok: bool, judged: _Judged | None, reach: str, plain: ProbeReport | None, converted: ProbeReport | None, heard: str
) -> str:
    if not ok:
        fork = converted.fork if converted is not None else None
        told = str(fork) if fork is not None else ""
        return "The converted model does not give the native model's answer." + (
            f" {told[0].upper()}{told[1:]}." if told else ""
        )
    probed = max(converted.outputs.values(), default=0.0) if converted is not None else None
    if judged is not None:
        error = max(float(judged.error or 0), probed or 0)
        told = f"The converted model gives the native model's answer at every length ({reach})"
        told += f": at most {error:.2g} of scale away" if error else ", bit for bit"
        moved = [f"{size:.2g} in {precision}" for precision, size in judged.moved.items() if size]
        told += f" at the {judged.tried} that were tried" if judged.tried else ""
        told += f" and with the {heard} shown below." if judged.tried and probed is not None else "."
        if moved:
            told += f" Each precision is judged by native in the same one, which is up to {', '.join(moved)} of scale"
            told += " from native in fp32."
    elif probed is None or converted is None:
        told = "The model was converted and not run: no gate judged it."
    else:
        at = ", ".join(f"{name} = {count:,}" for name, count in converted.steps.items())
        told = f"One run at {at} is {f'{probed:.2g} of scale from native' if probed else 'bit-equal to native'}"
        told += ", and no other length was tried: the gates were left out."
    if plain is not None:
        naive = max(plain.outputs.values(), default=0.0)
        if naive > 1e-4:
            told += f" Plain zero padding of the same {heard} is {naive:.2g} away."
    return told


def _facts(where: Path, native: Model, metadata: Metadata, graph: Place, opened: Opened) -> dict[str, str]:
    sizes = []
    for one in _graphs(where, metadata):
        sizes.append(", ".join(f"{name} = {count:,}" for name, count in one.items()) or "symbolic")
    target = ", ".join(metadata.advice)
    files = [file for file in (where.iterdir() if where.is_dir() else [where]) if file.is_file()]
    weights = sum(v.const_value.nbytes for v in opened.model.graph.initializers.values() if v.const_value is not None)
    return {
        "Native model": "in memory" if isinstance(native, onnx.ModelProto) else Path(native).name,
        "Containers": "; ".join(dict.fromkeys(sizes)),
        "Precision": _precision(where, graph, metadata, opened),
        "Target": target,
        "Remedies": f"{len(metadata.remedies):,}",
        "Nodes": f"{len(list(opened.model.graph)):,}",
        "Weights": _size(weights),
        "Size on disk": _size(sum(file.stat().st_size for file in files)),
    }


def _stored(gates: GateReport | None) -> dict[str, str]:
    """What the weights of a precision take, and how far its answers on examples are, where it was measured."""
    found = {}
    for precision, told in (gates.ranges if gates is not None else {}).items():
        if "weights" in told:
            before, after = told["weights"]["fp32"], told["weights"][precision]
            alike = ", as native has them" if told["weights"].get("in half already") else ": nothing is gained"
            note = "" if after < before else alike
            found[f"Weights in {precision}"] = f"{_size(after)}, in fp32 {_size(before)}{note}"
    for precision, rows in (gates.examples if gates is not None else {}).items():
        found[f"Answers in {precision}"] = told_verdict(precision, rows, given=True).removeprefix(f"{precision}: ")
    return found


def _size(count: int) -> str:
    """Bytes as people read them."""
    return f"{count / 1e6:,.1f} MB" if count >= 1e5 else f"{count / 1e3:,.1f} kB"


def _precision(where: Path, graph: Place, metadata: Metadata, opened: Opened) -> str:
    if where.is_dir():
        made_too = dict.fromkeys(one.precision for one in read_bundle(where, check_below=0).graphs)
        if len(made_too) > 1:
            return ", ".join(made_too)
    made = graph.metadata.precision if graph.metadata is not None else metadata.precision
    own = Place(graph.file, None).precision(Plain(opened.model))
    return made if made != "fp32" or own == "fp32" else f"as native, {own}"


def _graphs(where: Path, metadata: Metadata) -> Iterator[Mapping[str, int]]:
    if where.is_dir():
        yield from (graph.container for graph in read_bundle(where, check_below=0).graphs if graph.rows is None)
    else:
        yield metadata.container


def _domain(where: Path, metadata: Metadata, opened: Opened) -> list[dict[str, Any]]:
    limits = opened.analyse().scope.limits
    return [
        {
            "symbol": name,
            "input": f"{symbol.input}, axis {symbol.axis}",
            "min": symbol.min,
            "max": symbol.max,
            "step": symbol.step,
            "limits": dict(limits.get(name, {})),
            "containers": [size[name] for size in _graphs(where, metadata) if name in size],
        }
        for name, symbol in metadata.symbols.items()
    ]


def _islands(padded: ir.Model, metadata: Metadata) -> dict[str, Any] | None:
    """Stretches of nodes on and off the target, in the file's order; None where placement is not modelled."""
    target = next(iter(metadata.advice), "cpu")
    placement = lint_for(padded, target).placement if target != "cpu" else None
    if placement is None:
        return None
    parts: list[dict[str, Any]] = []
    for node in placement.view.nodes:
        home = placement.runs(node)
        if parts and parts[-1]["home"] == home:
            parts[-1]["nodes"] += 1
        else:
            parts.append({"provider": target if home else "the CPU", "home": home, "nodes": 1})
    return {"target": target, "text": str(placement), "parts": parts}


def _names(where: Path) -> set[str]:
    """Of nodes and values in any graph that was written."""
    files = [where / one.file for one in read_bundle(where, check_below=0).graphs] if where.is_dir() else [where]
    nodes = [node for file in files for node in ir_of(file).graph]
    return {str(name) for node in nodes for name in (node.name, *(value.name for value in node.outputs))}


def _times(where: Path, graph: Place, native: Model, opened: Opened) -> list[dict[str, Any]]:
    """One run of native at each container's size, and of each container, on the CPU."""
    if isinstance(native, onnx.ModelProto) or graph.file.stat().st_size > _TIMED or opened.bindings:
        return []
    held = read_bundle(where, check_below=0).graphs if where.is_dir() else ()
    files = [where / one.file for one in held if one.rows is None] or [where]
    rows: list[dict[str, Any]] = []
    inputs = signature(opened.model)
    own = Place(graph.file, None).precision(Plain(opened.model))
    try:
        for file in files:
            metadata = read_metadata(file)
            if not metadata.container or metadata.mask_inputs:
                continue
            size = metadata.container
            rows_in = metadata.rows or 1
            numbers = index_limits(opened.analyse())
            signals = Signals(metadata, inputs.dtypes, inputs.shapes, size, numbers, rows_in, 0)
            told = ",".join(f"{name}={count:,}" for name, count in size.items())
            engine = Engine(Path(native))
            rows.append({"name": f"native at {told}", "ms": _best(engine, signals.native(0, size)), "plain": True})
            engine = Engine(file, config=asked_of(metadata))
            feeds = signals.padded([size] * rows_in, size, 0, engine.shapes, engine.dtypes)
            made = metadata.precision if metadata.precision != "fp32" else own
            rows.append({"name": f"{made} container {told}", "ms": _best(engine, feeds)})
    except PaddableError:
        return []
    return rows


def _best(engine: Engine, feeds: Mapping[str, Any]) -> float:
    found = []
    for _ in range(_RUNS + 1):
        start = time.perf_counter()
        engine.run(feeds)
        found.append(time.perf_counter() - start)
    return float(f"{1000 * min(found[1:]):.3g}")
