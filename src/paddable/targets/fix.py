"""What a fix is: an onnx_ir pass that starts from its rule's matches and leaves none that it can repair."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import onnx_ir as ir

from paddable.targets.light import graph_at
from paddable.targets.lint import matches_of
from paddable.targets.new_parts import Parts
from paddable.targets.rule import Match, TargetRule
from paddable.targets.view import GraphView

__all__ = ["GraphFix", "NodeFix"]


class HasView(Protocol):
    """A site shows one graph."""

    @property
    def view(self) -> GraphView:
        """The graph."""


SiteT = TypeVar("SiteT", bound=HasView)
Found = list[tuple[SiteT, Match]]

_MAX_ROUNDS = 64  # equal nodes are seen one at a time, since the view merges them


class GraphFix(ir.passes.InPlacePass, Generic[SiteT]):
    """Base of fixes that change a graph as a whole.

    Requires: a checked model. Ensures: no match of the rule is left that the fix can repair; outputs keep their names.
    """

    rule: ClassVar[TargetRule[Any]]

    @abstractmethod
    def look(self, model: ir.Model) -> Sequence[SiteT]:
        """What the rule looks at: the graph of the model and those inside it."""

    @abstractmethod
    def mend(self, model: ir.Model, found: Found[SiteT]) -> None:
        """Change the model, given every match that can be repaired."""

    def matches(self, sites: Sequence[SiteT]) -> Found[SiteT]:
        """The rule's matches that the fix can repair."""
        return [(site, match) for site, match in matches_of(self.rule, sites) if match.fixable]

    def call(self, model: ir.Model) -> ir.passes.PassResult:
        """Repair every match, round after round, until the rule finds none."""
        modified = False
        for _ in range(_MAX_ROUNDS):
            found = self.matches(self.look(model))
            if not found:
                break
            modified = True
            self.mend(model, found)
        return ir.passes.PassResult(model, modified)

    def ensures(self, model: ir.Model) -> None:
        """No repairable match is left."""
        left = self.matches(self.look(model))
        if left:
            raise ir.passes.PostconditionError(f"{type(self).__name__} left {len(left)} matches of {self.rule.code}")


class NodeFix(GraphFix[SiteT]):
    """Base of fixes that repair one node at a time."""

    @abstractmethod
    def repair(self, node: ir.Node, site: SiteT, match: Match, parts: Parts) -> None:
        """Change the graph at one match."""

    def mend(self, model: ir.Model, found: Found[SiteT]) -> None:
        """Repair each node; they are looked up before any of them moves."""
        places = [
            (graph_at(model, site.view)[node.index], site, replace(match, node=node))
            for site, match in found
            for node in (match.node, *match.also)
            if node is not None
        ]
        parts = Parts(model)
        for node, site, match in places:
            self.repair(node, site, match, parts)
