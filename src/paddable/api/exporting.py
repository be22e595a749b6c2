"""``export``: a checkpoint folder of a known family to a bundle.

Stages
1. load: weights and configuration, every key accounted for;
2. export: torch to the native graph, any length, and one row unless more are asked for;
3. convert: one static graph per container, fixed for the target, all around one weight file, beside ``out``;
4. judge: those files against native (and streams against the whole);
5. write: what the gates measured, labels and settings in bundle.json; then the folder takes its name.

A gate that fails leaves ``<out>.report.json`` and no bundle.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import onnx_ir as ir

from paddable.api.building import Padded, demand_target
from paddable.api.converting import (
    Belongings,
    containers_of,
    finish_bundle,
    keep_bundle,
    keep_native,
    refuse_damaged_weights,
)
from paddable.api.exporting_ends import told_ends
from paddable.api.exporting_families import family_of
from paddable.api.exporting_labels import labels_of, write_labels
from paddable.api.exporting_segments import with_segments
from paddable.api.exporting_streams import judge_streams
from paddable.api.fetching import checkpoint_at
from paddable.api.judging import demand, judged, tell_precisions
from paddable.api.measuring_steps import kept_in_steps
from paddable.api.opened import Opened, Progress, open_model
from paddable.api.place import scratch
from paddable.api.precisions import chosen_precisions, measure_native, padded_in_each
from paddable.api.room import demand_room
from paddable.api.sizes import told_sizes
from paddable.api.staging import staging
from paddable.audio.front_ends import Waveform
from paddable.bundle import refuse_what_is_there
from paddable.bundle.given import path_given
from paddable.errors import MisuseError, UnreadableError, arguments
from paddable.families.family import Loaded
from paddable.families.registry import spec_of
from paddable.forms.applying import chosen_forms
from paddable.gates import GateReport
from paddable.gates.lengths import LIMIT
from paddable.graph.io.scratch import free_graphs, letting_go
from paddable.graph.io.write import write_model
from paddable.lengths.declare import given_containers, parse_container
from paddable.precision import PRECISIONS, in_precision
from paddable.providers.registry import provider as provider_named
from paddable.runtime.families import sound_input
from paddable.runtime.speech.sound_input import SoundInput
from paddable.several import several

__all__ = ["export"]

STAGES = 5


@letting_go
def export(
    family: str,
    checkpoint: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    containers: str | int | Sequence[str | int] | None = None,
    target: str | None = None,
    precision: str | Sequence[str] | None = None,
    half: str | None = None,
    forms: str | Sequence[str] | None = None,
    examples: str | Path | None = None,
    accept: str | Sequence[str] = (),
    force: bool = False,
    verify: bool = True,
    gate_lengths: int = LIMIT,
    progress: Progress | None = None,
    on_message: Callable[[str], None] | None = None,
    on_report: Callable[[GateReport], None] | None = None,
    hub: str | None = None,
    revision: str | None = None,
    offline: bool = False,
    rows: int = 1,
    **options: Any,
) -> Path:
    """Make a bundle from a checkpoint.

    Args:
        family: a name of ``families.registry.FAMILIES``, such as ``sense-voice``.
        checkpoint: the folder as it was published; for ``ctc`` also the ``.onnx`` itself; or ``owner/name`` of a
            repository, of which the files that the family needs are fetched into the hub's own cache.
        out: the bundle's directory.
        containers: sizes in seconds (``"30s"``) or in steps of the input; by default those of the family, 5 and 30
            seconds of sound.
        target: the execution provider to convert for.
        precision: of the containers and step graphs: ``fp32`` (default), ``fp16`` or ``int8``; native stays in fp32.
        half: with ``fp16``: ``exact`` (default) keeps norms and the residual in fp32, ``fast`` does not.
        forms: the forms of ``paddable.forms`` that a container gets, names with commas or ``none``; by default those
            that the target's record names.
        examples: inputs that the model will meet; see ``convert``.
        accept: what the answers on them have to reach; see ``convert``.
        force: replace what is at ``out``.
        verify: judge before writing.
        gate_lengths: how many lengths to try in each container.
        progress: called with (stage, done, total).
        on_message: called with a line for what was found out of a stranger's model, for each fix of the target that was
            left out, for each form, for where the nodes run there, and for each precision.
        on_report: called with what the gates found, once they have passed.
        hub: where a repository is: ``huggingface`` (default) or ``modelscope``.
        revision: of the repository: a branch, a tag or a commit; bundle.json keeps the commit.
        offline: take what was fetched before, and ask nobody.
        rows: beside each container of one row, one of so many rows, which clips of unequal length share: it reads the
            weights once for all of them. A model takes it where it is faster (docs/runtime.md).
        options: what the family offers beside, by the names of ``FamilySpec.options``: ``front_end="numpy"``,
            ``chunks=(4, 12)``. ``paddable export --help`` lists them.

    Returns:
        ``out``.

    Raises:
        MisuseError: no such family, target or repository, a choice that the family does not have, or ``out`` exists.
        UnreadableError: the checkpoint is incomplete or of another model.
        RefusedError: no proof was found, or the target cannot run a graph.
        GateFailedError: a result differs from native; nothing was written but the report.
    """
    spec = spec_of(family)
    choices = spec.chosen(options)
    length = spec.length_of(choices)
    accept = several("accept", accept)
    precisions = chosen_precisions(precision, half=half, examples=examples, accept=accept, verify=verify)
    containers = spec.containers if containers is None else given_containers(containers)
    path_given(checkpoint, "checkpoint", wanted="a path, or the name of a repository")
    place = path_given(out, "out")
    target = provider_named(target).name if target is not None else "cpu"
    wanted_forms = chosen_forms(forms)
    if type(rows) is not int or rows < 1:
        raise MisuseError(f"{arguments(rows=rows)} is no number of rows", fix="give a whole number, 1 or more")
    if rows > 1 and spec.one_row:
        raise _takes_one_row(family, spec.one_row, rows)
    if rows > 1 and (mixing := [name for name in precisions if PRECISIONS[name].first]):
        raise MisuseError(
            f"{arguments(rows=rows)} in {mixing[0]}",
            why="one range is found for all rows of a run, and would mix them",
            fix=f"leave it out, or leave {mixing[0]} out",
        )
    refuse_what_is_there(place, force)

    for text in containers:
        if "=" not in str(text):  # a slip is told before minutes of loading; the rate comes with the family
            symbol = length.rpartition("=")[2] or "T"
            parse_container(text, [symbol], rates={symbol: 1})

    def done(stages: int) -> None:
        if progress is not None:
            progress("export", stages, STAGES)

    def tell(lines: Iterable[str]) -> None:
        if on_message is not None:
            for line in lines:
                on_message(line)

    with scratch(place) as folder, staging(place, force=force) as stage:
        # ── Stages 1 and 2: load, export
        found = checkpoint_at(checkpoint, spec, hub=hub, revision=revision, offline=offline, progress=progress)
        source = found.path
        done(0)
        loaded = family_of(family).load(source, choices)
        about, assets = {"family": family, "source": found.source, **loaded.about}, {}
        if loaded.classes is not None:
            labels = labels_of(source, spec.labels, loaded.classes)
            about["labels"], assets[labels.name] = labels.name, labels
        if loaded.writes is not None:
            assets["labels.json"] = write_labels(loaded.writes, folder)
            about["labels"] = "labels.json"
        if rows > 1 and loaded.export_rows is None:
            raise _takes_one_row(str(source), "its graph has no batch axis of open size", rows)
        opened = _opened(loaded, folder / "native.onnx", length or loaded.length, rows)
        tell([*loaded.found, *(opened.notes() if loaded.declared else ())])
        step_graphs = {name: trace() for name, trace in loaded.step_graphs.items()}
        if step_graphs and len(precisions) > 1:
            raise MisuseError(
                f"{family} streams, and its step graphs have one precision", fix=f"ask for {precisions[0]} alone"
            )
        if step_graphs and PRECISIONS[precisions[0]].fixed:
            raise MisuseError(
                f"{family} streams, and ranges of its step graphs are not fixed by examples", fix="ask for int8 or fp16"
            )
        del loaded
        free_graphs(folder)  # the exporter's graphs point at each other and at the weights of the torch module
        wanted = containers_of(opened, containers)
        refuse_damaged_weights(opened)
        keep_native(stage, opened)
        opened = opened if precisions == ["fp32"] else opened.in_one_form()
        each = [opened] if rows == 1 else [opened, opened.of_rows(rows)]
        for one in each:
            demand_room(one.analyse(), wanted, run=verify)

        # ── Stage 3: convert
        done(2)
        known = measure_native(
            opened,
            wanted,
            precisions,
            stage.lending,
            examples=examples,
            accept=accept,
            sound=_front_end(about),
            on_message=on_message,
        )
        graphs = [
            graph
            for one in each
            for container in wanted
            for graph in padded_in_each(
                one, container, target, known, forms=wanted_forms, on_message=on_message, lend=stage.lending
            )
        ]
        graphs = _with_axes_of_rows(graphs)
        tell(line for graph in graphs[: len(graphs) // len(each)] for line in told_ends(graph.metadata))
        steps = {}
        for name, graph in step_graphs.items():
            (precision,) = precisions
            stays = kept_in_steps(graph, opened.model, precision, known[precision], stage.lending)
            steps[name] = in_precision(graph, precision, stays)
        for name, graph in steps.items():
            demand_target(graph, target, name, on_message)
        belongings = Belongings(steps, assets, about)
        tell([*told_sizes(graphs, known)])
        files = keep_bundle(stage, graphs, belongings)

        # ── Stage 4: judge
        done(3)
        report = None
        for one in each if verify else ():
            its = {file: graph for file, graph in files.items() if rows == 1 or graph.rows == one.declarations.rows}
            found_out = judged(one, its, stage, known=known, limit=gate_lengths, progress=progress)
            report = found_out if report is None else report.beside(found_out)
        if report is not None and report.ok and steps:
            assert opened.source is not None
            (precision,) = precisions
            kept = known[precision].kept
            twin = opened.source if precision == "fp32" else stage.lend(in_precision(opened.model, precision, kept))
            places = {name: stage.folder / name for name in steps}
            report = replace(report, streams=judge_streams(opened.source, twin, places, precision))
        if report is not None and report.ok:
            report = with_segments(report, opened, known, about.get("settings", {}), stage, folder, on_message)
        if report is not None:
            demand(report, place, precisions)
            tell_precisions(report, on_message, given=examples is not None)
            if on_report is not None:
                on_report(report)

        # ── Stage 5: write
        done(4)
        finish_bundle(stage, files, report, belongings)
    done(5)
    return place


def _front_end(about: Mapping[str, Any]) -> SoundInput | None:
    """What makes an input of sound outside the graph; None where samples are the input, or nobody knows it."""
    with suppress(UnreadableError):
        taken = sound_input(about.get("front_end"), about.get("sample_rate"))
        return None if taken.features == Waveform() else taken
    return None


def _takes_one_row(what: str, why: str, rows: int) -> MisuseError:
    return MisuseError(f"{arguments(rows=rows)}, but {what} takes one row a call", why=why, fix="leave `rows` out")


def _with_axes_of_rows(graphs: Sequence[Padded]) -> list[Padded]:
    """Graphs of one row with the batch axes that those of several have: of one row alone they cannot be known."""
    most = max(graphs, key=lambda graph: graph.rows)
    return [
        replace(graph, metadata=replace(graph.metadata, batch=replace(most.metadata.batch, size=graph.rows)))
        if graph.rows < most.rows and most.metadata.batch is not None
        else graph
        for graph in graphs
    ]


def _opened(loaded: Loaded, file: Path, length: str, rows: int) -> Opened:
    """The native graph, its weights mapped from a file.

    The exporter leaves them in one message, and whoever reads a weight out of a message copies it: a model of 1 GB
    would lie in memory five times.
    """
    native = loaded.export_rows() if rows > 1 and loaded.export_rows is not None else loaded.export()
    if isinstance(native, Path):
        file = native
    else:
        write_model(ir.from_proto(native), file, external_data=True)
    return open_model(file, [length], rate=loaded.rate, **loaded.declared)
