"""Native as the oracle: one row alone, at exactly its steps; and how far native is from itself."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from paddable.bundle import Metadata
from paddable.errors import Refused
from paddable.gates.engine import Array, Engine, EngineError, Source
from paddable.gates.signals import Signals
from paddable.gates.widened import Widened, last_place
from paddable.precision import SESSION_CONFIGS

__all__ = ["FLOOR", "Oracle", "scale"]

FLOOR = 1e-6
"""The smallest scale: an output of 1e-9 has no digits to compare."""

_KEPT = 1 << 28
"""Bytes of native answers kept for the next container."""


def scale(native: Array) -> float:
    """Largest absolute finite value, at least ``FLOOR``."""
    if native.dtype.kind not in "fiu" or not native.size:
        return 1.0
    magnitude = np.abs(native.astype(np.float64))
    return max(FLOOR, float(magnitude[np.isfinite(magnitude)].max(initial=0.0)))


class Oracle:
    """The native model with ONNX Runtime's optimiser on (the answer) and off (its noise); a half model in float too.

    Args:
        native: in the precision of the padded graph.
        metadata: of the padded graph.
        half: whether native computes in half.

    Raises:
        Refused: ONNX Runtime cannot load native.
    """

    def __init__(self, native: Source, metadata: Metadata, *, half: bool = False) -> None:
        config = SESSION_CONFIGS.get(metadata.precision)
        try:
            self.engine = Engine(native, where="native", config=config)
            self._plain = Engine(native, optimise=False, where="native", config=config)
        except EngineError as error:
            raise Refused(
                f"native itself does not run, {error.what}",
                why="nothing can be compared with it",
                fix="make it run on ONNX Runtime's CPU provider first, or convert without comparing (--no-verify)",
            ) from None
        self._wide = Widened.of(native) if half else None
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
            outputs = self._first_row(self.engine.run(feeds))
            try:
                plain = self._first_row(self._plain.run(feeds))
            except EngineError:  # an operator that only the optimiser's fusion can run
                plain = outputs
            noise = {name: _distance(plain[name], value) / scale(value) for name, value in outputs.items()}
            if self._wide is not None:
                wide = self._first_row(self._wide.run(feeds))
                for name, value in outputs.items():
                    own = _distance(wide[name], value) / scale(value)
                    noise[name] = max(noise[name], own, last_place(value))
            size = sum(value.nbytes for value in outputs.values())
            if self._bytes + size > _KEPT:
                self._kept, self._bytes = {}, 0
            self._kept[key], self._bytes = (outputs, noise), self._bytes + size
        return self._kept[key]

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
