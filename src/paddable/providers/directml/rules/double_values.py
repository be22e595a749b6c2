"""DTY102."""

from __future__ import annotations

from collections.abc import Iterator

from paddable.linter.evidence import measured, reported
from paddable.linter.rule import Match, Rule
from paddable.linter.site import Site
from paddable.linter.view.graph import GraphView, NodeView
from paddable.providers.directml.placement import Placement

__all__ = ["DoubleValues"]


class DoubleValues(Rule[Placement]):
    """## What it does
    Finds values of type double.

    ## Why is this bad
    The measured device holds no double: a chain from one Cast to double to the next Cast ran on the CPU, with
    copies on both sides.

    ## Example
    ``Cast(x, to=double)``

    ## Use instead
    float; front ends that need double belong outside the graph.

    ## Fix safety
    No fix: narrower arithmetic changes numbers.
    """

    code = "DTY102"
    name = "double-values"
    severity = "warning"
    evidence = (
        measured("onnxruntime-directml 1.24.4 on a software device"),
        reported("fp64 support depends on the device"),
    )
    VALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[4] x) => (float[4] y) { y = Mul(x, x) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float16[4] x) => (float[4] y) { y = Cast<to: int = 1>(x) }""",
    )
    INVALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[4] x) => (float[4] y) { d = Cast<to: int = 11>(x)
                 e = Mul(d, d)
                 y = Cast<to: int = 1>(e) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (double[4] x) => (double[4] y) { y = Relu(x) }""",
    )

    def check(self, site: Site[Placement]) -> Iterator[Match]:
        nodes = [
            p.node
            for p in site.placement.cpu_nodes
            if p.reason in ("type", "device type") and _touches_double(site.view, p.node)
        ]
        if nodes:
            yield Match(
                f"{len(nodes)} nodes on double values run on the CPU", "compute in float", nodes[0], fixable=False
            )


def _touches_double(view: GraphView, node: NodeView) -> bool:
    return any(view.dtype(name) == "double" for name in (*node.inputs, *node.outputs) if name)
