"""A half-precision model computed in float: how far native is from what it stands for.

With the optimiser on and off a half graph often agrees bit for bit, and still each of its results is rounded to 11
bits. Its rounding noise is therefore its distance from the same graph in float, and never below the last place of its
outputs.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

from paddable.gates.engine import Array, Engine, EngineError, Source

__all__ = ["Widened", "last_place", "widen"]

_HALF = (onnx.TensorProto.FLOAT16, onnx.TensorProto.BFLOAT16)
_FLOAT = onnx.TensorProto.FLOAT


def last_place(array: Array) -> float:
    """Half of the last place of a half-precision type, relative to scale; 0 for other types."""
    if array.dtype == np.float16:
        return 2.0**-11
    return 2.0**-8 if array.dtype.name == "bfloat16" else 0.0


class Widened:
    """Native with every half tensor made a float one.

    Raises:
        EngineError: ONNX Runtime cannot load it.
    """

    def __init__(self, model: onnx.ModelProto) -> None:
        for graph in (model.graph, *model.functions):
            widen(graph, _HALF, _FLOAT)
        self._engine = Engine(model.SerializeToString(), where="native in float")

    @classmethod
    def of(cls, native: Source) -> Widened | None:
        """The widened model; None where it cannot be computed in float."""
        try:
            return cls(onnx.load(native) if isinstance(native, Path) else onnx.ModelProto.FromString(native))
        except EngineError:
            return None

    def run(self, feeds: dict[str, Array]) -> dict[str, Array]:
        """All outputs by name, for the feeds of native."""
        wanted = self._engine.dtypes
        return self._engine.run({name: value.astype(wanted[name], copy=False) for name, value in feeds.items()})


def widen(graph: onnx.GraphProto | onnx.FunctionProto, narrow: Container[int], wide: int) -> None:
    """Give tensors and values of the element types ``narrow`` the type ``wide``, in place, inner graphs too."""
    del graph.value_info[:]
    if isinstance(graph, onnx.GraphProto):
        for value in (*graph.input, *graph.output):
            if value.type.tensor_type.elem_type in narrow:
                value.type.tensor_type.elem_type = wide
        _widen_tensors(graph.initializer, narrow, wide)
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.name in ("to", "dtype") and attribute.i in narrow:
                attribute.i = wide
            _widen_tensors([attribute.t, *attribute.tensors], narrow, wide)
            for inner in (attribute.g, *attribute.graphs):
                if inner.node:
                    widen(inner, narrow, wide)


def _widen_tensors(tensors: Iterable[onnx.TensorProto], narrow: Container[int], wide: int) -> None:
    dtype = onnx.helper.tensor_dtype_to_np_dtype(wide)
    for tensor in tensors:
        if tensor.data_type in narrow:
            array = numpy_helper.to_array(tensor).astype(dtype)
            tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))
