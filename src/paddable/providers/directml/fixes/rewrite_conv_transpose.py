"""Fix of DML104."""

from __future__ import annotations

import onnx_ir as ir

from paddable.linter.fix import NodeFix
from paddable.linter.new_parts import Parts
from paddable.linter.rule import Match
from paddable.linter.site import Site
from paddable.providers.directml.placement import Placement
from paddable.providers.directml.rules.conv_transpose_output_padding import ConvTransposeOutputPadding

__all__ = ["RewriteConvTranspose"]

_LAST = -1
_NEUTRAL = {"strides": 1, "dilations": 1, "kernel_shape": 1, "output_padding": 0}


class RewriteConvTranspose(NodeFix[Placement]):
    """Drops ``output_padding=[0]``; writes any other as a convolution with a second spatial axis of size 1."""

    rule = ConvTransposeOutputPadding
    exact = True  # the same products, summed over an axis of size 1 too

    def repair(self, node: ir.Node, site: Site[Placement], match: Match, parts: Parts) -> None:
        if not any(node.attributes["output_padding"].as_ints()):
            node.attributes.pop("output_padding")
            return
        data = parts.unsqueezed(node, node.inputs[0], _LAST)
        weight = parts.unsqueezed(node, node.inputs[1], _LAST)
        wide = ir.Node(
            "",
            "ConvTranspose",
            [data.outputs[0], weight.outputs[0], *node.inputs[2:]],
            attributes=[_widened(attribute) for attribute in node.attributes.values()],
        )
        narrow = parts.squeezed(node, wide.outputs[0], _LAST)
        parts.replace(node, [data, weight, wide, narrow], [narrow.outputs[0]])


def _widened(attribute: ir.Attr) -> ir.Attr:
    """The attribute for two spatial axes; pads go begin, begin, end, end."""
    if attribute.name == "pads":
        begin, end = attribute.as_ints()
        return ir.AttrInt64s("pads", [begin, 0, end, 0])
    if attribute.name == "output_shape":
        return ir.AttrInt64s("output_shape", [*attribute.as_ints(), 1])
    if attribute.name in _NEUTRAL:
        return ir.AttrInt64s(attribute.name, [*attribute.as_ints(), _NEUTRAL[attribute.name]])
    return attribute
