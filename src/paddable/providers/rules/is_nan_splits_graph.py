"""TGT107."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from paddable.linter.evidence import measured
from paddable.linter.rule import Match, Rule
from paddable.linter.site import Site

__all__ = ["IsNanSplitsGraph"]


class IsNanSplitsGraph(Rule[Any]):
    """## What it does
    Finds IsNaN in a graph for OpenVINO. The dynamo exporter writes one behind the softmax of every attention layer.

    ## Why is this bad
    The provider does not take the operator. The graph is cut there, with a copy on both sides; and where the nodes
    around it read each other past it, the session is not created ("the graph is not acyclic").

    ## Example
    ``Where(IsNaN(p), 0, p)`` with ``p = Softmax(x)``

    ## Use instead
    ``Not(Equal(p, p))``: NaN is what differs from itself.

    ## Fix safety
    Exact.
    """

    code = "TGT107"
    name = "is-nan-splits-graph"
    severity = "error"
    evidence = (measured("onnxruntime-openvino 1.24.1 on a CPU: stops in the second example, splits the zoo's graphs"),)
    VALID = (
        """<ir_version: 9, opset_import: ["" : 18]>
                agraph (float[2, 4] x) => (bool[2, 4] y) { e = Equal(x, x)  y = Not(e) }""",
        """<ir_version: 9, opset_import: ["" : 18]>
                agraph (float[2, 4] x) => (bool[2, 4] y) { y = IsInf(x) }""",
    )
    INVALID = (
        """<ir_version: 9, opset_import: ["" : 18]>
                agraph (float[2, 4] x) => (bool[2, 4] y) { y = IsNaN(x) }""",
        """<ir_version: 9, opset_import: ["" : 18]>
                agraph (float[2, 4] x) => (float[2, 4] y) <float z = {0}> {
                    p = Softmax(x)
                    n = IsNaN(p)
                    y = Where(n, z, p) }""",
    )

    def check(self, site: Site[Any]) -> Iterator[Match]:
        if site.facts is None or site.facts.is_nan_cuts_graph is None:
            return
        for node in site.view.nodes:
            if node.op == "IsNaN" and not node.domain:
                yield Match("runs on the CPU and cuts the graph", "compare the value with itself", node)
