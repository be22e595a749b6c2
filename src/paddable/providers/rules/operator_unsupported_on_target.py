"""TGT104."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from paddable.linter.evidence import measured, reported
from paddable.linter.rule import Match, Rule
from paddable.linter.site import Site

__all__ = ["OperatorUnsupportedOnTarget"]


class OperatorUnsupportedOnTarget(Rule[Any]):
    """## What it does
    Finds operators that the target's table lists as not running there.

    ## Why is this bad
    The node falls to the CPU with a copy on both sides, or keeps the graph from being captured.

    ## Example
    ``If`` in a graph for CUDA, ``DynamicQuantizeLinear`` on WebGPU

    ## Use instead
    The form that the table names; ``convert`` inlines conditions that are constant.

    ## Fix safety
    No fix here.
    """

    code = "TGT104"
    name = "operator-unsupported-on-target"
    severity = "warning"
    evidence = (
        measured("onnxruntime-ep-webgpu 0.4.0"),
        reported("the CUDA documentation of ONNX Runtime"),
    )
    VALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 8] x) => (float[1, 8] y) { y = Relu(x) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 8] x, bool[1, 8] c) => (float[1, 8] y) { y = Where(c, x, x) }""",
    )
    INVALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (bool c, float[1, 8] x) => (float[1, 8] y) { y = If(c) <then_branch = t () => (float[1, 8] a)
                    { a = Relu(x) }, else_branch = e () => (float[1, 8] b) { b = Tanh(x) }> }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 8] x) => (uint8[1, 8] y, float s, uint8 z) { y, s, z = DynamicQuantizeLinear(x) }""",
    )

    def check(self, site: Site[Any]) -> Iterator[Match]:
        for op, fact in site.facts.unsupported.items() if site.facts is not None else ():
            nodes = [node for node in site.view.nodes if node.op == op]
            if nodes:
                yield Match(
                    f"{len(nodes)} {op}: {fact}",
                    "write it with other operators",
                    nodes[0],
                    tuple(nodes[1:]),
                    fixable=False,
                )
