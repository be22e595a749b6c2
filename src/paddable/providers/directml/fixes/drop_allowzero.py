"""Fix of DML101."""

from __future__ import annotations

import onnx_ir as ir

from paddable.linter.fix import NodeFix
from paddable.linter.new_parts import Parts
from paddable.linter.rule import Match
from paddable.linter.rules.reshape_minus_one_under_allowzero import ReshapeMinusOneUnderAllowzero
from paddable.linter.site import Site
from paddable.providers.directml.placement import Placement

__all__ = ["DropAllowzero"]


class DropAllowzero(NodeFix[Placement]):
    """Drops ``allowzero=1`` where the target has a -1 and no 0: both mean the same then."""

    rule = ReshapeMinusOneUnderAllowzero
    exact = True  # the attribute speaks of zeros only, and the constant target has none

    def repair(self, node: ir.Node, site: Site[Placement], match: Match, parts: Parts) -> None:
        node.attributes.pop("allowzero")
