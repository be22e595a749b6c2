"""DML118."""

from __future__ import annotations

from collections.abc import Iterator

from paddable.linter.evidence import measured
from paddable.linter.rule import Match, Rule
from paddable.linter.site import Site
from paddable.linter.view.graph import Dim, NodeView
from paddable.providers.directml.placement import Placement

__all__ = ["PoolingDiffers"]


class PoolingDiffers(Rule[Placement]):
    """## What it does
    Finds pooling that DirectML computes differently: MaxPool with ``ceil_mode`` whose last window starts past the
    input, RoiAlign with mode max.

    ## Why is this bad
    The extra window changes shape and values, without an error.

    ## Example
    ``MaxPool <ceil_mode=1, kernel_shape=[1], strides=[2]>``

    ## Use instead
    ``ceil_mode=0`` with explicit pads; RoiAlign with mode avg.

    ## Fix safety
    No fix.
    """

    code = "DML118"
    name = "pooling-differs"
    severity = "error"
    evidence = (measured("onnxruntime-directml 1.24.4: ONNX node tests of MaxPool ceil_mode and RoiAlign mode max"),)
    VALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 1, 4] x) => (float[1, 1, 2] y) {
                    y = MaxPool<kernel_shape: ints = [2], strides: ints = [2], ceil_mode: int = 1>(x) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 1, 5] x) => (float[1, 1, 2] y) {
                    y = MaxPool<kernel_shape: ints = [2], strides: ints = [2]>(x) }""",
    )
    INVALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 1, 2, 2] x) => (float[1, 1, 1, 1] y) {
                    y = MaxPool<kernel_shape: ints = [1, 1], strides: ints = [2, 2], ceil_mode: int = 1>(x) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 1, 4, 4] x, float[1, 4] r, int64[1] b) => (float[1, 1, 1, 1] y) {
                    y = RoiAlign<mode: string = "max">(x, r, b) }""",
    )

    def check(self, site: Site[Placement]) -> Iterator[Match]:
        for node in site.placement.running("RoiAlign"):
            if node.attribute("mode", "avg") == "max":
                yield Match("mode max gives other values than the CPU, silently", "use mode avg", node, fixable=False)
        for node in site.placement.running("MaxPool"):
            if node.attribute("ceil_mode", 0) and _has_extra_window(site.view.shape(node.inputs[0]), node):
                what = "ceil_mode makes a last window past the input: other shape and values than the CPU, silently"
                yield Match(what, "use ceil_mode 0 and explicit pads", node, fixable=False)


def _has_extra_window(shape: tuple[Dim, ...] | None, node: NodeView) -> bool:
    """Whether rounding up yields a window that starts in the end padding; unknown sizes may have one."""
    kernel = node.attribute("kernel_shape")
    rank = len(kernel)
    strides, pads = node.attribute("strides", [1] * rank), node.attribute("pads", [0] * 2 * rank)
    dilations = node.attribute("dilations", [1] * rank)
    for axis in range(rank):
        size = shape[axis + 2] if shape else None
        if not isinstance(size, int):
            return True
        room = size + pads[axis] + pads[axis + rank] - dilations[axis] * (kernel[axis] - 1) - 1
        if -(-room // strides[axis]) * strides[axis] >= size + pads[axis]:
            return True
    return False
