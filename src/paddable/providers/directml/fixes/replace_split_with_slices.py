"""Fix of DML102."""

from __future__ import annotations

from itertools import accumulate

import onnx_ir as ir

from paddable.linter.fix import NodeFix
from paddable.linter.new_parts import Parts
from paddable.linter.rule import Match
from paddable.linter.site import Site
from paddable.providers.directml.placement import Placement
from paddable.providers.directml.rules.glu_as_split import GluAsSplit, split_sizes

__all__ = ["ReplaceSplitWithSlices"]


class ReplaceSplitWithSlices(NodeFix[Placement]):
    """Writes each output of a Split as a Slice of its input."""

    rule = GluAsSplit
    exact = True  # the sizes are constants, or follow from a size that inference confirms

    def repair(self, node: ir.Node, site: Site[Placement], match: Match, parts: Parts) -> None:
        sizes = split_sizes(site.view, match.node) if match.node else None
        assert match.node is not None and sizes is not None  # else the match is not fixable
        ends = list(accumulate(sizes))
        axis = parts.integers(node, f"{node.outputs[0].name}_axis", [match.node.attribute("axis", 0)])
        slices = []
        for output, start, end in zip(node.outputs, [0, *ends], ends, strict=False):
            first = parts.integers(node, f"{output.name}_start", [start])
            last = parts.integers(node, f"{output.name}_end", [end])
            slices.append(ir.node("Slice", [node.inputs[0], first, last, axis]))
        parts.replace(node, slices, [part.outputs[0] for part in slices])
