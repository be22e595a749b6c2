"""Shapes as ONNX's own inference knows them, computed without the weights."""

from __future__ import annotations

import onnx
import onnx_ir as ir

from paddable.graph.io.write import structure_proto

__all__ = ["Dim", "inferred_shapes"]

Dim = int | str | None
"""A size, a symbol, or nothing known."""

_READ_BELOW = 1024  # elements: constants that shape arithmetic may read


def inferred_shapes(model: ir.Model) -> dict[str, tuple[Dim, ...]]:
    """Dims of every value of the main graph whose rank is known, by name.

    What the file itself states about values inside the graph is not believed: exporters write the example's sizes
    there.
    """
    proto = structure_proto(model)
    del proto.graph.value_info[:]
    for value in model.graph.initializers.values():
        tensor = value.const_value
        if tensor is None or value.is_graph_input():
            continue
        if tensor.size <= _READ_BELOW:
            stored = ir.to_proto(tensor)
            stored.name = value.name or ""
            proto.graph.initializer.append(stored)
        else:
            dims = [int(dim) for dim in tensor.shape.numpy()]
            proto.graph.input.append(onnx.helper.make_tensor_value_info(value.name or "", int(tensor.dtype), dims))
    for output in proto.graph.output:
        output.type.tensor_type.ClearField("shape")
    try:
        graph = onnx.shape_inference.infer_shapes(proto, data_prop=True).graph
    except onnx.shape_inference.InferenceError:  # types that contradict each other: what is declared is still known
        graph = proto.graph
    constant = {name: value.shape for name, value in model.graph.initializers.items() if value.shape is not None}
    known: dict[str, tuple[Dim, ...]] = {name: tuple(shape.numpy()) for name, shape in constant.items()}
    inferred = {
        value.name: tuple(_dim(dim) for dim in value.type.tensor_type.shape.dim)
        for value in (*graph.input, *graph.value_info, *graph.output)
        if value.type.tensor_type.HasField("shape")
    }
    return known | inferred


def _dim(dim: onnx.TensorShapeProto.Dimension) -> Dim:
    return dim.dim_value if dim.HasField("dim_value") else dim.dim_param or None
