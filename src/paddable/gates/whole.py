"""Gates C and J: the whole padded model against native, and against itself with junk in the container's padding."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from paddable.bundle import Metadata
from paddable.gates.engine import Array, Engine, EngineError, Source
from paddable.gates.junk import FILLINGS
from paddable.gates.oracle import Oracle, scale
from paddable.gates.report import Row
from paddable.gates.signals import Signals, evaluate
from paddable.precision import session_config

__all__ = ["TOLERANCE", "Candidate", "Steps", "judge_whole", "told"]

TOLERANCE = 1e-5
"""Of scale: re-ordered float sums stay below it; where native itself moves more, three times its noise counts."""

Steps: TypeAlias = Mapping[str, int]


@dataclass(frozen=True)
class Candidate:
    """A padded graph to judge.

    Attributes:
        name: in reports.
        model: the graph.
        metadata: what it says of itself.
        largest: steps of its container; of a symbolic one, the largest that is tried.
    """

    name: str
    model: Source
    metadata: Metadata
    largest: Steps

    def containers(self, steps: Steps) -> list[Steps]:
        """Where to try a length: a static graph in its own; a symbolic one at n, n+1, 2n and the largest."""
        if self.metadata.container:
            return [self.metadata.container]
        grown = [steps, self._grown(steps, 1, 1), self._grown(steps, 2, 0), self.largest]
        return [size for i, size in enumerate(grown) if size not in grown[:i]]

    def _grown(self, steps: Steps, factor: int, more: int) -> Steps:
        sizes = {}
        for name, count in steps.items():
            symbol = self.metadata.symbols[name]
            size = symbol.min + -(-(count * factor - symbol.min) // symbol.step) * symbol.step + more * symbol.step
            sizes[name] = min(max(size, count), max(self.largest[name], count))
        return sizes


def judge_whole(
    candidate: Candidate,
    oracle: Oracle,
    signals: Signals,
    cases: Sequence[Steps],
    *,
    threads: int = 1,
    tick: Callable[[], None] = lambda: None,
) -> list[Row]:
    """Gates C and J of one graph.

    Args:
        candidate: the padded graph.
        oracle: native.
        signals: the inputs, with as many rows as the graph is run with.
        cases: the lengths to try; the other rows of a batch take lengths from them too.
        threads: of the padded graph; 0 takes every core.
        tick: called after each length.

    Returns:
        One row an output and length, in the order of ``cases``.
    """
    config = session_config(candidate.metadata.precision)
    engine = Engine(candidate.model, where=candidate.name, config=config, threads=threads)
    companions = [cases[0], cases[len(cases) // 2], cases[-1]]
    rows: list[Row] = []
    for number, steps in enumerate(cases):
        worst: dict[str, Row] = {}
        for container in candidate.containers(steps):
            others = [_fitting([*companions, steps], number + row, container) for row in range(1, signals.rows)]
            lengths = [steps, *others]
            for row in _compare(candidate, engine, oracle, signals, lengths, container):
                worst[row.output] = _worse(worst.get(row.output), row)
        try:
            junk, stops = _junk(candidate, engine, signals, [steps, *[steps] * (signals.rows - 1)]), ""
        except EngineError as error:
            junk, stops = {}, f"with junk in the padding it does not run: {error.what}"
        for name, row in worst.items():
            same = junk.get(name, False) if junk is not None else None
            rows.append(replace(row, junk=same, note=row.note or stops))
        tick()
    return rows


def told(steps: Steps) -> int | str:
    """Steps as a report prints them: a number, or ``T=7,U=3`` with several symbols."""
    values = list(steps.values())
    return values[0] if len(values) == 1 else ",".join(f"{name}={count}" for name, count in steps.items())


def _fitting(companions: Sequence[Steps], number: int, container: Steps) -> Steps:
    found = [s for s in companions if all(s[name] <= container[name] for name in s)]
    return found[number % len(found)]


def _compare(
    candidate: Candidate,
    engine: Engine,
    oracle: Oracle,
    signals: Signals,
    lengths: Sequence[Steps],
    container: Steps,
) -> list[Row]:
    blank = Row(candidate.name, "", told(lengths[0]), told(container), np.inf, 0.0, TOLERANCE, 0.0)
    expected = []
    for row, steps in enumerate(lengths):
        try:
            expected.append(oracle.answer(signals, row, steps))
        except EngineError as error:
            note = f"native does not run at {told(steps)}: {error.what}"
            return [replace(blank, output=name, note=note) for name in oracle.engine.outputs]
    try:
        got = engine.run(signals.padded(lengths, container, 0, engine.shapes, engine.dtypes))
    except EngineError as error:
        return [replace(blank, output=name, note=error.what) for name in oracle.engine.outputs]
    results = []
    for name in oracle.engine.outputs:
        result = replace(blank, output=name, error=0.0, cosine=1.0)
        if name not in got:
            result = replace(result, error=np.inf, note="the padded model has no such output")
        else:
            for row, steps in enumerate(lengths):
                outputs, noise = expected[row]
                part: dict[str, Any] = _judge(candidate.metadata, name, row, steps, outputs[name], noise[name], got)
                merged = replace(result, **part)
                result = _worse(result, merged) if row else merged
        results.append(result)
    return results


def _judge(
    metadata: Metadata, name: str, row: int, steps: Steps, native: Array, noise: float, got: Mapping[str, Array]
) -> dict[str, object]:
    """One row of one output."""
    array = got[name]
    batch = metadata.batch.outputs if metadata.batch else {}
    if name in batch:
        array = np.take(array, [row], batch[name])
    found: dict[str, object] = {"noise": noise, "tolerance": max(TOLERANCE, 3 * noise), "note": ""}
    ragged = metadata.lengths.get(name, {})
    sizes = {axis: evaluate(text, steps) for axis, text in ragged.items()}
    stated = {axis: native.shape[axis] for axis in sizes}
    if sizes != stated:
        found["note"] = f"native is {stated} long, the metadata says {sizes}"
    if array.ndim != native.ndim or any(have < want for have, want in zip(array.shape, native.shape, strict=True)):
        return {**found, "error": np.inf, "cosine": 0.0, "note": f"shape {array.shape} cannot hold {native.shape}"}
    inside = tuple(slice(size) for size in native.shape)
    valid = array[inside]
    found["error"], found["cosine"] = _error(valid, native), _cosine(valid, native)
    rest = np.array(array, copy=True)
    rest[inside] = 0
    found["zero_behind"] = not np.any(rest)
    found["length_right"] = all(
        int(got[title].reshape(-1)[row]) == native.shape[axis] for axis, title in _titles(name, ragged, got).items()
    )
    return found


def _titles(name: str, ragged: Mapping[int, str], got: Mapping[str, Array]) -> dict[int, str]:
    """Which length output speaks of which axis: the first of its length, and ``_<axis>`` for another."""
    seen: dict[str, str] = {}
    titles = {}
    for axis, text in sorted(ragged.items()):
        if text not in seen:
            seen[text] = f"{name}_length" if not seen else f"{name}_length_{axis}"
        titles[axis] = seen[text]
    return titles


def _error(valid: Array, native: Array) -> float:
    """Largest difference relative to scale. An infinity has to be the same; NaN is native's way to have no answer."""
    if native.dtype.kind not in "fiu":
        return 0.0 if np.array_equal(valid, native) else np.inf
    if not native.size:
        return 0.0
    a, b = valid.astype(np.float64), native.astype(np.float64)
    finite, infinite = np.isfinite(b), np.isinf(b)
    if not np.array_equal(a[infinite], b[infinite]) or not np.isfinite(a[finite]).all():
        return np.inf
    return float(np.abs(a[finite] - b[finite]).max(initial=0.0)) / scale(native)


def _cosine(valid: Array, native: Array) -> float:
    if native.dtype.kind not in "fiu" or not native.size:
        return 1.0
    a, b = valid.astype(np.float64).ravel(), native.astype(np.float64).ravel()
    both = np.isfinite(a) & np.isfinite(b)
    a, b = a[both], b[both]
    product = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b) / product if product else float(np.array_equal(a, b))


def _worse(one: Row | None, other: Row) -> Row:
    """Of two rows the one with the larger error, with the failures of both."""
    if one is None:
        return other
    worst = other if other.error - other.tolerance > one.error - one.tolerance else one
    return replace(
        worst,
        length_right=one.length_right and other.length_right,
        zero_behind=one.zero_behind and other.zero_behind,
        note=one.note or other.note,
    )


def _junk(candidate: Candidate, engine: Engine, signals: Signals, lengths: Sequence[Steps]) -> dict[str, bool] | None:
    """Per output, whether it is bit-equal for all fillings; None where the container leaves no padding.

    Raises:
        EngineError: the padded model does not run with one of them.
    """
    container = candidate.largest
    if all(steps == container for steps in lengths):
        return None
    same: dict[str, bool] = {}
    first: dict[str, Array] = {}
    for filling in range(FILLINGS):
        got = engine.run(signals.padded(lengths, container, filling, engine.shapes, engine.dtypes))
        first = first or got
        for name, array in got.items():
            same[name] = same.get(name, True) and np.array_equal(array, first[name], equal_nan=array.dtype.kind == "f")
    return same
