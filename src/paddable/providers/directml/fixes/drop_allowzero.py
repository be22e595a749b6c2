"""Fix of DML101."""

from __future__ import annotations

import onnx_ir as ir

from paddable.providers.directml.fix import DirectMLNodeFix
from paddable.providers.directml.rules.reshape_minus_one_with_allowzero import ReshapeMinusOneWithAllowzero
from paddable.providers.directml.site import Site
from paddable.providers.new_parts import Parts
from paddable.providers.rule import Match

__all__ = ["DropAllowzero"]


class DropAllowzero(DirectMLNodeFix):
    """Drops ``allowzero=1`` where the target has a -1 and no 0: both mean the same then."""

    rule = ReshapeMinusOneWithAllowzero()
    exact = True  # the attribute speaks of zeros only, and the constant target has none

    def repair(self, node: ir.Node, site: Site, match: Match, parts: Parts) -> None:
        node.attributes.pop("allowzero")
