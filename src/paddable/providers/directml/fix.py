"""Bases of DirectML's fixes: they look at the placement."""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir as ir

from paddable.providers.directml.placement import place
from paddable.providers.directml.site import Site, sites
from paddable.providers.fix import GraphFix, NodeFix
from paddable.providers.light import confirmed_view

__all__ = ["DirectMLGraphFix", "DirectMLNodeFix"]


class DirectMLGraphFix(GraphFix[Site]):
    """Base of DirectML's fixes that change a graph as a whole."""

    def look(self, model: ir.Model) -> Sequence[Site]:
        """The placement of each graph."""
        return look(model)


class DirectMLNodeFix(NodeFix[Site]):
    """Base of DirectML's fixes that repair one node at a time."""

    def look(self, model: ir.Model) -> Sequence[Site]:
        """The placement of each graph."""
        return look(model)


def look(model: ir.Model) -> Sequence[Site]:
    """The placement of each graph of a model."""
    return sites(place(confirmed_view(model)))
