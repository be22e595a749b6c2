"""An If becomes part of the graph that it stands in: one branch where its condition is decided, otherwise both.

With both, a Where selects: it reads the condition at run time, for each row its own. That is native's answer where the
branches make equal shapes and neither can stop where it is not taken, which the interpreter checks (`rules/choice.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import onnx_ir as ir

from paddable.graph.names import Names
from paddable.graph.prepare.normalise import bodies, normalise

__all__ = ["in_branch", "inline", "inline_alike", "inline_both", "inline_branch", "selects"]

_SELECTS = "paddable.selects"
_IN_BRANCH = "paddable.in_branch"


def inline(model: ir.Model, node: ir.Node, taken: str) -> None:
    """One branch of an If, by its attribute's name, or both where there is no name, in its place."""
    if taken:
        inline_branch(model, node, node.attributes[taken].as_graph())
    else:
        inline_both(model, node)


def inline_alike(model: ir.Model, branches: Mapping[str, str]) -> None:
    """Does to the Ifs of a model in plain form what an analysis of it did, in its order; see ``Analysis.branches``."""
    for name, taken in branches.items():
        node = next((node for node in model.graph if node.op_type == "If" and node.name == name), None)
        if node is not None:
            inline(model, node, taken)
            normalise(model)


def inline_branch(model: ir.Model, node: ir.Node, branch: ir.Graph) -> None:
    """Puts the body of a branch in the place of its If node, once the condition is decided.

    Values that the branch captures stay what they are. Names that clash are replaced; outputs of the graph keep theirs.

    Args:
        model: the model, changed in place.
        node: an If node, at any depth.
        branch: its ``then_branch`` or ``else_branch``.
    """
    names = _let_go(model, node)
    _replace(node, _take_out(node, branch, names), names)


def inline_both(model: ir.Model, node: ir.Node) -> None:
    """Puts the bodies of both branches in the place of their If node, and a Where for each of its outputs.

    Args:
        model: the model, changed in place.
        node: an If node of the main graph; its condition has one element.
    """
    graph, condition = node.graph, node.inputs[0]
    assert graph is not None and condition is not None
    branches = [node.attributes[name].as_graph() for name in ("then_branch", "else_branch")]
    for branch in branches:
        for inner in ir.traversal.RecursiveGraphIterator(branch):
            inner.meta[_IN_BRANCH] = True
    names = _let_go(model, node)
    then, other = (_take_out(node, branch, names) for branch in branches)
    if condition.shape is None or condition.shape.rank():  # an If also takes a condition of shape [1]
        scalar = ir.node("Squeeze", [condition], name=names.fresh("condition"))
        graph.insert_before(node, scalar)
        condition = _named(scalar, names)
    results = []
    for old, taken, left in zip(node.outputs, then, other, strict=True):
        select = ir.node("Where", [condition, taken, left], name=names.fresh(f"{old.name}_select"))
        select.meta[_SELECTS] = True
        select.metadata_props.update(node.metadata_props)
        graph.insert_before(node, select)
        results.append(_named(select, names))
    _replace(node, results, names)


def in_branch(node: ir.Node) -> bool:
    """Whether native computes a node only where it takes the branch that the node was in."""
    return bool(node.meta.get(_IN_BRANCH))


def selects(node: ir.Node) -> bool:
    """Whether a node stands for an If: its operands may not be broadcast."""
    return bool(node.meta.get(_SELECTS))


def _named(node: ir.Node, names: Names) -> ir.Value:
    node.outputs[0].name = names.fresh(node.name or node.op_type)
    return node.outputs[0]


def _let_go(model: ir.Model, node: ir.Node) -> Names:
    """Part a node from its branches, so that their names are free; the names that are left in use."""
    for name in [name for name, attribute in node.attributes.items() if attribute.type == ir.AttributeType.GRAPH]:
        node.attributes.pop(name)
    return Names(model.graph)


def _take_out(node: ir.Node, branch: ir.Graph, names: Names) -> list[ir.Value]:
    """Moves what a branch holds before a node of the outer graph; the values that the branch returned."""
    graph = node.graph
    assert graph is not None and not branch.inputs
    results = list(branch.outputs)
    body = list(branch)
    initialisers = list(branch.initializers.values())
    branch.outputs.clear()
    branch.remove(body)
    branch.initializers.clear()
    _rename(initialisers, body, names)
    for value in initialisers:
        graph.register_initializer(value)
    graph.insert_before(node, body)
    return results


def _replace(node: ir.Node, results: Sequence[ir.Value], names: Names) -> None:
    """Removes a node; its outputs are these values from then on."""
    graph = node.graph
    assert graph is not None
    for old, new in zip(node.outputs, results, strict=True):
        if old.is_graph_output():
            copy = ir.node("Identity", [new], name=names.fresh(f"{old.name}_copy"))
            graph.insert_before(node, copy)
            result, kept = copy.outputs[0], old.name
            result.type, result.shape = old.type, old.shape
            old.replace_all_uses_with(result, replace_graph_outputs=True)
            old.name, result.name = None, kept
        else:
            old.replace_all_uses_with(new)
    graph.remove(node, safe=True)


def _rename(values: Iterable[ir.Value], nodes: Iterable[ir.Node], names: Names) -> None:
    """Give values, nodes, what the nodes make, and all of that in the graphs that they hold, names of their own."""
    for value in values:
        value.name = names.fresh(value.name or "value")
    for node in nodes:
        node.name = names.fresh(node.name or node.op_type)
        for output in node.outputs:
            if output.name:
                output.name = names.fresh(output.name)
        for nested in bodies(node):
            _rename((*nested.inputs, *nested.initializers.values()), nested, names)
