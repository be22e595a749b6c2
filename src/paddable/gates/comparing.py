"""Gate C of one run: what a padded graph answers in a container, against native, within what both may differ by."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from paddable.bundle import Metadata
from paddable.gates.chosen import Taking
from paddable.gates.engine import Array, Engine, EngineError, Source, asked_of
from paddable.gates.oracle import FLOOR, Oracle
from paddable.gates.report import Row
from paddable.gates.signals import Signals, evaluate
from paddable.gates.unrounded import RANGE, ranges_of, rounds, unrounded
from paddable.precision import PRECISIONS, least_noise

__all__ = ["TOLERANCE", "Candidate", "Session", "Steps", "Unrounded", "compare", "open_candidate", "told", "worse"]

TOLERANCE = 1e-5
"""Of scale: re-ordered float sums stay below it; where native itself moves more, three times its noise counts."""

_CODES = 10 * least_noise("int8-dynamic")
"""Of scale, what codes that fall the other way may move a graph by that is right without the optimiser or rounding."""

Steps: TypeAlias = Mapping[str, int]

Session: TypeAlias = "Engine | Taking"


@dataclass(frozen=True)
class Candidate:
    """A padded graph to judge.

    Attributes:
        name: in reports.
        model: the graph.
        metadata: what it says of itself.
        largest: steps of its container; of a symbolic one, the largest that is tried.
        beside: a static form of the same graph is judged in the largest container, at every length that is tried.
    """

    name: str
    model: Source
    metadata: Metadata
    largest: Steps
    beside: bool = False

    def containers(self, steps: Steps, *, compared: bool = True) -> list[Steps]:
        """Where to try a length: a static graph in its own; a symbolic one at n, n+1, 2n and the largest.

        Args:
            steps: the length.
            compared: gate J looks at it. Elsewhere a symbolic graph beside a static one leaves the largest to that, and
                n, where there is no padding, to the lengths that are compared.
        """
        if self.metadata.container:
            return [self.metadata.container]
        grown = [self._grown(steps, 1, 1), self._grown(steps, 2, 0), self.largest]
        if self.beside and not compared:
            several = [size for size in grown if size not in (steps, self.largest)]
            return [size for i, size in enumerate(several) if size not in several[:i]] or [steps]
        return [steps, *(size for i, size in enumerate(grown) if size not in (steps, *grown[:i]))]

    def _grown(self, steps: Steps, factor: int, more: int) -> Steps:
        sizes = {}
        for name, count in steps.items():
            symbol = self.metadata.symbols[name]
            size = symbol.min + -(-(count * factor - symbol.min) // symbol.step) * symbol.step + more * symbol.step
            sizes[name] = min(max(size, count), max(self.largest[name], count))
        return sizes


def open_candidate(candidate: Candidate, threads: int = 1, *, arena: bool = False, optimise: bool = True) -> Engine:
    """A session as the graph's precision wants it."""
    return Engine(
        candidate.model,
        where=candidate.name,
        config=asked_of(candidate.metadata),
        threads=threads,
        arena=arena,
        optimise=optimise,
    )


def told(steps: Steps) -> int | str:
    """Steps as a report prints them: a number, or ``T=7,U=3`` with several symbols."""
    values = list(steps.values())
    return values[0] if len(values) == 1 else ",".join(f"{name}={count}" for name, count in steps.items())


def compare(
    candidate: Candidate,
    engine: Session,
    plain: Callable[[], Session],
    unrounded: Callable[[], Unrounded],
    oracle: Oracle,
    signals: Signals,
    lengths: Sequence[Steps],
    container: Steps,
    filling: int,
    measured: bool,
) -> tuple[list[Row], dict[str, Array] | None]:
    """Rows of gate C, and what the padded graph answered; noise is measured wholly, or as far as the error asks.

    Where values are rounded to fixed ranges, the kernels of an optimised session may round one the other way than
    native's do, which native alone does not show. So what is written decides, without the optimiser: where both agree
    there, what the optimiser moves is noise, up to some codes; where they are further apart than native's own codes
    move there, that is the error, however much the optimiser moves native; unless all is the same but for the codes,
    which excuses some wherever values are rounded, in every precision: native may do it itself.
    """
    blank = Row(candidate.name, "", told(lengths[0]), told(container), np.inf, 0.0, TOLERANCE, 0.0)
    expected = []
    for row, steps in enumerate(lengths):
        try:
            expected.append(oracle.answer(signals, row, steps))
        except EngineError as error:
            note = f"native does not run at {told(steps)}: {error.what}"
            return [replace(blank, output=name, note=note) for name in oracle.engine.outputs], None
    feeds = signals.padded(lengths, container, filling, engine.shapes, engine.dtypes)
    try:
        got = engine.run(feeds)
    except EngineError as error:
        return [replace(blank, output=name, note=error.what) for name in oracle.engine.outputs], None
    results: dict[str, Row] = {}
    for row, (steps, outputs) in enumerate(zip(lengths, expected, strict=True)):
        found = {
            name: _judge(candidate.metadata, replace(blank, output=name), row, steps, native, got)
            for name, native in outputs.items()
        }
        wanted = {name: np.inf if measured else _deciding(result.error) for name, result in found.items()}
        noise = oracle.noise(signals, row, steps, wanted)
        if _exceeded(found, noise):
            wanted = {name: _deciding(result.error) for name, result in found.items()}
            noise = oracle.conditioned(signals, row, steps, wanted)
        if _fixes_ranges(candidate) and any(result.error > TOLERANCE for result in found.values()):
            with suppress(EngineError):
                native, written = oracle.written(signals, row, steps), plain().run(feeds)
                noise = dict(noise)
                for name in found:
                    here = replace(blank, output=name)
                    apart = _judge(candidate.metadata, here, row, steps, native[name], written)
                    if apart.error > TOLERANCE:
                        own = oracle.noise_as_written(signals, row, steps, _deciding(apart.error))
                        if apart.error > _allowed(own[name]):
                            near = apart.error <= _allowed(_CODES)
                            right = near and unrounded().agrees(here, row, steps, signals, feeds)
                            found[name], noise[name] = apart, max(own[name], min(apart.error, _CODES) if right else 0.0)
                    elif found[name].error > _allowed(noise[name]):
                        moved = _judge(candidate.metadata, here, row, steps, native[name], got).error
                        noise[name] = max(noise[name], min(moved, _CODES))
        else:
            noise = dict(noise)
            for name, result in found.items():
                here, near = replace(blank, output=name), _allowed(noise[name]) < result.error <= _allowed(_CODES)
                if near and unrounded().agrees(here, row, steps, signals, feeds):
                    noise[name] = min(result.error, _CODES)
        for name, result in found.items():
            allowed = _told_faint(replace(result, noise=noise[name], tolerance=_allowed(noise[name])), outputs[name])
            results[name] = worse(results.get(name), allowed)
    return list(results.values()), got


class Unrounded:
    """Both graphs of a comparison without the rounding to 8 bits, opened when they are first asked."""

    def __init__(
        self, candidate: Candidate, oracle: Oracle, opened: Callable[[Engine], Session] = lambda engine: engine
    ) -> None:
        self._metadata, self._oracle = candidate.metadata, oracle
        self._engine: Session | None = None
        with suppress(EngineError, ValueError):  # too large for one message, or it runs in its fusion alone
            if rounds(candidate.model) and ranges_of(candidate.model) == oracle.ranges:
                self._engine = opened(Engine(unrounded(candidate.model), where=candidate.name))

    def agrees(self, blank: Row, row: int, steps: Steps, signals: Signals, feeds: Mapping[str, Array]) -> bool:
        """Whether nothing but codes parts them: ranges are the same, and so is what is not rounded."""
        with suppress(EngineError, ValueError):
            if self._engine is not None:
                native = self._oracle.unrounded
                wanted, got = native.answer(signals, row, steps), self._engine.run(feeds)
                told = [blank.output, *(name for name in wanted if name.startswith(RANGE))]
                rows = [
                    _judge(self._metadata, replace(blank, output=name), row, steps, wanted[name], got) for name in told
                ]
                noise = native.noise(signals, row, steps, {found.output: _deciding(found.error) for found in rows})
                return all(not found.note and found.error <= _allowed(noise[found.output]) for found in rows)
        return False


def _told_faint(found: Row, native: Array) -> Row:
    """A row; where it fails and native answers nothing that a difference could be small against, that is its note."""
    largest = float(np.abs(native).max(initial=0)) if native.dtype.kind == "f" else FLOOR
    if found.note or not largest < FLOOR or not found.tolerance < found.error < np.inf:
        return found
    answers, off = f"at most {largest:.2g}" if largest else "exactly 0", found.error * FLOOR
    return replace(
        found,
        note=f"native answers {answers} there, and it is up to {off:.2g} off: there is no scale to say how"
        " much that is. Where it is rounding, as of a difference of equal numbers at the shortest length, accept longer"
        " inputs alone, with `shortest`",
    )


def _allowed(noise: float) -> float:
    return max(TOLERANCE, 3 * noise)


def _exceeded(found: Mapping[str, Row], noise: Mapping[str, float]) -> bool:
    """Whether an error is larger than the noise allows."""
    return any(result.error > _allowed(noise[name]) for name, result in found.items())


def _fixes_ranges(candidate: Candidate) -> bool:
    found = PRECISIONS.get(candidate.metadata.precision)  # another process may have registered it
    return found is not None and found.fixed


def _deciding(error: float) -> float:
    """The noise that would allow an error."""
    return 0.0 if error <= TOLERANCE else error / 3


def _judge(metadata: Metadata, blank: Row, row: int, steps: Steps, native: Array, outputs: Mapping[str, Array]) -> Row:
    """One row of one output, noise aside."""
    name = blank.output
    if name not in outputs:
        return replace(blank, note="the padded model has no such output")
    array = outputs[name]
    batch = metadata.batch.outputs if metadata.batch else {}
    if name in batch:
        array = np.take(array, [row], batch[name])
    ragged = metadata.lengths.get(name, {})
    sizes = {axis: evaluate(text, steps) for axis, text in ragged.items()}
    stated = {axis: native.shape[axis] for axis in sizes}
    note = "" if sizes == stated else f"native is {stated} long, the metadata says {sizes}"
    if array.ndim != native.ndim or any(have < want for have, want in zip(array.shape, native.shape, strict=True)):
        return replace(blank, note=f"shape {array.shape} cannot hold {native.shape}")
    inside = tuple(slice(size) for size in native.shape)
    valid = array[inside]
    titles = _titles(name, ragged, outputs)
    error, cosine = _distance(valid, native)
    return replace(
        blank,
        error=error,
        cosine=cosine,
        zero_behind=bool(np.count_nonzero(array) == np.count_nonzero(valid)),
        length_right=all(int(outputs[title].reshape(-1)[row]) == native.shape[axis] for axis, title in titles.items()),
        note=note,
    )


def _titles(name: str, ragged: Mapping[int, str], got: Mapping[str, Array]) -> dict[int, str]:
    """Which length output speaks of which axis: the first of its length, and ``_<axis>`` for another."""
    seen: dict[str, str] = {}
    titles = {}
    for axis, text in sorted(ragged.items()):
        if text not in seen:
            seen[text] = f"{name}_length" if not seen else f"{name}_length_{axis}"
        titles[axis] = seen[text]
    return titles


def _distance(valid: Array, native: Array) -> tuple[float, float]:
    """Largest difference relative to scale, and the cosine.

    An infinity has to be the same; NaN is native's way to have no answer, and is left out.
    """
    if native.dtype.kind not in "fiu":
        return 0.0 if np.array_equal(valid, native) else np.inf, 1.0
    if not native.size:
        return 0.0, 1.0
    a, b = valid.astype(np.float64).ravel(), native.astype(np.float64).ravel()
    error = None
    if not np.isfinite([a.sum(), b.sum()]).all():  # in one pass, where all are
        finite, infinite = np.isfinite(b), np.isinf(b)
        if not np.array_equal(a[infinite], b[infinite]) or not np.isfinite(a[finite]).all():
            error = np.inf
        both = finite & np.isfinite(a)
        a, b = a[both], b[both]
    product = float(np.linalg.norm(a) * np.linalg.norm(b))
    cosine = float(a @ b) / product if product else float(np.array_equal(a, b))
    if error is None:
        largest = float(np.abs(b).max(initial=FLOOR))
        a -= b
        error = float(np.abs(a, out=a).max(initial=0.0)) / largest
    return error, cosine


def worse(one: Row | None, other: Row) -> Row:
    """Of two rows the one with the larger error, with the failures of both."""
    if one is None:
        return other
    worst = other if other.error - other.tolerance > one.error - one.tolerance else one
    return replace(
        worst,
        length_right=one.length_right and other.length_right,
        zero_behind=one.zero_behind and other.zero_behind,
        note=one.note or other.note,
        told=one.told or other.told,
    )
