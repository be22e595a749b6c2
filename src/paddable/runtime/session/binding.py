"""A run at fixed addresses: inputs and outputs in buffers that stay on the device (ONNX Runtime's IO binding)."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddable.runtime.session.device_session import DeviceSession
from paddable.runtime.session.dtypes import DTYPES

__all__ = ["Binding", "bind"]


class Binding:
    """One way to run a session: these input buffers, those output buffers.

    A captured graph is replayed at the addresses that it was captured with, so each binding has a graph of its own.

    Args:
        on: the session.
        inputs: by name, an ``OrtValue`` on its device; all of them.
        outputs: by name, likewise.
        graph: number of the captured graph, different for each binding of a session.
        held: by name, the array whose memory an input buffer is, where it lies on the host.
    """

    def __init__(
        self,
        on: DeviceSession,
        inputs: Mapping[str, Any],
        outputs: Mapping[str, Any],
        graph: int = 0,
        held: Mapping[str, NDArray[Any]] | None = None,
    ) -> None:
        self.inputs, self.outputs, self._on, self._held = inputs, outputs, on, held or {}
        self._bound = on.session.io_binding()
        for name, value in inputs.items():
            self._bound.bind_ortvalue_input(name, value)
        for name, value in outputs.items():
            self._bound.bind_ortvalue_output(name, value)
        self._options = None  # ONNX Runtime's Python takes 40 us to look into options that it is given
        if on.captured:
            self._options = import_module("onnxruntime").RunOptions()
            self._options.add_run_config_entry("gpu_graph_id", str(graph))

    def run(self, feeds: Mapping[str, NDArray[Any]]) -> None:
        """Copy ``feeds`` into their buffers and run; other inputs are read as they are. Call it ``exclusively``.

        An array that is itself the memory of its buffer is not copied.
        """
        for name, array in feeds.items():
            if array is not self._held.get(name):
                self.inputs[name].update_inplace(np.ascontiguousarray(array))
        self._on.session.run_with_iobinding(self._bound, self._options)

    def read(self, name: str) -> NDArray[Any]:
        """An output of the last run, as an array of its own."""
        return self._on.read(self.outputs[name])

    def view(self, name: str) -> NDArray[Any]:
        """The same without a copy where it can be had: on the CPU the next run writes over it."""
        array: NDArray[Any] = self.outputs[name].numpy()
        return array


def bind(on: DeviceSession, inputs: Mapping[str, NDArray[Any]]) -> Binding | None:
    """Buffers for everything that the graph gives, beside those for what it takes; None where an output's size or type
    is open.

    Args:
        on: the session.
        inputs: of all inputs arrays on the host; on the CPU they are the buffers themselves.
    """
    gives = {node.name: (node.shape, DTYPES.get(node.type, np.dtype(object))) for node in on.session.get_outputs()}
    for shape, dtype in gives.values():
        if dtype == np.object_ or not all(isinstance(size, int) for size in shape):
            return None
    outputs = {name: on.buffer(shape, dtype) for name, (shape, dtype) in gives.items()}
    if on.device == "cpu":
        own = import_module("onnxruntime").OrtValue.ortvalue_from_numpy
        return Binding(on, {name: own(array) for name, array in inputs.items()}, outputs, held=inputs)
    return Binding(on, {name: on.buffer(array.shape, array.dtype) for name, array in inputs.items()}, outputs)
