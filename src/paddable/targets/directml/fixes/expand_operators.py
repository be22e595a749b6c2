"""Fix of DML107."""

from __future__ import annotations

import onnx_ir as ir
from onnx.inliner import inline_selected_functions

from paddable.targets.directml.fix import DirectMLNodeFix
from paddable.targets.directml.rules.operator_without_kernel import OperatorWithoutKernel
from paddable.targets.directml.site import Site
from paddable.targets.new_parts import Parts
from paddable.targets.one_node import cut_out, put_back
from paddable.targets.rule import Match

__all__ = ["ExpandOperators"]


class ExpandOperators(DirectMLNodeFix):
    """Expands an operator without a kernel into the ones that ONNX defines it by."""

    rule = OperatorWithoutKernel()

    def repair(self, node: ir.Node, site: Site, match: Match, parts: Parts) -> None:
        assert match.node is not None
        alone = cut_out(match.node, site.view)
        wanted = [(match.node.domain, match.node.op)]
        put_back(node, inline_selected_functions(alone, wanted, inline_schema_functions=True), parts)
