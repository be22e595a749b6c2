"""DML102."""

from __future__ import annotations

from collections.abc import Iterator

from paddable.linter.evidence import measured, reported
from paddable.linter.rule import Match, Rule
from paddable.linter.site import Site
from paddable.linter.view.graph import GraphView, NodeView
from paddable.providers.directml.placement import Placement

__all__ = ["GluAsSplit", "split_sizes"]


class GluAsSplit(Rule[Placement]):
    """## What it does
    Finds a gated linear unit written as Split, Sigmoid of one half, product with the other half.

    ## Why is this bad
    In a fused graph the provider takes the product for a Swish without looking at which output of the Split it reads:
    it returns ``q * sigmoid(q)`` in place of ``p * sigmoid(q)``. Nothing fails; the answer is wrong. ONNX Runtime's
    own optimiser has no part in it. A Sigmoid of a Split's half that is a graph output stops at session creation
    (80070057), and so does a pair of Splits, one of c and one of Sigmoid(c).

    ## Example
    ``p, q = Split(x)``; ``y = Mul(p, Sigmoid(q))``

    ## Use instead
    ``p = Slice(x, 0, n)``; ``q = Slice(x, n, 2n)``: right, and still fused.

    ## Fix safety
    Exact: each output of the Split becomes a Slice of its input.
    """

    code = "DML102"
    name = "glu-as-split"
    severity = "error"
    evidence = (
        measured("onnxruntime-directml 1.24.4: equal to q * sigmoid(q) to 2e-7"),
        reported("microsoft/onnxruntime#32146 (AMD RX 7800 XT), #24311, #21007"),
    )
    VALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
        agraph (float[1, 8] x) => (float[1, 4] y)
            <int64[1] zero = {0}, int64[1] four = {4}, int64[1] eight = {8}, int64[1] axis = {1}> {
            p = Slice(x, zero, four, axis)
            q = Slice(x, four, eight, axis)
            s = Sigmoid(q)
            y = Mul(p, s)
        }""",
        """<ir_version: 10, opset_import: ["" : 18]>
        agraph (float[1, 8] x) => (float[1, 4] y) {
            p, q = Split<axis: int = 1, num_outputs: int = 2>(x)
            t = Tanh(q)
            y = Mul(p, t)
        }""",
    )
    INVALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
        agraph (float[1, 8] x) => (float[1, 4] y) {
            p, q = Split<axis: int = 1, num_outputs: int = 2>(x)
            s = Sigmoid(q)
            y = Mul(p, s)
        }""",
        """<ir_version: 8, opset_import: ["" : 17]>
        agraph (float[1, 8] x) => (float[1, 4] y) <int64[2] halves = {4, 4}> {
            p, q = Split<axis: int = 1>(x, halves)
            s = Sigmoid(p)
            y = Mul(s, q)
        }""",
        """<ir_version: 10, opset_import: ["" : 18]>
        agraph (float[1, 8] c) => (float[1, 4] y) {
            s = Sigmoid(c)
            p, q = Split<axis: int = 1, num_outputs: int = 2>(c)
            a, b = Split<axis: int = 1, num_outputs: int = 2>(s)
            y = Mul(p, b)
        }""",
    )

    def check(self, site: Site[Placement]) -> Iterator[Match]:
        for split in site.placement.running("Split"):
            for gate in (
                reader for name in split.outputs for reader in site.view.readers(name) if reader.op == "Sigmoid"
            ):
                yield from _judge(site, split, gate)
            yield from _judge_pair(site, split)


def _judge(site: Site[Placement], split: NodeView, gate: NodeView) -> Iterator[Match]:
    remedy = "write the two halves as Slices"
    if gate.outputs[0] in site.view.outputs and site.placement.placed(gate).unfused is None:
        yield Match(
            "the sigmoid of a Split's half is a graph output: session creation fails (80070057)",
            remedy,
            split,
            fixable=split_sizes(site.view, split) is not None,
        )
        return
    other_halves = set(split.outputs) - set(gate.inputs)
    for product in site.view.readers(gate.outputs[0]):
        if product.op == "Mul" and other_halves & set(product.inputs):
            fused = site.placement.same_island(split, gate, product)
            yield Match(
                f"the gate {gate.name!r} of this Split is computed as q * sigmoid(q) in a fused graph, silently"
                + ("" if fused else "; here the nodes run apart and are right, until the graph becomes static"),
                remedy,
                split,
                severity="error" if fused else "warning",
                fixable=split_sizes(site.view, split) is not None,
            )


def _judge_pair(site: Site[Placement], split: NodeView) -> Iterator[Match]:
    """The form that gates before it splits: Split of c, and Split of Sigmoid(c)."""
    for gate in site.view.readers(split.inputs[0]):
        if gate.op != "Sigmoid":
            continue
        for other in site.view.readers(gate.outputs[0]):
            if other.op == "Split":
                fused = site.placement.same_island(split, gate, other)
                yield Match(
                    "both a value and its sigmoid are split: session creation of a fused graph fails (80070057)",
                    "write the parts as Slices",
                    split,
                    severity="error" if fused else "warning",
                    fixable=split_sizes(site.view, split) is not None,
                )


def split_sizes(view: GraphView, split: NodeView) -> list[int] | None:
    """How many elements each output of a Split takes; None when the graph does not say."""
    given = view.constant(split.input(1)) if split.input(1) else split.attribute("split")
    if given is not None:
        return [int(size) for size in given]
    shape = view.shape(split.inputs[0])
    total = shape[split.attribute("axis", 0)] if shape else None
    if not isinstance(total, int) or split.input(1):
        return None
    step = -(-total // len(split.outputs))  # the last part is the smaller one
    return [min(step, total - step * i) for i in range(len(split.outputs))]
