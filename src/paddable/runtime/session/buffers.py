"""Memory that a graph of fixed shapes reads and writes, kept from one run to the next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddable.runtime.session.binding import Binding, bind
from paddable.runtime.session.device_session import DeviceSession
from paddable.runtime.session.dtypes import DTYPES

__all__ = ["Buffers"]

Array = NDArray[Any]


class Buffers:
    """Where one run at a time puts its inputs and finds its outputs.

    A container of 30 s is written in full by no call but the longest: allocating it anew, and having the system clear
    its pages, would cost more than the copy of what a short clip needs.

    Args:
        on: the session.

    Attributes:
        inputs: by name, an array of the graph's shape, to be written in place; empty where a shape is open or a type
            has no buffer.
    """

    def __init__(self, on: DeviceSession) -> None:
        self._on = on
        self.inputs: dict[str, Array] = _zeros(on.session.get_inputs())
        self._names = [node.name for node in on.session.get_outputs()]
        self._binding: Binding | None = bind(on, self.inputs) if self.inputs and on.bind else None

    def run(self, feeds: Mapping[str, Array]) -> dict[str, Array]:
        """All outputs by name; where ``reused``, they hold until the next run.

        Args:
            feeds: all inputs by name: those of ``inputs``, or other arrays.
        """
        if self._binding is None:
            return dict(zip(self._names, self._on.session.run(self._names, dict(feeds)), strict=True))
        self._binding.run(feeds)
        return {name: self._binding.view(name) for name in self._names}

    @property
    def reused(self) -> bool:
        """Whether the next run writes over the outputs of this one."""
        return self._binding is not None and self._on.device == "cpu"


def _zeros(nodes: Sequence[Any]) -> dict[str, Array]:
    arrays = {}
    for node in nodes:
        dtype = DTYPES.get(node.type, np.dtype(object))
        if dtype == np.object_ or not all(isinstance(size, int) for size in node.shape):
            return {}
        arrays[node.name] = np.zeros(node.shape, dtype)
    return arrays
