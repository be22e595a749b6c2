"""DML126."""

from __future__ import annotations

from collections.abc import Iterator

from paddable.linter.evidence import measured
from paddable.linter.rule import Match, Rule
from paddable.linter.site import Site
from paddable.providers.directml.placement import Placement

__all__ = ["ProcessEnds"]


class ProcessEnds(Rule[Placement]):
    """## What it does
    Finds the two forms that end the process: Resize tf_crop_and_resize with axes, OptionalHasElement without an input.

    ## Why is this bad
    There is no error to catch. The cause was not found.

    ## Example
    ``Resize <coordinate_transformation_mode="tf_crop_and_resize", axes=[2, 3]>``

    ## Use instead
    Resize without ``axes``, its roi and sizes written for every axis; a constant instead of OptionalHasElement.

    ## Fix safety
    No fix.
    """

    code = "DML126"
    name = "process-ends"
    severity = "error"
    evidence = (
        measured(
            "onnxruntime-directml 1.24.4 and onnxruntime-windowsml 1.30.0: ONNX node tests "
            "test_resize_tf_crop_and_resize_axes_* and test_optional_has_element_empty_*"
        ),
    )
    VALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 1, 4, 4] x, float[8] r) => (float[1, 1, 3, 3] y) <int64[4] n = {1, 1, 3, 3}> {
                    y = Resize<coordinate_transformation_mode: string = "tf_crop_and_resize">(x, r, , n) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[4] x) => (bool y) { y = OptionalHasElement(x) }""",
    )
    INVALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 1, 4, 4] x, float[4] r) => (float[1, 1, 3, 3] y) <int64[2] n = {3, 3}> {
                    y = Resize<coordinate_transformation_mode: string = "tf_crop_and_resize",
                        axes: ints = [2, 3]>(x, r, , n) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[4] x) => (bool y) { y = OptionalHasElement() }""",
    )

    def check(self, site: Site[Placement]) -> Iterator[Match]:
        for node in site.placement.running("Resize"):
            mode = node.attribute("coordinate_transformation_mode", "half_pixel")
            if mode == "tf_crop_and_resize" and node.attribute("axes") is not None:
                yield Match("the process ends when this runs", "give roi and sizes for every axis", node, fixable=False)
        for node in site.placement.running("OptionalHasElement"):
            if not any(node.inputs):
                yield Match("the process ends when this runs", "write a constant false", node, fixable=False)
