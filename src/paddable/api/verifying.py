"""``verify``: a padded file or bundle judged against native."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from numbers import Integral
from pathlib import Path

import onnx

from paddable.api.exporting_streams import judge_streams
from paddable.api.judging import largest
from paddable.api.judging_precision import judge_in_precision
from paddable.api.opened import Model, Progress, open_as_converted
from paddable.api.seeds import refuse_negative
from paddable.bundle import Graph, Metadata, read_bundle, read_metadata
from paddable.errors import MisuseError, UnreadableError
from paddable.gates import Candidate, GateReport, judge
from paddable.gates.engine import Source
from paddable.gates.lengths import LIMIT
from paddable.graph.io.read import read_model
from paddable.graph.io.scratch import letting_go, on_disk, scratch_folder
from paddable.graph.io.write import to_proto, write_model
from paddable.lengths import Length
from paddable.lengths.accepted import told_domain
from paddable.padding.analysis import Analysis
from paddable.padding.facts.axes import axis_size
from paddable.precision import in_precision
from paddable.several import several

__all__ = ["verify"]


@on_disk("padded")
@letting_go
def verify(
    padded: Model,
    native: Model | None = None,
    *,
    lengths: int | Sequence[int] = (),
    exhaustive: bool = False,
    limit: int = LIMIT,
    seed: int = 0,
    progress: Progress | None = None,
    on_message: Callable[[str], None] | None = None,
) -> GateReport:
    """Judge a padded model or bundle: every operator alone, the whole against native, and junk in the padding.

    The step graphs of a bundle are judged too: a stream, cut in any way, against the whole.

    Args:
        padded: a converted file, or a bundle, or a converted model in memory.
        native: the model it was made from; None takes the one in the bundle.
        lengths: lengths of the first symbol to try beside the edges of each ragged dimension.
        exhaustive: try every length.
        limit: otherwise, how many lengths to try in each container.
        seed: of the random inputs and lengths.
        progress: called with (stage, done, total).
        on_message: called with a line for each limit of the accepted lengths, and for choices that are ties.

    Raises:
        UnreadableError: one of the models cannot be read, or a file of the bundle is not the one it was written with.
        MisuseError: the padded file was not made by Paddable, or from another model; there is no native model to
            compare with; or the seed is negative.
        RefusedError: native is not understood, so its operators cannot be judged alone.
    """
    refuse_negative(seed)
    lengths = [int(length) for length in several("lengths", lengths, Integral)]
    assert not isinstance(padded, onnx.ModelProto)  # it is on disk
    place = Path(padded)
    metadata = read_metadata(place)
    if on_message is not None:
        for line in told_domain({name: span.to_json() for name, span in metadata.symbols.items()}):
            on_message(line)
    if native is None:
        native = _native_of(place)
    try:
        opened = open_as_converted(native, metadata)
    except MisuseError as error:
        raise _another(place, error.what) from error
    graphs = read_bundle(place, check_below=math.inf).graphs if place.is_dir() else ()
    folder = place if place.is_dir() else place.parent
    by_rows: dict[int | None, dict[str, Metadata]] = {}
    for graph in graphs:
        _demand_as_listed(folder, graph)
    for file in [graph.file for graph in graphs] or [place.name]:
        said = read_metadata(folder / file)
        by_rows.setdefault(said.rows, {})[file] = said
    if any(said.precision != "fp32" for named in by_rows.values() for said in named.values()):
        opened = opened.in_one_form()
    source: Source = opened.oracle or to_proto(opened.native).SerializeToString()
    step_graphs = read_bundle(place).step_graphs if place.is_dir() else ()
    report: GateReport | None = None
    with scratch_folder() as scratch:
        twins: dict[str, Source] = {"fp32": source}
        for rows, named in by_rows.items():
            one = opened if rows == opened.declarations.rows or rows is None else opened.of_rows(rows)
            analysis = one.analyse()
            candidates = [
                Candidate(file, folder / file, said, said.container or largest(analysis, ()))
                for file, said in named.items()
            ]
            for candidate in candidates:
                _demand_same_shapes(analysis, folder / candidate.name, candidate.metadata)
            exact = [candidate for candidate in candidates if candidate.metadata.precision == "fp32"]
            found = judge(
                analysis,
                source,
                exact,
                lengths=lengths,
                exhaustive=exhaustive,
                limit=limit,
                seed=seed,
                progress=progress,
            )
            for precision in sorted({candidate.metadata.precision for candidate in candidates} - {"fp32"}):
                same = [candidate for candidate in candidates if candidate.metadata.precision == precision]
                own = scratch / f"{precision}-{rows}"
                own.mkdir()
                twin = write_model(
                    in_precision(opened.model, precision, same[0].metadata.kept, same[0].metadata.fixed),
                    own / f"native-{precision}.onnx",
                    external_data=True,
                )
                twins[precision] = twin
                told = judge_in_precision(analysis, source, twin, same, own, seed=seed)
                found = told.added_to(found, precision)
            report = found if report is None else report.beside(found)
        assert report is not None  # there is a file
        if step_graphs:
            precision = metadata.precision
            streams = {file: place / file for file in step_graphs}
            report = replace(report, streams=judge_streams(source, twins[precision], streams, precision))
        if on_message is not None:
            for line in report.ties():
                on_message(line)
    return report


def _demand_as_listed(folder: Path, graph: Graph) -> None:
    """What bundle.json says of a graph decides when it is run: it is what the graph was made for."""
    said = read_metadata(folder / graph.file)
    rows = said.rows if graph.rows else None
    for what, of_bundle, own in (
        ("its container", dict(graph.container), dict(said.container)),
        ("its precision", graph.precision, said.precision),
        ("the number of its rows", graph.rows, rows),
    ):
        if of_bundle != own:
            raise UnreadableError(
                f"{graph.file}: {what} is {of_bundle} in bundle.json and {own} in the file",
                where=str(folder),
                fix="export or convert it again",
            )


def _demand_same_shapes(analysis: Analysis, file: Path, metadata: Metadata) -> None:
    """A file made from another model is told once, not by each length at which it cannot run."""
    batch = metadata.batch
    rows = {**batch.inputs, **batch.outputs} if batch else {}
    graph = read_model(file).graph
    for value in (*graph.inputs, *graph.outputs):
        facts = analysis.values.get(value.name or "")
        if facts is None or value.shape is None:
            continue
        native, padded = [axis_size(axis) for axis in facts.axes], list(value.shape)
        if len(native) == len(padded) and all(
            size.constant == other or axis == rows.get(value.name or "")
            for axis, (size, other) in enumerate(zip(native, padded, strict=True))
            if isinstance(other, int) and isinstance(size, Length) and size.is_constant
        ):
            continue
        shapes = (f"[{', '.join(map(str, shape))}]" for shape in (padded, native))
        raise _another(file, f"{value.name!r} is {next(shapes)} in it and {next(shapes)} in native")


def _another(place: Path, why: str) -> MisuseError:
    return MisuseError(
        "it was made from another model than it is compared with",
        where=str(place),
        why=why,
        fix="compare it with the model that it was made from; a bundle holds that one",
    )


def _native_of(place: Path) -> Path:
    name = read_bundle(place).native if place.is_dir() else None
    if name is None:
        raise MisuseError(
            "there is no native model to compare with",
            where=str(place),
            why="native is the oracle of every gate",
            fix="name it with `native='NATIVE.onnx'`",
        )
    return place / name
