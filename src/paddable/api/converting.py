"""``convert``: the padded model in its containers, judged against native before it is written, or a refusal."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import onnx
import onnx_ir as ir

from paddable.api.certificate import certificate
from paddable.api.judging_precision import judge_in_precision
from paddable.api.opened import Model, Opened, Progress, open_model
from paddable.api.room import demand_place, demand_room, scratch, writing_to
from paddable.api.running import run_model, sample_feeds
from paddable.api.verifying import demand, largest
from paddable.bundle import (
    KEY,
    Bundle,
    Graph,
    Metadata,
    new_directory,
    refuse_what_is_there,
    write_bundle,
)
from paddable.errors import MisuseError, RefusedError
from paddable.gates import Candidate, GateReport, judge
from paddable.gates.lengths import LIMIT
from paddable.graph.io.write import to_proto, write_model, write_shared
from paddable.lengths.declare import parse_container
from paddable.linter import lint_model
from paddable.linter.rules.non_finite_weight import NonFiniteWeight
from paddable.padding.rewrite.rewrite import rewrite
from paddable.precision import PRECISIONS, SESSION_CONFIGS, in_precision
from paddable.providers.registry import provider as provider_named
from paddable.providers.report import TargetReport, fix_for, lint_for

__all__ = [
    "Belongings",
    "chosen_precision",
    "containers_of",
    "convert",
    "demand_target",
    "judged",
    "padded",
    "refuse_damaged_weights",
    "write_directory",
]


@dataclass(frozen=True)
class Belongings:
    """What a bundle of a known family holds besides its containers.

    Attributes:
        graphs: further graphs by file name, written as they are; they share the weight file.
        assets: files to copy, by their name in the bundle.
        about: fields of ``Bundle``.
    """

    graphs: Mapping[str, ir.Model] = field(default_factory=dict)
    assets: Mapping[str, Path] = field(default_factory=dict)
    about: Mapping[str, Any] = field(default_factory=dict)


def convert(
    model: Model,
    lengths: Sequence[str],
    *,
    containers: Sequence[str | int] = (),
    out: str | Path | None = None,
    length_inputs: Sequence[str] = (),
    mask_inputs: Sequence[str] = (),
    shortest: Sequence[str] = (),
    batch: str | None = None,
    batch_size: int | None = None,
    keep_dynamic: bool = False,
    keep_traces: bool = False,
    rate: float | None = None,
    external_data: bool | None = None,
    force: bool = False,
    target: str | None = None,
    precision: str | None = None,
    verify: bool = True,
    gate_lengths: int = LIMIT,
    progress: Progress | None = None,
    on_message: Callable[[str], None] | None = None,
) -> onnx.ModelProto | Path:
    """Make a fixed-shape model that gives the native answer at every length.

    Args:
        model: a file, or a model in memory.
        lengths: the ragged axes, such as ``["x:1=T"]``.
        containers: sizes such as ``24000``, ``"30s"`` (with ``rate``) or ``"T=24000,U=512"``.
        out: ``FILE.onnx`` for one container, or a directory for a bundle; None returns the model.
        length_inputs: inputs that hold lengths, such as ``["ilens=T"]``.
        mask_inputs: inputs that hold padding masks, such as ``["mask:1=T"]``; they are dropped.
        shortest: of some symbols, the shortest length to accept, such as ``["T=8"]``; native's own by default.
        batch: the batch axis, such as ``"x:0"`` or ``"a:0,b:1"``; axis 0 of the first ragged input by default.
        batch_size: size of a symbolic batch axis; 1 by default.
        keep_dynamic: keep the container symbolic, and the batch unless ``batch_size`` is given.
        keep_traces: keep absolute source paths.
        rate: steps a second.
        external_data: weights beside the file; above 1.5 GB by default.
        force: replace what is at ``out``.
        target: the execution provider to convert for.
        precision: ``fp32`` (default), ``fp16`` or ``int8`` (weights); see ``paddable.precision``.
        verify: judge the result first; nothing is written if a gate fails but the report, at ``<out>.report.json``.
        gate_lengths: how many lengths to try in each container.
        progress: called with (stage, done, total).
        tell: called with a line for each length that only native answers, for each fix of the target that was left
            out, and for where the nodes run there.

    Returns:
        ``out``, or the model when ``out`` is None.

    Raises:
        UnreadableError: not a model.
        MisuseError: a declaration, container or place that does not fit.
        RefusedError: no proof was found; the findings name node, source line and reason.
        GateFailedError: the result differs from native.
    """
    target = provider_named(target).name if target is not None else "cpu"
    precision = chosen_precision(precision, keep_dynamic)
    opened = open_model(
        model,
        lengths,
        length_inputs=length_inputs,
        mask_inputs=mask_inputs,
        shortest=shortest,
        batch=batch,
        batch_size=batch_size,
        keep_dynamic=keep_dynamic,
        rate=rate,
    )
    wanted = containers_of(opened, containers, keep_dynamic)
    place = None if out is None else Path(out)
    if len(wanted) > 1 and (place is None or place.suffix == ".onnx"):
        raise MisuseError(f"{len(wanted)} containers do not fit one file", fix="give a directory, -o DIRECTORY/")
    if place is not None:
        demand_place(place, opened.source, force)
    if place is not None and place.suffix != ".onnx":
        refuse_what_is_there(place, force)
    refuse_damaged_weights(opened)
    report = judged(opened, wanted, target, place, progress, precision, gate_lengths) if verify else None
    if report is not None and on_message is not None:
        for check in report.domain:
            if check.note:
                on_message(check.note)
    verified = report.summary() if report is not None else {}
    graphs = []
    for count, container in enumerate(wanted):
        if progress is not None:
            progress("convert", count, len(wanted))
        graphs.append(padded(opened, container, target, verified, precision, on_message))
    if place is None:
        return to_proto(graphs[0][0], keep_traces=keep_traces)
    if place.suffix == ".onnx":
        with writing_to(place):
            place.parent.mkdir(parents=True, exist_ok=True)
            return write_model(graphs[0][0], place, external_data=external_data, force=force, keep_traces=keep_traces)
    write_directory(opened, graphs, place, target, report, precision=precision, force=force, keep_traces=keep_traces)
    return place


def refuse_damaged_weights(opened: Opened) -> None:
    """Raise ``RefusedError`` for NaN in a weight: native's own answer is then NaN, and there is nothing to compare."""
    found = lint_model(opened.model, weights=True, select=[NonFiniteWeight])
    if found:
        raise RefusedError(
            f"a weight is not finite: {found[0].leak}",
            where=found[0].node,
            why="native's answer is then NaN, and nothing can be compared; look for NaN in its weights",
            fix="export it from an undamaged checkpoint",
            findings=found,
        )


def judged(
    opened: Opened,
    wanted: Sequence[Mapping[str, int]],
    target: str,
    place: Path | None,
    progress: Progress | None,
    precision: str = "fp32",
    gate_lengths: int = LIMIT,
) -> GateReport:
    """Every graph that was asked for, and the symbolic form they share, judged before anything has its final name.

    Another precision than fp32 is judged after fp32, against native in that precision.

    Raises:
        MisuseError: a container is too large, or nothing can be written beside ``place``.
        GateFailedError: the result differs from native; the report stays at ``<place>.report.json``.
    """
    analysis = opened.analyse()
    demand_room(analysis, wanted, run=True)
    with scratch(place) as folder:
        made = [padded(opened, container, target) for container in ({}, *(size for size in wanted if size))]
        files = {f"{count}.onnx": model for count, (model, _) in enumerate(made)}
        if opened.source is None:
            files["native.onnx"] = opened.model
        write_shared(files, folder / "fp32.data")
        widest = largest(analysis, [size for size in wanted if size])
        candidates = []
        for file, (_, metadata) in zip(files, made, strict=False):
            title = ",".join(f"{symbol}={steps}" for symbol, steps in metadata.container.items()) or "symbolic"
            candidates.append(Candidate(title, folder / file, metadata, metadata.container or widest))
        native = opened.source or folder / "native.onnx"
        report = judge(analysis, native, candidates, limit=gate_lengths, folder=folder, progress=progress)
        if precision != "fp32" and report.ok:
            static = [(model, candidate) for (model, _), candidate in zip(made, candidates, strict=True)][1:]
            changed = {f"{precision}-{i}.onnx": in_precision(model, precision) for i, (model, _) in enumerate(static)}
            write_shared(changed, folder / f"{precision}.data")
            named = []
            for file, (_, candidate) in zip(changed, static, strict=True):
                metadata = replace(candidate.metadata, precision=precision)
                named.append(Candidate(f"{precision} {candidate.name}", folder / file, metadata, candidate.largest))
            told = judge_in_precision(analysis, opened.model, native, named, precision, folder)
            report = told.added_to(report, precision)
    demand(report, place)
    return report


def padded(
    opened: Opened,
    container: Mapping[str, int],
    target: str = "cpu",
    verified: Mapping[str, Any] | None = None,
    precision: str = "fp32",
    on_message: Callable[[str], None] | None = None,
) -> tuple[ir.Model, Metadata]:
    """One padded graph, its metadata inside it and beside it.

    Args:
        opened: the native model.
        container: steps of each symbol; empty keeps the container symbolic.
        target: the provider whose fixes a static graph gets.
        verified: what the gates measured.
        precision: of a static graph; a symbolic one stays in fp32.
        tell: called with a line for each fix that was left out, and for where the nodes run.

    Raises:
        MisuseError: the container is too large.
        RefusedError: the target cannot run the graph whatever is done to it; the findings say what stands in the way.
    """
    analysis = opened.analyse()
    demand_room(analysis, [container], run=False)
    precision = precision if container else "fp32"
    metadata = certificate(analysis, opened.rates, container, target, verified or {})
    metadata = replace(metadata, precision=precision)
    model = rewrite(analysis, container or None)
    if container:
        model, fixes = fix_for(model, target, run_model, sample_feeds(model, container))
        model = in_precision(model, precision)
        size = ",".join(f"{symbol}={steps}" for symbol, steps in container.items())
        if on_message is not None:
            for name, why in fixes.refused.items():
                on_message(f"{size}: fix not applied: {name}: {why}")
        report = demand_target(model, target, size, on_message)
        config = {**report.advice.config, **SESSION_CONFIGS.get(precision, {})}
        metadata = replace(metadata, advice={target: replace(report.advice, config=config).to_json()})
    model.metadata_props[KEY] = metadata.dumps()
    return model, metadata


def demand_target(
    model: ir.Model, target: str, name: str, on_message: Callable[[str], None] | None = None
) -> TargetReport:
    """What the target makes of a graph as it is to be written.

    Args:
        model: the graph, after the target's fixes.
        target: the provider.
        name: of the graph, in messages: its container or its file.
        tell: called with a line that says where the nodes run.

    Raises:
        RefusedError: the target cannot run it.
    """
    report = lint_for(model, target)
    if on_message is not None and report.placement is not None:
        on_message(f"{name}: on {target}: {report.placement}")
    stopped = [finding for finding in report.findings if finding.severity == "error"]
    if stopped:
        raise RefusedError(
            f"{target} cannot run it: {stopped[0]}",
            where=name,
            why=f"{len(stopped)} findings are left after the fixes",
            fix=f"see paddable lint --target {target}",
            findings=stopped,
        )
    return report


def containers_of(opened: Opened, texts: Sequence[str | int], keep_dynamic: bool = False) -> list[Mapping[str, int]]:
    """The containers that were asked for, each once, in the order of asking; ``[{}]`` keeps it symbolic.

    Raises:
        MisuseError: none, or one that does not fit the declarations.
    """
    if keep_dynamic and texts:
        raise MisuseError(
            "--keep-dynamic keeps the container symbolic, so it takes no --container", fix="drop one of them"
        )
    if keep_dynamic:
        return [{}]
    if not texts:
        raise MisuseError(
            "no container is given",
            why="a fixed shape needs a size",
            fix="add --container STEPS, or --keep-dynamic to keep the size symbolic",
        )
    symbols = list(opened.declarations.symbols)
    sizes = [parse_container(text, symbols, rates=opened.rates).steps for text in texts]
    return [size for i, size in enumerate(sizes) if size not in sizes[:i]]


def chosen_precision(precision: str | None, keep_dynamic: bool = False) -> str:
    """The precision that was asked for; fp32 by default.

    Raises:
        MisuseError: no such precision, or another than fp32 for a symbolic container.
    """
    if precision is not None and precision not in PRECISIONS:
        raise MisuseError(f"no precision is called {precision!r}", fix=f"choose {', '.join(PRECISIONS)}")
    if precision not in (None, "fp32") and keep_dynamic:
        raise MisuseError(
            f"--precision {precision} needs a fixed container", fix="give --container, or leave it in fp32"
        )
    return precision or "fp32"


def write_directory(
    opened: Opened,
    graphs: Sequence[tuple[ir.Model, Metadata]],
    place: Path,
    target: str,
    report: GateReport | None,
    belongings: Belongings | None = None,
    *,
    precision: str = "fp32",
    force: bool,
    keep_traces: bool = False,
) -> None:
    """Write a bundle, whole or not at all. Native stays in fp32: it is the oracle of ``verify``.

    Args:
        opened: the native model.
        graphs: of ``padded``, one a container.
        place: the directory.
        target: what the graphs were made for.
        report: what the gates said; None where they did not run.
        belongings: what else is in it.
        precision: of ``graphs`` and of the graphs of ``belongings``.
        force: replace what is at ``place``.
        keep_traces: keep absolute source paths.

    Raises:
        MisuseError: something is at ``place`` already, or it cannot be written.
    """
    belongings = belongings or Belongings()
    with writing_to(place), new_directory(place, force=force) as folder:
        weights: dict[str, dict[str, ir.Model]] = {"fp32": {"native.onnx": opened.model}}
        files = weights.setdefault(precision, {})
        files |= belongings.graphs
        listed = []
        for model, metadata in graphs:
            size = "x".join(str(steps) for steps in metadata.container.values()) or "dynamic"
            name = f"{target}-{precision}-{size}.onnx"
            files[name] = model
            listed.append(Graph(name, metadata.container, target, precision))
        for kind, models in weights.items():  # graphs of a precision share one weight file
            write_shared(models, folder / f"{kind}.data", keep_traces=keep_traces)
        for name, source in belongings.assets.items():
            shutil.copyfile(source, folder / name)
        if report is not None:
            text = json.dumps(report.to_json(), indent=1, ensure_ascii=False) + "\n"
            (folder / "report.json").write_text(text, encoding="utf-8")
        shared = replace(graphs[0][1], container={})
        write_bundle(Bundle(metadata=shared, graphs=tuple(listed), native="native.onnx", **belongings.about), folder)
