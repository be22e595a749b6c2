"""The state of one stream on the device: three sets of buffers, between which its steps are bound."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddable.runtime.streaming.step_graph import BoundStep, StepGraph

__all__ = ["StateBuffers"]

Array = NDArray[Any]
SETS = 3
"""A step writes a set that is neither the one it reads nor the one that the stream goes back to if a push fails."""


class StateBuffers:
    """Where a stream keeps its state.

    Args:
        graphs: step graphs that carry the same states, on one device.
    """

    def __init__(self, graphs: Sequence[StepGraph]) -> None:
        self._graphs = graphs
        self._sets = [graphs[0].state() for _ in range(SETS)]
        self._steps: dict[tuple[int, int, int], BoundStep] = {}

    def read(self, index: int) -> dict[str, Array]:
        """The states in a set, as arrays of their own."""
        return {name: self._graphs[0].on.read(value) for name, value in self._sets[index].items()}

    def write(self, index: int, states: dict[str, Array]) -> None:
        """Overwrite the states in a set."""
        for name, array in states.items():
            self._sets[index][name].update_inplace(np.ascontiguousarray(array))

    def step(self, graph: int, before: int, after: int) -> BoundStep:
        """The step of a graph from one set to another, bound at its first use."""
        key = graph, before, after
        if key not in self._steps:
            self._steps[key] = self._graphs[graph].bind(self._sets[before], self._sets[after])
        return self._steps[key]
