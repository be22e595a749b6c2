"""``convert``: the padded model in its containers, judged against native before it has its name, or a refusal."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Unpack

import onnx
import onnx_ir as ir

from paddable.api.building import Padded
from paddable.api.domain import domain
from paddable.api.freezing import compare_frozen, frozen, open_fixed
from paddable.api.judging import demand, judged, tell_precisions
from paddable.api.measuring import Measured, measured
from paddable.api.observing import observe
from paddable.api.opened import Declared, Model, Opened, Progress, open_model, texts_of
from paddable.api.place import demand_place
from paddable.api.precisions import chosen_precisions, measure_native, padded_in_each
from paddable.api.room import demand_room
from paddable.api.sizes import changes_nothing, told_sizes
from paddable.api.staging import Stage, staging
from paddable.bundle import KEY, Bundle, Graph, Metadata, refuse_what_is_there, write_bundle
from paddable.bundle.given import path_given
from paddable.errors import MisuseError, RefusedError, arguments
from paddable.forms.applying import chosen_forms
from paddable.gates import GateReport
from paddable.gates.lengths import LIMIT
from paddable.graph.io.scratch import letting_go
from paddable.graph.io.write import append_metadata, to_proto
from paddable.lengths.accepted import told_domain
from paddable.lengths.declare import given_containers, parse_container
from paddable.linter import lint_model
from paddable.linter.rules.non_finite_weight import NonFiniteWeight
from paddable.precision import PRECISIONS, before
from paddable.providers.registry import provider as provider_named
from paddable.several import several

__all__ = [
    "Belongings",
    "containers_of",
    "convert",
    "finish_bundle",
    "keep_bundle",
    "keep_native",
    "refuse_damaged_weights",
]


NATIVE = "native.onnx"
"""The file of a bundle that ``verify`` compares with."""


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


@letting_go
def convert(
    model: Model,
    lengths: str | Sequence[str],
    *,
    containers: str | int | Sequence[str | int] = (),
    out: str | Path | None = None,
    keep_traces: bool = False,
    external_data: bool | None = None,
    force: bool = False,
    target: str | None = None,
    precision: str | Sequence[str] | None = None,
    half: str | None = None,
    forms: str | Sequence[str] | None = None,
    examples: str | Path | None = None,
    accept: str | Sequence[str] = (),
    verify: bool = True,
    gate_lengths: int = LIMIT,
    progress: Progress | None = None,
    on_message: Callable[[str], None] | None = None,
    on_report: Callable[[GateReport], None] | None = None,
    **declared: Unpack[Declared],
) -> onnx.ModelProto | Path:
    """Make a fixed-shape model that gives the native answer at every length.

    The graphs are built once, written beside ``out``, judged there, and take their names when they have passed.

    Args:
        model: a file, or a model in memory.
        lengths: the ragged axes, such as ``["x:1=T"]``; none for a model without one, whose sizes are then fixed.
            Here and in all that takes several, one alone is one.
        containers: sizes such as ``24000``, ``"30s"`` (with ``rate``) or ``"T=24000,U=512"``.
        out: ``FILE.onnx`` for one container, or a directory for a bundle; None returns the model.
        keep_traces: keep absolute source paths.
        external_data: weights beside the file; above 1.5 GB by default.
        force: replace what is at ``out``.
        target: the execution provider to convert for.
        precision: ``fp32`` (default), ``fp16`` or ``int8`` (weights), or several with commas between, which a bundle
            holds beside each other; see ``paddable.precision``.
        half: with ``fp16``: ``exact`` (default) keeps norms and the residual in fp32, ``fast`` does not.
        forms: the forms of ``paddable.forms`` that a container gets, names with commas or ``none``; by default those
            that the target's record names.
        examples: inputs that the model will meet, by which a precision is chosen and judged: a ``.npz`` with arrays
            named after inputs, a ``.npy``, a recording for a model that takes a waveform, or a directory of those. By
            default random inputs at the levels that speech models meet.
        accept: what the answers on examples have to reach against fp32, such as ``["cosine=0.9999"]``; see
            ``paddable.gates.verdict``.
        verify: judge the result first; nothing is written if a gate fails but the report, at ``<out>.report.json``.
        gate_lengths: how many lengths to try in each container.
        progress: called with (stage, done, total).
        on_message: called with a line for each limit of the accepted lengths, for each length that only native
            answers, for each fix of the target that was left out, for each form, for where the nodes run there, and for
            each precision: what stays in fp32, and what it does to the answers.
        on_report: called with what the gates found, once they have passed.
        **declared: what else is known of the model, such as ``length_inputs=["ilens=T"]``; see ``Declared``.

    Returns:
        ``out``, or the model when ``out`` is None.

    Raises:
        UnreadableError: not a model.
        MisuseError: a declaration, container or place that does not fit.
        RefusedError: no proof was found; the findings name node, source line and reason.
        GateFailedError: the result differs from native.
    """
    lengths, containers, accept = several("lengths", lengths), given_containers(containers), several("accept", accept)
    target = provider_named(target).name if target is not None else "cpu"
    wanted_forms = chosen_forms(forms)
    keep_dynamic = declared.get("keep_dynamic", False)
    precisions = chosen_precisions(
        precision, half=half, keep_dynamic=keep_dynamic, examples=examples, accept=accept, verify=verify
    )
    place = None if out is None else path_given(out, "out")
    one = _OneFile(place, external_data, keep_traces)
    if not lengths:
        _demand_nothing_of_lengths(declared)
        bindings = texts_of(declared, "bindings")
        opened = open_fixed(model, bindings, declared.get("batch_size"), declared.get("batch"))
        _demand_one_graph(containers, precisions, accept, place)
        if place is not None:
            demand_place(place, opened.source, force)
        with staging(place, force=force) as stage:
            opened = opened if precisions == ["fp32"] else opened.in_one_form()
            return _convert_fixed(opened, target, precisions[0], wanted_forms, examples, verify, one, stage, on_message)
    opened = open_model(model, lengths, **declared)
    wanted = containers_of(opened, containers, keep_dynamic)
    for asked, what in ((wanted, "containers"), (precisions, "precisions")):
        if len(asked) > 1 and (place is None or place.suffix == ".onnx"):
            raise MisuseError(f"{len(asked)} {what} do not fit one file", fix="give a directory")
    if place is not None:
        demand_place(place, opened.source, force)
    if place is not None and place.suffix != ".onnx":
        refuse_what_is_there(place, force)
    refuse_damaged_weights(opened)
    demand_room(opened.analyse(), wanted, run=verify)
    if on_message is not None:
        for line in [*opened.notes(), *told_domain(domain(opened.analyse()))]:
            on_message(line)
    with staging(place, force=force) as stage:
        if place is not None and place.suffix != ".onnx":
            keep_native(stage, opened, keep_traces=keep_traces)
        opened = opened if precisions == ["fp32"] else opened.in_one_form()
        known = measure_native(
            opened, wanted, precisions, stage.lending, examples=examples, accept=accept, on_message=on_message
        )
        graphs: list[Padded] = []
        for count, container in enumerate(wanted):
            if progress is not None:
                progress("convert", count, len(wanted))
            graphs += padded_in_each(
                opened, container, target, known, forms=wanted_forms, on_message=on_message, lend=stage.lending
            )
        if on_message is not None:
            for line in told_sizes(graphs, known):
                on_message(line)
        if place is not None and place.suffix != ".onnx":
            files = keep_bundle(stage, graphs, keep_traces=keep_traces)
        else:
            files = {one.keep(graphs[0].model, stage): graphs[0]} if place is not None or verify else {}
        report = judged(opened, files, stage, known=known, limit=gate_lengths, progress=progress) if verify else None
        if report is not None:
            demand(report, place, precisions)
            _tell_domain(report, on_message)
            tell_precisions(report, on_message, given=examples is not None)
            if on_report is not None:
                on_report(report)
        if place is None or place.suffix == ".onnx":
            return one.finish(graphs[0].model, stage, verified(graphs[0].metadata, report))
        finish_bundle(stage, files, report)
    return place


@dataclass(frozen=True)
class _OneFile:
    """A result that is one graph: a file, or without a place a model in memory."""

    place: Path | None
    external_data: bool | None
    keep_traces: bool

    def keep(self, model: ir.Model, stage: Stage) -> Path:
        """The file to judge."""
        name = "model.onnx" if self.place is None else self.place.name
        return stage.keep_one(model, name, external_data=self.external_data, keep_traces=self.keep_traces)

    def finish(self, model: ir.Model, stage: Stage, metadata: Metadata) -> onnx.ModelProto | Path:
        """What ``convert`` returns, with what the gates measured."""
        if self.place is None:
            model.metadata_props[KEY] = metadata.dumps()
            return to_proto(model, keep_traces=self.keep_traces)
        append_metadata(stage.folder / self.place.name, KEY, metadata.dumps())
        return self.place


def _demand_nothing_of_lengths(declared: Declared) -> None:
    """Refuse declarations that speak of a length where none is declared; they would change nothing."""
    spoken = {
        name: value
        for name, value in declared.items()
        if value and name in ("length_inputs", "mask_inputs", "shortest", "rate")
    }
    if spoken:
        raise MisuseError(
            f"{arguments(**spoken)} speaks of a length, and `lengths` declares none",
            fix="declare the axis that varies with `lengths`, or leave it out",
        )


def _demand_one_graph(
    containers: Sequence[str | int], precisions: Sequence[str], accept: Sequence[str], place: Path | None
) -> None:
    if containers:
        raise MisuseError(
            "a container is given, and `lengths` does not say which axis it sizes",
            fix="declare the axis, or leave it out",
        )
    if len(precisions) > 1 or accept:
        raise MisuseError(
            "several precisions, or limits of what is accepted, for a model without `lengths`",
            why="it is written as one file, and compared by how far its precision may move it",
            fix="ask for one precision alone",
        )
    if place is not None and place.suffix != ".onnx":
        raise MisuseError("without `lengths` there is one graph", where=str(place), fix="give a FILE.onnx")


def _convert_fixed(
    opened: Opened,
    target: str,
    precision: str,
    forms: Sequence[str] | None,
    examples: str | Path | None,
    verify: bool,
    one: _OneFile,
    stage: Stage,
    on_message: Callable[[str], None] | None,
) -> onnx.ModelProto | Path:
    """``convert`` without a ragged axis: sizes are fixed and folded; see ``paddable.api.freezing``."""
    if on_message is not None:
        for line in opened.notes():
            on_message(line)
    known = Measured()
    if precision != "fp32":
        blank = Metadata(symbols={})
        seen = observe(
            before(opened.model, precision),
            blank,
            {},
            stage.lending,
            examples=examples,
            precisions=[precision],
            on_message=on_message,
        )
        known = measured(seen, precision, on_message=on_message)
    made = frozen(
        opened.model, target, precision=precision, forms=forms, known=known, on_message=on_message, lend=stage.lending
    )
    if on_message is not None:
        for line in told_sizes([made], {precision: known}):
            on_message(line)
    file = one.keep(made.model, stage)
    meant = known.examples if PRECISIONS[precision].fixed else None  # random inputs lie beyond its ranges
    told = compare_frozen(stage.lend(opened.native), file, made.metadata, meant) if verify else {}
    if told and precision != "fp32" and on_message is not None:
        on_message(f"{precision}: at most {told['worst']:.2g} of scale from fp32 on {told['inputs']} inputs")
        for line in told.get("ties", ()):
            on_message(f"{precision}: {line}")
    metadata = replace(made.metadata, verified=told, bindings=tuple(opened.bindings), native_opset=opened.native_opset)
    return one.finish(made.model, stage, metadata)


def _tell_domain(report: GateReport, on_message: Callable[[str], None] | None) -> None:
    for check in report.domain:
        if check.note and on_message is not None:
            on_message(check.note)


def verified(metadata: Metadata, report: GateReport | None) -> Metadata:
    """The metadata with what the gates measured; nothing where they did not run."""
    return replace(metadata, verified=report.summary() if report is not None else {})


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


def containers_of(opened: Opened, texts: Sequence[str | int], keep_dynamic: bool = False) -> list[Mapping[str, int]]:
    """The containers that were asked for, each once, in the order of asking; ``[{}]`` keeps it symbolic.

    Raises:
        MisuseError: none, or one that does not fit the declarations.
    """
    if keep_dynamic and texts:
        raise MisuseError(
            "`keep_dynamic=True` keeps the container symbolic, so it takes no `containers`", fix="drop one of them"
        )
    if keep_dynamic:
        return [{}]
    if not texts:
        raise MisuseError(
            "no container is given",
            why="a fixed shape needs a size",
            fix="add `containers=[STEPS]`, or `keep_dynamic=True` to keep the size symbolic",
        )
    symbols = list(opened.declarations.symbols)
    sizes = [parse_container(text, symbols, rates=opened.rates).steps for text in texts]
    return [size for i, size in enumerate(sizes) if size not in sizes[:i]]


def keep_native(stage: Stage, opened: Opened, *, keep_traces: bool = False) -> Path:
    """Write the native graph of a bundle, before anything that shares its weights. It stays in fp32."""
    stage.keep({NATIVE: opened.native}, "fp32.data", keep_traces=keep_traces)
    return stage.folder / NATIVE


def keep_bundle(
    stage: Stage, graphs: Sequence[Padded], belongings: Belongings | None = None, *, keep_traces: bool = False
) -> dict[Path, Padded]:
    """Write the graphs of a bundle. Those of a precision share one weight file; that of fp32 where it changes none.

    Args:
        stage: of the bundle's directory.
        graphs: for one target; one a container, precision and number of rows.
        belongings: what else is in it; further graphs are in the one precision that there then is.
        keep_traces: keep absolute source paths.

    Returns:
        The graphs by file.
    """
    files = {}
    for precision in dict.fromkeys(graph.metadata.precision for graph in graphs):
        models = dict(belongings.graphs) if belongings is not None else {}
        for graph in graphs:
            if graph.metadata.precision == precision:
                size = "x".join(str(steps) for steps in graph.metadata.container.values()) or "dynamic"
                several = f"-{graph.rows}rows" if graph.rows != graphs[0].rows else ""
                name = f"{_target_of(graph.metadata)}-{precision}-{size}{several}.onnx"
                models[name] = graph.model
                if graph.native is not None:
                    models[f"native-{precision}.onnx"] = graph.native
                files[stage.folder / name] = graph
        ours = [graph for graph in graphs if graph.metadata.precision == precision]
        same = not (belongings and belongings.graphs) and all(map(changes_nothing, ours))
        stage.keep(models, "fp32.data" if same else f"{precision}.data", keep_traces=keep_traces)
    return files


def finish_bundle(
    stage: Stage, files: Mapping[Path, Padded], report: GateReport | None, belongings: Belongings | None = None
) -> None:
    """Stamp the graphs with what the gates measured, and write what else a bundle holds.

    Args:
        stage: of the bundle's directory.
        files: of ``keep_bundle``.
        report: what the gates said; None where they did not run.
        belongings: what else is in it.
    """
    belongings = belongings or Belongings()
    stage.take_back()
    listed = []
    first = next(iter(files.values()))
    for file, graph in files.items():
        metadata = verified(graph.metadata, report)
        append_metadata(file, KEY, metadata.dumps())
        rows = graph.rows if graph.rows != first.rows else None
        listed.append(Graph(file.name, metadata.container, _target_of(metadata), metadata.precision, rows))
    for name, source in belongings.assets.items():
        shutil.copyfile(source, stage.folder / name)
    if report is not None:
        forms = {file.name: graph.metadata.forms for file, graph in files.items() if graph.metadata.forms}
        told = {**report.to_json(), **({"forms": forms} if forms else {})}
        text = json.dumps(told, indent=1, ensure_ascii=False) + "\n"
        (stage.folder / "report.json").write_text(text, encoding="utf-8")
    shared = replace(verified(first.metadata, report), container={}, kept={})
    write_bundle(Bundle(metadata=shared, graphs=tuple(listed), native=NATIVE, **belongings.about), stage.folder)


def _target_of(metadata: Metadata) -> str:
    return next(iter(metadata.advice))
