"""Normalisations over all that follows the channels: which there are, and in double.

ONNX Runtime 1.32 computes ``x * a + (bias - mean * a)`` with ``a = scale / sqrt(variance + epsilon)``: of two numbers
whose difference is small. Over one step ``a`` is some 300 times the scale, and what the difference loses of ``x`` is
1e-4 of the answer where ``x`` is around 10. GroupNormalization, as ONNX defines it, takes the mean of the squares less
the square of the mean, which loses as much.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx_ir as ir

from paddable.graph.names import Names

__all__ = ["in_double", "normalisations"]

_DOUBLE = ir.DataType.DOUBLE


def normalisations(model: ir.Model) -> list[ir.Node]:
    """Every InstanceNormalization and GroupNormalization of a model, those in branches included."""
    kinds = ("InstanceNormalization", "GroupNormalization")
    return [node for graph in model.graphs() for node in graph if node.op_type in kinds and not node.domain]


def in_double(model: ir.Model) -> bool:
    """Write every one of them out in double, in place: subtract the mean first. What goes in and comes out keeps its
    type, which is that of the scale where the file does not say it.

    Returns:
        Whether there was any.
    """
    found, names = normalisations(model), Names(model.graph)
    version = model.graph.opset_imports.get("", 17)
    for node in found:
        assert isinstance(node.graph, ir.Graph)
        new, result = _written_out(node, version)
        for one in new:
            one.name = names.fresh(f"{node.name or node.op_type}_{one.op_type.lower()}")
            one.outputs[0].name = names.fresh(f"{one.name}_output")
        ir.convenience.replace_nodes_and_values(node.graph, node, [node], new, [node.outputs[0]], [result])
    return bool(found)


def _written_out(node: ir.Node, version: int) -> tuple[list[ir.Node], ir.Value]:
    new: list[ir.Node] = []

    def op(op_type: str, *inputs: ir.Value | None, **attributes: Any) -> ir.Value:
        new.append(ir.node(op_type, list(inputs), attributes))
        return new[-1].outputs[0]

    def constant(array: Any, dtype: Any) -> ir.Value:
        return op("Constant", value=ir.tensor(np.asarray(array, dtype)))

    def mean(value: ir.Value) -> ir.Value:
        if version >= 18:
            return op("ReduceMean", value, constant([2], np.int64), keepdims=1)
        return op("ReduceMean", value, axes=[2], keepdims=1)

    given = [value for value in node.inputs if value is not None]
    x, scale, bias = given
    groups = node.attributes["num_groups"].as_int() if node.op_type == "GroupNormalization" else 0
    epsilon = node.attributes["epsilon"].as_float() if "epsilon" in node.attributes else 1e-5
    shape, lines = op("Shape", x), constant([0, 0, -1], np.int64)  # [batch, channels, all that follows]
    rows = op("Reshape", op("Cast", x, to=_DOUBLE), constant([0, groups, -1], np.int64))
    centred = op("Sub", rows, mean(rows))
    deviation = op("Sqrt", op("Add", mean(op("Mul", centred, centred)), constant(epsilon, np.float64)))
    result = op("Div", centred, deviation)
    if groups and version >= 21:  # scale and bias are those of the channels, and before of the groups
        result = op("Reshape", op("Reshape", result, shape), lines)
    column = constant([-1, 1], np.int64)
    wide = [op("Reshape", op("Cast", value, to=_DOUBLE), column) for value in (scale, bias)]
    result = op("Reshape", op("Add", op("Mul", result, wide[0]), wide[1]), shape)
    known = next((value.dtype for value in given if value.dtype is not None), ir.DataType.FLOAT)
    return new, op("Cast", result, to=known)
