"""SHP104."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from paddable.linter.evidence import reported
from paddable.linter.rule import Match, Rule
from paddable.linter.site import Site
from paddable.linter.subject import Kind

__all__ = ["DataDependentSize"]

_SIZE_INPUTS = {
    "CenterCropPad": (1,),
    "ConstantOfShape": (0,),
    "Expand": (1,),
    "OneHot": (1,),
    "Pad": (1,),
    "Range": (0, 1, 2),
    "Reshape": (1,),
    "Resize": (2, 3),
    "Slice": (1, 2, 3, 4),
    "Split": (1,),
    "Tile": (1,),
    "TopK": (1,),
    "Upsample": (1,),
}
"""Inputs whose contents decide the size of the output."""

_COUNTING = {"Compress", "NonMaxSuppression", "NonZero", "SequenceConstruct", "StringSplit", "Unique"}
"""Operators whose output is as long as their input says."""


class DataDependentSize(Rule[Any]):
    """## What it does
    Finds an operator whose output size is computed from the contents of tensors: from a length input, from scores, by
    counting what is nonzero.

    ## Why is this bad
    Such a size is known only while the model runs, so no fixed container exists, whatever the input is padded to.
    Engines with fixed shapes refuse the model; the length compiler does too.

    ## Example
    ``x[:, :, : ilens[0]].mean(-1)``: a Slice up to a number that is data

    ## Use instead
    A mask, which has the size of the container:
    ``m = ones_like(x).cumsum(-1) <= ilens.view(-1, 1, 1); (x * m).sum(-1) / ilens``. Or export the native model without
    the length, and let ``paddable convert`` mask it.

    ## Fix safety
    No fix: the program has to change.
    """

    code = "SHP104"
    name = "data-dependent-size"
    severity = "error"
    evidence = (reported("https://github.com/OHF-Voice/piper1-gpl/issues/148"),)
    VALID = (
        """m (float[1,T,8] x) => (float[1,N,8] y) <int64[1] a = {0}, int64[1] one = {1}, int64[1] axis = {1}> {
            n = Shape<start = 1, end = 2>(x) e = Sub(n, one) y = Slice(x, a, e, axis)
        }""",
        """m (float[1,T,8] x, int64[1] ilens) => (float[1,T,8] y) <int64 axis = {1}, float one = {1.0}> {
            s = Shape(x) o = Expand(one, s) p = CumSum(o, axis) n = Cast<to = 1>(ilens) k = LessOrEqual(p, n)
            m = Cast<to = 1>(k) y = Mul(x, m)
        }""",
    )
    INVALID = (
        """m (float[1,T,8] x, int64[1] ilens) => (float[1,N,8] y) <int64[1] a = {0}, int64[1] axis = {1}> {
            y = Slice(x, a, ilens, axis)
        }""",
        "m (float[T] x) => (int64[1,N] y) { y = NonZero(x) }",
        """m (float[1,T] x, int64[3] dur) => (int64[N] y) <int64 a = {0}, int64 d = {1}> {
            n = ReduceSum<keepdims = 0>(dur) y = Range(a, n, d)
        }""",
    )

    def check(self, site: Site[Any]) -> Iterator[Match]:
        """Yields each operator that decides a size by data; those that only inherit such a size are left out."""
        for node in site.nodes(*_SIZE_INPUTS, *_COUNTING):
            if node.op in _COUNTING:
                if site.kind(node.outputs[0]) is Kind.DATA:
                    yield Match(
                        f"the size of what {node.op} gives depends on the values it is given",
                        "compute on all steps under a mask instead of selecting some",
                        node,
                    )
                continue
            for position in _SIZE_INPUTS[node.op]:
                size = node.input(position)
                if size and site.kind(size) is Kind.DATA:
                    yield Match(
                        f"the output size of {node.op} is computed from data ({_origin(site, size)})",
                        "mask instead of cutting, so that the size stays that of the container; or export without "
                        "lengths and let `paddable convert` mask",
                        node,
                    )
                    break


def _origin(site: Site[Any], size: str) -> str:
    """Where the data comes from: the graph inputs that reach the size, or the size itself."""
    inputs = [f"input {name!r}" for name in site.subject.inputs if size in site.subject.reaches(name)]
    return " and ".join(inputs[:2]) or f"value {size!r}"
