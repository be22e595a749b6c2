"""Gates C and J: the whole padded model against native, and against itself with junk in the container's padding."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from paddable.gates.comparing import TOLERANCE, Candidate, Steps, Unrounded, compare, open_candidate, told, worse
from paddable.gates.engine import Array, Engine, EngineError
from paddable.gates.junk import FILLINGS
from paddable.gates.oracle import Oracle
from paddable.gates.report import Row
from paddable.gates.signals import Signals
from paddable.gates.tied import Tied

__all__ = ["TOLERANCE", "Candidate", "Steps", "judge_whole", "largest_of", "open_candidate", "told"]

COMPARED = 16
"""Lengths of a container at which gate J compares fillings, evenly spread; with fewer lengths, all of them."""


def judge_whole(
    candidate: Candidate,
    oracle: Oracle,
    signals: Signals,
    cases: Sequence[Steps],
    *,
    engine: Engine | None = None,
    tick: Callable[[], None] = lambda: None,
) -> list[Row]:
    """Gates C and J of one graph.

    Behind every length stands another filling, in turn. At some lengths, the ends among them, the answer is compared
    bit for bit with that behind zeros, and at the ends all fillings are compared.

    Args:
        candidate: the padded graph.
        oracle: native.
        signals: the inputs, with as many rows as the graph is run with.
        cases: the lengths to try; the other rows of a batch take lengths from them too.
        engine: a session of the graph, where there is one already.
        tick: called after each length.

    Returns:
        One row an output and length, in the order of ``cases``.
    """
    engine = engine or open_candidate(candidate)
    plain = cache(lambda: open_candidate(candidate, optimise=False))
    unrounded = cache(lambda: Unrounded(candidate, oracle))
    tied = cache(lambda: Tied.of(candidate, oracle))
    companions = [cases[0], cases[len(cases) // 2], cases[-1]]
    fillings = _fillings(cases, candidate.largest)
    measured = {0, len(cases) // 2, len(cases) - 1}
    rows: list[Row] = []
    for number, steps in enumerate(cases):
        worst: dict[str, Row] = {}
        junk: dict[str, bool] | None = None
        stops = ""
        for container in candidate.containers(steps, compared=len(fillings[number]) > 1):
            others = [_fitting([*companions, steps], number + row, container) for row in range(1, signals.rows)]
            lengths = [steps, *others]
            first, *more = fillings[number] if container == candidate.largest else fillings[number][:1]
            found, got = compare(
                candidate, engine, plain, unrounded, oracle, signals, lengths, container, first, number in measured
            )
            if got is not None and any(row.error > row.tolerance for row in found) and (asked := tied()) is not None:
                found = asked.judged(found, signals, lengths, container, first)
            for row in found:
                worst[row.output] = worse(worst.get(row.output), row)
            if more and got is not None and any(steps != container for steps in lengths):
                try:
                    junk = _junk(engine, signals, lengths, container, more, got)
                except EngineError as error:
                    junk, stops = {}, f"with junk in the padding it does not run: {error.what}"
        for name, row in worst.items():
            same = junk.get(name, False) if junk is not None else None
            rows.append(replace(row, junk=same, note=row.note or stops))
        tick()
    return rows


def largest_of(candidates: Sequence[Candidate]) -> dict[str, int]:
    """Steps at which the inputs of every container are cut from one signal, so that native answers once for all."""
    return {name: max(candidate.largest[name] for candidate in candidates) for name in candidates[0].largest}


def _fillings(cases: Sequence[Steps], largest: Steps) -> list[list[int]]:
    """What stands behind each length: the filling of gate C, and those that gate J compares it with.

    Where J looks, its first is 0 and one other follows, in turn; all of them at the shortest length and at the longest
    that leaves padding. Elsewhere gate C meets the five in turn.
    """
    padded = [number for number, steps in enumerate(cases) if steps != largest] or [0]
    compared = {padded[round(i)] for i in np.linspace(0, len(padded) - 1, COMPARED)}
    chosen = [[number % FILLINGS] for number in range(len(cases))]
    for turn, number in enumerate(sorted(compared)):
        chosen[number] = [0, 1 + turn % (FILLINGS - 1)]
    for number in (padded[0], padded[-1]):
        chosen[number] = list(range(FILLINGS))
    return chosen


def _fitting(companions: Sequence[Steps], number: int, container: Steps) -> Steps:
    found = [s for s in companions if all(s[name] <= container[name] for name in s)]
    return found[number % len(found)]


def _junk(
    engine: Engine,
    signals: Signals,
    lengths: Sequence[Steps],
    container: Steps,
    fillings: Sequence[int],
    first: Mapping[str, Array],
) -> dict[str, bool]:
    """Per output, whether it is bit-equal to a first answer for all fillings.

    Raises:
        EngineError: the padded model does not run with one of them.
    """
    same = dict.fromkeys(first, True)
    for filling in fillings:
        got = engine.run(signals.padded(lengths, container, filling, engine.shapes, engine.dtypes))
        for name, array in got.items():
            same[name] &= np.array_equal(array, first[name], equal_nan=array.dtype.kind == "f")
    return same
