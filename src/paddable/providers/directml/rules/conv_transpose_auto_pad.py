"""DML105."""

from __future__ import annotations

from collections.abc import Iterator

from paddable.linter.evidence import measured
from paddable.linter.rule import Match, Rule
from paddable.linter.site import Site
from paddable.providers.directml.placement import Placement

__all__ = ["ConvTransposeAutoPad"]


class ConvTransposeAutoPad(Rule[Placement]):
    """## What it does
    Finds a ConvTranspose with ``auto_pad`` SAME_UPPER or SAME_LOWER.

    ## Why is this bad
    DirectML refuses the form at session creation with 80070057; the CPU runs it.

    ## Example
    ``ConvTranspose <auto_pad="SAME_UPPER", strides=[2]> (x, w)``

    ## Use instead
    Explicit ``pads``.

    ## Fix safety
    No fix: the pads follow from the input's size, which the exporter knows.
    """

    code = "DML105"
    name = "conv-transpose-auto-pad"
    severity = "error"
    evidence = (measured("onnxruntime-directml 1.24.4: ONNX node test test_convtranspose_autopad_same"),)
    VALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 1, 3, 3] x, float[1, 2, 3, 3] w) => (float[1, 2, 7, 7] y) {
                    y = ConvTranspose<strides: ints = [2, 2]>(x, w) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 1, 3, 3] x, float[2, 1, 3, 3] w) => (float[1, 2, 3, 3] y) {
                    y = Conv<auto_pad: string = "SAME_UPPER">(x, w) }""",
    )
    INVALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 1, 3, 3] x, float[1, 2, 3, 3] w) => (float[1, 2, 6, 6] y) {
                    y = ConvTranspose<strides: ints = [2, 2], auto_pad: string = "SAME_UPPER">(x, w) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 1, 3, 3] x, float[1, 2, 3, 3] w) => (float[1, 2, 6, 6] y) {
                    y = ConvTranspose<strides: ints = [2, 2], auto_pad: string = "SAME_LOWER">(x, w) }""",
    )

    def check(self, site: Site[Placement]) -> Iterator[Match]:
        for node in site.placement.running("ConvTranspose"):
            if str(node.attribute("auto_pad", "NOTSET")).startswith("SAME"):
                what = f"auto_pad is {node.attribute('auto_pad')}: session creation fails (80070057)"
                yield Match(what, "write explicit pads", node, fixable=False)
