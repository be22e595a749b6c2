"""SHP103."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from paddable.linter.evidence import measured, reported
from paddable.linter.rule import Match, Rule
from paddable.linter.site import Site
from paddable.linter.subject import Kind
from paddable.linter.view.graph import NodeView

__all__ = ["RangeFedReshape"]

_ELEMENTWISE = {"Cast", "Unsqueeze", "Squeeze", "Identity"}


class RangeFedReshape(Rule[Any]):
    """## What it does
    Finds a Range whose extent only a run tells, and whose values go through a Reshape.

    ## Why is this bad
    Range has no fixed size until it runs, so neither has anything behind it; crashes of DirectML were blamed on this
    pattern. As far as measured, the Range is innocent and ``allowzero=1`` on the Reshape is guilty (SHP102); a Range of
    dynamic extent still keeps its neighbourhood out of fused and compiled graphs.

    ## Example
    ``torch.arange(x.size(1)).view(1, -1, 1) < ilens``

    ## Use instead
    ``torch.ones_like(x).cumsum(1) <= ilens``, or ``paddable convert``, which makes the positions of a fixed container a
    constant.

    ## Fix safety
    No fix in the file as it is: the extent is constant only once the lengths are.
    """

    code = "SHP103"
    name = "range-fed-reshape"
    severity = "note"
    evidence = (
        reported("https://github.com/elbruno/ElBruno.QwenTTS/issues/6: a crash blamed on it"),
        measured("onnxruntime-directml 1.24.4: Range into Reshape([1,1,-1]) without allowzero runs"),
    )
    VALID = (
        "m (float[1,6,8] x) => (float[1,6,8] y) <int64 a = {0}, int64 n = {6}, int64 d = {1}, int64[3] s = {1,-1,1}> {"
        " r = Range(a, n, d) v = Reshape(r, s) f = Cast<to = 1>(v) y = Mul(x, f) }",
        """m (float[1,T,8] x) => (float[1,T,8] y) <int64 a = {0}, int64 d = {1}, int64[1] at = {-1}> {
            n = Shape<start = 1, end = 2>(x) k = Squeeze(n) r = Range(a, k, d) v = Unsqueeze(r, at) f = Cast<to = 1>(v)
            y = Mul(x, f)
        }""",
    )
    INVALID = (
        """m (float[1,T,8] x) => (float[1,T,8] y) <int64 a = {0}, int64 d = {1}, int64[3] s = {1,-1,1}> {
            n = Shape<start = 1, end = 2>(x) k = Squeeze(n) r = Range(a, k, d) v = Reshape(r, s) f = Cast<to = 1>(v)
            y = Mul(x, f)
        }""",
        """m (float[1,T,8] x) => (float[1,T,8] y) <int64 a = {0}, int64 d = {1}, int64[3] s = {1,-1,1}> {
            n = Shape<start = 1, end = 2>(x) k = Squeeze(n) r = Range(a, k, d) f = Cast<to = 1>(r) v = Reshape(f, s)
            y = Mul(x, v)
        }""",
    )

    def check(self, site: Site[Any]) -> Iterator[Match]:
        """Yields each Reshape of a Range."""
        for node in site.nodes("Reshape"):
            origin = _range_behind(site, node.inputs[0])
            if origin is not None and site.kind(origin.outputs[0]) is not Kind.CONSTANT:
                yield Match(
                    f"Reshape takes the positions that Range {origin.name!r} makes, whose extent only a run tells",
                    "`paddable convert` makes them a constant of the container; in the source, ones_like(x).cumsum(1)",
                    node,
                )


def _range_behind(site: Site[Any], name: str) -> NodeView | None:
    producer = site.producer(name)
    while producer is not None and producer.op in _ELEMENTWISE:
        producer = site.producer(producer.inputs[0])
    return producer if producer is not None and producer.op == "Range" else None
