"""DML117."""

from __future__ import annotations

from collections.abc import Iterator

from paddable.graph.lint.rule import measured
from paddable.targets.directml.site import DirectMLRule, Site
from paddable.targets.rule import Match

__all__ = ["ResizeDiffers"]


class ResizeDiffers(DirectMLRule):
    """## What it does
    Finds forms of Resize that DirectML refuses at session creation or computes differently.

    ## Why is this bad
    ``keep_aspect_ratio_policy`` not_larger and not_smaller stop with 80070057; antialiased linear resizing gives
    other values than the CPU.

    ## Example
    ``Resize <mode="linear", antialias=1>``

    ## Use instead
    Explicit ``sizes`` with policy stretch; no antialias, or a convolution.

    ## Fix safety
    No fix.
    """

    code = "DML117"
    name = "resize-differs"
    severity = "error"
    evidence = (measured("onnxruntime-directml 1.24.4: ONNX node tests test_resize_*"),)
    VALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 1, 4] x) => (float[1, 1, 8] y) <float[3] s = {1.0, 1.0, 2.0}> { y = Resize(x, , s)
                    }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 1, 4] x) => (float[1, 1, 8] y) <float[3] s = {1.0, 1.0, 2.0}> {
                    y = Resize<mode: string = "linear">(x, , s) }""",
    )
    INVALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 1, 4] x) => (float[1, 1, 2] y) <float[3] s = {1.0, 1.0, 0.5}> {
                    y = Resize<mode: string = "linear", antialias: int = 1>(x, , s) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 1, 4, 4] x) => (float[1, 1, 7, 7] y) <int64[2] n = {7, 8}> {
                    y = Resize<axes: ints = [2, 3], keep_aspect_ratio_policy: string = "not_larger">(x, , , n) }""",
    )

    def check(self, site: Site) -> Iterator[Match]:
        for node in site.on_directml("Resize"):
            policy = node.attribute("keep_aspect_ratio_policy", "stretch")
            if policy != "stretch":
                yield Match(
                    f"keep_aspect_ratio_policy {policy!r}: fails with 80070057",
                    "give the sizes themselves",
                    node,
                    fixable=False,
                )
            if node.attribute("antialias", 0) and node.attribute("mode", "nearest") == "linear":
                yield Match(
                    "antialiased linear resizing gives other values than the CPU, silently",
                    "drop antialias",
                    node,
                    fixable=False,
                )
