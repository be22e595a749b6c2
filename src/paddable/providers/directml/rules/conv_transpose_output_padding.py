"""DML104."""

from __future__ import annotations

from collections.abc import Iterator

from paddable.linter.evidence import measured, reported
from paddable.linter.rule import Match, Rule
from paddable.linter.site import Site
from paddable.providers.directml.placement import Placement

__all__ = ["ConvTransposeOutputPadding"]


class ConvTransposeOutputPadding(Rule[Placement]):
    """## What it does
    Finds a one-dimensional ConvTranspose with the attribute ``output_padding``, even ``[0]``.

    ## Why is this bad
    DirectML's shape inference demands at least two numbers and stops at session creation with 80070057. The dynamo
    exporter always writes the attribute, TorchScript's only when it is not zero. Mended in onnxruntime-windowsml
    1.30.

    ## Example
    ``ConvTranspose <strides=[4], output_padding=[0]> (x, w)`` with ``w`` of rank 3

    ## Use instead
    No ``output_padding``; where it is not zero, the two-dimensional form with a second spatial axis of size 1.

    ## Fix safety
    Exact: ``[0]`` is the default and is dropped; any other becomes the two-dimensional form, which sums the same
    products.
    """

    code = "DML104"
    name = "conv-transpose-output-padding"
    severity = "error"
    evidence = (
        measured("onnxruntime-directml 1.24.4: hifigan, node_ConvTranspose_5"),
        reported("ElBruno.VibeVoiceTTS issue 6"),
    )
    VALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
        agraph (float[1, 2, 9] x, float[2, 3, 4] w) => (float[1, 3, M] y) {
            y = ConvTranspose<strides: ints = [2]>(x, w) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
        agraph (float[1, 2, 9, 1] x, float[2, 3, 4, 1] w) => (float[1, 3, M, 1] y) {
            y = ConvTranspose<strides: ints = [2, 1], output_padding: ints = [1, 0]>(x, w)
        }""",
    )
    INVALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
        agraph (float[1, 2, 9] x, float[2, 3, 4] w) => (float[1, 3, M] y) {
            y = ConvTranspose<strides: ints = [2], output_padding: ints = [0]>(x, w)
        }""",
        """<ir_version: 10, opset_import: ["" : 18]>
        agraph (float[1, 2, 9] x, float[2, 3, 4] w) => (float[1, 3, M] y) {
            y = ConvTranspose<strides: ints = [2], output_padding: ints = [1]>(x, w)
        }""",
    )

    def check(self, site: Site[Placement]) -> Iterator[Match]:
        for node in site.placement.running("ConvTranspose"):
            padding = node.attribute("output_padding")
            if padding is not None and len(padding) == 1:
                yield Match(
                    f"one-dimensional with output_padding {list(padding)}: session creation fails (80070057)",
                    "drop the attribute" if padding[0] == 0 else "use the two-dimensional form",
                    node,
                )
