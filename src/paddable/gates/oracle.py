"""Native as the oracle: one row alone, at exactly its steps; and how far native is from itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, partial
from typing import TypeAlias

import numpy as np

from paddable.bundle import Metadata
from paddable.gates.engine import Array, Engine, EngineError, Source, asked_of
from paddable.gates.lift import Twins, nudged
from paddable.gates.signals import Signals, evaluate
from paddable.gates.unrounded import Code, ranges_of, unrounded
from paddable.precision import least_noise

__all__ = ["FLOOR", "Oracle", "scale"]

FLOOR = 1e-6
"""The smallest scale: an output of 1e-9 has no digits to compare."""

_HALF_ULP = 2.0**-11
"""Of half precision, relative to the largest value: no half result is known better."""

_DRAWS = 4
"""Times that the inputs of a lift are moved."""

_MOVED = 3e-4
"""Of scale, the most that counts of what the last place of its input moves native in fp32 by: 9e-4 is allowed then."""

_KEPT = 1 << 28
"""Bytes of native answers kept for the next container."""

_Pair: TypeAlias = "tuple[Mapping[str, Array], Mapping[str, Array]]"


def scale(native: Array) -> float:
    """Largest absolute finite value, at least ``FLOOR``."""
    if native.dtype.kind not in "fiu" or not native.size:
        return 1.0
    magnitude = np.abs(native if native.dtype.kind == "f" else native.astype(np.float64))
    largest = float(magnitude.max())
    if not np.isfinite(largest):
        largest = float(magnitude[np.isfinite(magnitude)].max(initial=0.0))
    return max(FLOOR, largest)


class Oracle:
    """The native model with ONNX Runtime's optimiser on (the answer) and off (its noise).

    Where native computes in half, on and off often agree bit for bit, since both run float kernels (``gates.lift``).
    Its noise is then the largest of: on against off, native and its rounded form against the fp32 lift, and half an
    ulp. A lift's own is what its answer moves by when weights and inputs are moved by their last place. Where a padded
    graph computes Fourier transforms or statistics otherwise, native's own noise is also what they change in double.

    Answers are kept, so that the containers of one model share them; a session is opened when it is first asked.

    Attributes:
        native: its file, or the model serialised.
        resized: outputs whose length the optimiser changes, with the steps at which it was first seen. The answer is
            that without it: a Gather by a Range that falls to 0 becomes a Slice that ends at -1, and reads nothing.

    Args:
        native: in the precision of the padded graph.
        metadata: of the padded graph.
        twins: of a native model that computes in half.
        moved: where native is a lift, or computes in 8 bits, the same with its float weights moved.
        exact: native with the kernels in double that are no longer in the padded graph (``gates.exact``).
        threads: of native; 0 takes every core.
        arena: whether sessions of native keep the memory of a run.
        optimise: whether the answer is that with ONNX Runtime's optimiser on.
        alike: gives further oracles, whose noise counts where its own does not decide: native in fp32, which computes
            the same sums with other weights, is as ill-conditioned as native with weights that are only stored in fewer
            bits.
    """

    def __init__(
        self,
        native: Source,
        metadata: Metadata,
        twins: Twins | None = None,
        *,
        moved: Source | None = None,
        exact: Source | None = None,
        threads: int = 1,
        arena: bool = False,
        optimise: bool = True,
        alike: Callable[[], Sequence[Oracle]] = tuple,
    ) -> None:
        self.native, self._twins, self._alike = native, twins, alike
        self._metadata, self._precision = replace(metadata, precision="fp32"), metadata.precision
        self._moved_source, self._exact_source = moved, exact
        self._config = asked_of(metadata)
        where = "native" if metadata.precision == "fp32" else f"native in {metadata.precision}"
        self._open = partial(Engine, where=where, config=self._config, threads=threads, arena=arena)
        self._optimise = optimise
        self._flips = least_noise(metadata.precision)
        self._lengths = metadata.lengths
        self.resized: dict[str, Mapping[str, int]] = {}
        self._batch = metadata.batch.outputs if metadata.batch else {}
        self._kept: dict[object, dict[str, Array]] = {}
        self._measured: dict[object, tuple[dict[str, float], bool]] = {}
        self._bytes = 0

    @cached_property
    def engine(self) -> Engine:
        """Native; the first to ask meets an ``EngineError`` where ONNX Runtime cannot load it."""
        return self._open(self.native, optimise=self._optimise)

    @cached_property
    def _plain(self) -> Engine:
        return self._open(self.native, optimise=False)

    @cached_property
    def _lift(self) -> Engine | None:
        return None if self._twins is None else Engine(self._twins.lift, where="native's fp32 lift")

    @cached_property
    def _rounded(self) -> Engine | None:
        return None if self._twins is None else Engine(self._twins.rounded, optimise=False, where="native in half")

    @cached_property
    def _moved(self) -> Engine | None:
        source = self._moved_source
        return None if source is None else Engine(source, where="native's moved lift", config=self._config)

    @cached_property
    def _exact(self) -> Engine | None:
        source = self._exact_source
        return None if source is None else Engine(source, where="native with kernels in double")

    def run(self, feeds: Mapping[str, Array]) -> dict[str, Array]:
        """Native's outputs; without the optimiser where it fails: it trusts the shapes that the exporter noted of inner
        values, and those behind a traced recurrent operator are the example's.

        Raises:
            EngineError: native runs neither way.
        """
        try:
            return self.engine.run(feeds)
        except EngineError:
            return self._plain.run(feeds)

    def run_as_written(self, feeds: Mapping[str, Array]) -> dict[str, Array]:
        """The same without the optimiser, but where only the optimiser's fusion runs."""
        try:
            return self._plain.run(feeds)
        except EngineError:
            return self.engine.run(feeds)

    def answer(self, signals: Signals, row: int, steps: Mapping[str, int]) -> dict[str, Array]:
        """Outputs of one row.

        Raises:
            EngineError: native does not run at these steps.
        """
        key = id(signals), row, tuple(steps.items())
        if key in self._kept:
            return self._kept[key]
        feeds = signals.native(row, steps)
        outputs = self._first_row(self.run(feeds))
        if changed := self._otherwise_long(outputs, steps):
            with suppress(EngineError):  # an operator that only the optimiser's fusion can run
                plain = self._first_row(self._plain.run(feeds))
                if not self._otherwise_long(plain, steps):
                    outputs = plain
                    self.resized.setdefault(changed, steps)
        size = sum(value.nbytes for value in outputs.values())
        if self._bytes + size <= _KEPT:
            self._kept[key], self._bytes = outputs, self._bytes + size
        return outputs

    def asked(self, change: Callable[[Source], bytes]) -> Oracle:
        """The same native, asked for more: each of its forms changed.

        Raises:
            ValueError: one of them cannot be.
        """
        twins = self._twins
        return Oracle(
            change(self.native),
            replace(self._metadata, precision=self._precision),
            None if twins is None else Twins(change(twins.lift), change(twins.moved), change(twins.rounded)),
            moved=None if self._moved_source is None else change(self._moved_source),
            exact=None if self._exact_source is None else change(self._exact_source),
            optimise=self._optimise,
            alike=lambda: [one.asked(change) for one in self._others],
        )

    def _otherwise_long(self, outputs: Mapping[str, Array], steps: Mapping[str, int]) -> str:
        """The first output that has another length than ONNX's definition of its operators gives, if there is one."""
        for name, texts in self._lengths.items():
            sizes = outputs[name].shape if name in outputs else None
            if sizes and any(sizes[axis] != evaluate(text, steps) for axis, text in texts.items()):
                return name
        return ""

    def written(self, signals: Signals, row: int, steps: Mapping[str, int]) -> dict[str, Array]:
        """Outputs of one row without the optimiser."""
        return self._first_row(self._plain.run(signals.native(row, steps)))

    def noise_as_written(self, signals: Signals, row: int, steps: Mapping[str, int], wanted: float) -> dict[str, float]:
        """As ``noise``, of what native computes without the optimiser: the optimiser's own is none of it.

        Raises:
            EngineError: an operator that only the optimiser's fusion can run.
        """
        outputs = self.written(signals, row, steps)
        found = dict.fromkeys(outputs, self._flips)
        if self._moved_source is not None and wanted > self._flips:
            engine = self._open(self._moved_source, optimise=False)
            for near in _nudged(signals.native(row, steps)):
                moved = self._first_row(engine.run(near))
                found = {
                    name: max(known, _distance(moved[name], outputs[name]) / scale(outputs[name]))
                    for name, known in found.items()
                }
        return found

    @cached_property
    def unrounded(self) -> Oracle:
        """Native whose values are cut off at the ends of their fixed ranges and not rounded.

        Raises:
            ValueError: it is too large for one message.
        """
        return Oracle(unrounded(self.native), self._metadata)

    @cached_property
    def ranges(self) -> set[Code]:
        """What native's values are rounded to."""
        return ranges_of(self.native)

    def noise(
        self, signals: Signals, row: int, steps: Mapping[str, int], wanted: Mapping[str, float]
    ) -> dict[str, float]:
        """How far native is from itself in one row, per output, relative to scale.

        Each way to measure it takes runs of native, and the largest counts; so no more is measured when what was found
        reaches what is wanted.

        Args:
            signals: the inputs.
            row: which of them.
            steps: its length.
            wanted: by output, the noise that would decide; what is not positive needs none, infinity all of it.
        """
        key = id(signals), row, tuple(steps.items())
        found, whole = self._measured.get(key, ({}, False))
        if whole or (found and _reach(found, wanted)):
            return found
        outputs = self.answer(signals, row, steps)
        found = dict.fromkeys(outputs, self._flips if self._twins is None else _HALF_ULP)
        if not _reach(found, wanted):
            for one, other in self._pairs(signals.native(row, steps), outputs):
                for name, value in outputs.items():
                    found[name] = max(found[name], _distance(one[name], other[name]) / scale(value))
                if _reach(found, wanted):
                    break
            else:
                whole = True
        self._measured[key] = found, whole
        return found

    def conditioned(
        self, signals: Signals, row: int, steps: Mapping[str, int], wanted: Mapping[str, float]
    ) -> dict[str, float]:
        """The noise, that of oracles alike among it as far as it is wanted; arguments as of ``noise``.

        Native in fp32 moves, besides, by what the last place of its inputs moves it by: its kernels often agree bit for
        bit with the optimiser and without, and say nothing then of how well a difference of two large numbers is known.
        It counts up to ``_MOVED``: what moves by more is known so badly that a fault would hide behind it.
        """
        found = dict(self.noise(signals, row, steps, wanted))
        if self._moved_source is None and self._twins is None and not _reach(found, wanted):
            outputs, feeds = self.answer(signals, row, steps), signals.native(row, steps)
            made = {*self._metadata.length_inputs, *self._metadata.mask_inputs}  # a mask of 1 - 1e-7 masks, perhaps
            for near in _nudged({name: array for name, array in feeds.items() if name not in made}):
                with suppress(EngineError):
                    moved = self._first_row(self.run({**feeds, **near}))
                    found = {
                        name: max(known, min(_distance(moved[name], outputs[name]) / scale(outputs[name]), _MOVED))
                        for name, known in found.items()
                    }
                if _reach(found, wanted):
                    break
        if not _reach(found, wanted):
            for oracle in self._others:
                seen = oracle.noise(signals, row, steps, wanted)
                found = {name: max(value, seen.get(name, 0.0)) for name, value in found.items()}
                if _reach(found, wanted):
                    break
        return found

    @cached_property
    def _others(self) -> Sequence[Oracle]:
        return self._alike()

    def _pairs(self, feeds: Mapping[str, Array], outputs: Mapping[str, Array]) -> Iterator[_Pair]:
        """Answers that differ by rounding only, the cheapest first."""
        with suppress(EngineError):  # an operator that only the optimiser's fusion can run
            yield self._first_row(self._plain.run(feeds)), outputs
        if self._exact is not None:
            yield self._first_row(self._exact.run(feeds)), outputs
        if self._lift is not None and self._rounded is not None:
            wide = {name: array.astype(self._lift.dtypes[name], copy=False) for name, array in feeds.items()}
            lifted = self._first_row(self._lift.run(wide))
            yield lifted, outputs
            yield lifted, self._first_row(self._rounded.run(feeds))
        if self._moved is not None:
            for near in _nudged(feeds):
                yield self._first_row(self._moved.run(near)), outputs

    def _first_row(self, outputs: Mapping[str, Array]) -> dict[str, Array]:
        """Native's rows are copies of one; the first is it."""
        return {
            name: np.take(value, [0], self._batch[name]) if name in self._batch else value
            for name, value in outputs.items()
        }


def _nudged(feeds: Mapping[str, Array]) -> Iterator[dict[str, Array]]:
    """Inputs with each float moved by its last place, several times."""
    rng = np.random.default_rng(0)
    for _ in range(_DRAWS):
        yield {name: nudged(a, rng) if a.dtype.kind == "f" else a for name, a in feeds.items()}


def _reach(found: Mapping[str, float], wanted: Mapping[str, float]) -> bool:
    return all(found[name] >= value for name, value in wanted.items())


def _distance(one: Array, other: Array) -> float:
    if one.shape != other.shape or one.dtype.kind != "f" or not one.size:
        return 0.0
    with np.errstate(invalid="ignore"):
        gap = np.abs(one.astype(np.float64) - other.astype(np.float64))
    return float(np.nanmax(np.where(np.isfinite(gap), gap, 0.0), initial=0.0))
