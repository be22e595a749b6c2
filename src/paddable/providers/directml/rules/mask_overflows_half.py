"""DTY103."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import onnx

from paddable.linter.evidence import measured, reported
from paddable.linter.rule import Match, Rule
from paddable.linter.site import Site
from paddable.linter.view.graph import GraphView
from paddable.providers.directml.placement import Placement

__all__ = ["MaskOverflowsHalf"]


class MaskOverflowsHalf(Rule[Placement]):
    """## What it does
    Finds a mask constant that is finite in float and infinite in half, and cast to half; and one in half that adds -inf
    to a whole row before Softmax.

    ## Why is this bad
    float's lowest number becomes -inf in half. A row that is masked in full is then NaN after softmax, and NaN
    times 0 spreads; two added biases of that size do the same.

    ## Example
    ``Where(mask, scores, Cast(-3.4e38, to=float16))``

    ## Use instead
    A fill written in the final type: -65504, or -inf with the rows that keep no key zeroed by select.

    ## Fix safety
    No fix here: the precision stage writes fills again in the new type.
    """

    code = "DTY103"
    name = "mask-overflows-half"
    severity = "error"
    evidence = (
        measured("onnxruntime 1.32 CPU: all NaN"),
        reported("apple/coremltools#2669, microsoft/onnxscript#2479"),
    )
    VALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (bool[4] m, float16[4] x) => (float16[4] y) <float f = {-60000.0}> {
            h = Cast<to: int = 10>(f)
            y = Where(m, x, h)
        }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (bool[4] m, float[4] x) => (float[4] y) <float f = {-3.0e38}> { y = Where(m, x, f) }""",
    )
    INVALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (bool[4] m, float16[4] x) => (float16[4] y) <float f = {-3.0e38}> { h = Cast<to: int = 10>(f)
                 y = Where(m, x, h) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[4] m, float16[4] x) => (float16[4] y) <float f = {-1.0e9}> { b = Mul(m, f)
                 h = Cast<to: int = 10>(b)
                 y = Add(x, h) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float16[2, 4] x) => (float16[2, 4] y) {
                 m = Constant<value = float16[1, 4] {64512, 64512, 64512, 64512}>()
                 s = Add(x, m)
                 y = Softmax(s) }""",
    )

    def check(self, site: Site[Placement]) -> Iterator[Match]:
        view = site.view
        if not view.reader.met("float16"):
            return
        for node in view.of("Where", "Add"):
            for name in node.inputs:
                if view.dtype(name) == "float16" and _overflowed(view, name):
                    what = f"the mask value {name!r} is -inf in half: a fully masked row becomes NaN"
                    yield Match(what, "write the fill as -65504", node, fixable=False)
        for node in view.of("Add"):
            softened = any(reader.op == "Softmax" for reader in view.readers(node.outputs[0]))
            if (
                softened
                and view.dtype(node.outputs[0]) == "float16"
                and any(_masks_a_row(view, n) for n in node.inputs)
            ):
                what = "a row of the mask is -inf from end to end: its softmax is NaN"
                yield Match(what, "write the fill as -65504", node, fixable=False)
        for node in view.of("Cast"):
            if node.attribute("to") == onnx.TensorProto.FLOAT16 and _scaled_past_half(view, node.inputs[0]):
                what = "a mask bias of more than 65504 is cast to half and becomes -inf: a fully masked row becomes NaN"
                yield Match(what, "write the bias as at most 6e4 in size", node, fixable=False)


_HALF_MAX = 65504.0


def _overflowed(view: GraphView, name: str) -> bool:
    """Whether a constant became -inf by a Cast from a finite one; an -inf that was written as such is meant."""
    value = view.constant(name)
    if value is None or not np.isneginf(value).any():
        return False
    source = next(
        (proto.input[0] for proto in view.proto.node if proto.op_type == "Cast" and name in proto.output), None
    )
    wide = view.constant(source) if source else None
    return wide is not None and bool(np.isfinite(wide).all())


def _masks_a_row(view: GraphView, name: str) -> bool:
    """Whether a constant, not one that a Cast overflowed, holds nothing but -inf along its last axis somewhere."""
    value = view.constant(name)
    if value is None or not value.ndim or value.dtype.kind != "f" or _overflowed(view, name):
        return False
    return bool(np.isneginf(value).all(axis=-1).any())


def _scaled_past_half(view: GraphView, name: str) -> bool:
    """Whether the value is a product with, or a select of, a constant below half's range."""
    producer = view.producers.get(name)
    if producer is None or producer.op not in ("Mul", "Where"):
        return False
    known = [
        value for other in producer.inputs if (value := view.constant(other)) is not None and value.dtype.kind == "f"
    ]
    return any(value.size and np.isfinite(value).all() and value.min() < -_HALF_MAX for value in known)
