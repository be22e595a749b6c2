"""DML108."""

from __future__ import annotations

from collections.abc import Iterator

from paddable.linter.evidence import measured
from paddable.linter.rule import Match, Rule
from paddable.linter.site import Site
from paddable.providers.directml.placement import Placement

__all__ = ["TypeWithoutKernel"]


class TypeWithoutKernel(Rule[Placement]):
    """## What it does
    Finds nodes whose element type DirectML's kernel does not take, other than 64-bit Mod and double (DTY101,
    DTY102).

    ## Why is this bad
    The node runs on the CPU, and its inputs and outputs are copied.

    ## Example
    ``CumSum`` of int16, ``MatMul`` of int32, ``Pow`` with an int64 base

    ## Use instead
    float, float16 or int32, whichever the kernel takes.

    ## Fix safety
    No fix: another type may overflow.
    """

    code = "DML108"
    name = "type-without-kernel"
    severity = "warning"
    evidence = (measured("onnxruntime-directml 1.24.4: type constraints of its registry"),)
    VALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (int64[4] x, int64[4] z) => (int64[4] y) { y = Add(x, z) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (int32[4] x, int32[4] z) => (int32[4] y) { y = Mod(x, z) }""",
    )
    INVALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (int32[2, 2] x, int32[2, 2] z) => (int32[2, 2] y) { y = MatMul(x, z) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (int64[4] x) => (int64[4] y) <int64 two = {2}> { y = Pow(x, two) }""",
    )

    def check(self, site: Site[Placement]) -> Iterator[Match]:
        for placed in site.placement.nodes:
            if placed.reason not in ("type", "device type"):
                continue
            node = placed.node
            reported_elsewhere = node.op == "Mod" or "double" in map(site.view.dtype, (*node.inputs, *node.outputs))
            if not reported_elsewhere:
                yield Match(
                    f"runs on the CPU: {placed.why}", "cast to a type that the kernel takes", node, fixable=False
                )
