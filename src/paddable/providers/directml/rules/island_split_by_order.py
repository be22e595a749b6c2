"""DML130."""

from __future__ import annotations

from collections.abc import Iterator

from paddable.linter.evidence import reported
from paddable.linter.rule import Match, Rule
from paddable.linter.site import Site
from paddable.linter.view.graph import NodeView
from paddable.providers.directml.islands import gather_islands, listed_by_depth
from paddable.providers.directml.placement import Placement

__all__ = ["IslandSplitByOrder", "better_order"]


class IslandSplitByOrder(Rule[Placement]):
    """## What it does
    Finds a graph that is cut into more fused graphs than it has to be, by nothing but the order of its nodes.

    ## Why is this bad
    A node that cannot be fused (an LSTM, a node on the CPU) closes the fused graph that it reads from. Nodes that the
    runtime visits later and that do not depend on it start another one, though they could have been in the first.
    Every extra piece costs a dispatch and a barrier.

    ## Example
    an LSTM branch that the file lists behind a branch of convolutions

    ## Use instead
    The runtime visits nodes backwards from the last one: list the branch that holds the LSTM first.

    ## Fix safety
    Exact: the same nodes in another topological order.
    """

    code = "DML130"
    name = "island-split-by-order"
    severity = "note"
    evidence = (
        reported("GraphPartitioner.cpp of onnxruntime 1.24, and the order of GraphViewer; predicted, not measured"),
    )
    VALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
        agraph (float[5, 1, 2] x, float[1, 12, 2] w, float[1, 12, 3] r) => (float[5, 1, 1, 3] y, float[5, 1, 2] z) {
            a = Relu(x)
            y = LSTM<hidden_size: int = 3>(a, w, r)
            z = Tanh(a)
        }""",
        """<ir_version: 10, opset_import: ["" : 18]>
        agraph (float[5, 1, 2] x) => (float[5, 1, 2] y, float[5, 1, 2] z) {
            a = Relu(x)
            z = Tanh(a)
            y = Neg(a)
        }""",
    )
    INVALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
        agraph (float[5, 1, 2] x, float[1, 12, 2] w, float[1, 12, 3] r) => (float[5, 1, 1, 3] y, float[5, 1, 2] z) {
            a = Relu(x)
            z = Tanh(a)
            y = LSTM<hidden_size: int = 3>(a, w, r)
        }""",
        """<ir_version: 10, opset_import: ["" : 18]>
        agraph (float[5, 1, 2] x, float[1, 6, 2] w, float[1, 6, 2] r) => (float[5, 1, 2] z, float[5, 1, 2] y)
            <int64[1] one = {1}> {
            a = Relu(x)
            t = Tanh(a)
            z = Neg(t)
            l = GRU<hidden_size: int = 2>(a, w, r)
            y = Squeeze(l, one)
        }""",
    )

    def check(self, site: Site[Placement]) -> Iterator[Match]:
        placement = site.placement
        order = better_order(placement)
        if order is None:
            return
        fewest = len(gather_islands(site.view.in_runtime_order(order), placement.fused))
        yield Match(
            f"{len(placement.islands)} fused graphs in the order of the file, {fewest} in another order",
            "list what leads to a node that is not fused in front of what does not",
            next(placed.node for placed in placement.nodes if placed.node.index not in placement.fused),
        )


def better_order(placement: Placement) -> list[NodeView] | None:
    """The nodes in an order of the file with fewer fused graphs; None where ours has no fewer."""
    if len(placement.islands) < 2 or len(placement.fused) == len(placement.nodes):
        return None
    order = listed_by_depth(placement.view, [placed.node for placed in placement.nodes], placement.fused)
    islands = gather_islands(placement.view.in_runtime_order(order), placement.fused)
    return order if len(islands) < len(placement.islands) else None
