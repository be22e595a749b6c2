"""SHP106."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from paddable.linter.evidence import measured
from paddable.linter.rule import Match, Rule
from paddable.linter.site import Site
from paddable.linter.subject import Kind

__all__ = ["TruncatingDivision"]

_INTEGERS = ("int64", "int32")


class TruncatingDivision(Rule[Any]):
    """## What it does
    Finds a Div of a negated size: Python's ``//`` rounds down there, ONNX's Div toward zero.

    ## Why is this bad
    ``-(-n // 4)`` is n / 4 rounded up. Both exporters write Neg, Div, Neg, which rounds down: at every length that is
    no multiple the last block is missing, and no message says so.

    ## Example
    ``frames = -(-x.shape[1] // 4)``

    ## Use instead
    ``frames = (x.shape[1] + 3) // 4``

    ## Fix safety
    No fix: the model may have been written for what ONNX does.
    """

    code = "SHP106"
    name = "truncating-division"
    severity = "warning"
    evidence = (measured("torch 2.13.0, dynamo and TorchScript: x[:, :-(-n // 4)] of 10 steps has 2 in ONNX Runtime"),)
    VALID = (
        """m (float[1,T,4] x) => (float[1,U,4] y)
        <int64[1] three = {3}, int64[1] k = {4}, int64[1] z = {0}, int64[1] a = {1}> {
            n = Shape<start = 1, end = 2>(x) m = Add(n, three) d = Div(m, k) y = Slice(x, z, d, a)
        }""",
        "m (float[1,T,4] x) => (float[1,T,4] y) <float k = {4.0}> { n = Neg(x) y = Div(n, k) }",
    )
    INVALID = (
        """m (float[1,T,4] x) => (float[1,U,4] y) <int64[1] k = {4}, int64[1] z = {0}, int64[1] a = {1}> {
            n = Shape<start = 1, end = 2>(x) m = Neg(n) d = Div(m, k) e = Neg(d) y = Slice(x, z, e, a)
        }""",
        """m (float[1,T,4] x) => (float[1,U,4] y) <int64 k = {4}, int64[1] z = {0}, int64[1] a = {1}> {
            n = Shape<start = 1, end = 2>(x) c = Squeeze(n) m = Neg(c) d = Div(m, k) e = Unsqueeze(d, z)
            f = Neg(e) y = Slice(x, z, f, a)
        }""",
    )

    def check(self, site: Site[Any]) -> Iterator[Match]:
        """Yields each Div of a negated size."""
        for node in site.nodes("Div"):
            numerator = site.computed(node.inputs[0])
            if numerator is None or numerator.op != "Neg" or site.kind(node.outputs[0]) is not Kind.SHAPES:
                continue
            divisor = site.constant(node.inputs[1])
            if divisor is None or divisor.dtype.name not in _INTEGERS or (divisor == 1).all():
                continue
            by = int(divisor.reshape(-1)[0])
            yield Match(
                f"Div of a negative size by {by} rounds toward zero, where Python's // rounds down",
                f"write the rounding up as (n + {by - 1}) // {by}",
                node,
            )
