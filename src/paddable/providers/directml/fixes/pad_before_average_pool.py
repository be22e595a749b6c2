"""Fix of DML128."""

from __future__ import annotations

import onnx_ir as ir

from paddable.linter.fix import NodeFix
from paddable.linter.new_parts import Parts
from paddable.linter.rule import Match
from paddable.linter.site import Site
from paddable.providers.directml.placement import Placement
from paddable.providers.directml.rules.average_pool_overhang import AveragePoolOverhang

__all__ = ["PadBeforeAveragePool"]


class PadBeforeAveragePool(NodeFix[Placement]):
    """Pads with a Pad of zeros, whose zeros count, and pools without pads."""

    rule = AveragePoolOverhang
    exact = True  # the same sums, divided by the same counts

    def repair(self, node: ir.Node, site: Site[Placement], match: Match, parts: Parts) -> None:
        assert match.node is not None
        rank = len(match.node.attribute("kernel_shape"))
        pads = list(match.node.attribute("pads", [0] * 2 * rank))
        kept = [attribute for name, attribute in node.attributes.items() if name not in ("pads", "count_include_pad")]
        x, new = node.inputs[0], list[ir.Node]()
        if any(pads):
            whole = [0, 0, *pads[:rank], 0, 0, *pads[rank:]]  # batch and channels come first, and have none
            new.append(ir.node("Pad", [x, parts.integers(node, f"{node.outputs[0].name or 'pool'}_pads", whole)]))
            x = new[-1].outputs[0]
        new.append(ir.Node("", "AveragePool", [x], attributes=kept))
        parts.replace(node, new, [new[-1].outputs[0]])
