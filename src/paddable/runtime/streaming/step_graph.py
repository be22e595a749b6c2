"""One step graph on one execution provider. It holds no stream: streams bring the buffers of their state."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from paddable.bundle.state import STEP_METADATA_KEY, StepSpec
from paddable.errors import MisuseError, UnreadableError
from paddable.runtime.session.binding import Binding
from paddable.runtime.session.device_session import DeviceSession
from paddable.runtime.session.dtypes import DTYPES

if TYPE_CHECKING:
    import onnxruntime as ort

__all__ = ["BoundStep", "DeviceState", "StepGraph"]

DeviceState = dict[str, Any]  # state name to OrtValue, on the provider's device


class StepGraph:
    """A step graph, ready to be bound to the state of streams.

    Args:
        session: a session of a graph that ``export_step`` made; a bare ``onnxruntime.InferenceSession`` is taken to
            run on the CPU.

    Attributes:
        on: the session with its device.
        spec: its input, output and states, as the file's metadata declares them.
        dtype: element type of the ragged input.
        shape: shape of the ragged input.
        output_shape: shape of the ragged output of a full chunk.

    Raises:
        MisuseError: the file is not a step graph.
        UnreadableError: its declaration and its inputs or outputs do not agree.
    """

    def __init__(self, session: ort.InferenceSession | DeviceSession) -> None:
        self.on = session if isinstance(session, DeviceSession) else DeviceSession(session)
        bare = self.on.session
        text = bare.get_modelmeta().custom_metadata_map.get(STEP_METADATA_KEY)
        if text is None:
            raise MisuseError("the model is not a step graph", fix="export it for streaming")
        self.spec = StepSpec.from_json(text)
        inputs = {node.name: node for node in bare.get_inputs()}
        outputs = {node.name: node for node in bare.get_outputs()}
        self._check(set(inputs), set(outputs))
        self.dtype = DTYPES[inputs[self.spec.input].type]
        self.shape: tuple[int, ...] = tuple(inputs[self.spec.input].shape)
        output = outputs[self.spec.output]
        self.output_dtype, self.output_shape = DTYPES[output.type], tuple(output.shape)
        self._bindings = itertools.count(1)

    def state(self) -> DeviceState:
        """Buffers for one state, on the device, contents undefined."""
        return {item.name: self.on.buffer(item.shape, item.dtype) for item in self.spec.states}

    def bind(self, before: DeviceState, after: DeviceState) -> BoundStep:
        """The step that reads one set of buffers and writes another; the sets may belong to a graph beside this one."""
        return BoundStep(self, before, after, next(self._bindings))

    def _check(self, inputs: set[str], outputs: set[str]) -> None:
        spec = self.spec
        declared_in = {spec.input, "ilens", *(item.input_name for item in spec.states)}
        declared_out = {spec.output, f"{spec.output}_length", *(item.output_name for item in spec.states)}
        if odd := sorted((declared_in ^ inputs) | (declared_out ^ outputs)):
            raise UnreadableError(
                f"declared and actual inputs and outputs differ: {', '.join(odd)}",
                where=f"metadata {STEP_METADATA_KEY}",
                why="a state that is not carried restarts its layer at every chunk",
                fix="export the graph again",
            )


class BoundStep:
    """A step with fixed addresses: state never passes through the host, and a captured graph can be replayed.

    Made by ``StepGraph.bind``.
    """

    def __init__(self, graph: StepGraph, before: DeviceState, after: DeviceState, number: int) -> None:
        self._graph, on, spec = graph, graph.on, graph.spec
        inputs = {spec.input: on.buffer(graph.shape, graph.dtype), "ilens": on.buffer([1], np.int64)}
        outputs = {
            spec.output: on.buffer(graph.output_shape, graph.output_dtype),
            f"{spec.output}_length": on.buffer([1], np.int64),
        }
        self._binding = Binding(
            on,
            inputs | {item.input_name: before[item.name] for item in spec.states},
            outputs | {item.output_name: after[item.name] for item in spec.states},
            number,
        )
        self._chunk = np.zeros(graph.shape, graph.dtype)

    def run(self, x: NDArray[Any]) -> NDArray[Any]:
        """Run one chunk of 0 .. ``spec.steps`` valid steps: reads one state, writes the other.

        Args:
            x: the valid steps alone, of the graph's ``dtype``.

        Returns:
            The valid part of the output, an array of its own.

        Raises:
            PaddableError: ONNX Runtime failed; the message is its own.
        """
        return self._graph.on.exclusively(lambda: self._run(x))

    def warm_up(self, x: NDArray[Any]) -> None:
        """As ``run``, in each thread that will ever run it."""
        self._graph.on.in_each_thread(lambda: self._run(x))

    def _run(self, x: NDArray[Any]) -> NDArray[Any]:
        spec, valid = self._graph.spec, x.shape[self._graph.spec.axis]
        self._chunk[_span(spec.axis, valid)] = x  # what is left of the last chunk behind it changes nothing
        feeds: Mapping[str, NDArray[Any]] = {spec.input: self._chunk, "ilens": np.array([valid], np.int64)}
        self._binding.run(feeds)
        length = int(self._binding.read(f"{spec.output}_length")[0])
        return self._binding.read(spec.output)[_span(spec.output_axis, length)]


def _span(axis: int, size: int) -> tuple[slice, ...]:
    return (*(slice(None),) * axis, slice(0, size))
