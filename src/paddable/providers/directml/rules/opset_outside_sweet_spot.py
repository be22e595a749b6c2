"""DML106."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import onnx

from paddable.linter.evidence import measured
from paddable.linter.rule import Match, Rule
from paddable.linter.site import Site
from paddable.linter.view.graph import GraphView, NodeView
from paddable.providers.directml.placement import Placement, find_kernel

__all__ = ["OpsetOutsideSweetSpot", "sweet_spot"]


class OpsetOutsideSweetSpot(Rule[Placement]):
    """## What it does
    Finds operators that have a DirectML kernel, but not for the version that the model's opset selects.

    ## Why is this bad
    The registry wants the exact version, so a new version of an operator falls to the CPU even where nothing
    changed in it, with copies around it. Opset 22 loses 40 operators, Conv and LSTM among them; 23 loses 54,
    Reshape, Transpose and Cast too; 18 loses Scatter, 20 ConstantOfShape.

    ## Example
    ``opset_import: 22`` and a ``Conv``

    ## Use instead
    Opset 17 to 21: 18 for most graphs, 17 when they hold ScatterND or ScatterElements.

    ## Fix safety
    Converted with ONNX's own version converter, re-checked numerically; refused where an operator does not exist or
    means something else in the older opset. None where the older opset keeps the nodes on the CPU as well, as it does
    a Scatter with a reduction.
    """

    code = "DML106"
    name = "opset-outside-sweet-spot"
    severity = "warning"
    evidence = (
        measured(
            "onnxruntime-directml 1.24.4: Conv of opset 22 ran on the CPU, so did nearly all of an opset-23 chain"
        ),
    )
    VALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 2, 9] x, float[3, 2, 4] w) => (float[1, 3, 6] y) { y = Conv(x, w) }""",
        """<ir_version: 10, opset_import: ["" : 21]>
                agraph (float[1, 2, 9] x, float[3, 2, 4] w) => (float[1, 3, 6] y) { y = Conv(x, w) }""",
    )
    INVALID = (
        """<ir_version: 10, opset_import: ["" : 22]>
                agraph (float[1, 2, 9] x, float[3, 2, 4] w) => (float[1, 3, 6] y) { y = Conv(x, w) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[4] x, int64[1, 1] i, float[1] u) => (float[4] y) { y = ScatterND(x, i, u) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[4] x, int64[4] i) => (float[4] y) {
                    y = ScatterElements<reduction: string = "add">(x, i, x) }""",
    )

    def check(self, site: Site[Placement]) -> Iterator[Match]:
        lost = [placed.node for placed in site.placement.nodes if placed.reason == "version" and not placed.node.domain]
        if lost:
            counts = Counter(f"{node.op}-{node.since}" for node in lost)
            listed = ", ".join(f"{count} {op}" for op, count in counts.most_common())
            opset, target = site.view.opset.get("", 0), sweet_spot(site.view)
            refusals = [_refusal(node, site.view, target) for node in lost]
            helps = opset != target and None in refusals
            what = f"opset {opset} selects versions that DirectML has no kernel for, so they run on the CPU: {listed}"
            if opset != target and not helps:
                what = f"{what}; opset {target} would not help: {refusals[0]}"
            remedy = f"convert the model to opset {target}" if helps else "write them with other operators"
            yield Match(what, remedy, lost[0], fixable=helps)


def sweet_spot(view: GraphView) -> int:
    """The opset with the most kernels for this graph: 17 when it scatters, else 18."""
    nodes = (node for part in view.outermost.walk() for node in part.nodes)
    return 17 if any(node.op in ("ScatterND", "ScatterElements") for node in nodes) else 18


def _refusal(node: NodeView, view: GraphView, opset: int) -> str | None:
    """Why DirectML would leave the node to the CPU in another opset as well; None where it would take it."""
    try:
        since = onnx.defs.get_schema(node.op, opset).since_version
    except onnx.defs.SchemaError:
        return f"it has no {node.op}"
    _, refused = find_kernel(view, NodeView(node.proto, node.index, since))
    return refused[1] if refused else None
