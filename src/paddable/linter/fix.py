"""What a fix is: an onnx_ir pass that starts from its rule's matches and leaves none that it can repair."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Generic

import onnx_ir as ir

from paddable.errors import RefusedError
from paddable.linter.new_parts import Parts
from paddable.linter.rule import Match, Rule
from paddable.linter.run import matches_of
from paddable.linter.site import PlacementT, Site
from paddable.linter.view.graph import GraphView, NodeView
from paddable.linter.view.light import graph_at

__all__ = ["TOLERANCE", "Found", "GraphFix", "NodeFix"]

TOLERANCE = 1e-6
"""Largest change of an output, relative to its largest absolute value, that a fix may cause."""


Found = list[tuple[Site[PlacementT], Match]]

_MAX_ROUNDS = 64  # a repair may lay bare the next match; a fix whose repairs never end is at fault


class GraphFix(ir.passes.InPlacePass, Generic[PlacementT]):
    """Base of fixes that change a graph as a whole.

    Args:
        look: gives what the rule looks at: the graph of a model and those inside it, on the provider of the fix.

    Requires: a checked model. Ensures: no match of the rule is left that the fix can repair; outputs keep their names.

    Attributes:
        rule: what finds the places.
        exact: whether the result is the same function of every input by construction, so that it may be applied where
            no sample input runs. Any other fix is applied only where its numbers were compared.
        tolerance: largest change of an output, of its largest absolute value.
    """

    rule: ClassVar[type[Rule[Any]]]
    exact: ClassVar[bool] = False
    tolerance: ClassVar[float] = TOLERANCE

    def __init__(self, look: Callable[[ir.Model], Sequence[Site[PlacementT]]]) -> None:
        super().__init__()
        self.look = look

    @abstractmethod
    def mend(self, model: ir.Model, found: Found[PlacementT]) -> None:
        """Change the model, given every match that can be repaired."""

    def reference(self, model: ir.Model) -> ir.Model:
        """What the result is compared with: the model as it is, unless the fix is for numbers that a kernel rounds.

        Such a fix gives the same function in arithmetic that does not round them, and its result has to be as near to
        that as the model is.
        """
        return model

    def matches(self, sites: Sequence[Site[PlacementT]]) -> Found[PlacementT]:
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
        """No repairable match is left.

        Raises:
            RefusedError: some are.
        """
        left = self.matches(self.look(model))
        if left:
            node = left[0][1].node
            raise RefusedError(
                f"{len(left)} places that {self.rule.code} finds are left after it",
                where=node.name if node is not None else left[0][1].value,
                fix="report it, with the graph",
            )


class NodeFix(GraphFix[PlacementT]):
    """Base of fixes that repair one node at a time."""

    @abstractmethod
    def repair(self, node: ir.Node, site: Site[PlacementT], match: Match, parts: Parts) -> None:
        """Change the graph at one match."""

    def mend(self, model: ir.Model, found: Found[PlacementT]) -> None:
        """Repair each node once, whatever its number of matches; they are looked up before any of them moves."""
        places: dict[ir.Node, tuple[Site[PlacementT], Match]] = {}
        for site, match in found:
            graph, equal = graph_at(model, site.view), _merged_into(site.view)
            for node in (match.node, *match.also):
                for one in (node, *equal.get(node.index, ())) if node is not None else ():
                    places.setdefault(graph[one.index], (site, replace(match, node=one)))
        parts = Parts(model)
        for place, (site, match) in places.items():
            self.repair(place, site, match, parts)


def _merged_into(view: GraphView) -> dict[int, list[NodeView]]:
    """The nodes that a view leaves out because they equal an earlier one, by the index of that one."""
    equal: dict[int, list[NodeView]] = {}
    versions = {node.index: node.since for node in view.nodes}
    for index, first in view.merged.items():
        if first is not None:
            node = NodeView(view.proto.node[index], index, versions[first])
            node.inputs = [view.resolve(name) for name in node.inputs]
            equal.setdefault(first, []).append(node)
    return equal
