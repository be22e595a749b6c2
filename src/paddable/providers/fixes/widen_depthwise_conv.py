"""Fix of TGT105."""

from __future__ import annotations

from typing import Any

import onnx_ir as ir

from paddable.linter.fix import NodeFix
from paddable.linter.new_parts import Parts
from paddable.linter.rule import Match
from paddable.linter.site import Site
from paddable.providers.rules.depthwise_conv_in_one_dimension import DepthwiseConvInOneDimension

__all__ = ["WidenDepthwiseConv"]

_HEIGHT = 2


class WidenDepthwiseConv(NodeFix[Any]):
    """Writes a one-dimensional depthwise convolution with a spatial axis of size 1 in front."""

    rule = DepthwiseConvInOneDimension
    exact = True  # the same products, summed over an axis of size 1 too

    def repair(self, node: ir.Node, site: Site[Any], match: Match, parts: Parts) -> None:
        data = parts.unsqueezed(node, node.inputs[0], _HEIGHT)
        weight = parts.unsqueezed(node, node.inputs[1], _HEIGHT)
        attributes = [_widened(attribute) for attribute in node.attributes.values()]
        inputs = [data.outputs[0], weight.outputs[0], *node.inputs[2:]]
        wide = ir.Node("", "Conv", inputs, attributes=attributes)
        narrow = parts.squeezed(node, wide.outputs[0], _HEIGHT)
        parts.replace(node, [data, weight, wide, narrow], [narrow.outputs[0]])


def _widened(attribute: ir.Attr) -> ir.Attr:
    """The attribute for a height of 1; pads go begin, begin, end, end."""
    if attribute.name == "pads":
        begin, end = attribute.as_ints()
        return ir.AttrInt64s("pads", [0, begin, 0, end])
    if attribute.name in ("strides", "dilations", "kernel_shape"):
        return ir.AttrInt64s(attribute.name, [1, *attribute.as_ints()])
    return attribute
