"""DML112."""

from __future__ import annotations

from collections.abc import Iterator

from paddable.linter.evidence import measured, reported
from paddable.linter.rule import Match, Rule
from paddable.linter.site import Site
from paddable.providers.directml.placement import Placement

__all__ = ["SubgraphBlocksFusion"]


class SubgraphBlocksFusion(Rule[Placement]):
    """## What it does
    Finds If, Loop and Scan.

    ## Why is this bad
    One of them turns fusion off for every node of the graph it stands in: the provider does not follow the values
    that a subgraph captures. Loop and Scan themselves run on the CPU.

    ## Example
    ``If(Equal(Shape(x)[0], 1)) ...`` as TorchScript writes it for ``squeeze``

    ## Use instead
    The branch that is taken, inlined; a vectorised form of the loop.

    ## Fix safety
    No fix here: ``convert`` inlines a condition that is constant.
    """

    code = "DML112"
    name = "subgraph-blocks-fusion"
    severity = "warning"
    evidence = (
        measured("onnxruntime-directml 1.24.4, seen with If"),
        reported("ContainsSubgraph in the provider's source"),
    )
    VALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 8] x, bool[1, 8] c, float[1, 8] z) => (float[1, 8] y) { y = Where(c, x, z) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 8] x) => (float[1, 8] y) { y = Relu(x) }""",
    )
    INVALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (bool c, float[1, 8] x) => (float[1, 8] y) { y = If(c) <then_branch = t () => (float[1, 8] a)
                    { a = Relu(x) }, else_branch = e () => (float[1, 8] b) { b = Tanh(x) }> }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (bool c, float[1, 8] x) => (float[1, 8] z) { y = If(c) <then_branch = t () => (float[1, 8] a)
                    { a = Relu(x) }, else_branch = e () => (float[1, 8] b) { b = Neg(x) }>
                 z = Exp(y) }""",
    )

    def check(self, site: Site[Placement]) -> Iterator[Match]:
        for node in site.view.nodes:
            if node.nests and node.subgraphs:
                what = f"{node.op} turns fusion off for the {len(site.view.nodes)} nodes of its graph"
                yield Match(
                    what, "inline the branch that is taken, or write the loop without control flow", node, fixable=False
                )
