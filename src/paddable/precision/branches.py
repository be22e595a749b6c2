"""Branches that no example takes: what a model computes there was never heard, though both sides are computed.

An If is inlined as both of its branches and a Where that selects. What the side that is not selected holds is made of
inputs that it is not meant for, so its range and what fewer bits do to it say nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterator

import onnx_ir as ir

from paddable.graph.prepare.normalise import captured, reads

__all__ = ["UNHEARD", "selections", "side_of", "unheard"]

UNHEARD = "is in a branch that no example takes"

_SIZES = {"Shape", "Size"}


def selections(graph: ir.Graph) -> Iterator[tuple[ir.Node, int]]:
    """The nodes that select one of two answers by what is computed, and where each answer that is computed comes in."""
    for node in graph:
        condition = node.inputs[0] if node.op_type == "Where" else None
        if condition is not None and condition.const_value is None:
            for position in (1, 2):
                value = node.inputs[position]
                if value is not None and value.producer() is not None:
                    yield node, position


def side_of(node: ir.Node, position: int) -> str:
    """What the observation of a selection is called that some of its second or third input was taken."""
    return f"{node.outputs[0].name}\ttakes {position}"


def unheard(graph: ir.Graph, taken: Container[str], *, by_numbers: bool) -> list[ir.Node]:
    """The nodes whose answers nobody reads on any example.

    Args:
        graph: native's.
        taken: the sides, as ``side_of`` calls them, that some example takes.
        by_numbers: only where a selection hangs on numbers of an input, and not on its length alone.
    """
    left = {
        (node, position)
        for node, position in selections(graph)
        if side_of(node, position) not in taken and (not by_numbers or _hangs_on_numbers(node))
    }
    if not left:
        return []
    heard = _read(graph, left)
    read = _read(graph, ())
    return [node for node in graph if node in read and node not in heard]


def _read(graph: ir.Graph, left: Collection[tuple[ir.Node, int]]) -> set[ir.Node]:
    """The nodes that outputs are made of, but for what these inputs of nodes alone read."""
    found: set[ir.Node] = set()
    waiting = [value.producer() for value in graph.outputs]
    while waiting:
        node = waiting.pop()
        if node is not None and node not in found:
            found.add(node)
            inputs = [value for at, value in enumerate(node.inputs) if value is not None and (node, at) not in left]
            waiting += [value.producer() for value in (*inputs, *captured(node))]
    return found


def _hangs_on_numbers(node: ir.Node) -> bool:
    """Whether the condition of a selection is made of numbers of an input."""
    seen: set[ir.Node] = set()
    waiting = [node.inputs[0]]
    while waiting:
        value = waiting.pop()
        if value is not None and value.is_graph_input():
            return True
        producer = None if value is None else value.producer()
        if producer is not None and producer not in seen and producer.op_type not in _SIZES:
            seen.add(producer)
            waiting += reads(producer)
    return False
