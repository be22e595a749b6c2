"""One step graph on one execution provider. It holds no stream: streams bring their state and take the next one."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from paddable.bundle.state import STEP_METADATA_KEY, StepSpec
from paddable.errors import Misuse, PaddableError, Unreadable

if TYPE_CHECKING:
    import onnxruntime as ort

__all__ = ["DeviceState", "StepGraph"]

DeviceState = dict[str, Any]  # state name to OrtValue, on the provider's device

_DEVICES = {"CUDAExecutionProvider": "cuda", "DmlExecutionProvider": "dml"}
_ELEMENTS = {"tensor(float)": "float32", "tensor(float16)": "float16", "tensor(double)": "float64"} | {
    f"tensor({name})": name for name in ("int8", "int16", "int32", "int64", "uint8", "bool")
}


class StepGraph:
    """Runs chunks of a step graph; state stays on the device from one chunk to the next.

    Args:
        session: an ``onnxruntime.InferenceSession`` of a graph that ``export_step`` made.

    Attributes:
        spec: its input, output and states, as the file's metadata declares them.
        dtype: element type of the ragged input.
        shape: shape of the ragged input.

    Raises:
        Misuse: the file is no step graph.
        Unreadable: its declaration and its inputs or outputs do not agree.
    """

    def __init__(self, session: ort.InferenceSession) -> None:
        text = session.get_modelmeta().custom_metadata_map.get(STEP_METADATA_KEY)
        if text is None:
            raise Misuse("the model is no step graph", fix="export it for streaming")
        self.spec = StepSpec.from_json(text)
        self._session, self._lock = session, threading.Lock()
        self._device = _DEVICES.get(session.get_providers()[0], "cpu")
        inputs = {node.name: node for node in session.get_inputs()}
        self._check(set(inputs), {node.name for node in session.get_outputs()})
        self.dtype = np.dtype(_ELEMENTS[inputs[self.spec.input].type])
        self.shape: tuple[int, ...] = tuple(inputs[self.spec.input].shape)

    def initial(self) -> DeviceState:
        """The state at the start of a stream, on the device."""
        return self.to_device(self.spec.states.initial())

    def to_device(self, state: dict[str, NDArray[Any]]) -> DeviceState:
        """State arrays to values on the device."""
        import onnxruntime as ort

        return {name: ort.OrtValue.ortvalue_from_numpy(value, self._device, 0) for name, value in state.items()}

    def run(self, x: NDArray[Any], state: DeviceState) -> tuple[NDArray[Any], DeviceState]:
        """Run one chunk of 0 .. ``spec.steps`` valid steps; ``state`` is left as it is.

        Args:
            x: the valid steps alone, of ``dtype``.
            state: of this stream, after the chunk before.

        Returns:
            The valid part of the output, and the next state.

        Raises:
            PaddableError: ONNX Runtime failed; the message is its own.
        """
        spec, valid = self.spec, x.shape[self.spec.axis]
        chunk = np.zeros(self.shape, self.dtype)
        chunk[_span(spec.axis, valid)] = x
        binding = self._session.io_binding()
        binding.bind_cpu_input(spec.input, chunk)
        binding.bind_cpu_input("ilens", np.array([valid], np.int64))
        binding.bind_output(spec.output, "cpu")
        binding.bind_output(f"{spec.output}_length", "cpu")
        for item in spec.states:
            binding.bind_ortvalue_input(item.input_name, state[item.name])
            binding.bind_output(item.output_name, self._device)
        try:
            with self._lock:
                self._session.run_with_iobinding(binding)
        except Exception as error:
            raise PaddableError(f"onnxruntime: {str(error).strip().splitlines()[0]}") from error
        output, length, *after = binding.get_outputs()
        part = _span(spec.output_axis, int(length.numpy()[0]))
        return output.numpy()[part], {item.name: value for item, value in zip(spec.states, after, strict=True)}

    def _check(self, inputs: set[str], outputs: set[str]) -> None:
        spec = self.spec
        declared_in = {spec.input, "ilens", *(item.input_name for item in spec.states)}
        declared_out = {spec.output, f"{spec.output}_length", *(item.output_name for item in spec.states)}
        if odd := sorted((declared_in ^ inputs) | (declared_out ^ outputs)):
            raise Unreadable(
                f"declared and actual inputs and outputs differ: {', '.join(odd)}",
                where=f"metadata {STEP_METADATA_KEY}",
                why="a state that is not carried restarts its layer at every chunk",
                fix="export the graph again",
            )


def _span(axis: int, size: int) -> tuple[slice, ...]:
    return (*(slice(None),) * axis, slice(0, size))
