"""What DirectML's rules look at: a graph, and where its nodes run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paddable.providers.directml.placement import NodePlacement, Placement
from paddable.providers.rule import TargetRule
from paddable.providers.view import GraphView, NodeView

__all__ = ["DirectMLRule", "Site", "sites"]


@dataclass(frozen=True)
class Site:
    """One graph and its placement."""

    placement: Placement

    @property
    def view(self) -> GraphView:
        """The graph."""
        return self.placement.view

    def on_directml(self, op: str | None = None) -> Iterator[NodeView]:
        """The nodes that run on DirectML, of one ai.onnx operator or all."""
        if op is None:
            yield from (placed.node for placed in self.placement.nodes if placed.on_directml)
        else:
            yield from self.placement.on_directml.get(op, ())

    def placed(self, node: NodeView) -> NodePlacement:
        """Where a node runs."""
        return self.placement.by_index[node.index]

    def same_island(self, *nodes: NodeView) -> bool:
        """Whether the nodes are in one fused graph."""
        return any(all(node in island.nodes for node in nodes) for island in self.placement.islands)


class DirectMLRule(TargetRule[Site]):
    """Base of DirectML's rules."""


def sites(placement: Placement) -> list[Site]:
    """The main graph and every graph inside it."""
    return [Site(part) for part in placement.walk()]
