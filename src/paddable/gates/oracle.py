"""Native as the oracle: one row alone, at exactly its steps; and how far native is from itself."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

import numpy as np

from paddable.bundle import Metadata
from paddable.gates.engine import Array, Engine, EngineError, Source
from paddable.gates.lift import Twins, nudged
from paddable.gates.signals import Signals
from paddable.precision import session_config

__all__ = ["FLOOR", "Oracle", "run_native", "scale"]

FLOOR = 1e-6
"""The smallest scale: an output of 1e-9 has no digits to compare."""

_HALF_ULP = 2.0**-11
"""Of half precision, relative to the largest value: no half result is known better."""

_DRAWS = 4
"""Times that the inputs of a lift are moved."""

_KEPT = 1 << 28
"""Bytes of native answers kept for the next container."""


def run_native(engine: Engine, plain: Engine, feeds: Mapping[str, Array]) -> dict[str, Array]:
    """Native's outputs; without the optimiser where it fails: it trusts the shapes that the exporter noted of inner
    values, and those behind a traced recurrent operator are the example's.

    Raises:
        EngineError: native runs neither way.
    """
    try:
        return engine.run(feeds)
    except EngineError:
        return plain.run(feeds)


def scale(native: Array) -> float:
    """Largest absolute finite value, at least ``FLOOR``."""
    if native.dtype.kind not in "fiu" or not native.size:
        return 1.0
    magnitude = np.abs(native.astype(np.float64))
    return max(FLOOR, float(magnitude[np.isfinite(magnitude)].max(initial=0.0)))


class Oracle:
    """The native model with ONNX Runtime's optimiser on (the answer) and off (its noise).

    Where native computes in half, on and off often agree bit for bit, since both run float kernels (``gates.lift``).
    Its noise is then the largest of: on against off, native and its rounded form against the fp32 lift, and half an
    ulp. A lift's own is what its answer moves by when weights and inputs are moved by their last place.

    Args:
        native: in the precision of the padded graph.
        metadata: of the padded graph.
        twins: of a native model that computes in half.
        moved: where native is a lift, the lift with its weights moved.
        threads: of native; 0 takes every core.

    Raises:
        EngineError: ONNX Runtime cannot load native.
    """

    def __init__(
        self,
        native: Source,
        metadata: Metadata,
        twins: Twins | None = None,
        *,
        moved: Source | None = None,
        threads: int = 1,
    ) -> None:
        config = session_config(metadata.precision)
        self.engine = Engine(native, where="native", config=config, threads=threads)
        self._plain = Engine(native, optimise=False, where="native", config=config, threads=threads)
        self._lift = None if twins is None else Engine(twins.lift, where="native's fp32 lift")
        self._moved = None if moved is None else Engine(moved, where="native's moved lift")
        self._rounded = None if twins is None else Engine(twins.rounded, optimise=False, where="native in half")
        self._batch = metadata.batch.outputs if metadata.batch else {}
        self._kept: dict[object, tuple[dict[str, Array], dict[str, float]]] = {}
        self._bytes = 0

    def answer(self, signals: Signals, row: int, steps: Mapping[str, int]) -> tuple[dict[str, Array], dict[str, float]]:
        """Outputs of one row, and per output the noise relative to scale.

        Raises:
            EngineError: native does not run at these steps.
        """
        key = id(signals), row, tuple(steps.items())
        if key not in self._kept:
            feeds = signals.native(row, steps)
            outputs = self._first_row(run_native(self.engine, self._plain, feeds))
            noise = self._noise(feeds, outputs)
            size = sum(value.nbytes for value in outputs.values())
            if self._bytes + size > _KEPT:
                self._kept, self._bytes = {}, 0
            self._kept[key], self._bytes = (outputs, noise), self._bytes + size
        return self._kept[key]

    def _noise(self, feeds: Mapping[str, Array], outputs: Mapping[str, Array]) -> dict[str, float]:
        """How far native is from itself, per output, relative to scale."""
        floor = 0.0
        pairs = []
        with suppress(EngineError):  # an operator that only the optimiser's fusion can run
            pairs.append((self._first_row(self._plain.run(feeds)), outputs))
        if self._lift is not None and self._rounded is not None:
            wide = {name: array.astype(self._lift.dtypes[name], copy=False) for name, array in feeds.items()}
            lifted = self._first_row(self._lift.run(wide))
            pairs += [(lifted, outputs), (lifted, self._first_row(self._rounded.run(feeds)))]
            floor = _HALF_ULP
        if self._moved is not None:
            rng = np.random.default_rng(0)
            for _ in range(_DRAWS):
                near = {name: nudged(a, rng) if a.dtype.kind == "f" else a for name, a in feeds.items()}
                pairs.append((self._first_row(self._moved.run(near)), outputs))
        return {
            name: max([floor, *(_distance(one[name], other[name]) / scale(value) for one, other in pairs)])
            for name, value in outputs.items()
        }

    def _first_row(self, outputs: Mapping[str, Array]) -> dict[str, Array]:
        """Native's rows are copies of one; the first is it."""
        return {
            name: np.take(value, [0], self._batch[name]) if name in self._batch else value
            for name, value in outputs.items()
        }


def _distance(one: Array, other: Array) -> float:
    if one.shape != other.shape or one.dtype.kind != "f" or not one.size:
        return 0.0
    with np.errstate(invalid="ignore"):
        gap = np.abs(one.astype(np.float64) - other.astype(np.float64))
    return float(np.nanmax(np.where(np.isfinite(gap), gap, 0.0), initial=0.0))
