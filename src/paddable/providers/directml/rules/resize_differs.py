"""DML117."""

from __future__ import annotations

from collections.abc import Iterator

from paddable.linter.evidence import measured
from paddable.linter.rule import Match, Rule
from paddable.linter.site import Site
from paddable.linter.view.graph import GraphView, NodeView
from paddable.providers.directml.placement import Placement

__all__ = ["ResizeDiffers"]


class ResizeDiffers(Rule[Placement]):
    """## What it does
    Finds forms of Resize that DirectML refuses at session creation or computes differently.

    ## Why is this bad
    ``keep_aspect_ratio_policy`` not_larger and not_smaller stop with 80070057. Antialiased linear resizing gives
    other values than the CPU, silently; so does ``pytorch_half_pixel`` down to one element. That was measured with
    mode linear; nearest maps coordinates the same way and was not measured, so it is a warning.

    ## Example
    ``Resize <mode="linear", antialias=1>``

    ## Use instead
    Explicit ``sizes`` with policy stretch; no antialias, or a convolution. ``pytorch_half_pixel`` to one element takes
    the first one: a Slice.

    ## Fix safety
    No fix.
    """

    code = "DML117"
    name = "resize-differs"
    severity = "error"
    evidence = (
        measured(
            "onnxruntime-directml 1.24.4: ONNX node tests test_resize_*, of pytorch_half_pixel "
            "test_resize_downsample_sizes_linear_pytorch_half_pixel"
        ),
    )
    VALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 1, 4] x) => (float[1, 1, 8] y) <float[3] s = {1.0, 1.0, 2.0}> { y = Resize(x, , s)
                    }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 1, 4] x) => (float[1, 1, 8] y) <float[3] s = {1.0, 1.0, 2.0}> {
                    y = Resize<mode: string = "linear">(x, , s) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 1, 4, 4] x) => (float[1, 1, 3, 2] y) <int64[4] n = {1, 1, 3, 2}> {
                    y = Resize<mode: string = "linear", coordinate_transformation_mode: string = "pytorch_half_pixel">(
                        x, , , n) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 1, 4, 1] x) => (float[1, 1, 8, 1] y) <float[4] s = {1.0, 1.0, 2.0, 1.0}> {
                    y = Resize<mode: string = "linear", coordinate_transformation_mode: string = "pytorch_half_pixel">(
                        x, , s) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 1, 4, 4] x) => (float[1, 1, 3, 1] y) <int64[4] n = {1, 1, 3, 1}> {
                    y = Resize<mode: string = "linear">(x, , , n) }""",
    )
    INVALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 1, 4] x) => (float[1, 1, 2] y) <float[3] s = {1.0, 1.0, 0.5}> {
                    y = Resize<mode: string = "linear", antialias: int = 1>(x, , s) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 1, 4, 4] x) => (float[1, 1, 7, 7] y) <int64[2] n = {7, 8}> {
                    y = Resize<axes: ints = [2, 3], keep_aspect_ratio_policy: string = "not_larger">(x, , , n) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 1, 4, 4] x) => (float[1, 1, 3, 1] y) <int64[4] n = {1, 1, 3, 1}> {
                    y = Resize<mode: string = "linear", coordinate_transformation_mode: string = "pytorch_half_pixel">(
                        x, , , n) }""",
        """<ir_version: 8, opset_import: ["" : 13]>
                agraph (float[1, 1, 4] x) => (float[1, 1, 1] y) <float[3] s = {1.0, 1.0, 0.25}> {
                    y = Resize<mode: string = "linear", coordinate_transformation_mode: string = "pytorch_half_pixel">(
                        x, , s) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 1, T] x) => (float[1, 1, 1] y) <int64[1] n = {1}> {
                    y = Resize<axes: ints = [2], coordinate_transformation_mode: string = "pytorch_half_pixel">(
                        x, , , n) }""",
    )

    def check(self, site: Site[Placement]) -> Iterator[Match]:
        for node in site.placement.running("Resize"):
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
            if node.attribute("coordinate_transformation_mode", "half_pixel") == "pytorch_half_pixel":
                is_linear = node.attribute("mode", "nearest") == "linear"
                gives = (
                    "gives other values than the CPU, silently" if is_linear else "may give other values than the CPU"
                )
                for axis in _shrunk_to_one(node, site.view):
                    yield Match(
                        f"pytorch_half_pixel down to one element {gives}",
                        "take the first element of that axis with a Slice, which is what it means",
                        node,
                        severity="error" if is_linear else "warning",
                        axis=axis,
                        fixable=False,
                    )


def _shrunk_to_one(node: NodeView, view: GraphView) -> list[int]:
    """The axes that end with one element and may have had more: a size that is not known may be more."""
    before, after = view.shape(node.inputs[0]), view.shape(node.outputs[0])
    if before is None or after is None:
        return []
    return [axis for axis, (old, new) in enumerate(zip(before, after, strict=True)) if new == 1 != old]
