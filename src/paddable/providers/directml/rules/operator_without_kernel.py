"""DML107."""

from __future__ import annotations

from collections.abc import Iterator

import onnx

from paddable.linter.evidence import measured
from paddable.linter.rule import Match, Rule
from paddable.linter.site import Site
from paddable.linter.view.graph import GraphView, NodeView
from paddable.providers.directml.placement import Placement

__all__ = ["OperatorWithoutKernel"]


class OperatorWithoutKernel(Rule[Placement]):
    """## What it does
    Finds operators that DirectML has no kernel for in any version.

    ## Why is this bad
    The node runs on the CPU, each of its inputs and outputs is copied, and the fused graph is cut in two.

    ## Example
    ``Gelu`` of opset 20, ``HardSwish``, ``Mish``, ``RMSNormalization``, ``Attention`` of opset 23, ``Unique``,
    ``Compress``

    ## Use instead
    The same written with older operators (``Div, Erf, Add, Mul`` for Gelu); for Gelu alone also the com.microsoft
    form, which has a kernel.

    ## Fix safety
    Operators that ONNX itself defines as a function of others are expanded by that definition. The others have no
    fix.
    """

    code = "DML107"
    name = "operator-without-kernel"
    severity = "warning"
    evidence = (measured("onnxruntime-directml 1.24.4: registry, and Gelu-20 seen on the CPU with a copy to and fro"),)
    VALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 8] x) => (float[1, 8] y) { y = Erf(x) }""",
        """<ir_version: 9, opset_import: ["" : 20, "com.microsoft" : 1]>
                agraph (float[1, 8] x) => (float[1, 8] y) { y = com.microsoft.Gelu(x) }""",
    )
    INVALID = (
        """<ir_version: 9, opset_import: ["" : 20]>
                agraph (float[1, 8] x) => (float[1, 8] y) { y = Gelu(x) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 8] x) => (float[1, 8] y) { y = HardSwish(x) }""",
    )

    def check(self, site: Site[Placement]) -> Iterator[Match]:
        lost: dict[str, list[NodeView]] = {}
        for placed in site.placement.nodes:
            if placed.reason == "operator" and placed.node.op not in _SUBGRAPHS:
                lost.setdefault(placed.node.op, []).append(placed.node)
        for op, nodes in lost.items():
            expands = all(is_expandable(node, site.view) for node in nodes)
            yield Match(
                f"DirectML has no kernel for {op}: {len(nodes)} of them run on the CPU",
                "expand it into the operators that ONNX defines it by"
                if expands
                else "rewrite it with operators that have a kernel",
                nodes[0],
                tuple(nodes[1:]),
                fixable=expands,
            )


_SUBGRAPHS = frozenset({"Loop", "Scan", "SequenceMap"})  # DML112 reports them


def is_expandable(node: NodeView, view: GraphView) -> bool:
    """Whether ONNX defines the operator, in the version at hand, by others that give the same numbers."""
    if node.op == "Attention" and (len(node.outputs) > 1 or view.dtype(node.inputs[0]) != "float"):
        return False  # ONNX's own node tests differ there: by 7e-4 in half, and in the scores it returns
    try:
        schema = onnx.defs.get_schema(node.op, node.since, node.domain)
    except onnx.defs.SchemaError:
        return False
    return bool(getattr(schema, "has_function", False) or getattr(schema, "has_context_dependent_function", False))
