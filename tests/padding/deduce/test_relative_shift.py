"""Relative shifts, of Transformer-XL and of VITS: no remedy where the whole of them is there."""

from __future__ import annotations

import pytest

from ..native import assert_exact, findings_of, verdict_of

RELATIVE = """
    s = Shape (x)
    size = Slice (s, one, two)
    start = Sub (middle, size)
    end0 = Add (middle, size)
    end = Sub (end0, one)
    centred = Slice (table, start, end, zero)
    positions = Transpose <perm = [1, 0]> (centred)
    raw = MatMul (x, positions)
"""


SHIFT = """
    double = Mul (size, two)
    tallshape = Concat <axis = 0> (ROWS, double, size)
    tall = Reshape (wide, tallshape)
    cut = Slice (tall, one, huge, one)
    odd = Sub (double, one)
    backshape = Concat <axis = 0> (ROWS, size, odd)
    back = Reshape (cut, backshape)
    shifted = Slice (back, zero, size, two)
    y = Softmax <axis = 2> (shifted)
"""


@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("form", ["pad", "concat"])
def test_a_relative_shift_by_pad_or_by_a_column_of_zeros(rows: int, form: str) -> None:
    column = {
        "pad": "wide = Pad (raw, amounts)",
        "concat": """c = Concat <axis = 0> (ROWS, size, one)
                     zeros = ConstantOfShape (c)
                     wide = Concat <axis = 2> (zeros, raw)""",
    }[form]  # fmt: skip
    numbers = ", ".join(f"{(7 * k % 11) / 11:.3f}" for k in range(79 * 2))
    assert_exact(
        f"""g (float[{rows}, T, 2] x) => (float[{rows}, T, T] y)
           <int64[1] zero = {{0}}, int64[1] one = {{1}}, int64[1] two = {{2}},
           int64[1] huge = {{2147483647}}, int64[1] middle = {{40}}, int64[6] amounts = {{0, 0, 1, 0, 0, 0}},
           int64[1] ROWS = {{{rows}}}, float[79, 2] table = {{{numbers}}}> {{{RELATIVE} {column} {SHIFT}}}""",
        "x:1=T", rows=rows,
    )  # fmt: skip


TABLE = """
    n = Slice (s, one, two)
    over = Sub (n, five)
    more = Max (over, zero)
    amounts = Concat <axis = 0> (more, zero, more, zero)
    longer = Pad (table, amounts)
    under = Sub (five, n)
    start = Max (under, zero)
    double = Mul (n, two)
    wide = Sub (double, one)
    end = Add (start, wide)
    centred = Slice (longer, start, end, zero)
    less = Sub (n, one)
"""

TO_KEYS = """
    turned = Transpose <perm = [1, 0]> (centred)
    raw = MatMul (x, turned)
    column = Pad (raw, behind)
    flatshape = Concat <axis = 0> (ROWS, minus)
    flat = Reshape (column, flatshape)
    none = Concat <axis = 0> (zero, zero, zero, less)
    extended = Pad (flat, none)
    tallness = Add (n, one)
    tallshape = Concat <axis = 0> (ROWS, tallness, wide)
    tall = Reshape (extended, tallshape)
"""
CUTS = {
    "rows first": "top = Slice (tall, zero, n, one) shifted = Slice (top, less, huge, two)",
    "columns first": "right = Slice (tall, less, huge, two) shifted = Slice (right, zero, n, one)",
    "at once": """starts = Concat <axis = 0> (zero, less) ends = Concat <axis = 0> (n, huge)
                  both = Concat <axis = 0> (one, two) shifted = Slice (tall, starts, ends, both)""",
}  # fmt: skip

TO_DISTANCES = """
    p = Softmax <axis = 2> (SCORES)
    spread0 = Concat <axis = 0> (zero, zero, zero, zero, zero, less)
    spread = Pad (p, spread0)
    lineshape = Concat <axis = 0> (ROWS, minus)
    line = Reshape (spread, lineshape)
    front = Concat <axis = 0> (zero, n, zero, zero)
    moved = Pad (line, front)
    backshape = Concat <axis = 0> (ROWS, n, double)
    back = Reshape (moved, backshape)
    weights = Slice (back, one, huge, two)
    y = MatMul (weights, centred)
"""


def _vits(body: str, outputs: str, rows: int) -> str:
    numbers = ", ".join(f"{(7 * k % 11) / 11:.3f}" for k in range(18))
    return f"""g (float[{rows}, T, 2] x) => (float[{rows}, T, {outputs}] y)
       <int64[1] zero = {{0}}, int64[1] one = {{1}}, int64[1] two = {{2}}, int64[1] five = {{5}},
       int64[1] minus = {{-1}}, int64[1] huge = {{2147483647}},
       int64[6] behind = {{0, 0, 0, 0, 0, 1}}, int64[1] ROWS = {{{rows}}},
       float[9, 2] table = {{{numbers}}}> {{ s = Shape (x) {TABLE} {body} }}"""


@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("cuts", CUTS)
def test_a_table_padded_to_the_length_and_shifted_to_the_keys(rows: int, cuts: str) -> None:
    text = _vits(f"{TO_KEYS} {CUTS[cuts]} y = Softmax <axis = 2> (shifted)", "T", rows)
    assert_exact(text, "x:1=T", rows=rows)


@pytest.mark.parametrize("rows", [1, 2])
def test_weights_of_keys_moved_to_distances(rows: int) -> None:
    scores = "xt = Transpose <perm = [0, 2, 1]> (x) scores = MatMul (x, xt)"
    body = scores + TO_DISTANCES.replace("SCORES", "scores")
    text = _vits(body, "2", rows)
    assert_exact(text, "x:1=T", rows=rows, needs=["PAD103"])
    if rows == 1:
        assert [code for code, _ in findings_of(text, "x:1=T")] == ["PAD103"]


INTERRUPTED = {
    "read before its end": "y = Softmax <axis = 2> (tall)",
    "cut elsewhere": "cut = Slice (tall, zero, less, one) y = Slice (cut, less, huge, two)",
    "padded once more": "again = Pad (tall, behind) y = Identity (again)",
    "joined to another": "y = Concat <axis = 2> (tall, tall)",
}


@pytest.mark.parametrize("what", INTERRUPTED)
def test_an_interrupted_shift_is_refused(what: str) -> None:
    verdict = verdict_of(_vits(f"{TO_KEYS} {INTERRUPTED[what]}", "U", 1), "x:1=T")
    assert verdict.outcome == "refused" and "relative shift" in verdict.reason
