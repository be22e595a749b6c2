"""The domain: how it narrows to what native takes, and where it stops."""

from __future__ import annotations

import pytest

from paddable.lengths import Span, parse
from paddable.padding.deduce.scope import Scope

from ..native import assert_exact, verdict_of


def test_a_minimum_of_two_lengths_bounds_both() -> None:
    """min(T, U) - 1 steps: neither symbol alone makes that positive, so it was said to hold at no length."""
    assert_exact(
        """g (float[1, T, 2] x, float[1, U, 2] u) => (float[1, N, 2] y, float[1, U, 2] z)
           <int64[1] zero = {0}, int64[1] one = {1}, int64[1] last = {9223372036854775807}> {
           s = Shape (u)
           size = Gather <axis = 0> (s, one)
           cut = Slice (x, zero, size, one)
           y = Slice (cut, one, last, one)
           z = Sin (u)
        }""",
        "x:1=T",
        "u:1=U",
    )


W = "float[2, 2, 2] w = {1, -2, 3, 4, -5, 6, 7, 8}"


@pytest.mark.parametrize(
    ("depth", "joined"), [(1, "Add (x, u1)"), (2, "Concat <axis = 1> (x, u1)"), (2, "Mul (x, u1)")]
)
def test_a_stride_that_is_undone_needs_a_multiple(depth: int, joined: str) -> None:
    """Refused as a frozen constant, where native runs at every multiple of the strides."""
    down = "d0 = Identity (x) " + " ".join(f"d{k} = Conv <strides = [2]> (d{k - 1}, w)" for k in range(1, depth + 1))
    up = " ".join(f"u{k} = ConvTranspose <strides = [2]> (u{k + 1}, w)" for k in range(depth, 0, -1))
    body = f"{down} u{depth + 1} = Identity (d{depth}) {up} y = {joined}"
    verdict = verdict_of(f"g (float[1, 2, T] x) => (float[1, C, T] y) <{W}> {{ {body} }}", "x:2=T")
    assert (verdict.outcome, verdict.tight) == ("exact", ""), verdict.reason
    span = verdict.spans["T"]
    assert (span.first, span.step) == (2**depth, 2**depth)


def test_a_step_and_an_end() -> None:
    scope = Scope({"T": Span(1, 31)})
    assert scope.need_equal(parse("T"), parse("2*(T//2)"), "a stride") and scope.spans["T"] == Span(2, 30, 2)
    assert scope.need_equal(parse("min(T, 12)"), parse("T"), "a table") and scope.spans["T"] == Span(2, 12, 2)
    assert scope.need_multiple(parse("T"), 3, "a window") and scope.spans["T"] == Span(6, 12, 6)
    assert not scope.need_equal(parse("T"), parse("13"), "never")
