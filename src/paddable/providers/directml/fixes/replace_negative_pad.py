"""Fix of DML114."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from paddable.linter.fix import NodeFix
from paddable.linter.new_parts import Parts
from paddable.linter.rule import Match
from paddable.linter.site import Site
from paddable.providers.directml.placement import Placement
from paddable.providers.directml.rules.negative_pad import NegativePad

__all__ = ["ReplaceNegativePad"]

_TO_THE_END = np.iinfo(np.int64).max


class ReplaceNegativePad(NodeFix[Placement]):
    """Pads what a Pad pads, then crops with a Slice what it crops.

    In this order the crop may be deeper than the axis: it then takes from the padding of the other side.
    """

    rule = NegativePad
    exact = True  # each element of the result is the same element of the input, or the same padding

    def repair(self, node: ir.Node, site: Site[Placement], match: Match, parts: Parts) -> None:
        assert match.node is not None
        pads = site.view.constant(match.node.input(1))
        assert pads is not None  # else the match is not fixable
        begin, end = np.split(pads.astype(np.int64), 2)
        given = site.view.constant(match.node.input(3)) if match.node.input(3) else None
        axes = list(range(len(begin))) if given is None else [int(axis) for axis in given]
        stem = node.outputs[0].name or "pad"
        grown = parts.integers(node, f"{stem}_pads", [int(max(p, 0)) for p in pads])
        attributes = list(node.attributes.values())
        grow = ir.Node("", "Pad", [node.inputs[0], grown, *node.inputs[2:]], attributes=attributes)
        crop = ir.node(
            "Slice",
            [
                grow.outputs[0],
                parts.integers(node, f"{stem}_start", [int(-min(b, 0)) for b in begin]),
                parts.integers(node, f"{stem}_end", [int(e) if e < 0 else _TO_THE_END for e in end]),
                parts.integers(node, f"{stem}_axes", axes),
            ],
        )
        parts.replace(node, [grow, crop], [crop.outputs[0]])
