"""Scales by one and shifts by zero, which one exporter folds away and another leaves."""

from __future__ import annotations

from collections import Counter

import onnx_ir as ir

from paddable.divergence.plain import Plain

__all__ = ["without_identities"]

_NEUTRAL = {"Add": 0.0, "Div": 1.0, "Mul": 1.0, "Sub": 0.0}


def without_identities(one: Plain, other: Plain) -> tuple[Plain, Plain]:
    """Both graphs without the nodes that change nothing. They stay where both graphs have as many scales and shifts by
    one number: there each has its partner, and it is the number that may differ.

    Args:
        one: the first graph.
        other: the second.
    """
    counts = [Counter(node.op_type for node in plain.nodes if _single(node) is not None) for plain in (one, other)]
    unlike = {kind for kind in _NEUTRAL if counts[0][kind] != counts[1][kind]}
    return _without(one, unlike), _without(other, unlike)


def _without(plain: Plain, kinds: set[str]) -> Plain:
    if not any(_copied(node, kinds) is not None for node in plain.nodes):
        return plain
    model = plain.model.clone()
    for node in list(model.graph):
        value = _copied(node, kinds)
        if value is not None:
            node.outputs[0].replace_all_uses_with(value)
            model.graph.remove(node, safe=True)
    return Plain(model)


def _copied(node: ir.Node, kinds: set[str]) -> ir.Value | None:
    """What a node passes on as it is; None where it computes or makes an output."""
    found = _single(node)
    if found is None or node.op_type not in kinds or node.outputs[0].is_graph_output():
        return None
    value, number = found
    if number != _NEUTRAL[node.op_type] or (node.op_type in ("Div", "Sub") and node.inputs[0] is not value):
        return None
    return value


def _single(node: ir.Node) -> tuple[ir.Value, float] | None:
    """What is scaled or shifted by one number, and the number; None for any other node, or where the number may add an
    axis."""
    if node.op_type not in _NEUTRAL or node.domain or len(node.inputs) != 2:
        return None
    for value, by in (node.inputs, node.inputs[::-1]):
        if value is None or by is None or by.const_value is None or value.const_value is not None:
            continue
        tensor = by.const_value
        rank = len(value.shape) if value.shape is not None else 0
        if tensor.size == 1 and tensor.dtype.is_floating_point() and len(tensor.shape) <= rank:
            return value, float(tensor.numpy().reshape(()))
    return None
