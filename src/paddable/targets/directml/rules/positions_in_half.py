"""DTY104."""

from __future__ import annotations

from collections.abc import Iterator

import onnx

from paddable.graph.lint.rule import measured
from paddable.targets.directml.site import DirectMLRule, Site
from paddable.targets.rule import Match

__all__ = ["PositionsInHalf"]


class PositionsInHalf(DirectMLRule):
    """## What it does
    Finds lengths and positions in half: CumSum or ReduceSum of ones in float16, and a Range cast to float16 that may go
    past 2048.

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
    )

    def check(self, site: Site) -> Iterator[Match]:
        for node in site.view.nodes:
            if node.op in ("CumSum", "ReduceSum") and site.view.dtype(node.inputs[0]) == "float16":
                source = site.view.producers.get(node.inputs[0])
                if source is not None and source.op == "Cast" and site.view.dtype(source.inputs[0]) in _COUNTS:
                    yield Match(
                        f"{node.op} counts in half, which ends at 2048",
                        "count in int64 or float and cast the result",
                        node,
                        fixable=False,
                    )
            elif node.op == "Cast" and node.attribute("to") == onnx.TensorProto.FLOAT16:
                source = site.view.producers.get(node.inputs[0])
                size = (site.view.shape(node.inputs[0]) or (None,))[0]
                if source is not None and source.op == "Range" and not (isinstance(size, int) and size <= _EXACT):
                    yield Match(
                        "positions of a Range are cast to half, which ends at 2048",
                        "keep positions in int64 or float",
                        node,
                        fixable=False,
                    )


_EXACT = 2048
_COUNTS = frozenset({"bool", "int32", "int64", "int8", "uint8"})
