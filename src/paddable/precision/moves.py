"""Operators that only move numbers, and values with the same numbers in another place."""

from __future__ import annotations

from collections.abc import Mapping

import onnx_ir as ir

__all__ = ["MOVES", "is_fill", "moved_with"]

MOVES = {
    "Concat", "DepthToSpace", "Expand", "Flatten", "Gather", "GatherElements", "GatherND", "Identity", "Pad", "Reshape",
    "ScatterElements", "ScatterND", "Slice", "SpaceToDepth", "Split", "Squeeze", "Tile", "Transpose", "Unsqueeze",
    "Where",
}  # fmt: skip
"""Operators whose results are numbers of their inputs: they have the same range."""


def is_fill(node: ir.Node) -> bool:
    """Whether it puts a constant number into some places of what is computed, as a mask does."""
    if node.op_type != "Where":
        return False
    constants = [value.const_value for value in node.inputs[1:] if value is not None]
    return constants.count(None) == 1 and all(tensor is None or tensor.size == 1 for tensor in constants)


def moved_with(graph: ir.Graph, kept: Mapping[str, str]) -> dict[ir.Value, str]:
    """The values of these names, and those with the same numbers in another place, forward and back.

    A padded graph has values that native lacks, such as the selection behind one or the axes around a convolution.
    """
    found: dict[ir.Value, str] = {}
    values = [*graph.inputs, *(value for node in graph for value in node.outputs)]
    waiting = [(value, kept[str(value.name)]) for value in values if value.name in kept]
    while waiting:
        value, why = waiting.pop()
        if value in found:
            continue
        found[value] = why
        waiting += [(moved, why) for user, _ in value.uses() if user.op_type in MOVES for moved in user.outputs]
        producer = value.producer()
        if producer is not None and producer.op_type in MOVES:
            made = [
                v for v in producer.inputs if v is not None and v.dtype == ir.DataType.FLOAT and v.const_value is None
            ]
            waiting += [(made[0], why)] if len(made) == 1 else []  # of several, each may be the one
    return found
