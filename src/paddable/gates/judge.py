"""All gates of one native model and its padded graphs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TypeAlias

from paddable._version import __version__
from paddable.gates.alone import judge_alone
from paddable.gates.apart import Apart
from paddable.gates.diverge import first_difference
from paddable.gates.domain import judge_domain
from paddable.gates.engine import Source
from paddable.gates.exact import exact_where_replaced
from paddable.gates.index_limits import index_limits
from paddable.gates.largest_value import largest_value
from paddable.gates.lengths import LIMIT, choose, default_container
from paddable.gates.lift import lifted, twins
from paddable.gates.oracle import Oracle
from paddable.gates.present import require_native
from paddable.gates.refused_lengths import judge_refused_lengths
from paddable.gates.regions import Frame
from paddable.gates.report import DomainCheck, GateReport, Row
from paddable.gates.signals import Signals
from paddable.gates.whole import Candidate, judge_whole, largest_of, open_candidate
from paddable.graph.io.scratch import scratch_folder
from paddable.lengths import Length
from paddable.padding.analysis import Analysis
from paddable.runtime.session.flavours import runtime_version

__all__ = ["Progress", "judge", "ragged_lengths"]

Progress: TypeAlias = Callable[[str, int, int], None]

ALONE_CASES = 4
"""Lengths at which each operator is judged alone: the shortest, the longest with padding, and two between."""

_HEAVY = 100_000_000
"""Bytes of weights from which a run takes every core. Smaller models are quicker, and the machine freer, with one."""

_SMALL = 1 << 26
"""Bytes of the largest value up to which sessions keep the memory of a run for the next; they take some times as much
then, native's two and the padded graph's together."""


def judge(
    analysis: Analysis,
    native: Source,
    candidates: Sequence[Candidate],
    *,
    lengths: Sequence[int] = (),
    exhaustive: bool = False,
    limit: int = LIMIT,
    seed: int = 0,
    folder: Path | None = None,
    progress: Progress | None = None,
) -> GateReport:
    """Gates L, C and J, the domain, and the contract for lengths outside it.

    A graph that computes in half is judged twice: as it is, and on its fp32 lift, where 1e-5 of scale holds.

    Args:
        analysis: of the native model, not used up by ``rewrite``.
        native: the native model as ONNX Runtime reads it.
        candidates: its padded graphs.
        lengths: lengths of the first symbol to try besides the edges.
        exhaustive: every length of each container.
        limit: lengths of each container otherwise.
        seed: of inputs and lengths.
        folder: where the lift of a half graph lies for a while; the system's temporary folder by default.
        progress: called with (stage, done, total).

    Raises:
        RefusedError: native itself does not run, so that there is nothing to compare with.
    """
    with scratch_folder(folder) as place, Apart(native) as apart:
        # A function of its own: its sessions are gone when the folder goes.
        return _judged(analysis, native, candidates, place, apart, lengths, exhaustive, limit, seed, progress)


def _judged(
    analysis: Analysis,
    native: Source,
    candidates: Sequence[Candidate],
    place: Path,
    apart: Apart,
    lengths: Sequence[int],
    exhaustive: bool,
    limit: int,
    seed: int,
    progress: Progress | None,
) -> GateReport:
    spans = {name: analysis.scope.spans[name] for name in analysis.declarations.symbols}
    expressions, numbers = ragged_lengths(analysis), index_limits(analysis)
    weights = analysis.model.graph.initializers.values()
    heavy = sum(value.const_value.nbytes for value in weights if value.const_value is not None) > _HEAVY
    threads = 0 if heavy else 1
    rows: list[Row] = []
    domain: list[DomainCheck] = []
    difference = None
    small = default_container(spans, expressions)
    cases = choose(spans, small, expressions, seed=seed)
    half = twins(native, place) if candidates else None
    if candidates:
        metadata, widest = candidates[0].metadata, largest_of(candidates)
        arena = 4 * largest_value(analysis, widest)[1] < _SMALL
        oracle = Oracle(native, metadata, half, threads=threads, arena=arena)
        exact = None if half is None else Oracle(half.lift, metadata, moved=half.moved)
        numbers = require_native(oracle, apart, candidates[0], cases, numbers)
    picked = sorted({0, len(cases) // 3, 2 * len(cases) // 3, max(0, len(cases) - 2)})[:ALONE_CASES]
    tick = _ticker(progress, "L", len(analysis.sites))
    sites = judge_alone(analysis, small, [cases[i] for i in picked], seed=seed, tick=tick)

    @cache
    def drawn(of: Oracle, count: int) -> Signals:
        return Signals(metadata, of.engine.dtypes, of.engine.shapes, widest, numbers, count, seed)

    @cache
    def exactly(twin: Path) -> Oracle:
        return Oracle(native, metadata, half, exact=twin, threads=threads, arena=arena)

    def oracle_of(padded: Source) -> Oracle:
        twin = exact_where_replaced(analysis.model, native, padded, place / "double.onnx")
        return oracle if twin is None else exactly(twin)

    def reaching(steps: Mapping[str, int]) -> Signals:
        return Signals(metadata, oracle.engine.dtypes, oracle.engine.shapes, steps, numbers, 1, seed)

    def lengths_of(largest: Mapping[str, int], known: Sequence[Mapping[str, int]]) -> list[dict[str, int]]:
        return choose(
            spans, largest, expressions, seed=seed, exhaustive=exhaustive, also=lengths, limit=limit, known=known
        )

    most = lengths_of(widest, ()) if candidates else []
    for position, candidate in enumerate(candidates):
        count = (candidate.metadata.batch.size if candidate.metadata.batch else 1) or 2
        chosen = most if candidate.largest == widest else lengths_of(candidate.largest, most)
        judging = oracle_of(candidate.model)
        whole = drawn(judging, count)
        engine = open_candidate(candidate, threads, arena=arena)
        tick = _ticker(progress, f"C and J of {candidate.name}", len(chosen))
        found = judge_whole(candidate, judging, whole, chosen, engine=engine, tick=tick)
        if half is not None and exact is not None:
            wide = lifted(candidate.model, place / f"{position}.onnx") or candidate.model
            twin = replace(candidate, name=f"{candidate.name}, fp32 lift", model=wide)
            tick = _ticker(progress, f"C and J of {twin.name}", len(chosen))
            float_engine = open_candidate(twin)
            found += judge_whole(twin, exact, drawn(exact, count), chosen, engine=float_engine, tick=tick)
        rows += found
        domain += _told_resized(judging, domain)
        domain += judge_refused_lengths(candidate, engine, whole)
        if position == 0:
            domain += judge_domain(metadata, apart, reaching, chosen[-1], analysis.scope)
        failing = next((i for i, row in enumerate(found) if not row.ok), None)
        if failing is not None and difference is None and count == 1:
            steps = chosen[failing // max(1, len(oracle.engine.outputs)) % len(chosen)]
            container = candidate.metadata.container or candidate.largest
            frame = Frame(container, [steps] * count, analysis.scope.single_row)
            feeds = whole.padded(frame.lengths, container, 0, engine.shapes, engine.dtypes)
            difference = first_difference(analysis, candidate.model, whole.native(0, steps), feeds, frame)
    versions = {"paddable": __version__, "onnxruntime": runtime_version()}
    return GateReport(rows, sites, domain, difference, versions)


def _told_resized(oracle: Oracle, known: Sequence[DomainCheck]) -> list[DomainCheck]:
    """What ONNX Runtime's optimiser makes longer or shorter, each once."""
    checks = []
    for output, steps in oracle.resized.items():
        symbol, at = next(iter(steps.items()))
        note = f"{symbol}={at}: ONNX Runtime's optimiser changes the length of {output}; native is judged without it"
        if all(check.note != note for check in known):
            checks.append(
                DomainCheck(symbol, at, "inside", f"the optimiser changes the length of {output}", True, note=note)
            )
    return checks


def ragged_lengths(analysis: Analysis) -> list[Length]:
    """The length of every ragged dimension of the model, each once, in a fixed order."""
    found: dict[Length, None] = {}
    for value in analysis.values.values():
        for atom in value.atoms:
            if atom.ragged:
                found[atom.size] = None
    return sorted(found, key=str)


def _ticker(progress: Progress | None, stage: str, total: int) -> Callable[[], None]:
    done = 0

    def tick() -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(stage, done, total)

    return tick
