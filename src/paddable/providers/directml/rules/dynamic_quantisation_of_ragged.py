"""DTY105."""

from __future__ import annotations

from collections.abc import Iterator

from paddable.linter.evidence import measured, reported
from paddable.linter.rule import Match, Rule
from paddable.linter.site import Site
from paddable.providers.directml.placement import Placement

__all__ = ["DynamicQuantisationOfRagged"]


class DynamicQuantisationOfRagged(Rule[Placement]):
    """## What it does
    Finds DynamicQuantizeLinear and its fused forms on values with a free or padded axis.

    ## Why is this bad
    The range is taken over the whole tensor, padding included, so that the scale of the valid part depends on what
    stands in the padding. Measured: cosine 0.9995 to 0.9999 against native, as much as quantisation itself costs.

    ## Example
    ``DynamicQuantizeLinear(hidden)`` in a padded graph

    ## Use instead
    Zeroed padding before the range is taken (zero is always in range), static ranges, or weight-only quantisation.

    ## Fix safety
    No fix here: ``convert`` zeroes the padding first (PAD109).
    """

    code = "DTY105"
    name = "dynamic-quantisation-of-ragged"
    severity = "warning"
    evidence = (
        measured("onnxruntime 1.32 CPU, 70-block encoder"),
        reported("microsoft/onnxruntime#8625, #10111, #15888"),
    )
    VALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 8] x) => (uint8[1, 8] y) <float s = {0.1}, uint8 z = {0}> {
                    y = QuantizeLinear(x, s, z) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 8] x) => (uint8[1, 8] y, float s, uint8 z) { y, s, z = DynamicQuantizeLinear(x) }""",
    )
    INVALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, T] x) => (uint8[1, T] y, float s, uint8 z) { y, s, z = DynamicQuantizeLinear(x) }""",
        """<ir_version: 10, opset_import: ["" : 18, "com.microsoft" : 1]>
                agraph (float[T, 8] x, uint8[8, 4] w, float[1] s) => (float[T, 4] y) {
                    y = com.microsoft.DynamicQuantizeMatMul(x, w, s) }""",
    )

    def check(self, site: Site[Placement]) -> Iterator[Match]:
        for node in site.view.nodes:
            if node.op in ("DynamicQuantizeLinear", "DynamicQuantizeMatMul") and not site.view.is_static(
                node.inputs[0]
            ):
                what = f"the range of {node.inputs[0]!r} is taken over every step, padding included"
                yield Match(what, "zero the padding first, or use static ranges", node, fixable=False)
