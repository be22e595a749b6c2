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


def test_a_relative_shift_of_steps_that_were_split() -> None:
    """T steps of four as 2T steps of two: an axis of two factors, of which the scores make one."""
    numbers = ", ".join(f"{(7 * k % 11) / 11:.3f}" for k in range(79 * 2))
    body = RELATIVE.replace("(x", "(steps") + "wide = Pad (raw, amounts)" + SHIFT
    assert_exact(
        f"""g (float[1, T, 4] x) => (float[1, V, U] y)
           <int64[1] zero = {{0}}, int64[1] one = {{1}}, int64[1] two = {{2}},
           int64[1] huge = {{2147483647}}, int64[1] middle = {{40}}, int64[6] amounts = {{0, 0, 1, 0, 0, 0}},
           int64[3] halves = {{1, -1, 2}}, int64[1] ROWS = {{1}}, float[79, 2] table = {{{numbers}}}>
           {{steps = Reshape (x, halves) {body}}}""",
        "x:1=T",
    )


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
    "cut in front of the wrong axis": "cut = Slice (tall, one, huge, two) y = Identity (cut)",
    "joined to another": "y = Concat <axis = 2> (tall, tall)",
}


@pytest.mark.parametrize("what", INTERRUPTED)
def test_an_interrupted_shift_is_refused(what: str) -> None:
    verdict = verdict_of(_vits(f"{TO_KEYS} {INTERRUPTED[what]}", "U", 1), "x:1=T")
    assert verdict.outcome == "refused" and "relative shift" in verdict.reason


COLUMN = "wide = Pad (raw, amounts)"
STAGES = {
    "a view of which columns are cut off": "y = Slice (tall, one, huge, two)",
    "a view of which a row too many is cut off": "y = Slice (tall, two, huge, one)",
    "a view of which the last row is cut off": "y = Slice (tall, zero, minus, one)",
    "a view back of which a row is cut off": "y = Slice (back, one, huge, one)",
    "a view back of which a column is cut off": "y = Slice (back, one, huge, two)",
    "a view back of which rows and columns are cut off": """
        starts = Concat <axis = 0> (one, zero) axes = Concat <axis = 0> (one, two)
        ends = Concat <axis = 0> (huge, size) y = Slice (back, starts, ends, axes)""",
}


@pytest.mark.parametrize("what", STAGES)
def test_another_slice_on_the_way_is_refused(what: str) -> None:
    numbers = ", ".join(f"{(7 * k % 11) / 11:.3f}" for k in range(79 * 2))
    until = SHIFT.partition("shifted")[0] if "back" in STAGES[what] else SHIFT.partition("cut")[0]
    verdict = verdict_of(
        f"""g (float[1, T, 2] x) => (float[1, V, U] y)
           <int64[1] zero = {{0}}, int64[1] one = {{1}}, int64[1] two = {{2}}, int64[1] minus = {{-1}},
           int64[1] huge = {{2147483647}}, int64[1] middle = {{40}}, int64[6] amounts = {{0, 0, 1, 0, 0, 0}},
           int64[1] ROWS = {{1}}, float[79, 2] table = {{{numbers}}}> {{{RELATIVE} {COLUMN} {until} {STAGES[what]}}}""",
        "x:1=T",
    )  # fmt: skip
    assert verdict.outcome == "refused" and "interrupted by another slice" in verdict.reason


@pytest.mark.parametrize("rows", [1, 2])
def test_weights_of_heads_moved_to_distances(rows: int) -> None:
    """As above with an axis of heads: time is an axis further behind."""
    scores = "xt = Transpose <perm = [0, 2, 1]> (x) flatscores = MatMul (x, xt) scores = Unsqueeze (flatscores, one)"
    body = scores + TO_DISTANCES.replace("SCORES", "scores").replace("axis = 2", "axis = 3")
    body = body.replace("spread0 = Concat <axis = 0> (", "spread0 = Concat <axis = 0> (zero, zero, ")
    body = body.replace("(ROWS, minus)", "(ROWS, one, minus)").replace("(ROWS, n, double)", "(ROWS, one, n, double)")
    body = body.replace("(zero, n, zero, zero)", "(zero, zero, n, zero, zero, zero)")
    body = body.replace("Slice (back, one, huge, two)", "Slice (back, one, huge, three)")
    body = body.replace("y = MatMul (weights, centred)", "h = MatMul (weights, centred) y = Squeeze (h, one)")
    text = _vits(body, "2", rows).replace("int64[1] five", "int64[1] three = {3}, int64[1] five")
    assert_exact(text, "x:1=T", rows=rows, needs=["PAD103"])


@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("heads", [True, False])
def test_the_first_shift_of_espnet_is_a_gather(rows: int, heads: bool) -> None:
    """Scores against as many positions as steps, with a column of zeros in front, mixed by a view."""
    lead, two = ("batch, two", "axis = 3") if heads else ("batch", "axis = 2")
    split = "h = Unsqueeze (m, one) raw = Concat <axis = 1> (h, h)" if heads else "raw = Identity (m)"
    numbers = ", ".join(f"{(7 * k % 11) / 11:.3f}" for k in range(30 * 2))
    assert_exact(
        f"""g (float[batch, T, 2] x) => (float[{"batch, 2" if heads else "batch"}, T, T] y)
           <int64[1] zero = {{0}}, int64[1] one = {{1}}, int64[1] two = {{2}}, int64[1] huge = {{2147483647}},
           int64[1] high = {{{2 if heads else 1}}}, float[30, 2] table = {{{numbers}}}> {{
           s = Shape (x) batch = Slice (s, zero, one) size = Slice (s, one, two) more = Add (size, one)
           used = Slice (table, zero, size, zero) positions = Transpose <perm = [1, 0]> (used)
           m = MatMul (x, positions) {split}
           columnshape = Concat <axis = 0> ({lead}, size, one) column = ConstantOfShape (columnshape)
           wide = Concat <{two}> (column, raw) tallshape = Concat <axis = 0> ({lead}, more, size)
           tall = Reshape (wide, tallshape) cut = Slice (tall, one, huge, high)
           backshape = Concat <axis = 0> ({lead}, size, size) shifted = Reshape (cut, backshape)
           y = Softmax <{two}> (shifted) }}""",
        "x:1=T", rows=None, padded_rows=rows, needs=["PAD105"],
    )  # fmt: skip


XLNET = """
    s = Shape (x) n = Shape <start = 1, end = 2> (x) double = Mul (n, two) t = Squeeze (n) back1 = Neg (t)
    r = Range (t, back1, minus) f = Cast <to = 1> (r) u = Unsqueeze (f, one) w = Mul (u, freq) p = Sin (w)
    q = Transpose <perm = [1, 0]> (p) raw = MatMul (x, q)
    b = Shape <end = 1> (x) tallshape = Concat <axis = 0> (b, double, n) tall = Reshape (raw, tallshape)
    cut = Slice (tall, FIRST, huge, one) odd = Sub (double, one)
    backshape = Concat <axis = 0> (b, n, odd) back = Reshape (cut, backshape)
    i0 = Range (nil, t, unit) i = INDEX keys = Gather <axis = AXIS> (back, i) y = Softmax <axis = 2> (keys)
"""
_XLNET_NUMBERS = """int64[1] one = {1}, int64[1] two = {2}, int64[1] zero = {0}, int64[1] huge = {2147483647},
    int64 minus = {-1}, int64 nil = {0}, int64 unit = {1}, float[1, 2] freq = {0.3, 0.7}"""


def _xlnet(first: str = "one", index: str = "Identity (i0)", axis: str = "2") -> str:
    body = XLNET.replace("FIRST", first).replace("INDEX", index).replace("AXIS", axis)
    return f"g (float[batch, T, 2] x) => (float[batch, T, U] y) <{_XLNET_NUMBERS}> {{ {body} }}"


@pytest.mark.parametrize("rows", [1, 2])
def test_xlnets_shift_of_a_column_of_its_own_ends_with_an_index(rows: int) -> None:
    assert_exact(_xlnet(), "x:1=T", rows=None, padded_rows=rows, opset=17)


@pytest.mark.parametrize(
    "text",
    [
        _xlnet(first="zero").replace("Slice (tall, zero, huge", "Slice (tall, zero, double"),
        _xlnet(index="Add (i0, unit)"),
        _xlnet(index="Mul (i0, minus)"),
        _xlnet(index="Slice (i0, one, huge, zero)"),
        _xlnet(index="Unsqueeze (i0, zero)").replace("y = Softmax <axis = 2> (keys)", "y = ReduceSum (keys, two)"),
        _xlnet(axis="1"),
    ],
)
def test_another_index_on_the_way_is_refused(text: str) -> None:
    verdict = verdict_of(text, "x:1=T", rows=None, opset=17)
    assert verdict.outcome == "refused" and "relative shift" in verdict.reason
