"""What is known before any input is: tables made of constants, quotients and products of sizes."""

from __future__ import annotations

import pytest

from ..native import assert_exact

_SIZE = "sh = Shape (x) o = Constant <value_int = 1> () z = Constant <value_int = 0> () t = Gather (sh, o)"


@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize(
    ("table", "made"),
    [
        ("int64[2, 1] i = {0, 2}, float[2] u = {1.0, 2.0}", "c = ScatterND (zz, i, u)"),
        ("int64[2] i = {3, 1}, float[2] u = {1.0, 2.0}", "c = ScatterElements (zz, i, u)"),
        ("float[4] u = {0, 3, 0, 4}", "n = NonZero (u) f = Cast <to = 1> (n) q = ReduceSum (f) c = Add (zz, q)"),
    ],
)
def test_a_table_that_is_written_inside_the_model(rows: int, table: str, made: str) -> None:
    body = f"s = Constant <value_ints = [4]> () zz = ConstantOfShape (s) {made} y = Add (x, c)"
    text = f"g (float[batch, T, 4] x) => (float[batch, T, 4] y) <{table}> {{ {body} }}"
    assert_exact(text, "x:1=T", rows=None, padded_rows=rows)


def test_a_quotient_of_lengths_is_a_constant() -> None:
    """torch.export writes an inferred size as elements // (other sizes)."""
    body = (
        f"{_SIZE} k = Constant <value_int = 32> () n = Mul (t, k) q = Div (n, t) zz = Constant <value_ints = [0]> () "
    )
    body += "tu = Unsqueeze (t, zz) qu = Unsqueeze (q, zz) one = Constant <value_ints = [1]> () "
    body += "s = Concat <axis = 0> (one, tu, qu) y = Reshape (x, s)"
    assert_exact(f"g (float[1, T, 4, 8] x) => (float[1, T, 32] y) {{ {body} }}", "x:1=T")


def test_the_number_of_elements_limits_a_range() -> None:
    body = "s = Shape (w) n = ReduceProd <keepdims = 0> (s) z = Constant <value_int = 0> () "
    body += "o = Constant <value_int = 1> () r = Range (z, n, o) y = Gather (x, r)"
    text = f"g (float[1, T] x) => (float[1, T] y) <float[1] w = {{0.5}}> {{ {body} }}"
    assert_exact(text, "x:1=T")


def test_the_largest_of_one() -> None:
    """The lengths of a packed batch are sorted by TopK, of one row."""
    body = "k = Constant <value_ints = [1]> () v, i = TopK <axis = 0> (x, k) r = Gather (x, j) y = Add (v, r)"
    body = body.replace("r = Gather (x, j)", "f = Cast <to = 1> (i) r = Add (x, f)")
    assert_exact(f"g (float[1, T] x) => (float[1, T] y) {{ {body} }}", "x:1=T")
