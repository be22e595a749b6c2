"""Which integers are valid inputs: an input that indexes a table must stay inside it."""

from __future__ import annotations

import onnx_ir as ir

from paddable.gates.signals import Numbers
from paddable.lengths import Length, constant
from paddable.padding.analysis import Analysis
from paddable.padding.deduce.scope import BATCH

__all__ = ["index_limits"]

_THROUGH = {
    "Cast",
    "Identity",
    "Reshape",
    "Squeeze",
    "Unsqueeze",
    "Transpose",
    "Expand",
    "Flatten",
    "Split",
    "Slice",
    "Where",
    "Concat",
    "Clip",
}


_SELECTS = {"Gather", "GatherElements", "GatherND"}
"""Operators that look up in their first input what their second one names."""


def index_limits(analysis: Analysis) -> Numbers:
    """For each input that indexes something, the sizes of the axes that it indexes: constants, or lengths."""
    limits = {}
    for value in analysis.model.graph.inputs:
        found = _indexed(value, analysis)
        if found:
            limits[value.name or ""] = found
    return Numbers(limits)


def _indexed(value: ir.Value, analysis: Analysis) -> list[Length]:
    found: dict[Length, None] = {}
    seen: set[ir.Value] = set()
    stack = [value]
    while stack:
        current = stack.pop()
        if current in seen:
            continue
        seen.add(current)
        for use in current.uses():
            node = use.node
            if node.op_type in _SELECTS and use.idx == 1 and node.inputs[0] is not None:
                found.update(dict.fromkeys(_sizes(node, node.inputs[0], current, analysis)))
            elif node.op_type in _THROUGH:
                stack += node.outputs
    return list(found)


def _sizes(node: ir.Node, source: ir.Value, indices: ir.Value, analysis: Analysis) -> list[Length]:
    """The sizes of the axes of ``source`` that are indexed; the batch is none of them."""
    facts = analysis.values.get(source.name or "")
    if facts is not None:
        known: list[object] = [facts.size(axis) for axis in range(facts.rank)]
    else:
        known = list(source.shape or ())
    if not known:
        return []

    def attribute(name: str) -> int:
        held = node.attributes.get(name)
        return int(held.value) if held is not None else 0

    axes = [attribute("axis") % len(known)]
    if node.op_type == "GatherND":
        depth = indices.shape[-1] if indices.shape is not None and indices.shape.rank() else 1
        first = attribute("batch_dims")
        axes = list(range(first, min(len(known), first + (depth if isinstance(depth, int) else 1))))
    lengths = [constant(size) if isinstance(size, int) else size for size in (known[axis] for axis in axes)]
    return [size for size in lengths if isinstance(size, Length) and BATCH not in size.symbols]
