"""Which axes have the same size at every length, as the operators say it.

The name of a dimension in a file is no proof: exporters, and people, give one name to axes that differ.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import TypeAlias

import onnx_ir as ir

__all__ = ["Sizes", "sizes_of_axes"]

Sizes: TypeAlias = Sequence[Hashable]

_KEEPS = {"BatchNormalization", "CumSum", "InstanceNormalization", "LayerNormalization", "LogSoftmax", "Softmax"}
"""Operators whose first output has the axes of their first input."""


def sizes_of_axes(
    graph: ir.Graph, declared: Mapping[str, Mapping[int, Hashable]], pointwise: Collection[str]
) -> dict[ir.Value, Sizes]:
    """Of values whose rank is known, what stands for the size of each axis: where the same does they are equally long.

    Args:
        graph: in topological order.
        declared: of each input, the declared lengths of its axes.
        pointwise: operators whose operands are spread over each other, element by element.
    """
    known: dict[ir.Value, Sizes] = {}
    for value in (value for value in graph.inputs if value.shape is not None):
        own = declared.get(value.name or "", {})
        known[value] = [
            size if isinstance(size, int) else own.get(axis, (value, axis))
            for axis, size in enumerate(value.shape or ())
        ]
    for value in graph.initializers.values():
        if value.const_value is not None:
            known[value] = [int(size) for size in value.const_value.shape.numpy()]
    for node in graph:
        found = _of_first_output(node, known, pointwise)
        for k, value in enumerate(node.outputs):
            sizes = found if k == 0 else None
            if sizes is None and value.shape is not None:
                sizes = [None] * value.shape.rank()
            if sizes is not None:
                known[value] = [(value, axis) if size is None else size for axis, size in enumerate(sizes)]
    return known


def _of_first_output(node: ir.Node, known: Mapping[ir.Value, Sizes], pointwise: Collection[str]) -> Sizes | None:
    """None where nothing is known; None for an axis of which nothing is."""
    given = [value for value in node.inputs if value is not None]
    if node.domain not in ("", "ai.onnx") or not given or not all(value in known for value in given):
        return None
    operands = [known[value] for value in given]
    first = operands[0]
    if node.op_type in pointwise:
        return _spread(operands)
    if node.op_type in _KEEPS:
        return first
    if node.op_type == "Transpose" and "perm" in node.attributes:
        return [first[axis] for axis in node.attributes["perm"].as_ints()]
    if node.op_type == "MatMul" and all(len(sizes) >= 2 for sizes in operands):
        return [*_spread([sizes[:-2] for sizes in operands]), first[-2], operands[1][-1]]
    if node.op_type == "Gather" and first:
        axis = (node.attributes["axis"].as_int() if "axis" in node.attributes else 0) % len(first)
        return [*first[:axis], *operands[1], *first[axis + 1 :]]
    return None


def _spread(operands: Sequence[Sizes]) -> Sizes:
    """The axes of what is spread over each other: an axis of one element takes the size of the others."""
    rank = max(map(len, operands))
    result: list[Hashable] = []
    for behind in range(rank, 0, -1):
        sizes = {sizes[-behind] for sizes in operands if len(sizes) >= behind} - {1}
        result.append(None if len(sizes) > 1 else next(iter(sizes), 1))
    return result
