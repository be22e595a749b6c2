"""Fix of DTY101."""

from __future__ import annotations

import onnx_ir as ir

from paddable.linter.fix import NodeFix
from paddable.linter.new_parts import Parts
from paddable.linter.rule import Match
from paddable.linter.site import Site
from paddable.providers.directml.placement import Placement
from paddable.providers.directml.rules.int64_mod import Int64Mod

__all__ = ["ReplaceInt64Mod"]


class ReplaceInt64Mod(NodeFix[Placement]):
    """Writes x mod k, k > 0 constant, as r = x - (x / k) * k, plus k where r < 0: Div truncates, Mod floors."""

    rule = Int64Mod
    exact = True  # arithmetic of integers that stays in their range

    def repair(self, node: ir.Node, site: Site[Placement], match: Match, parts: Parts) -> None:
        x, k = node.inputs
        zero = parts.integers(node, f"{node.outputs[0].name}_zero", 0)
        quotient = ir.node("Div", [x, k])
        product = ir.node("Mul", [quotient.outputs[0], k])
        rest = ir.node("Sub", [x, product.outputs[0]])
        negative = ir.node("Less", [rest.outputs[0], zero])
        raised = ir.node("Add", [rest.outputs[0], k])
        result = ir.node("Where", [negative.outputs[0], raised.outputs[0], rest.outputs[0]])
        parts.replace(node, [quotient, product, rest, negative, raised, result], [result.outputs[0]])
