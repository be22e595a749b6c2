"""Two rows of different lengths: tables and index vectors that serve them all, and each row picked by its own place."""

from __future__ import annotations

import pytest

from ..native import assert_exact, verdict_of

_SIZE = """o = Constant <value_int = 1> () z = Constant <value_int = 0> () a1 = Constant <value_ints = [1]> ()
    sh = Shape (x) t = Gather (sh, o) r = Range (z, t, o)"""
_ROWS = [1, 2, 3]


@pytest.mark.parametrize("rows", _ROWS)
def test_frames_by_an_index_of_every_row(rows: int) -> None:
    """CREPE: the index 2i + j does not depend on the length."""
    body = f"""{_SIZE} two = Constant <value_int = 2> () n = Div (t, two) rr = Range (z, n, o) st = Mul (rr, two)
        s = Unsqueeze (st, a1) w = Constant <value_ints = [0, 1]> () i = Add (s, w) y = Gather <axis = 1> (x, i)"""
    text = f"g (float[batch, T] x) => (float[batch, F, 2] y) {{ {body} }}"
    assert_exact(text, "x:1=T", rows=None, padded_rows=rows, opset=18)


@pytest.mark.parametrize("rows", _ROWS)
def test_buckets_of_positions_through_a_logarithm(rows: int) -> None:
    """WavLM and T5: T reaches the numbers only through extents."""
    body = f"""{_SIZE} r1 = Add (r, o) f = Cast <to = 1> (r1) l = Log (f) k = Cast <to = 7> (l) b = Gather (table, k)
        u = Unsqueeze (b, a1) y = Add (x, u)"""
    table = "float[9] table = {1, 2, 3, 4, 5, 6, 7, 8, 9}"
    text = f"g (float[batch, T, 4] x) => (float[batch, T, 4] y) <{table}> {{ {body} }}"
    assert_exact(text, "x:1=T", rows=None, padded_rows=rows)


@pytest.mark.parametrize("rows", _ROWS)
def test_each_row_is_picked_by_its_own_place(rows: int) -> None:
    body = f"{_SIZE} b = Gather (sh, z) rows = Range (z, b, o) p = Gather <axis = 0> (x, rows) y = Softmax (p)"
    text = f"g (float[batch, T] x) => (float[batch, T] y) {{ {body} }}"
    assert_exact(text, "x:1=T", rows=None, padded_rows=rows)


def test_a_row_picked_by_the_place_of_another_is_refused() -> None:
    body = f"{_SIZE} b = Gather (sh, z) p = Range (z, b, o) q = Add (p, o) c = Mod (q, b) y = Gather <axis = 0> (x, c)"
    text = f"g (float[batch, T] x) => (float[batch, T] y) {{ {body} }}"
    assert verdict_of(text, "x:1=T", rows=None, padded_rows=2).outcome == "refused"


@pytest.mark.parametrize("rows", _ROWS)
@pytest.mark.parametrize("number", ["t", "n"])
def test_an_index_made_of_the_length_itself_is_each_rows_own(number: str, rows: int) -> None:
    """T - 1 - log i reads another step in every row, and no bound is known of it: each row counts from its own end."""
    body = f"""{_SIZE} m = Sub (t, o) n = Identity (m) r1 = Add (r, o) f = Cast <to = 1> (r1) l = Log (f)
        k = Cast <to = 7> (l) d = Sub ({number}, k) e = Sub (d, {"o" if number == "t" else "z"})
        y = Gather <axis = 1> (x, e)"""
    text = f"g (float[batch, T] x) => (float[batch, U] y) {{ {body} }}"
    assert_exact(text, "x:1=T", rows=None, padded_rows=rows)


@pytest.mark.parametrize("rows", _ROWS)
@pytest.mark.parametrize(
    "index",
    [
        "d = Sub (t, o) b = Sub (d, r) i = Mod (b, t)",  # (n - 1 - r) % n
        "d = Add (r, three) i = Mod (d, t)",  # (r + 3) % n
        "d = Sub (t, o) i = Sub (d, r)",
        "d = Sub (r, t) i = Identity (d)",  # r - n, every one of them from the end
        "d = Neg (r) i = Sub (d, o)",  # -1 - r
    ],
)
def test_steps_turned_and_rolled_by_an_index_vector(index: str, rows: int) -> None:
    body = f"{_SIZE} {index} e = Neg (x) y = Gather <axis = 1> (e, i)"
    text = f"g (float[batch, T, 2] x) => (float[batch, T, 2] y) <int64 three = {{3}}> {{ {body} }}"
    assert_exact(text, "x:1=T", rows=None, padded_rows=rows)


@pytest.mark.parametrize("rows", _ROWS)
@pytest.mark.parametrize("back", [1, 2])
def test_a_step_from_the_end_of_every_row_by_its_own_place(back: int, rows: int) -> None:
    """TorchScript writes x[arange(B), n - 1] as two Gathers, the second of which moves nothing."""
    body = f"""{_SIZE} b = Gather (sh, z) own = Range (z, b, o) n = Sub (t, back) e = Neg (x)
        last = Gather <axis = 1> (e, n) y = Gather <axis = 0> (last, own)"""
    text = f"g (float[batch, T, 4] x) => (float[batch, 4] y) <int64 back = {{{back}}}> {{ {body} }}"
    assert_exact(text, "x:1=T", rows=None, padded_rows=rows)


@pytest.mark.parametrize("rows", _ROWS)
def test_the_repeated_tail_of_each_row(rows: int) -> None:
    """Zipformer with rows of odd and even lengths."""
    body = f"""{_SIZE} two = Constant <value_int = 2> () tp = Add (t, o) d = Div (tp, two) full = Mul (d, two)
        rest = Sub (full, t) a0 = Constant <value_ints = [0]> () b = Shape <end = 1> (x) ku = Unsqueeze (rest, a0)
        four = Constant <value_ints = [4]> () es = Concat <axis = 0> (b, ku, four) m1 = Constant <value_ints = [-1]> ()
        big = Constant <value_ints = [9223372036854775807]> () last = Slice (x, m1, big, a1) e = Expand (last, es)
        c = Concat <axis = 1> (x, e) y = Neg (c)"""
    text = f"g (float[batch, T, 4] x) => (float[batch, U, 4] y) {{ {body} }}"
    assert_exact(text, "x:1=T", rows=None, padded_rows=rows, opset=18)


@pytest.mark.parametrize("rows", _ROWS)
def test_a_number_that_counts_down_is_below_its_bounds_in_the_padding(rows: int) -> None:
    """T - i is negative behind the end: its root is NaN there, and no index into a table."""
    size = f"{_SIZE} more = Add (t, o) r1 = Range (z, more, o) i = Sub (t, r1) f = Cast <to = 1> (i) q = Sqrt (f)"
    pads = "int64[6] pads = {0, 0, 0, 0, 1, 0}"
    text = f"""g (float[batch, T, 2] x) => (float[batch, 1, 2] y) <int64[1] m = {{-1}}, {pads}> {{
        {size} u = Unsqueeze (q, m) p = Pad (x, pads) w = Mul (u, p) y = ReduceSum (w, a1) }}"""
    assert_exact(text, "x:1=T", rows=None, padded_rows=rows)
    text = f"""g (float[batch, T, 2] x) => (float[batch, U, 2] y) <float[9, 2] table, {pads}> {{
        {size} s = Cast <to = 7> (q) g = Gather (table, s) p = Pad (x, pads) y = Add (g, p) }}"""
    table = ", ".join(str(k) for k in range(18))
    assert_exact(text.replace("table,", f"table = {{{table}}},", 1), "x:1=T", rows=None, padded_rows=rows)


def test_frames_end_the_domain_below() -> None:
    """Div truncates: (T - 3) / 2 + 1 is 1 at one step too, and native then reads behind the end."""
    body = f"""{_SIZE} three = Constant <value_int = 3> () two = Constant <value_int = 2> () d = Sub (t, three)
        e = Div (d, two) n = Add (e, o) rr = Range (z, n, o) st = Mul (rr, two) s = Unsqueeze (st, a1)
        w = Constant <value_ints = [0, 1, 2]> () i = Add (s, w) y = Gather <axis = 1> (x, i)"""
    verdict = verdict_of(
        f"g (float[batch, T] x) => (float[batch, F, 3] y) {{ {body} }}", "x:1=T", rows=None, padded_rows=2
    )
    assert verdict.outcome == "exact", verdict.reason
    assert verdict.spans["T"].first == 3


_BACK = """m = Sub (t, o) i = Sub (m, r) f = Cast <to = 1> (i) half = Constant <value_float = 0.5> () d0 = Add (f, half)
    q = Sqrt (d0) k = Cast <to = 7> (q) c = Min (k, m) j = Max (c, z)"""
"""Each row's own index: the root of the steps that are left."""

OWN_INDICES = {
    "into a vector of every row": "p = Cast <to = 1> (r) s = Sin (p) g = Gather (s, j) u = Unsqueeze (g, last) "
    "y = Add (x, u)",
    "into a table of every row": "p = Cast <to = 1> (r) s = Sin (p) n = Unsqueeze (s, last) "
    "d = Concat <axis = 1> (n, n) g = Gather (d, j) y = Add (x, g)",
    "pairs of steps": "n = Unsqueeze (j, last) w = Constant <value_ints = [0, 1]> () b = Sub (n, w) e = Max (b, z) "
    "g = Gather <axis = 1> (x, e) y = ReduceSum <keepdims = 0> (g, two)",
    "pairs of features": "n = Unsqueeze (j, last) w = Constant <value_ints = [0, 1]> () b = Sub (n, w) e = Max (b, z) "
    "v = Transpose <perm = [0, 2, 1]> (x) g = Gather <axis = 2> (v, e) h = ReduceMax <axes = [3], keepdims = 0> (g) "
    "y = Transpose <perm = [0, 2, 1]> (h)",
    "tuples of pairs": "n = Unsqueeze (j, last) w = Constant <value_ints = [0, 1]> () b = Sub (n, w) e = Max (b, z) "
    "v = Transpose <perm = [1, 0, 2]> (x) l = Unsqueeze (e, last) g = GatherND (v, l) "
    "h = ReduceSum <keepdims = 0> (g, a1) y = Transpose <perm = [1, 0, 2]> (h)",
    "frames in one line": "n = Unsqueeze (j, last) w = Constant <value_ints = [0, 1, 2]> () b = Sub (n, w) "
    "e = Max (b, z) "
    "l = Reshape (e, last) g = Gather <axis = 1> (x, l) s = Shape <end = 1> (x) k3 = Concat <axis = 0> (s, last, six) "
    "v = Reshape (g, k3) y = Slice (v, front, two, two)",
    "element by element": "n = Unsqueeze (i, front) u = Unsqueeze (n, last) e = Expand (u, sh) "
    "y = GatherElements <axis = 1> (x, e)",
}


@pytest.mark.parametrize("rows", _ROWS)
@pytest.mark.parametrize("name", OWN_INDICES)
def test_steps_by_an_index_of_each_rows_own(name: str, rows: int) -> None:
    numbers = "int64[1] last = {-1}, int64[1] front = {0}, int64[1] two = {2}, int64[1] six = {6}"
    text = f"g (float[batch, T, 2] x) => (float[batch, T, 2] y) <{numbers}> {{ {_SIZE} {_BACK} {OWN_INDICES[name]} }}"
    assert_exact(text, "x:1=T", rows=None, padded_rows=rows)
