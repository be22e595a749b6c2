"""Signed weights that are one reader's own, as a session wants them that makes them unsigned.

With the session entry ``session.x64quantprecision`` ONNX Runtime 1.32 writes the codes of a weight and its zeros a
second time, under a name that it makes of the first, for each node that reads them; and for each reader of a
DequantizeLinear, which it doubles before. The second of one name ends it. Where zeros are left out beside a scale for
each channel it puts one number, and ends too. Equal codes have one place in a data file, so these copies cost nothing
there.
"""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from paddable.graph.initialisers import add_initialiser
from paddable.graph.names import Names

__all__ = ["computes_signed", "give_own_codes"]

_READERS = {
    "DequantizeLinear": (0, 2), "DynamicQuantizeLSTM": (1, 2, 9, 11), "DynamicQuantizeMatMul": (1, 3),
    "MatMulInteger": (1, 3), "MatMulIntegerToFloat": (1, 5), "QAttention": (1, 7), "QGemm": (3, 5),
    "QLinearConv": (3, 5), "QLinearMatMul": (3, 5),
}  # fmt: skip
"""Where each operator has the codes of its weight, and its zeros."""


def computes_signed(node: ir.Node) -> bool:
    """Whether it is an operator for a product of signed codes with signed weights, which has no kernel once the weights
    alone are unsigned."""
    if node.op_type not in ("QGemm", "QLinearConv", "QLinearMatMul"):
        return False
    return all(value is not None and value.dtype == ir.DataType.INT8 for value in (node.inputs[2], node.inputs[5]))


def give_own_codes(model: ir.Model) -> bool:
    """Copy signed weights until each node of the main graph has its own; whether there was one to copy."""
    graph, names = model.graph, Names(model.graph)
    changed = False
    for node in [node for node in graph if node.op_type == "DequantizeLinear" and _is_weight(node)]:
        changed |= _with_zeros(graph, names, node)
        output = node.outputs[0]
        for user, at in list(output.uses())[0 if output.is_graph_output() else 1 :]:
            copy = ir.node(
                node.op_type, node.inputs, attributes=dict(node.attributes.items()), domain=node.domain,
                name=names.fresh(str(node.name)), metadata_props=dict(node.metadata_props),
            )  # fmt: skip
            made = copy.outputs[0]
            made.name, made.type, made.shape = names.fresh(str(output.name)), output.type, output.shape
            graph.insert_after(node, copy)
            user.replace_input_with(at, made)
            changed = True
    seen: set[ir.Value] = set()
    for node in graph:
        for at in _READERS.get(node.op_type, ()) if _is_weight(node) else ():
            value = node.inputs[at] if at < len(node.inputs) else None
            if value in seen and value is not None and value.const_value is not None:
                node.replace_input_with(at, add_initialiser(graph, names, str(value.name), value.const_value.numpy()))
                changed = True
            elif value is not None and _is_signed(value):
                seen.add(value)
    return changed


def _is_weight(node: ir.Node) -> bool:
    """Whether it reads a weight in signed codes."""
    places = _READERS.get(node.op_type, ())
    return any(at < len(node.inputs) and _is_signed(node.inputs[at]) for at in places[:1])


def _is_signed(value: ir.Value | None) -> bool:
    return value is not None and value.const_value is not None and value.const_value.dtype == ir.DataType.INT8


def _with_zeros(graph: ir.Graph, names: Names, node: ir.Node) -> bool:
    """Give a weight with a scale for each channel the zeros that are left out."""
    scale = node.inputs[1]
    shape = None if scale is None or scale.const_value is None else scale.const_value.shape.numpy()
    if not shape or (len(node.inputs) > 2 and node.inputs[2] is not None):
        return False
    node.resize_inputs(3)
    node.replace_input_with(2, add_initialiser(graph, names, f"{node.name}_zero", np.zeros(shape, np.int8)))
    return True
