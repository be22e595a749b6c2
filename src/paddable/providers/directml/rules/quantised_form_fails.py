"""DML123."""

from __future__ import annotations

from collections.abc import Iterator

from paddable.linter.evidence import measured
from paddable.linter.rule import Match, Rule
from paddable.linter.site import Site
from paddable.providers.directml.placement import Placement

__all__ = ["QuantisedFormFails"]


class QuantisedFormFails(Rule[Placement]):
    """## What it does
    Finds QuantizeLinear and DequantizeLinear of opset 21 with a scale per channel, and QLinearMatMul of uint8 with
    float16 scales.

    ## Why is this bad
    Session creation fails with 80070057. Blocked scales run right on 1.24.4 and give wrong values on onnxruntime-
    windowsml 1.30 (off by up to 1210).

    ## Example
    ``DequantizeLinear(x, scale, zero)`` with ``x`` of rank 4 and ``scale`` of rank 1, opset 21

    ## Use instead
    A scale per tensor, or opset 19; no blocks if the app may run on Windows ML.

    ## Fix safety
    No fix.
    """

    code = "DML123"
    name = "quantised-form-fails"
    severity = "error"
    evidence = (
        measured(
            "onnxruntime-directml 1.24.4; onnxruntime-windowsml 1.30 runs the pair per axis, and blocked scales wrongly"
        ),
    )
    VALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 3, 2, 2] x) => (uint8[1, 3, 2, 2] y)
                    <float[3] s = {1.0, 2.0, 3.0}, uint8[3] z = {0, 0, 0}> { y = QuantizeLinear(x, s, z) }""",
        """<ir_version: 10, opset_import: ["" : 21]>
                agraph (float[1, 3, 2, 2] x) => (uint8[1, 3, 2, 2] y) <float s = {1.0}, uint8 z = {0}> {
                    y = QuantizeLinear(x, s, z) }""",
    )
    INVALID = (
        """<ir_version: 10, opset_import: ["" : 21]>
                agraph (float[1, 3, 2, 2] x) => (uint8[1, 3, 2, 2] y)
                    <float[3] s = {1.0, 2.0, 3.0}, uint8[3] z = {0, 0, 0}> { y = QuantizeLinear(x, s, z) }""",
        """<ir_version: 10, opset_import: ["" : 21]>
                agraph (uint8[1, 3, 2, 2] x) => (float[1, 3, 2, 2] y)
                    <float[3] s = {1.0, 2.0, 3.0}, uint8[3] z = {0, 0, 0}> { y = DequantizeLinear(x, s, z) }""",
    )

    def check(self, site: Site[Placement]) -> Iterator[Match]:
        for op in ("QuantizeLinear", "DequantizeLinear"):
            for node in site.placement.running(op):
                rank = len(site.view.shape(node.input(1)) or ())
                if node.since == 21 and node.attribute("block_size", 0):
                    what = "a blocked scale gives wrong values on onnxruntime-windowsml 1.30"
                    yield Match(what, "quantise per tensor", node, severity="warning", fixable=False)
                elif node.since == 21 and rank == 1:
                    yield Match(
                        "a scale per channel fails with 80070057",
                        "quantise per tensor, or use opset 19",
                        node,
                        fixable=False,
                    )
        for node in site.placement.running("QLinearMatMul"):
            if site.view.dtype(node.inputs[1]) == "float16" and site.view.dtype(node.inputs[0]) == "uint8":
                yield Match("uint8 with float16 scales fails with 80070057", "use float scales", node, fixable=False)
