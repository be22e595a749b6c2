"""Silent errors and false refusals that random graphs found, each as the smallest graph that shows it."""

from __future__ import annotations

import pytest

from .native import assert_exact


def test_a_branch_is_inlined_before_nodes_that_were_sorted_ahead() -> None:
    assert_exact(
        """g (float[1, T, 2] x) => (float[1, T, 2] y, float[1, T, 2] z) <int64 zero = {0}, int64 one = {1}> {
           s = Shape (x)
           n = Gather <axis = 0> (s, one)
           c = Less (zero, n)
           y = If (c) <then_branch = t () => (float[1, T, 2] p) { q = Neg (x) p = Tanh (q) },
                       else_branch = e () => (float[1, T, 2] p) { p = Abs (x) }>
           a = Sin (y)
           z = Add (a, y)
        }""",
        "x:1=T",
    )


@pytest.mark.parametrize("operator", ["ReduceMin", "ReduceMax"])
def test_the_identity_of_an_integer_extremum_stays_inside_its_type(operator: str) -> None:
    """The largest int64 is no float: it was rounded up, past the type, and became the smallest."""
    assert_exact(
        f"""g (float[1, T, 2] x) => (int64[1, 1, 2] y) <float ten = {{10.0}}> {{
           w = Mul (x, ten)
           k = Cast <to = 7> (w)
           y = {operator} <axes = [1], keepdims = 1> (k)
        }}""",
        "x:1=T",
    )


def test_mean_of_several_streams() -> None:
    assert_exact("g (float[1, T, 2] x) => (float[1, T, 2] y) { a = Sin (x) y = Mean (x, a) }", "x:1=T")


def test_windows_of_padding_alone_are_no_finite_fact() -> None:
    """Their maximum is the fill; its square overflows, and zero times infinity reached the sum over time."""
    assert_exact(
        """g (float[1, 2, T] x) => (float[1, 2, 2] y) {
           m = MaxPool <kernel_shape = [2], strides = [2], pads = [1, 1]> (x)
           q = Mul (m, m)
           d = Sub (m, q)
           e = Sub (d, m)
           t = Transpose <perm = [0, 2, 1]> (e)
           s = Sin (m)
           y = MatMul (s, t)
        }""",
        "x:2=T",
    )


@pytest.mark.parametrize(("include", "ceil"), [(0, 0), (0, 1), (1, 0)])
def test_average_pools_over_a_merged_feature_axis(include: int, ceil: int) -> None:
    """With both, runtimes disagree on what is counted: refused."""
    assert_exact(
        f"""g (float[1, 2, T, 2] x) => (float[1, 1, N, M] y) <int64[3] flat = {{0, 0, 4}}, int64[1] one = {{1}}> {{
           a = Transpose <perm = [0, 2, 1, 3]> (x)
           b = Reshape (a, flat)
           c = Transpose <perm = [0, 2, 1]> (b)
           image = Unsqueeze (c, one)
           y = AveragePool <kernel_shape = [1, 3], strides = [1, 2], pads = [0, 1, 0, 1], ceil_mode = {ceil},
                            count_include_pad = {include}> (image)
        }}""",
        "x:2=T",
    )


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


def test_a_length_times_a_constant_is_cut_by_another_constant() -> None:
    """3T x 2 elements as 2T x 3: neither factor divides alone."""
    assert_exact(
        """g (float[1, T, 4] x) => (float[1, N, 4] y) <int64[3] rows = {1, -1, 4}, int64[3] chunks = {-1, 3, 4},
           int64[1] axis = {2}, int64[4] twice = {1, 1, 2, 1}> {
           a = Concat <axis = 1> (x, x, x)
           b = Unsqueeze (a, axis)
           c = Tile (b, twice)
           d = Reshape (c, rows)
           e = Reshape (d, chunks)
           f = Softmax <axis = 1> (e)
           y = Reshape (f, rows)
        }""",
        "x:1=T",
    )


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
