"""TGT105."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from paddable.linter.evidence import measured
from paddable.linter.rule import Match, Rule
from paddable.linter.site import Site

__all__ = ["DepthwiseConvInOneDimension"]


class DepthwiseConvInOneDimension(Rule[Any]):
    """## What it does
    Finds one-dimensional depthwise convolutions on the CPU.

    ## Why is this bad
    The two-dimensional form takes a faster path (NCHWc): 3 to 5 % of a 70-block encoder in fp32, up to 15 % in
    int8.

    ## Example
    ``Conv <group=512> (x, w)`` with ``w`` of shape ``[512, 1, 11]``

    ## Use instead
    The same with a spatial axis of size 1 in front.

    ## Fix safety
    Exact: the same products in the same order of channels; re-checked numerically.
    """

    code = "TGT105"
    name = "depthwise-conv-in-one-dimension"
    severity = "note"
    evidence = (measured("onnxruntime 1.32.0, 2 vCPU AMD EPYC (Zen 5)"),)
    VALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 4, 9] x, float[4, 2, 3] w) => (float[1, 4, 7] y) { y = Conv<group: int = 2>(x, w) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 4, 1, 9] x, float[4, 1, 1, 3] w) => (float[1, 4, 1, 7] y) {
                    y = Conv<group: int = 4>(x, w) }""",
    )
    INVALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 4, 9] x, float[4, 1, 3] w) => (float[1, 4, 7] y) { y = Conv<group: int = 4>(x, w) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 4, T] x, float[4, 1, 3] w) => (float[1, 4, T] y) {
                    y = Conv<group: int = 4, pads: ints = [1, 1], kernel_shape: ints = [3]>(x, w) }""",
    )

    def check(self, site: Site[Any]) -> Iterator[Match]:
        if site.facts is None or site.facts.faster_depthwise_2d is None:
            return
        for node in site.view.nodes:
            weight = site.view.shape(node.input(1)) if node.op == "Conv" and not node.domain else None
            if weight is not None and len(weight) == 3 and node.attribute("group", 1) == weight[0] != 1 == weight[1]:
                fixable = node.attribute("auto_pad", "NOTSET") == "NOTSET"
                yield Match(
                    "a depthwise convolution is faster in two dimensions",
                    "add a spatial axis of size 1",
                    node,
                    fixable=fixable,
                )
