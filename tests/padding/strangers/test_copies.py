"""Sizes that are bounded and do not grow: the tail that Zipformer repeats, zeros up to a multiple."""

from __future__ import annotations

import pytest

from ..native import assert_exact, verdict_of

_SIZE = """sh = Shape (x) o = Constant <value_int = 1> () t = Gather (sh, o) k = Constant <value_int = {k}> ()
    km = Constant <value_int = {less}> () tp = Add (t, km) d = Div (tp, k) full = Mul (d, k) rest = Sub (full, t)
    a0 = Constant <value_ints = [0]> () one = Constant <value_ints = [1]> () four = Constant <value_ints = [4]> ()
    ku = Unsqueeze (rest, a0) es = Concat <axis = 0> (one, ku, four)
    m1 = Constant <value_ints = [-1]> () big = Constant <value_ints = [9223372036854775807]> ()
    last = Slice (x, m1, big, one) du = Unsqueeze (d, a0) width = Constant <value_ints = [{k}]> ()
    rs = Concat <axis = 0> (one, du, width, four) a2 = Constant <value_ints = [2]> ()"""


def _graph(k: int, body: str) -> str:
    return f"g (float[1, T, 4] x) => (float[1, U, 4] y) {{ {_SIZE.format(k=k, less=k - 1)} {body} }}"


@pytest.mark.parametrize("k", [2, 3, 5])
def test_the_last_step_repeated_up_to_a_multiple(k: int) -> None:
    body = "e = Expand (last, es) c = Concat <axis = 1> (x, e) v = Reshape (c, rs) y = ReduceSum <keepdims = 0> (v, a2)"
    assert_exact(_graph(k, body), "x:1=T")


def test_zeros_up_to_a_multiple_and_steps_behind_them() -> None:
    body = "e = ConstantOfShape (es) c = Concat <axis = 1> (x, e, last) n = Neg (c) y = Softmax <axis = 1> (n)"
    assert_exact(_graph(3, body), "x:1=T")


def test_copies_in_front() -> None:
    body = "e = Expand (last, es) c = Concat <axis = 1> (e, x) y = Neg (c)"
    assert_exact(_graph(2, body), "x:1=T")


def test_copies_are_read_by_nothing_else() -> None:
    verdict = verdict_of(_graph(3, "e = Expand (last, es) y = ReduceSum <keepdims = 1> (e, one)"), "x:1=T")
    assert verdict.outcome == "refused" and "does not grow" in verdict.reason


def test_an_axis_that_is_one_step_long_at_some_lengths_only_ends_the_domain() -> None:
    """silero: a Squeeze of T // 8 steps."""
    text = (
        "g (float[1, 2, T] x) => (float[1, 2] y) <int64[1] two = {2}, float[2, 2, 8] w = {%s}>"
        " { c = Conv <strides = [8]> (x, w) y = Squeeze (c, two) }"
    )
    verdict = verdict_of(text.replace("%s", ", ".join(str(k - 9) for k in range(32))), "x:2=T")
    assert verdict.outcome == "exact", verdict.reason
    span = verdict.spans["T"]
    assert (span.first, span.last) == (8, 15)
