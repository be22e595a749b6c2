"""What a fix is: an onnx_ir pass that starts from its rule's matches and leaves none that it can repair."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import onnx_ir as ir

from paddable.targets.directml.placement import place
from paddable.targets.directml.site import DirectMLRule, Site, sites
from paddable.targets.folding import view_model
from paddable.targets.light import graph_at, light_proto
from paddable.targets.lint import matches_of
from paddable.targets.new_parts import Parts
from paddable.targets.rule import Match

__all__ = ["Fix"]

_MAX_ROUNDS = 64  # equal nodes are seen one at a time, since the view merges them


class Fix(ir.passes.InPlacePass):
    """Base of all fixes.

    Requires: a checked model. Ensures: no match of the rule is left that the fix can repair; outputs keep their names.
    """

    rule: ClassVar[DirectMLRule]

    @abstractmethod
    def repair(self, node: ir.Node, site: Site, match: Match, parts: Parts) -> None:
        """Change the graph at one match."""

    def call(self, model: ir.Model) -> ir.passes.PassResult:
        """Repair every match, round after round, until the rule finds none."""
        modified = False
        for _ in range(_MAX_ROUNDS):
            found = self._matches(model)
            if not found:
                break
            modified = True
            parts = Parts(model)
            for node, site, match in found:  # nodes are looked up before any of them moves
                self.repair(node, site, match, parts)
        return ir.passes.PassResult(model, modified)

    def ensures(self, model: ir.Model) -> None:
        """No repairable match is left."""
        left = self._matches(model)
        if left:
            raise ir.passes.PostconditionError(f"{type(self).__name__} left {len(left)} matches of {self.rule.code}")

    def _matches(self, model: ir.Model) -> list[tuple[ir.Node, Site, Match]]:
        parts = sites(place(view_model(light_proto(model))))
        found = [(site, match) for site, match in matches_of(self.rule, parts) if match.fixable and match.node]
        return [(graph_at(model, site.view)[match.node.index], site, match) for site, match in found if match.node]
