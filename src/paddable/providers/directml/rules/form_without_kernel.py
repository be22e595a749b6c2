"""DML109."""

from __future__ import annotations

from collections.abc import Iterator

from paddable.linter.evidence import measured, reported
from paddable.linter.rule import Match, Rule
from paddable.linter.site import Site
from paddable.providers.directml.placement import Placement

__all__ = ["FormWithoutKernel"]


class FormWithoutKernel(Rule[Placement]):
    """## What it does
    Finds forms of an operator that the kernel's support query refuses.

    ## Why is this bad
    The node runs on the CPU, and its inputs and outputs are copied.

    ## Example
    ``Resize`` with mode cubic, ``LSTM`` with layout 1, ``LayerNormalization`` that returns the mean, ``Einsum`` of
    three operands

    ## Use instead
    The plain form of the same operator.

    ## Fix safety
    No fix.
    """

    code = "DML109"
    name = "form-without-kernel"
    severity = "warning"
    evidence = (
        measured("onnxruntime-directml 1.24.4, several of them"),
        reported("support queries in the provider's source, onnxruntime main of 2025-10-23"),
    )
    VALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 1, 4, 4] x) => (float[1, 1, 2, 2] y) {
                    y = MaxPool<kernel_shape: ints = [2, 2], strides: ints = [2, 2]>(x) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[2, 3] x, float[3, 4] z) => (float[2, 4] y) {
                    y = Einsum<equation: string = "ij,jk->ik">(x, z) }""",
    )
    INVALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[2, 8] x, float[8] s) => (float[2, 8] y, float[2, 1] m) {
                    y, m = LayerNormalization(x, s) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[2, 3] x, float[3, 4] z, float[4, 2] u) => (float[2, 2] y) {
                    y = Einsum<equation: string = "ij,jk,kl->il">(x, z, u) }""",
    )

    def check(self, site: Site[Placement]) -> Iterator[Match]:
        for placed in site.placement.nodes:
            if placed.reason == "form":
                yield Match(
                    f"runs on the CPU: {placed.why}", "use the plain form of the operator", placed.node, fixable=False
                )
