"""Fix of DML130."""

from __future__ import annotations

import onnx_ir as ir

from paddable.linter.fix import Found, GraphFix
from paddable.linter.view.light import graph_at
from paddable.providers.directml.placement import Placement
from paddable.providers.directml.rules.island_split_by_order import IslandSplitByOrder, better_order

__all__ = ["ReorderNodes"]


class ReorderNodes(GraphFix[Placement]):
    """Lists what leads to a node that is not fused in front of what does not."""

    rule = IslandSplitByOrder
    exact = True  # the same nodes, each still behind those that it reads

    def mend(self, model: ir.Model, found: Found[Placement]) -> None:
        for site, _ in found:
            graph = graph_at(model, site.view)
            order = better_order(site.placement)
            assert order is not None  # else there is no match
            _list(graph, [graph[node.index] for node in order])


def _list(graph: ir.Graph, order: list[ir.Node]) -> None:
    """Bring the nodes into an order. Those that it leaves out, such as constants, stand before their first reader."""
    nodes = list(graph)
    listed: dict[ir.Node, None] = {}
    stack = [*reversed(nodes), *reversed(order)]
    while stack:
        node = stack[-1]
        missing = [parent for parent in node.predecessors() if parent.graph is graph and parent not in listed]
        if missing and node not in listed:
            stack += missing
        else:
            listed.setdefault(stack.pop())
    graph.remove(nodes)
    graph.extend(listed)
