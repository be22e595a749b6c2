"""Fix of TGT107."""

from __future__ import annotations

from typing import Any

import onnx_ir as ir

from paddable.linter.fix import NodeFix
from paddable.linter.new_parts import Parts
from paddable.linter.rule import Match
from paddable.linter.site import Site
from paddable.providers.rules.is_nan_splits_graph import IsNanSplitsGraph

__all__ = ["CompareWithItself"]


class CompareWithItself(NodeFix[Any]):
    """Writes IsNaN(x) as Not(Equal(x, x))."""

    rule = IsNanSplitsGraph
    exact = True  # NaN alone is not equal to itself

    def repair(self, node: ir.Node, site: Site[Any], match: Match, parts: Parts) -> None:
        same = ir.node("Equal", [node.inputs[0], node.inputs[0]])
        differs = ir.node("Not", [same.outputs[0]])
        parts.replace(node, [same, differs], [differs.outputs[0]])
