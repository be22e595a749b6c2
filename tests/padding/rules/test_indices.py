"""Reading by index: from the end, past a table, in the padding, below the shortest length."""

from __future__ import annotations

import numpy as np
import onnx.parser

from paddable.api.opened import open_model

from .native import assert_exact, verdict_of

ARANGE = """
    s = Shape (x)
    n = Gather <axis = 0> (s, axis)
    i = Range (zero, n, one)
"""
NUMBERS = "int64 axis = {1}, int64 zero = {0}, int64 one = {1}"


def test_a_computed_negative_index_counts_from_the_valid_end() -> None:
    """arange - 1 begins with -1, which read the last step of the container."""
    assert_exact(
        f"""g (float[1, T, 2] x) => (float[1, T, 2] y) <{NUMBERS}> {{{ARANGE}
           earlier = Sub (i, one)
           total = CumSum (x, axis)
           y = Gather <axis = 1> (total, earlier)
        }}""",
        "x:1=T",
    )  # fmt: skip


def test_a_constant_negative_index_counts_from_the_valid_end() -> None:
    assert_exact(
        "g (float[1, T, 2] x) => (float[1, 2] y) <int64 last = {-1}> { y = Gather <axis = 1> (x, last) }", "x:1=T"
    )


def test_gather_nd_reads_a_merged_axis_and_wraps() -> None:
    assert_exact(
        f"""g (float[1, T, 4] x) => (float[1, N, 2] y)
           <{NUMBERS}, int64[2] flat = {{-1, 2}}, int64[1] front = {{0}}, int64[1] back = {{1}}> {{{ARANGE}
           wide = Reshape (x, flat)
           earlier = Sub (i, one)
           tuples = Unsqueeze (earlier, back)
           z = GatherND (wide, tuples)
           y = Unsqueeze (z, front)
        }}""",
        "x:1=T",
    )  # fmt: skip


def test_a_table_read_from_the_end_bounds_the_container() -> None:
    """T - 1 - arange became a shifted vector, and the end of the table was forgotten."""
    table = ", ".join(map(str, np.linspace(0, 1, 20).round(3)))
    text = f"""g (float[1, T] x) => (float[1, T] y) <{NUMBERS}, float[20] table = {{{table}}}> {{{ARANGE}
           last = Sub (n, one)
           left = Sub (last, i)
           row = Gather <axis = 0> (table, left)
           y = Add (x, row)
        }}"""
    verdict = verdict_of(text, "x:1=T")
    assert verdict.outcome == "exact", verdict.reason
    assert verdict.spans["T"].high == 20


def test_codes_below_the_shortest_length_are_never_read() -> None:
    """A row of no steps has no valid code to repeat; junk became an index out of range."""
    assert_exact(
        """g (int64[1, T] x) => (float[1, N, 2] y)
           <float[20, 2] table = {TABLE}, int64[1] a = {0}, int64[1] b = {-2}, int64[1] axis = {1}> {
           e = Gather <axis = 0> (table, x)
           y = Slice (e, a, b, axis)
        }""".replace("TABLE", ", ".join(map(str, range(40)))),
        "x:1=T",
    )


def test_an_integer_made_of_nan_is_no_index() -> None:
    """Where padding may be NaN, its integer keeps to no bounds."""
    assert_exact(
        """g (float[1, T, 2] x) => (float[1, T, 2] y)
           <float[3, 2] table = {1, 2, 3, 4, 5, 6}, int64[1] two = {2}, float scale = {2.9},
            int64[1] zero = {0}, int64[1] one = {1}, int64 axis = {1}> {
           c = CumSum (x, axis)
           q = Mul (c, c)
           l = Log (q)
           r = Relu (l)
           first = Slice (r, zero, one, two)
           flat = Squeeze (first, two)
           h = Tanh (flat)
           a = Abs (h)
           k = Cast <to = 7> (a)
           e = Gather <axis = 0> (table, k)
           y = Add (x, e)
        }""",
        "x:1=T",
    )  # fmt: skip


def test_a_constant_vector_compared_with_a_length_reads_the_length() -> None:
    """An undecided element counted as a constant, so that the container's size stayed in the comparison."""
    assert_exact(
        """g (float[1, T] x) => (float[1, T] y, float[8] z)
           <int64[1] axis = {1}, int64 eight = {8},
            int64[8] places = {0, 1, 2, 3, 4, 5, 6, 7}, float one = {1}, float nil = {0}> {
           s = Shape (x)
           n = Gather <axis = 0> (s, axis)
           w = Min (n, eight)
           keep = Less (places, w)
           z = Where (keep, one, nil)
           y = Identity (x)
        }""",
        "x:1=T",
    )  # fmt: skip


def test_a_table_that_is_read_at_the_length_ends_the_domain() -> None:
    text = """g (float[1, T, 4] x) => (float[1, T, 4] y) <int64 one = {1}, float[4] table = {1.0, 2.0, 3.0, 4.0}> {
        s = Shape (x)
        n = Gather (s, one)
        row = Gather (table, n)
        y = Mul (x, row)
    }"""
    model = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["": 17]>\n{text}')
    assert open_model(model, ["x:1=T"]).analyse().scope.spans["T"].last == 3
    assert_exact(text, "x:1=T")


def test_an_integer_divisor_is_not_0_in_the_padding() -> None:
    """Relu makes 0 of the copies that the tail fill leaves there; a runtime stops at the division."""
    assert_exact(
        """g (int64[1, T] x) => (int64[1, T] y) <int64 big = {100}, int64 one = {1}> {
           clamped = Max (x, one)
           shifted = Sub (clamped, one)
           kept = Add (shifted, one)
           q = Div (big, kept)
           total = CumSum (kept, one)
           r = Mod (big, total)
           y = Add (q, r)
        }""",
        "x:1=T",
    )
