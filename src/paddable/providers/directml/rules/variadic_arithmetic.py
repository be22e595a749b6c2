"""DML113."""

from __future__ import annotations

from collections.abc import Iterator

from paddable.linter.evidence import measured, reported
from paddable.linter.rule import Match, Rule
from paddable.linter.site import Site
from paddable.providers.directml.placement import Placement

__all__ = ["VariadicArithmetic"]


class VariadicArithmetic(Rule[Placement]):
    """## What it does
    Finds Sum, Mean, Max and Min with other than two inputs.

    ## Why is this bad
    DirectML fuses them with exactly two; any other number runs as a kernel of its own and cuts the fused graph.

    ## Example
    ``Sum(a, b, c)``

    ## Use instead
    ``Sum(Sum(a, b), c)``; for Mean a chain of Sum and one Mul by 1/n.

    ## Fix safety
    Max and Min: exact. Sum: the same additions in the same order. Mean: equal to rounding. Sum and Mean of halves have
    no fix: a chain rounds to half at each step.
    """

    code = "DML113"
    name = "variadic-arithmetic"
    severity = "warning"
    evidence = (
        measured("onnxruntime-directml 1.24.4: a Sum of three"),
        reported("requiredInputCountForDmlGraphNode in the provider's source"),
    )
    VALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[4] a, float[4] b) => (float[4] y) { y = Sum(a, b) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[4] a, float[4] b) => (float[4] y) { y = Max(a, b) }""",
    )
    INVALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[4] a, float[4] b, float[4] c) => (float[4] y) { y = Sum(a, b, c) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[4] a, float[4] b, float[4] c) => (float[4] y) { y = Mean(a, b, c) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[4] a, float[4] b, float[4] c) => (float[4] y) { y = Max(a, b, c) }""",
    )

    def check(self, site: Site[Placement]) -> Iterator[Match]:
        for op in ("Sum", "Mean", "Max", "Min"):
            for node in site.placement.running(op):
                if len(node.inputs) != 2:
                    half = site.view.dtype(node.inputs[0]) in ("float16", "bfloat16")
                    rounds = half and op in ("Sum", "Mean") and len(node.inputs) > 2
                    yield Match(
                        f"{op} of {len(node.inputs)} inputs is not fused",
                        "write it as a chain of two-input nodes" + (", which rounds at each step" if rounds else ""),
                        node,
                        fixable=not rounds,
                    )
