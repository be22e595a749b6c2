"""The relative shift of Transformer-XL: no remedy where the whole of it is there."""

from __future__ import annotations

import pytest

from ..native import assert_exact

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
