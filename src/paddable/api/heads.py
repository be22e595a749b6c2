"""Heads of the attention layers of a graph, read from its shapes: what a softmax normalises is a product of queries and
keys, [.., heads, queries, head width] by [.., heads, head width, keys]."""

from __future__ import annotations

from collections import Counter

import onnx_ir as ir
from onnx_ir.passes import common

__all__ = ["attention_heads"]

_BETWEEN = {"Add", "Cast", "Div", "Identity", "Mul", "Where"}
"""Scale, mask and bias on the way from the product to the softmax."""


def attention_heads(model: ir.Model) -> list[dict[str, int]]:
    """``heads``, ``head_dim`` and ``layers`` of each kind of attention in the graph, in order of appearance."""
    found: Counter[tuple[int, int]] = Counter()
    graph = model.graph
    if any(value.shape is None for node in graph if node.op_type == "MatMul" for value in node.outputs):
        graph = common.ShapeInferencePass()(model.clone()).model.graph  # a graph that was written without them
    for node in graph:
        product = _product(node.inputs[0]) if node.op_type == "Softmax" else None
        query = None if product is None else product.inputs[0]
        if query is None or query.shape is None or len(query.shape) < 3:
            continue
        heads, width = query.shape[-3], query.shape[-1]
        if isinstance(heads, int) and isinstance(width, int):
            found[heads, width] += 1
    return [{"heads": heads, "head_dim": width, "layers": count} for (heads, width), count in found.items()]


def _product(value: ir.Value | None) -> ir.Node | None:
    """The matrix product of two computed values that ``value`` is made from."""
    while value is not None and (node := value.producer()) is not None:
        if node.op_type == "MatMul":
            return node
        if node.op_type not in _BETWEEN:
            return None
        computed = [
            v for v in node.inputs if v is not None and v.dtype != ir.DataType.BOOL and v.producer() is not None
        ]
        value = computed[0] if computed else None
    return None
