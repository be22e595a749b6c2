"""A model that computes in half, computing in fp32: what measures and changes weights and products knows no other."""

from __future__ import annotations

import onnx_ir as ir

from paddable.graph.lift import HALF, lift
from paddable.graph.names import Names
from paddable.graph.sized import computed_in_half, made_of_sizes, round_to_half
from paddable.precision.int8 import LEAST

__all__ = ["widened"]

FLOAT = ir.DataType.FLOAT


def widened(model: ir.Model, *, rounded: bool = False) -> ir.Model:
    """A copy in which every value is fp32; the model itself where no value is half.

    What is made of sizes alone is rounded as before: padding may have computed it, in half, when sizes were fixed.

    Args:
        model: it is not changed.
        rounded: every value is rounded as before, which is half as ONNX defines it on a provider without half kernels.

    Inputs and outputs keep their types, behind a Cast. Weights stay in half as they are stored, in front of one:
    a file gets no larger, and ONNX Runtime casts them once, when it opens.
    """
    made = model.clone()
    graph = made.graph
    given = {value: value.dtype for value in graph.inputs if value.dtype in HALF}
    asked = {position: value.dtype for position, value in enumerate(graph.outputs) if value.dtype in HALF}
    weights = {
        value: tensor
        for value in graph.initializers.values()
        if (tensor := value.const_value) is not None
        and tensor.dtype in HALF
        and len(tensor.shape) > 1
        and tensor.size >= LEAST
    }
    values = computed_in_half(model) if rounded else made_of_sizes(model)
    if not lift(made, forget=False):
        return model
    round_to_half(graph, values)
    names = Names(graph)
    for value, kind in given.items():
        value.type = ir.TensorType(kind or FLOAT)
    for value, tensor in weights.items():
        value.const_value, value.type = tensor, ir.TensorType(tensor.dtype)
    for value in [*given, *(value for value in weights if value not in given)]:
        _cast(graph, names, value)
    for position, kind in asked.items():
        value = graph.outputs[position]
        name = str(value.name)
        value.name = names.fresh(f"{name}_wide")
        cast = ir.node("Cast", [value], attributes={"to": int(kind or FLOAT)}, name=names.fresh(f"{name}_narrow"))
        cast.outputs[0].name, cast.outputs[0].shape = name, value.shape
        cast.outputs[0].type = ir.TensorType(kind or FLOAT)
        graph.outputs[position] = cast.outputs[0]
        graph.append(cast)
    return made


def _cast(graph: ir.Graph, names: Names, value: ir.Value) -> None:
    """Whoever reads a half value reads it behind a Cast to fp32."""
    readers = [(use.node, use.idx) for use in value.uses()]
    cast = ir.node("Cast", [value], attributes={"to": int(FLOAT)}, name=names.fresh(f"{value.name}_wide"))
    result = cast.outputs[0]
    result.name, result.shape, result.type = str(cast.name), value.shape, ir.TensorType(FLOAT)
    for reader, position in readers:
        reader.replace_input_with(position, result)
    graph.insert_before(graph[0], cast)
