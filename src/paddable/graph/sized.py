"""What a model in half computes from sizes and constants alone, such as the angles of rotary positions.

A graph of fixed sizes holds it computed, as half rounds it, and computing in float takes that rounding back nowhere. So
where such a model is computed in float, these values are rounded where the file rounds them, computed or not.
"""

from __future__ import annotations

from collections.abc import Collection

import onnx_ir as ir

from paddable.graph.names import Names
from paddable.graph.types import know_types

__all__ = ["computed_in_half", "made_of_sizes", "round_to_half"]

_INTEGERS = {ir.DataType.INT32, ir.DataType.INT64}
_MOVES = {
    "Concat", "Expand", "Flatten", "Gather", "Identity", "Reshape", "Slice", "Split", "Squeeze", "Tile", "Transpose",
    "Unsqueeze", "Where",
}  # fmt: skip
"""They round nothing: all that they answer is half already."""


def made_of_sizes(model: ir.Model) -> set[str]:
    """Names of the values that are computed in half from shapes, lengths and constants alone.

    A length is an integer input without axes or with one.
    """
    typed = model.clone()
    know_types(typed)
    graph = typed.graph
    lengths = {
        value
        for value in graph.inputs
        if value.dtype in _INTEGERS and value.shape is not None and value.shape.rank() < 2
    }
    made = lengths | set(graph.initializers.values())
    found = set()
    for node in graph:
        if node.op_type in ("Shape", "Size") or made.issuperset(value for value in node.inputs if value is not None):
            made.update(node.outputs)
            if node.op_type not in _MOVES:
                found |= {str(value.name) for value in node.outputs if value.dtype == ir.DataType.FLOAT16}
    return found


def computed_in_half(model: ir.Model) -> set[str]:
    """Names of the values that nodes compute in half."""
    typed = model.clone()
    know_types(typed)
    return {str(value.name) for node in typed.graph for value in node.outputs if value.dtype == ir.DataType.FLOAT16}


def round_to_half(graph: ir.Graph, values: Collection[str]) -> None:
    """Let the readers of values in float read them as half holds them."""
    names = Names(graph)
    for node in list(graph):
        for value in node.outputs:
            if value.name not in values or value.is_graph_output():
                continue
            readers = [(use.node, use.idx) for use in value.uses()]
            narrow = ir.node("Cast", [value], attributes={"to": int(ir.DataType.FLOAT16)})
            wide = ir.node("Cast", narrow.outputs, attributes={"to": int(ir.DataType.FLOAT)})
            for cast, kind in ((narrow, ir.DataType.FLOAT16), (wide, ir.DataType.FLOAT)):
                cast.name = cast.outputs[0].name = names.fresh(f"{value.name}_rounded")
                cast.outputs[0].type, cast.outputs[0].shape = ir.TensorType(kind), value.shape
            for reader, position in readers:
                reader.replace_input_with(position, wide.outputs[0])
            graph.insert_after(node, [narrow, wide])
