"""One plain form for every exporter's graph, so that rules meet each idea in one spelling.

After `normalise`: no local functions, every constant is an initialiser (but for those that are outputs themselves), no
Identity nor inference Dropout that names the same value twice, no Clip with computed bounds, nothing unused,
topological order, names unique.
"""

from __future__ import annotations

import onnx_ir as ir
from onnx_ir.passes import common

from paddable.errors import RefusedError

__all__ = ["OpenClipPass", "RemoveCopiesPass", "bodies", "captured", "normalise", "reads"]


def normalise(model: ir.Model) -> ir.Model:
    """Brings a model into plain form, in place.

    Args:
        model: any model from `read_model`.

    Returns:
        The same object.

    Raises:
        RefusedError: a local function that cannot be inlined.
    """
    try:
        model = common.InlinePass()(model).model
    except (ValueError, RuntimeError, ir.passes.InvariantError, ir.passes.PassError) as error:
        raise RefusedError(
            f"a local function cannot be inlined: {error.__cause__ or error}",
            fix="export the model for one opset, without recursive functions",
        ) from error
    plain = ir.passes.Sequential(
        common.TopologicalSortPass(),
        common.LiftConstantsToInitializersPass(lift_all_constants=True, size_limit=0),
        RemoveCopiesPass(),
        OpenClipPass(),
        common.RemoveUnusedNodesPass(),
        common.RemoveUnusedFunctionsPass(),  # type: ignore[no-untyped-call]
        common.RemoveUnusedOpsetsPass(),
        common.NameFixPass(),
    )
    return plain(model).model


class RemoveCopiesPass(ir.passes.InPlacePass):
    """Removes Identity and inference Dropout: their output becomes their input.

    Requires: topological order. Ensures: outputs keep their names; a copy stays only where an output needs it for its
    name (the input is itself a graph input, an initialiser, another output, or a value of an outer graph).

    (onnx_ir's own pass renames a value that is already an output, and lets a branch return a value of the outer graph.)
    """

    def call(self, model: ir.Model) -> ir.passes.PassResult:
        modified = False
        for node in ir.traversal.RecursiveGraphIterator(model.graph):
            if _is_copy(node):
                modified |= _bypass(node)
        return ir.passes.PassResult(model, modified)


def _is_copy(node: ir.Node) -> bool:
    if node.domain or not node.inputs or node.inputs[0] is None:
        return False
    if node.op_type == "Identity":
        return True
    if node.op_type != "Dropout" or any(mask.uses() or mask.is_graph_output() for mask in node.outputs[1:]):
        return False
    training = node.inputs[2] if len(node.inputs) > 2 else None  # absent before opset 12: inference
    if training is None:
        return True
    tensor = training.const_value
    return tensor is not None and not tensor.numpy().any()


def _bypass(node: ir.Node) -> bool:
    before, after, graph = node.inputs[0], node.outputs[0], node.graph
    assert before is not None and graph is not None  # `_is_copy`; a walk meets only nodes of graphs
    if after.is_graph_output():
        producer = before.producer()
        if producer is None or producer.graph is not graph or before.is_graph_output():
            return False
        name = after.name
        before.type, before.shape = before.type or after.type, before.shape or after.shape
        after.replace_all_uses_with(before, replace_graph_outputs=True)
        after.name, before.name = None, name
    else:
        after.replace_all_uses_with(before)
    graph.remove(node, safe=True)
    return True


class OpenClipPass(ir.passes.InPlacePass):
    """Writes a Clip with computed bounds as Max and Min: its bounds are scalars, and each row may need its own.

    Requires: constants are initialisers.
    """

    def call(self, model: ir.Model) -> ir.passes.PassResult:
        modified = False
        for node in ir.traversal.RecursiveGraphIterator(model.graph):
            bounds = node.inputs[1:]
            if node.op_type == "Clip" and not node.domain and any(b is not None and b.producer() for b in bounds):
                _open(node)
                modified = True
        return ir.passes.PassResult(model, modified)


def _open(node: ir.Node) -> None:
    graph, result, value = node.graph, node.outputs[0], node.inputs[0]
    assert graph is not None and value is not None
    parts = []
    for operator, bound in zip(("Max", "Min"), node.inputs[1:], strict=False):
        if bound is not None:
            part = ir.node(operator, [value, bound], name=node.name, doc_string=node.doc_string)
            part.metadata_props.update(node.metadata_props)
            parts.append(part)
            value = part.outputs[0]
            value.type, value.shape = result.type, result.shape
    ir.convenience.replace_nodes_and_values(graph, node, [node], parts, [result], [value])


def captured(node: ir.Node) -> tuple[ir.Value, ...]:
    """Values of outer graphs that the node's branches read: inputs of the node that ``node.inputs`` does not list.

    Every walk over a graph (uses, dependence, dead code, folding) must count them. In order of first use, each once.
    """
    nested: set[ir.Graph | ir.Function | None] = set()
    found: dict[ir.Value, None] = {}
    for branch in bodies(node):
        nested.update((branch, *branch.subgraphs()))
    for branch in bodies(node):
        for inner in ir.traversal.RecursiveGraphIterator(branch):
            for value in inner.inputs:
                if value is not None and value.graph not in nested:
                    found[value] = None
    return tuple(found)


def reads(node: ir.Node) -> tuple[ir.Value, ...]:
    """Every value that the node depends on: its inputs that are given, then what its branches capture."""
    return (*(value for value in node.inputs if value is not None), *captured(node))


def bodies(node: ir.Node) -> list[ir.Graph]:
    """The graphs that a node holds: the branches of an If, the body of a Loop."""
    found: list[ir.Graph] = []
    for attribute in node.attributes.values():
        if attribute.is_ref():
            continue
        if attribute.type == ir.AttributeType.GRAPH:
            found.append(attribute.as_graph())
        elif attribute.type == ir.AttributeType.GRAPHS:
            found.extend(attribute.as_graphs())
    return found
