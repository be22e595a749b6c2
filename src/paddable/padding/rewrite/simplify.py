"""Two passes that make a graph smaller and leave every answer as it is: they remove what does nothing or is equal."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import onnx_ir as ir
from onnx_ir.passes import common

from paddable.graph.names import Names
from paddable.padding.facts.facts import Facts
from paddable.padding.facts.numbers import Face

__all__ = ["MergeEqualPass", "RemoveNeutralPass"]

# operator to neutral element and the operands in which it is neutral
_NEUTRAL = {
    "Add": (0, (0, 1)),
    "Sub": (0, (1,)),
    "Mul": (1, (0, 1)),
    "Div": (1, (1,)),
    "And": (1, (0, 1)),
    "Or": (0, (0, 1)),
}


class RemoveNeutralPass(ir.passes.InPlacePass):
    """Bypasses nodes that the facts prove to do nothing: adding an all-zero mask, selecting by an all-true condition.

    Exporters write a full attention mask even where nothing is masked; it costs a T x T tensor and two nodes in every
    layer.

    Requires: facts of this very graph, before any remedy is in it.
    Ensures: every value that is left has the contents that it had, at every length, valid or padding.
    Modifies: removes nodes of the main graph; outputs keep their producers.

    Args:
        facts: facts by value name.
        kept: nodes that must stay (those that have remedies).
    """

    def __init__(self, facts: Mapping[str, Facts], kept: Collection[ir.Node]) -> None:
        super().__init__()
        self._facts, self._kept = facts, frozenset(kept)

    def call(self, model: ir.Model) -> ir.passes.PassResult:
        modified = False
        for node in list(model.graph):
            if node in self._kept or node.domain or node.outputs[0].is_graph_output():
                continue
            same = _operand_that_is_the_result(node, self._facts)
            if same is not None:
                node.outputs[0].replace_all_uses_with(same)
                model.graph.remove(node, safe=True)
                modified = True
        return ir.passes.PassResult(model, modified)


class MergeEqualPass(ir.passes.InPlacePass):
    """Merges nodes with the same operator, attributes and inputs: two remedies may ask for one comparison.

    Requires: topological order.
    Ensures: outputs keep their names, and every value that is read has one.
    Modifies: removes nodes of the main graph, and redirects their readers, in branches too.

    The work is onnx_ir's. Of two recurrent operators, one read for its sequence and one for its state, it gives readers
    an output that had no name, since nobody read it.
    """

    def call(self, model: ir.Model) -> ir.passes.PassResult:
        result = common.CommonSubexpressionEliminationPass()(model)
        if result.modified:
            names = Names(model.graph)
            for value in (output for node in model.graph for output in node.outputs):
                if not value.name and value.uses():
                    value.name = names.fresh("merged")
        return result


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
