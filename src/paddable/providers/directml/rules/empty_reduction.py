"""DML125."""

from __future__ import annotations

from collections.abc import Iterator

from paddable.linter.evidence import measured
from paddable.linter.rule import Match, Rule
from paddable.linter.site import Site
from paddable.linter.view.graph import GraphView, NodeView
from paddable.providers.directml.placement import Placement

__all__ = ["EmptyReduction"]


class EmptyReduction(Rule[Placement]):
    """## What it does
    Finds ReduceProd, ReduceMin, ReduceLogSum and ReduceLogSumExp over an axis of size 0.

    ## Why is this bad
    The result ought to be the operation's identity (1, the largest number, -inf); DirectML writes another, silently.

    ## Example
    ``ReduceProd(x, axes=[1])`` with ``x`` of shape ``[2, 0, 4]``

    ## Use instead
    A constant, or an axis of at least one element that is masked.

    ## Fix safety
    No fix.
    """

    code = "DML125"
    name = "empty-reduction"
    severity = "error"
    evidence = (measured("onnxruntime-directml 1.24.4: ONNX node tests test_reduce_*_empty_set"),)
    VALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[2, 3, 4] x) => (float[2, 1, 4] y) <int64[1] a = {1}> { y = ReduceProd(x, a) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[2, 0, 4] x) => (float[2, 1, 4] y) <int64[1] a = {1}> { y = ReduceMax(x, a) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[2, 0, 4] x) => (float[2, 0, 1] y) <int64[1] a = {2}> { y = ReduceProd(x, a) }""",
    )
    INVALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[2, 0, 4] x) => (float[2, 1, 4] y) <int64[1] a = {1}> { y = ReduceProd(x, a) }""",
        """<ir_version: 8, opset_import: ["" : 17]>
                agraph (float[2, 0, 4] x) => (float[2, 1, 4] y) { y = ReduceMin<axes: ints = [-2]>(x) }""",
        """<ir_version: 8, opset_import: ["" : 17]>
                agraph (float[2, 0, 4] x) => (float[1, 1, 1] y) { y = ReduceLogSumExp(x) }""",
    )

    def check(self, site: Site[Placement]) -> Iterator[Match]:
        for op in ("ReduceProd", "ReduceMin", "ReduceLogSum", "ReduceLogSumExp"):
            for node in site.placement.running(op):
                for axis in _reduced(node, site.view):
                    if (site.view.shape(node.inputs[0]) or ())[axis] == 0:
                        what = f"axis {axis} is empty: the result is not the identity of {op}, silently"
                        yield Match(what, "write the constant itself", node, axis=axis, fixable=False)


def _reduced(node: NodeView, view: GraphView) -> list[int]:
    """The axes that are reduced; none where they are not known."""
    rank = len(view.shape(node.inputs[0]) or ())
    named = view.constant(node.input(1)) if node.input(1) else node.attribute("axes")
    if named is None or not len(named):
        return [] if node.input(1) or node.attribute("noop_with_empty_axes", 0) else list(range(rank))
    return [int(axis) % rank for axis in named]
