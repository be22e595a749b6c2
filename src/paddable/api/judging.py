"""The gates on the files of a stage, and what a failing one leaves."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from paddable.api.building import Padded, padded
from paddable.api.judging_precision import judge_in_precision
from paddable.api.measuring import Measured
from paddable.api.opened import Opened, Progress
from paddable.api.staging import Stage
from paddable.errors import GateFailedError, arguments
from paddable.gates import Candidate, GateReport, judge
from paddable.gates.judge import ragged_lengths
from paddable.gates.lengths import LIMIT, default_container
from paddable.gates.report import Row
from paddable.gates.shown import about_refusal
from paddable.gates.verdict import told_verdict
from paddable.padding.analysis import Analysis
from paddable.precision import in_precision

__all__ = ["demand", "judged", "largest", "tell_precisions"]


def judged(
    opened: Opened,
    graphs: Mapping[Path, Padded],
    stage: Stage,
    *,
    known: Mapping[str, Measured] | None = None,
    limit: int = LIMIT,
    progress: Progress | None = None,
) -> GateReport:
    """Judge the files of a stage, and the symbolic form that they share.

    Graphs in another precision than fp32 are judged in fp32 first, then as they are, against native in that precision.

    Args:
        opened: the native model.
        graphs: by file, as it lies there.
        stage: lends the files that are not part of the result.
        known: by precision, what was found of native before.
        limit: how many lengths to try in each container.
        progress: called with (stage, done, total).
    """
    analysis = opened.analyse()
    native = opened.oracle or stage.lend(opened.native)
    static = {file: graph for file, graph in graphs.items() if graph.metadata.container}
    widest = largest(analysis, [graph.metadata.container for graph in static.values()])
    candidates: list[Candidate] = []
    if static:
        symbolic = padded(opened, {})
        beside = any(graph.metadata.container == widest for graph in static.values())
        candidates = [Candidate(symbolic.name, stage.lend(symbolic.model), symbolic.metadata, widest, beside)]
    seen: list[Mapping[str, int]] = []
    for file, graph in graphs.items():
        container = graph.metadata.container
        if container not in seen:  # in another precision, the same graph is around it in fp32
            seen.append(container)
            place = file if graph.exact is graph.model else stage.lend(graph.exact)
            metadata = replace(graph.metadata, precision="fp32")
            candidates.append(Candidate(graph.name, place, metadata, container or widest))
    report = judge(analysis, native, candidates, limit=limit, folder=stage.folder, progress=progress)
    padded_right = report.ok
    for precision, named in _by_precision(graphs, widest).items():
        if padded_right:  # of several precisions, all that fail are told
            metadata = named[0].metadata
            twin = stage.lend(in_precision(opened.model, precision, metadata.kept, metadata.fixed))
            with TemporaryDirectory(prefix=".paddable.", dir=stage.folder, ignore_cleanup_errors=True) as folder:
                found = (known or {}).get(precision)
                told = judge_in_precision(analysis, native, twin, named, Path(folder), measured=found)
            report = told.added_to(report, precision)
    return report


def _by_precision(graphs: Mapping[Path, Padded], widest: Mapping[str, int]) -> dict[str, list[Candidate]]:
    """Those that are in another precision than fp32."""
    found: dict[str, list[Candidate]] = {}
    for file, graph in graphs.items():
        precision, container = graph.metadata.precision, graph.metadata.container
        if precision != "fp32":
            candidate = Candidate(f"{precision} {graph.name}", file, graph.metadata, container or widest)
            found.setdefault(precision, []).append(candidate)
    return found


def largest(analysis: Analysis, containers: Sequence[Mapping[str, int]]) -> dict[str, int]:
    """The greatest size of each symbol; one that every ragged dimension is worth looking at in, if none is given."""
    spans = {name: analysis.scope.spans[name] for name in analysis.declarations.symbols}
    if not containers:
        return default_container(spans, ragged_lengths(analysis))
    return {name: max(container[name] for container in containers) for name in spans}


def asking_for(precisions: Sequence[str]) -> str:
    """The argument that asks for precisions; ``half`` decides which fp16 it is."""
    return arguments(precision=",".join("fp16" if name == "fp16-fast" else name for name in precisions))


def demand(report: GateReport, place: Path | None, precisions: Sequence[str] = ()) -> None:
    """Let nothing through that fails a gate; the report stays beside the place where the model would have been, until
    one passes there.

    Args:
        report: what the gates found.
        place: where the model would have been.
        precisions: that were asked for; one alone may be what failed.

    Raises:
        GateFailedError: with the first thing that failed.
    """
    path = None if place is None else place.with_name(place.name + ".report.json")
    if report.ok:
        _remove_report(path)
        return
    told = ""
    if path is not None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(report.to_json(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
            told = f"the report is {path}; "
        except OSError as error:  # what failed is told all the same
            told = f"the report is not written: {error.strerror or error}; "
    where, what = _first_failure(report)
    way_on, look = "", "to see where the two part, write it unjudged, with `verify=False`, and probe that"
    if replace(report, domain=()).ok:  # each output is right, and native accepts more lengths
        way_on, look = next(check.fix for check in report.domain if check.ok is False), ""
    bad = _failing_precisions(report)
    if bad and replace(report, examples={}, rows=[row for row in report.rows if not _is_of(row, bad)]).ok:
        way_on = _without(report, bad)  # padding is right in fp32, and a precision is not, or is not good enough
        if kept := [name for name in precisions if name not in bad]:
            way_on += f"; {asking_for(kept)} writes what is left"
    fix = told + "; ".join(text for text in (way_on or "report it with the model if you can", look) if text)
    why = "nothing was written" + (", in the other precisions neither" if len(report.precision) > len(bad) > 0 else "")
    raise GateFailedError(what, where=where, why=why, fix=fix, shown=about_refusal(report))


def _remove_report(path: Path | None) -> None:
    """Remove the report of an earlier run that failed; it would speak of another model than lies beside it."""
    with suppress(OSError, ValueError):
        if path is not None and path.is_file() and "rows" in json.loads(path.read_text(encoding="utf-8")):
            path.unlink()


def _failing_precisions(report: GateReport) -> list[str]:
    """Those whose graphs part from native in the same precision, or from fp32 by more than is accepted."""
    missing = {name for name, rows in report.examples.items() if not all(row["ok"] for row in rows)}
    return [
        name
        for name in report.precision
        if name in missing or any(not row.ok and _is_of(row, [name]) for row in report.rows)
    ]


def _is_of(row: Row, precisions: Sequence[str]) -> bool:
    """Whether a row is of a graph in one of these precisions, whose names begin with theirs."""
    return any(row.model.startswith(f"{name} ") for name in precisions)


def _without(report: GateReport, bad: Sequence[str]) -> str:
    """What to do where padding is right in fp32 and some precision is not good enough."""
    good = [name for name in report.precision if name not in bad]
    parted = any(not row.ok for row in report.rows)
    lost = any(not row.get("finite", True) for name in bad for row in report.examples.get(name, ()))
    less = "" if lost or parted else ", or accept less"
    if good:
        return (
            f"leave {' and '.join(bad)} out, since {' and '.join(good)} {'passes' if len(good) == 1 else 'pass'}{less}"
        )
    if parted:
        return f"take fp32, which passes in place of {' and '.join(bad)}, and report it with the model if you can"
    return ("take int8 or fp32, which are finite wherever native is" if lost else "ask for another precision") + less


def tell_precisions(report: GateReport, on_message: Callable[[str], None] | None, *, given: bool = False) -> None:
    """A line for each precision: what it does to the answers, and one for choices that fall the other way at ties;
    ``given`` as of ``told_verdict``."""
    if on_message is not None:
        for line in report.ties():
            on_message(line)
        for precision, rows in report.examples.items():
            on_message(told_verdict(precision, rows, given=given))


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
    for precision, verdicts in report.examples.items():
        for told in verdicts:
            if not told["ok"]:
                return f"output {told['output']} in {precision}, {told['example']} ({told['model']})", told["note"]
    if not report.streams.get("ok", True):
        worst, allowed = max(report.streams["rows"], key=lambda row: row["error"]), report.streams["tolerance"]
        what = f"a stream is {worst['error']:.2g} of scale from the whole, {allowed:.2g} is allowed"
        return f"chunks {worst['chunks']}", what
    check = next(check for check in report.domain if check.ok is False)
    return f"{check.symbol}={check.at}", f"domain: {check.outcome} ({check.why})"
