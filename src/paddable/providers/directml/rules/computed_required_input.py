"""DML111."""

from __future__ import annotations

from collections.abc import Iterator

from paddable.linter.evidence import measured, reported
from paddable.linter.rule import Match, Rule
from paddable.linter.site import Site
from paddable.linter.view.graph import GraphView, NodeView
from paddable.providers.directml.placement import Placement

__all__ = ["ComputedRequiredInput"]


class ComputedRequiredInput(Rule[Placement]):
    """## What it does
    Finds inputs that a fused graph needs as initializers and that the graph computes: target shapes, slice bounds,
    pads, axes.

    ## Why is this bad
    The node is not fused, and a new value of that input makes it build its kernel again.

    ## Example
    ``Reshape(x, Concat(...))``, ``Slice(x, 0, length)``

    ## Use instead
    A constant; in a static graph shape arithmetic folds away by itself.

    ## Fix safety
    ``convert`` folds shape arithmetic when it cuts a graph to a container. A Clip of integers becomes Max and Min,
    which is exact; of floats it stays, since NaN takes another way there.
    """

    code = "DML111"
    name = "computed-required-input"
    severity = "warning"
    evidence = (
        measured("onnxruntime-directml 1.24.4"),
        reported("requiredConstantCpuInputs in the provider's source"),
    )
    VALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 8] x) => (float[1, 4] y)
                    <int64[1] zero = {0}, int64[1] four = {4}, int64[1] axis = {1}> { y = Slice(x, zero, four, axis)
                        }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[2, 4] x) => (float[8] y) <int64[1] shape = {-1}> { y = Reshape(x, shape) }""",
    )
    INVALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 8] x, int64[1] n) => (float[1, M] y) <int64[1] zero = {0}, int64[1] axis = {1}> {
                    y = Slice(x, zero, n, axis) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[2, 4] x, int64[2] shape) => (float[A, B] y) { y = Reshape(x, shape) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (int64[1, 8] x, int64 n) => (int64[1, 8] y) <int64 zero = {0}> { y = Clip(x, zero, n) }""",
    )

    def check(self, site: Site[Placement]) -> Iterator[Match]:
        computed: dict[str, list[NodeView]] = {}
        for placed in site.placement.kernels:
            if "is computed" in (placed.unfused or ""):
                computed.setdefault(placed.node.op, []).append(placed.node)
        for op, nodes in computed.items():
            exact = all(is_clip_of_integers(node, site.view) for node in nodes)
            yield Match(
                f"{len(nodes)} {op} cannot be fused: {site.placement.placed(nodes[0]).unfused}",
                "write it as Max and Min" if exact else "make it a constant, or make the graph static",
                nodes[0],
                tuple(nodes[1:]),
                fixable=exact,
            )


def is_clip_of_integers(node: NodeView, view: GraphView) -> bool:
    """Whether a Clip is Max and Min by another name: integers, and bounds without an axis."""
    integers = (view.dtype(node.inputs[0]) or "").startswith(("int", "uint"))
    return node.op == "Clip" and integers and all(view.shape(name) == () for name in node.inputs[1:] if name)
