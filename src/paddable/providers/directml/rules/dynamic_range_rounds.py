"""DML127."""

from __future__ import annotations

from collections.abc import Iterator

from paddable.linter.evidence import measured
from paddable.linter.rule import Match, Rule
from paddable.linter.site import Site
from paddable.providers.directml.placement import Placement

__all__ = ["DynamicRangeRounds"]


class DynamicRangeRounds(Rule[Placement]):
    """## What it does
    Finds DynamicQuantizeLinear.

    ## Why is this bad
    Where a value lies half-way between two steps, DirectML takes another one than the CPU: they differ by one step.

    ## Example
    ``DynamicQuantizeLinear(x)``

    ## Use instead
    Nothing, where one step of 256 is within your tolerance; else static ranges or half.

    ## Fix safety
    No fix.
    """

    code = "DML127"
    name = "dynamic-range-rounds"
    severity = "note"
    evidence = (measured("onnxruntime-directml 1.24.4: ONNX node tests test_dynamicquantizelinear*"),)
    VALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 8] x, float s, uint8 z) => (uint8[1, 8] y) { y = QuantizeLinear(x, s, z) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 8] x) => (float[1, 8] y) { y = Round(x) }""",
    )
    INVALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 8] x) => (uint8[1, 8] y, float s, uint8 z) { y, s, z = DynamicQuantizeLinear(x) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 8] x) => (uint8[1, 8] y, float s, uint8 z) {
                    h = Relu(x)
                    y, s, z = DynamicQuantizeLinear(h) }""",
    )

    def check(self, site: Site[Placement]) -> Iterator[Match]:
        nodes = list(site.placement.running("DynamicQuantizeLinear"))
        if nodes:
            what = f"{len(nodes)} DynamicQuantizeLinear round .5 another way than the CPU: off by one step"
            yield Match(what, "nothing to do, or use static ranges", nodes[0], tuple(nodes[1:]), fixable=False)
