"""A run at fixed addresses: inputs and outputs in buffers that stay on the device (ONNX Runtime's IO binding)."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddable.runtime.session.device_session import DeviceSession
from paddable.runtime.session.dtypes import DTYPES

__all__ = ["Binding", "bind_all"]


class Binding:
    """One way to run a session: these input buffers, those output buffers.

    A captured graph is replayed at the addresses that it was captured with, so each binding has a graph of its own.

    Args:
        on: the session.
        inputs: by name, an ``OrtValue`` on its device; all of them.
        outputs: by name, likewise.
        graph: number of the captured graph, different for each binding of a session.
    """

    def __init__(
        self, on: DeviceSession, inputs: Mapping[str, Any], outputs: Mapping[str, Any], graph: int = 0
    ) -> None:
        self.inputs, self.outputs, self._on = inputs, outputs, on
        self._bound = on.session.io_binding()
        for name, value in inputs.items():
            self._bound.bind_ortvalue_input(name, value)
        for name, value in outputs.items():
            self._bound.bind_ortvalue_output(name, value)
        self._options = import_module("onnxruntime").RunOptions()
        if on.captured:
            self._options.add_run_config_entry("gpu_graph_id", str(graph))

    def run(self, feeds: Mapping[str, NDArray[Any]]) -> None:
        """Copy ``feeds`` into their buffers and run; other inputs are read as they are. Call it ``exclusively``."""
        for name, array in feeds.items():
            self.inputs[name].update_inplace(np.ascontiguousarray(array))
        self._on.session.run_with_iobinding(self._bound, self._options)

    def read(self, name: str) -> NDArray[Any]:
        """An output of the last run, as an array of its own."""
        return self._on.read(self.outputs[name])


def bind_all(on: DeviceSession) -> Binding | None:
    """Buffers for everything that the graph takes and gives; None where a shape is open or a type has no buffer."""
    takes, gives = on.session.get_inputs(), on.session.get_outputs()
    for node in (*takes, *gives):
        if DTYPES.get(node.type, np.dtype(object)) == np.object_ or not all(
            isinstance(size, int) for size in node.shape
        ):
            return None
    inputs, outputs = (
        {node.name: on.buffer(node.shape, DTYPES[node.type]) for node in side} for side in (takes, gives)
    )
    return Binding(on, inputs, outputs)
