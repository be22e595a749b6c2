"""DML114."""

from __future__ import annotations

from collections.abc import Iterator

from paddable.linter.evidence import measured
from paddable.linter.rule import Match, Rule
from paddable.linter.site import Site
from paddable.providers.directml.placement import Placement

__all__ = ["NegativePad"]


class NegativePad(Rule[Placement]):
    """## What it does
    Finds a Pad of opset 11 or later with a negative pad, which crops.

    ## Why is this bad
    DirectML returns wrong values and no error (2.7 off in a run); its source admits it.

    ## Example
    ``Pad(x, [0, 0, 0, -1])``

    ## Use instead
    ``Pad`` for the part that grows, then ``Slice`` for the part that crops.

    ## Fix safety
    Exact where the pads are constant.
    """

    code = "DML114"
    name = "negative-pad"
    severity = "error"
    evidence = (measured("onnxruntime-directml 1.24.4: values off by 2.7"),)
    VALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 8] x) => (float[1, 9] y) <int64[4] pads = {0, 1, 0, 0}> { y = Pad(x, pads) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 8] x, int64[4] pads) => (float[1, M] y) { y = Pad(x, pads) }""",
    )
    INVALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 8] x) => (float[1, 8] y) <int64[4] pads = {0, 1, 0, -1}> { y = Pad(x, pads) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 8] x) => (float[1, 9] y)
                    <int64[2] pads = {2, -1}, int64[1] axes = {1}, float value = {1.5}> {
                        y = Pad(x, pads, value, axes) }""",
    )

    def check(self, site: Site[Placement]) -> Iterator[Match]:
        for node in site.placement.running("Pad"):
            pads = site.view.constant(node.input(1)) if node.input(1) else None
            if pads is not None and (pads < 0).any():
                what = f"the pads {pads.tolist()} crop, which DirectML computes wrongly and silently"
                # Whether an edge is reflected or repeated before or after the crop is the runtime's own choice.
                fixable = node.attribute("mode", "constant") == "constant"
                yield Match(what, "pad with what grows, then crop with a Slice", node, fixable=fixable)
