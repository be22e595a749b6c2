"""DTY101."""

from __future__ import annotations

from collections.abc import Iterator

from paddable.linter.evidence import measured
from paddable.linter.rule import Match, Rule
from paddable.linter.site import Site
from paddable.providers.directml.placement import Placement

__all__ = ["Int64Mod"]


class Int64Mod(Rule[Placement]):
    """## What it does
    Finds Mod of int64, which DirectML's kernel does not take.

    ## Why is this bad
    The node runs on the CPU. Exporters write it for Python's ``%`` on sizes.

    ## Example
    ``Mod(n, 8)``

    ## Use instead
    ``n - Div(n, 8) * 8`` with a correction for negative n.

    ## Fix safety
    Exact for a constant positive divisor: r = x - (x / k) * k, plus k where r is negative.
    """

    code = "DTY101"
    name = "int64-mod"
    severity = "warning"
    evidence = (measured("onnxruntime-directml 1.24.4: type constraints of its registry"),)
    VALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (int32[4] x) => (int32[4] y) <int32 k = {8}> { y = Mod(x, k) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (int64[4] x) => (int64[4] y) <int64 k = {8}> { y = Div(x, k) }""",
    )
    INVALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (int64[4] x) => (int64[4] y) <int64 k = {8}> { y = Mod(x, k) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (int64[4] x) => (int64[4] y) <int64 k = {3}> { h = Abs(x)
                 y = Mod(h, k) }""",
    )

    def check(self, site: Site[Placement]) -> Iterator[Match]:
        for placed in site.placement.nodes:
            node = placed.node
            if node.op == "Mod" and placed.reason == "type" and site.view.dtype(node.inputs[0]) == "int64":
                divisor = site.view.constant(node.input(1))
                fixable = (
                    divisor is not None and divisor.size == 1 and divisor.item() > 0 and not node.attribute("fmod", 0)
                )
                yield Match("Mod of int64 runs on the CPU", "write it with Div, Mul and Sub", node, fixable=fixable)
