"""DTY104."""

from __future__ import annotations

from collections.abc import Iterator

import onnx

from paddable.linter.evidence import measured
from paddable.linter.rule import Match, Rule
from paddable.linter.site import Site
from paddable.linter.view.graph import GraphView, NodeView
from paddable.providers.directml.placement import Placement

__all__ = ["PositionsInHalf"]


class PositionsInHalf(Rule[Placement]):
    """## What it does
    Finds lengths and positions in half: CumSum or ReduceSum of ones in float16, CumSum in float16 over more than 2048
    steps, and a length or a Range cast to float16 that may go past 2048.

    ## Why is this bad
    half counts exactly to 2048 and stops there: every later frame gets the same position.

    ## Example
    ``CumSum(Cast(mask, to=float16))``

    ## Use instead
    int64, int32 or float for positions and lengths; cast the result.

    ## Fix safety
    No fix here: the precision stage keeps positions out of half.
    """

    code = "DTY104"
    name = "positions-in-half"
    severity = "error"
    evidence = (measured("onnxruntime 1.32 CPU: saturates at 2048"),)
    VALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (bool[1, 9] m) => (float[1, 9] y) <int64 a = {1}> { f = Cast<to: int = 1>(m)
                 y = CumSum(f, a) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float16[1, 9] x) => (float16[1, 9] y) <int64 a = {1}> { y = CumSum(x, a) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[9] x) => (float16[2048] y) <int64 a = {0}, int64 n = {2048}, int64 s = {1}> {
                    r = Range(a, n, s)
                    y = Cast<to: int = 10>(r) }""",
    )
    INVALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (bool[1, 9] m) => (float16[1, 9] y) <int64 a = {1}> { f = Cast<to: int = 10>(m)
                 y = CumSum(f, a) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (bool[1, 9] m) => (float16[1, 1] y) <int64[1] a = {1}> { f = Cast<to: int = 10>(m)
                 y = ReduceSum(f, a) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (int64 n) => (float16[T] y) <int64 a = {0}, int64 s = {1}> {
                    r = Range(a, n, s)
                    y = Cast<to: int = 10>(r) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float16[4000] x) => (float16[4000] y) <int64 a = {0}, int64 n = {4000}, int64 s = {1}> {
                    r = Range(a, n, s)
                    p = Cast<to: int = 10>(r)
                    y = Add(x, p) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float16[1] x, int64[1] ilens) => (float16[1] y) {
                    n = Cast<to: int = 10>(ilens)
                    y = Div(x, n) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float16[1, 4000] x) => (float16[1, 4000] y) <int64 a = {1}> { y = CumSum(x, a) }""",
    )

    def check(self, site: Site[Placement]) -> Iterator[Match]:
        if not site.view.reader.met("float16"):
            return
        yield from _sums(site.view)
        yield from _casts(site.view)


def _sums(view: GraphView) -> Iterator[Match]:
    for node in view.of("CumSum", "ReduceSum"):
        if view.dtype(node.inputs[0]) != "float16":
            continue
        source = view.producers.get(node.inputs[0])
        if source is not None and source.op == "Cast" and view.dtype(source.inputs[0]) in _COUNTS:
            what = f"{node.op} counts in half, which ends at 2048"
            yield Match(what, "count in int64 or float and cast the result", node, fixable=False)
        elif node.op == "CumSum":
            axis, shape = view.constant(node.inputs[1]), view.shape(node.inputs[0])
            steps = shape[int(axis.item())] if shape and axis is not None else None
            if isinstance(steps, int) and steps > _EXACT:
                what = f"CumSum adds {steps} steps in half, which counts exactly to 2048 only"
                yield Match(what, "add in float and cast the result", node, severity="warning", fixable=False)


def _casts(view: GraphView) -> Iterator[Match]:
    """Casts as the file has them: a constant Range is folded, and its positions are rounded all the same."""
    makers = {name: proto for proto in view.proto.node for name in proto.output}
    for index, proto in enumerate(view.proto.node):
        node = NodeView(proto, index)
        if node.op != "Cast" or node.attribute("to") != onnx.TensorProto.FLOAT16:
            continue
        name, remedy = node.inputs[0], "keep positions in int64 or float"
        source, shape = makers.get(name), view.shape(name)
        size = shape[0] if shape else None
        if source is not None and source.op_type == "Range" and not (isinstance(size, int) and size <= _EXACT):
            yield Match("positions of a Range are cast to half, which ends at 2048", remedy, node, fixable=False)
        elif name in view.inputs and view.dtype(name) in _LENGTHS and shape is not None and len(shape) <= 1:
            what = f"the input {name!r}, a length by its type, is cast to half, which ends at 2048"
            yield Match(what, remedy, node, severity="warning", fixable=False)


_LENGTHS = frozenset({"int32", "int64"})
_EXACT = 2048
_COUNTS = frozenset({"bool", "int32", "int64", "int8", "uint8"})
