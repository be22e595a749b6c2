"""Fix of DML111."""

from __future__ import annotations

import onnx_ir as ir

from paddable.linter.fix import NodeFix
from paddable.linter.new_parts import Parts
from paddable.linter.rule import Match
from paddable.linter.site import Site
from paddable.providers.directml.placement import Placement
from paddable.providers.directml.rules.computed_required_input import ComputedRequiredInput

__all__ = ["ReplaceClip"]


class ReplaceClip(NodeFix[Placement]):
    """Writes a Clip of integers as Max and Min, whose bounds may be computed."""

    rule = ComputedRequiredInput
    exact = True  # Clip is defined so, even where its bounds cross

    def repair(self, node: ir.Node, site: Site[Placement], match: Match, parts: Parts) -> None:
        result, steps = node.inputs[0], list[ir.Node]()
        for step, bound in zip(("Max", "Min"), node.inputs[1:], strict=False):
            if bound is not None:
                steps.append(ir.node(step, [result, bound]))
                result = steps[-1].outputs[0]
        parts.replace(node, steps, [steps[-1].outputs[0]])
