"""Removes what the facts prove to do nothing: adding an all-zero mask, selecting by an all-true condition.

Exporters write a full attention mask even where nothing is masked; it costs a T x T tensor and two nodes in every
layer.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import onnx_ir as ir

from paddable.padding.facts.facts import Facts
from paddable.padding.facts.numbers import Face

__all__ = ["remove_neutral"]

# operator to neutral element and the operands in which it is neutral
_NEUTRAL = {
    "Add": (0, (0, 1)),
    "Sub": (0, (1,)),
    "Mul": (1, (0, 1)),
    "Div": (1, (1,)),
    "And": (1, (0, 1)),
    "Or": (0, (0, 1)),
}


def remove_neutral(graph: ir.Graph, facts: Mapping[str, Facts], kept: Collection[ir.Node]) -> int:
    """Bypass nodes whose result is one of their operands at every length.

    Args:
        graph: changed in place.
        facts: facts by value name.
        kept: nodes that must stay (those that have remedies).

    Returns:
        How many nodes were removed.
    """
    keep = set(kept)
    removed = 0
    for node in list(graph):
        if node in keep or node.domain or len(node.outputs) != 1 or node.outputs[0].is_graph_output():
            continue
        same = _operand_that_is_the_result(node, facts)
        if same is not None:
            node.outputs[0].replace_all_uses_with(same)
            graph.remove(node, safe=True)
            removed += 1
    return removed


def _operand_that_is_the_result(node: ir.Node, facts: Mapping[str, Facts]) -> ir.Value | None:
    result = facts.get(node.outputs[0].name or "")
    if result is None:
        return None
    if node.op_type == "Where":
        condition = _uniform(node.inputs[0], facts)
        chosen = None if condition is None else node.inputs[1 if condition else 2]
        return chosen if _same_shape(chosen, result, facts) else None
    if node.op_type not in _NEUTRAL or len(node.inputs) != 2:
        return None
    neutral, places = _NEUTRAL[node.op_type]
    for place in places:
        other = node.inputs[1 - place]
        if _uniform(node.inputs[place], facts) == neutral and _same_shape(other, result, facts):
            return other
    return None


def _uniform(value: ir.Value | None, facts: Mapping[str, Facts]) -> float | None:
    """The constant that every element equals, valid or padding, at every length."""
    if value is None:
        return None
    known = facts.get(value.name or "")
    if known is None:
        return None
    scalar = known.scalar
    if scalar is not None and scalar.is_constant and scalar.face is not Face.MIXED:
        return float(scalar.fraction)
    return None


def _same_shape(value: ir.Value | None, result: Facts, facts: Mapping[str, Facts]) -> bool:
    known = facts.get(value.name or "") if value is not None else None
    return known is not None and known.axes == result.axes and known.dtype == result.dtype
