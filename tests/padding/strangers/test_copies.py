"""Sizes that are bounded and do not grow: the tail that Zipformer repeats, zeros up to a multiple."""

from __future__ import annotations

import pytest

from ..native import assert_exact, verdict_of

_SIZE = """sh = Shape (x) o = Constant <value_int = 1> () t = Gather (sh, o) k = Constant <value_int = {k}> ()
    km = Constant <value_int = {less}> () tp = Add (t, km) d = Div (tp, k) full = Mul (d, k) rest = Sub (full, t)
    a0 = Constant <value_ints = [0]> () one = Constant <value_ints = [1]> () four = Constant <value_ints = [4]> ()
    b = Shape <end = 1> (x) ku = Unsqueeze (rest, a0) es = Concat <axis = 0> (b, ku, four)
    m1 = Constant <value_ints = [-1]> () big = Constant <value_ints = [9223372036854775807]> ()
    last = Slice (x, m1, big, one) du = Unsqueeze (d, a0) width = Constant <value_ints = [{k}]> ()
    rs = Concat <axis = 0> (b, du, width, four) a2 = Constant <value_ints = [2]> ()"""


def _graph(k: int, body: str, rows: str = "1") -> str:
    return f"g (float[{rows}, T, 4] x) => (float[{rows}, U, 4] y) {{ {_SIZE.format(k=k, less=k - 1)} {body} }}"


_LAST = "tu = Unsqueeze (t, a0) n = Sub (tu, ku) s = Slice (x, n, tu, one)"
_ENDS = "nbig = Constant <value_ints = [-9223372036854775807]> ()"

BOUNDED = {
    "the first steps again": "s = Slice (x, a0, ku, one) c = Concat <axis = 1> (x, s) y = Neg (c)",
    "the last steps again": f"{_LAST} c = Concat <axis = 1> (x, s) y = Neg (c)",
    "the last steps, mirrored": f"{_LAST} {_ENDS} r = Slice (s, m1, nbig, one, m1) "
    "c = Concat <axis = 1> (x, r) y = Neg (c)",
    "steps, and all but the first of them": f"{_LAST} r = Slice (s, one, big, one) "
    "c = Concat <axis = 1> (x, s, r, x) y = Neg (c)",
    "features of the last steps": f"{_LAST} two = Constant <value_ints = [2]> () r = Slice (s, a0, two, a2) "
    "v = Slice (x, two, four, a2) c = Concat <axis = 1> (v, r) p = Concat <axis = 2> (c, c) y = Neg (p)",
    "one of the copies": "e = Expand (last, es) r = Slice (e, a0, one, one) c = Concat <axis = 1> (x, r) y = Neg (c)",
    "all copies but one": "e = Expand (last, es) r = Slice (e, one, big, one) "
    "c = Concat <axis = 1> (x, r, x) y = Neg (c)",
    "the last steps, up to a window": f"{_LAST} f = Sub (four, ku) p = Concat <axis = 0> (a0, a0, a0, a0, f, a0) "
    "w = Pad (s, p) y = Neg (w)",
    "the last steps behind zeros": f"{_LAST} f = Sub (four, ku) p = Concat <axis = 0> (a0, f, a0, a0, a0, a0) "
    "w = Pad (s, p) y = Neg (w)",
    "copies behind and in front of numbers": "e = Expand (last, es) f = Sub (four, ku) "
    "two = Constant <value_float = 2.5> () p = Concat <axis = 0> (a0, f, a0, a0, one, a0) "
    "w = Pad (e, p, two) y = Neg (w)",
    "as many zeros behind as the length": f"{_LAST} f = Sub (tu, ku) "
    "p = Concat <axis = 0> (a0, a0, a0, a0, f, a0) w = Pad (s, p) c = Concat <axis = 1> (w, x) "
    "y = Softmax <axis = 1> (c)",
}


@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("name", BOUNDED)
def test_a_number_of_steps_that_does_not_grow(name: str, rows: int) -> None:
    assert_exact(_graph(3, BOUNDED[name], "batch"), "x:1=T", rows=None, padded_rows=rows, opset=18)


@pytest.mark.parametrize(
    "body",
    [
        "e = Expand (last, es) p = Concat <axis = 0> (a0, a0, a0, a0, one, a0) "
        'w = Pad <mode = "edge"> (e, p) y = Concat <axis = 1> (x, w)',
        "e = Expand (last, es) w = Concat <axis = 2> (e, e) v = Concat <axis = 2> (x, x) c = Concat <axis = 1> (v, w) "
        "y = Slice (c, a0, four, a2)",
        "n = Sub (ku, one) m = Mul (n, ku) p = Concat <axis = 0> (a0, a0, a0, a0, m, a0) y = Pad (x, p)",
    ],
)
def test_what_else_reads_such_an_axis_is_refused(body: str) -> None:
    assert verdict_of(_graph(3, body), "x:1=T", opset=18).outcome == "refused"


def test_a_size_that_falls_and_ends_ends_the_domain() -> None:
    text = (
        "g (float[1, T, 4] x) => (float[1, U, 4] y) "
        "<int64[1] nine = {9}, int64[1] one = {1}, float[1, 9, 4] w = {%s}> {"
        " t = Shape <start = 1, end = 2> (x) s = Slice (w, t, nine, one) y = Softmax <axis = 1> (s) }"
    )
    verdict = verdict_of(text.replace("%s", ", ".join(str(k) for k in range(36))), "x:1=T", opset=18)
    assert verdict.outcome == "refused" and "does not grow" in verdict.reason


@pytest.mark.parametrize("k", [2, 3, 5])
def test_the_last_step_repeated_up_to_a_multiple(k: int) -> None:
    body = "e = Expand (last, es) c = Concat <axis = 1> (x, e) v = Reshape (c, rs) y = ReduceSum <keepdims = 0> (v, a2)"
    assert_exact(_graph(k, body), "x:1=T")


_STAGE = """s{n} = Shape (c{n}) t{n} = Gather (s{n}, i2) n{n} = Neg (t{n}) k{n} = Mod (n{n}, {multiple})
    e{n} = Concat <axis = 0> (one1, k{n}) l{n} = Slice (c{n}, m1, big, i2) x{n} = Expand (l{n}, e{n})
    {out} = Concat <axis = 2> (c{n}, x{n})"""


@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize(
    "body",
    [
        "c0 = Concat <axis = 2> (x, x) " + _STAGE.format(n=0, multiple="two", out="y"),
        "c0 = Neg (x) " + _STAGE.format(n=0, multiple="four", out="c1") + _STAGE.format(n=1, multiple="two", out="y"),
    ],
)
def test_no_copies_where_the_length_is_a_multiple_already(body: str, rows: int) -> None:
    """ONNX Runtime takes an Expand to a constant 0 for none at all, and one step too many was joined."""
    constants = (
        "int64[1] i2 = {2}, int64[1] m1 = {-1}, int64[1] two = {2}, int64[1] four = {4}, "
        "int64[1] big = {9223372036854775807}, int64[2] one1 = {1, 1}"
    )
    text = f"g (float[batch, 3, T] x) => (float[batch, 3, U] y) <{constants}> {{ {body} }}"
    assert_exact(text, "x:2=T", rows=None, padded_rows=rows)


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
