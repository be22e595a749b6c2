"""Fix of DML111."""

from __future__ import annotations

import onnx_ir as ir

from paddable.providers.directml.fix import DirectMLNodeFix
from paddable.providers.directml.rules.computed_required_input import ComputedRequiredInput
from paddable.providers.directml.site import Site
from paddable.providers.new_parts import Parts
from paddable.providers.rule import Match

__all__ = ["ReplaceClip"]


class ReplaceClip(DirectMLNodeFix):
    """Writes a Clip of integers as Max and Min, whose bounds may be computed."""

    rule = ComputedRequiredInput()
    exact = True  # Clip is defined so, even where its bounds cross

    def repair(self, node: ir.Node, site: Site, match: Match, parts: Parts) -> None:
        result, steps = node.inputs[0], list[ir.Node]()
        for step, bound in zip(("Max", "Min"), node.inputs[1:], strict=False):
            if bound is not None:
                steps.append(ir.node(step, [result, bound]))
                result = steps[-1].outputs[0]
        parts.replace(node, steps, [steps[-1].outputs[0]])
