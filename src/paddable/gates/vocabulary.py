"""Which integers are valid inputs: an input that indexes a table must stay inside it."""

from __future__ import annotations

import onnx_ir as ir

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


def index_limits(model: ir.Model) -> dict[str, int]:
    """For each input that is looked up in a constant table, the number of its rows; the smallest of several tables."""
    limits = {}
    for value in model.graph.inputs:
        found = _tables(value)
        if found:
            limits[value.name or ""] = min(found)
    return limits


def _tables(value: ir.Value) -> list[int]:
    found: list[int] = []
    seen: set[ir.Value] = set()
    stack = [value]
    while stack:
        current = stack.pop()
        if current in seen:
            continue
        seen.add(current)
        for use in current.uses():
            node = use.node
            if node.op_type == "Gather" and use.idx == 1 and node.inputs[0] is not None:
                shape = node.inputs[0].shape
                axis = node.attributes.get("axis")
                size = shape[int(axis.value) if axis is not None else 0] if shape is not None else None
                if isinstance(size, int):
                    found.append(size)
            elif node.op_type in _THROUGH:
                stack += node.outputs
    return found
