"""``verify``: padded graphs judged against native, from a file, a bundle, or a conversion that is under way."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import onnx

from paddable.api.exporting_streams import judge_streams
from paddable.api.judging_precision import judge_in_precision
from paddable.api.opened import Model, Opened, Progress, open_model
from paddable.bundle import Metadata, read_bundle, read_metadata
from paddable.errors import GateFailedError, MisuseError
from paddable.gates import Candidate, GateReport, judge
from paddable.gates.judge import ragged_lengths
from paddable.gates.lengths import LIMIT, default_container
from paddable.graph.io.read import read_model
from paddable.padding.analysis import Analysis

__all__ = ["demand", "largest", "verify"]


def verify(
    padded: str | os.PathLike[str],
    native: Model | None = None,
    *,
    lengths: Sequence[int] = (),
    exhaustive: bool = False,
    limit: int = LIMIT,
    seed: int = 0,
    progress: Progress | None = None,
) -> GateReport:
    """Judge a padded model or bundle: every operator alone, the whole against native, and junk in the padding.

    The step graphs of a bundle are judged too: a stream, cut in any way, against the whole.

    Args:
        padded: a converted file, or a bundle.
        native: the model it was made from; None takes the one in the bundle.
        lengths: lengths of the first symbol to try beside the edges of each ragged dimension.
        exhaustive: try every length.
        limit: otherwise, how many lengths to try in each container.
        seed: of the random inputs and lengths.
        progress: called with (stage, done, total).

    Raises:
        UnreadableError: one of the models cannot be read.
        MisuseError: the padded file was not made by Paddable, or there is no native model to compare with.
        RefusedError: native is not understood, so its operators cannot be judged alone.
    """
    place = Path(padded)
    metadata = read_metadata(place)
    if native is None:
        native = _native_of(place)
    opened = open_as_converted(native, metadata)
    analysis = opened.analyse()
    files = [graph.file for graph in read_bundle(place).graphs] if place.is_dir() else [place.name]
    folder = place if place.is_dir() else place.parent
    candidates = [_candidate(analysis, folder / file, file) for file in files]
    exact = [candidate for candidate in candidates if candidate.metadata.precision == "fp32"]
    source = Path(native) if not isinstance(native, onnx.ModelProto) else native.SerializeToString()
    report = judge(
        analysis, source, exact, lengths=lengths, exhaustive=exhaustive, limit=limit, seed=seed, progress=progress
    )
    for precision in sorted({candidate.metadata.precision for candidate in candidates} - {"fp32"}):
        same = [candidate for candidate in candidates if candidate.metadata.precision == precision]
        with tempfile.TemporaryDirectory(prefix="paddable.", ignore_cleanup_errors=True) as name:
            told = judge_in_precision(analysis, opened.model, source, same, precision, Path(name), seed=seed)
        report = told.added_to(report, precision)
    return replace(report, streams=_streams(place, opened)) if place.is_dir() else report


def _streams(place: Path, opened: Opened) -> Mapping[str, Any]:
    """What the step graphs of a bundle give, beside the whole; empty where there are none."""
    bundle = read_bundle(place)
    if not bundle.step_graphs:
        return {}
    graphs = {name: read_model(place / name) for name in bundle.step_graphs}
    return judge_streams(opened.model, graphs, bundle.metadata.precision)


def open_as_converted(native: Model, metadata: Metadata) -> Opened:
    """The native model with the declarations that a converted file records."""
    owners = [(symbol.input, symbol.axis, name) for name, symbol in metadata.symbols.items()]
    declared = [f"{owner}:{axis}={name}" for owner, axis, name in owners]
    for name, axes in metadata.inputs.items():
        declared += [f"{name}:{axis}={text}" for axis, text in axes.items() if (name, axis, text) not in owners]
    has = _inputs_of(native)
    batch = metadata.batch
    axes_of_rows = [f"{name}:{axis}" for name, axis in batch.inputs.items()] if batch else []
    rates = {name: symbol.rate for name, symbol in metadata.symbols.items()}
    asked = [f"{name}={symbol.shortest}" for name, symbol in metadata.symbols.items() if symbol.shortest is not None]
    return open_model(
        native,
        declared,
        shortest=asked,
        length_inputs=[f"{name}={text}" for name, text in metadata.length_inputs.items() if name in has],
        mask_inputs=[f"{name}:{a}={text}" for name, axes in metadata.mask_inputs.items() for a, text in axes.items()],
        batch=",".join(axes_of_rows) or None,
        batch_size=batch.size if batch else None,
        keep_dynamic=batch is not None and batch.size is None,
        rate=next(iter(rates.values()), None),
    )


def demand(report: GateReport, place: Path | None) -> None:
    """Let nothing through that fails a gate; the report stays beside the place where the model would have been.

    Raises:
        GateFailedError: with the first thing that failed.
    """
    if report.ok:
        return
    told = ""
    if place is not None:
        path = place.with_name(place.name + ".report.json")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(report.to_json(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        told = f"the report is {path}; "
    where, what = _first_failure(report)
    way_on = ""
    if replace(report, domain=()).ok:  # each output is right, and native accepts more lengths
        way_on = next(check.fix for check in report.domain if check.ok is False)
    fix = told + (way_on or "please report it, with the model if you can")
    raise GateFailedError(what, where=where, why="nothing was written", fix=fix)


def largest(analysis: Analysis, containers: Sequence[Mapping[str, int]]) -> dict[str, int]:
    """The greatest size of each symbol; one that every ragged dimension is worth looking at in, if none is given."""
    spans = {name: analysis.scope.spans[name] for name in analysis.declarations.symbols}
    if not containers:
        return default_container(spans, ragged_lengths(analysis))
    return {name: max(container[name] for container in containers) for name in spans}


def _first_failure(report: GateReport) -> tuple[str, str]:
    for site in report.sites:
        if site.ok is False:
            return f"node {site.node} ({site.op})", f"gate L: {site.detail}"
    for row in report.rows:
        if row.ok:
            continue
        where = f"output {row.output}, {row.length} steps in {row.container} ({row.model})"
        if row.note:
            return where, f"gate {'J' if row.junk is False and row.error <= row.tolerance else 'C'}: {row.note}"
        if row.junk is False:
            return where, "gate J: the output depends on what the padding holds"
        if not row.length_right:
            return where, "gate C: the length output is wrong"
        if not row.zero_behind:
            return where, "gate C: the output is not 0 past its length"
        return where, f"gate C: it is {row.error:.2g} of scale from native, {row.tolerance:.2g} is allowed"
    if not report.streams.get("ok", True):
        worst, allowed = max(report.streams["rows"], key=lambda row: row["error"]), report.streams["tolerance"]
        what = f"a stream is {worst['error']:.2g} of scale from the whole, {allowed:.2g} is allowed"
        return f"chunks {worst['chunks']}", what
    check = next(check for check in report.domain if check.ok is False)
    return f"{check.symbol}={check.at}", f"domain: {check.outcome} ({check.why})"


def _candidate(analysis: Analysis, path: Path, name: str) -> Candidate:
    metadata = read_metadata(path)
    return Candidate(name, path, metadata, metadata.container or largest(analysis, ()))


def _native_of(place: Path) -> Path:
    name = read_bundle(place).native if place.is_dir() else None
    if name is None:
        raise MisuseError(
            "there is no native model to compare with",
            where=str(place),
            why="native is the oracle of every gate",
            fix="name it with --against NATIVE.onnx",
        )
    return place / name


def _inputs_of(native: Model) -> set[str]:
    proto = native if isinstance(native, onnx.ModelProto) else onnx.load(os.fspath(native), load_external_data=False)
    return {value.name for value in proto.graph.input}
