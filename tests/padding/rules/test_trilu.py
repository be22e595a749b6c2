"""Triangles and diagonals: which corner is zero in the padding."""

from __future__ import annotations

import pytest

from ..example import Example
from ..given import answer_to, table
from ..native import assert_exact

SCORES = "t = Transpose <perm = [0, 2, 1]> (x) s = MatMul (t, x)"
SQUARE = "float[1, T, T] y"
EYE = "s = Shape <start = 2> (x) d = Concat <axis = 0> (s, s) z = ConstantOfShape (d)"

EXAMPLES = {
    "upper": Example(f"{SCORES} y = Trilu (s)", SQUARE, claims="T 0|finite; T finite; finite"),
    "lower": Example(f"{SCORES} y = Trilu <upper = 0> (s)", SQUARE, claims="T finite; T 0|finite; finite"),
    "upper above the diagonal": Example(
        f"{SCORES} y = Trilu (s, k)", SQUARE, constants="int64 k = {1}", claims="T 0|finite; T finite; finite"
    ),
    "upper below the diagonal": Example(
        f"{SCORES} y = Trilu (s, k)", SQUARE, constants="int64 k = {-1}", claims="T finite; T finite; finite"
    ),
    "lower above the diagonal": Example(
        f"{SCORES} y = Trilu <upper = 0> (s, k)", SQUARE, constants="int64 k = {1}", claims="T finite; T finite; finite"
    ),
    "lower below the diagonal": Example(
        f"{SCORES} y = Trilu <upper = 0> (s, k)",
        SQUARE,
        constants="int64 k = {-1}",
        claims="T finite; T 0|finite; finite",
    ),
    "upper, read over time": Example(
        f"{SCORES} u = Trilu (s) y = MatMul (u, t)", "float[1, T, 2] y", finds="PAD108 MatMul", claims="T 0; finite"
    ),
    "lower, read over time": Example(
        f"{SCORES} u = Trilu <upper = 0> (s) y = MatMul (u, t)", "float[1, T, 2] y", claims="T finite; finite"
    ),
    "lower above the diagonal, read over time": Example(
        f"{SCORES} u = Trilu <upper = 0> (s, k) y = MatMul (u, t)",
        "float[1, T, 2] y",
        constants="int64 k = {1}",
        finds="PAD108 MatMul",
        claims="T finite; finite",
    ),
    "upper, read over queries": Example(
        f"{SCORES} u = Trilu (s) y = MatMul (x, u)", "float[1, 2, T] y", claims="T finite; finite"
    ),
    "upper below the diagonal, read over queries": Example(
        f"{SCORES} u = Trilu (s, k) y = MatMul (x, u)",
        "float[1, 2, T] y",
        constants="int64 k = {-1}",
        finds="PAD108 MatMul",
        claims="T finite; finite",
    ),
    "of what may be infinite": Example(
        f"{SCORES} e = Exp (s) y = Trilu (e)", SQUARE, claims="T 0|any; T any; 0..inf; any"
    ),
    "of bounded scores": Example(
        f"{SCORES} c = Sigmoid (s) o = Add (c, one) y = Trilu (o)",
        SQUARE,
        constants="float one = {1}",
        claims="T 0|finite; T finite; 0..2; finite",
    ),
    "of bounded scores below 0": Example(
        f"{SCORES} c = Sigmoid (s) o = Sub (c, two) y = Trilu (o)",
        SQUARE,
        constants="float two = {2}",
        claims="T 0|finite; T finite; -2..0; finite",
    ),
    "of a fixed width": Example("y = Trilu (x)", "float[1, T, 4] y", "float[1, T, 4] x", claims="T finite; finite"),
    "of a fixed width, lower": Example(
        "y = Trilu <upper = 0> (x)", "float[1, T, 4] y", "float[1, T, 4] x", claims="T finite; finite"
    ),
    "of a fixed height": Example("y = Trilu (x)", "float[1, 4, T] y", "float[1, 4, T] x", claims="T finite; finite"),
    "of a fixed height, lower": Example(
        "y = Trilu <upper = 0> (x)", "float[1, 4, T] y", "float[1, 4, T] x", claims="T finite; finite"
    ),
    "of one row": Example("y = Trilu <upper = 0> (x)", "float[1, 1, T] y", "float[1, 1, T] x", claims="T 0; finite"),
    "of two lengths": Example(
        "y = Trilu (x)", "float[1, T, V] y", "float[1, T, V] x", claims="T finite; V finite; finite"
    ),
    "of rows": Example(
        "t = Transpose <perm = [1, 0, 2]> (x) y = Trilu (t)",
        "float[2, N, T] y",
        "float[batch, 2, T] x",
        rows=0,
        refused="Trilu of the batch mixes rows of different lengths",
    ),
    "a diagonal": Example(f"{EYE} e = EyeLike (z) y = MatMul (x, e)", "float[1, 2, T] y", claims="T finite; finite"),
    "a diagonal above": Example(
        f"{EYE} e = EyeLike <k = 1> (z) y = MatMul (x, e)", "float[1, 2, T] y", claims="T finite; finite"
    ),
    "a diagonal below": Example(
        f"{EYE} e = EyeLike <k = -1> (z) y = MatMul (x, e)",
        "float[1, 2, T] y",
        finds="PAD108 MatMul",
        claims="T 0; finite",
    ),
    "a diagonal as it stands": Example(
        f"{EYE} e = EyeLike <k = 1> (z) y = Unsqueeze (e, front)",
        SQUARE,
        constants="int64[1] front = {0}",
        claims="T 0|finite; T finite; 0..1; finite",
    ),
    "a diagonal below as it stands": Example(
        f"{EYE} e = EyeLike <k = -1> (z) y = Unsqueeze (e, front)",
        SQUARE,
        constants="int64[1] front = {0}",
        claims="T finite; T 0|finite; 0..1; finite",
    ),
    "the main diagonal as it stands": Example(
        f"{EYE} e = EyeLike (z) y = Unsqueeze (e, front)",
        SQUARE,
        constants="int64[1] front = {0}",
        claims="T 0|finite; T 0|finite; 0..1; finite",
    ),
    "a diagonal of integers": Example(
        f"{EYE} e = EyeLike <dtype = 7> (z) y = Unsqueeze (e, front)",
        "int64[1, T, T] y",
        constants="int64[1] front = {0}",
        claims="T 0|finite; T 0|finite; 0..1; finite",
    ),
    "a diagonal of a fixed width": Example(
        "q = Squeeze (x, front) e = EyeLike (q) y = Unsqueeze (e, front)",
        "float[1, 4, T] y",
        "float[1, 4, T] x",
        "int64[1] front = {0}",
        claims="T finite; 0..1; finite",
    ),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name: str) -> None:
    EXAMPLES[name].check()


@pytest.mark.parametrize("k", [-1, 0, 2])
def test_the_diagonal_of_scores(k: int) -> None:
    """As torch.diagonal is exported. A diagonal above the main one meets columns of the padding."""
    assert_exact(
        f"""g (float[1, T, 2] x) => (float[1, T, 1] y, float[1, T] ones)
           <int64[1] zero = {{0}}, int64[1] one = {{1}}, int64[1] two = {{2}}> {{
           t = Transpose <perm = [0, 2, 1]> (x) m = MatMul (x, t) s = Shape (m) n = Gather (s, one)
           d = Concat <axis = 0> (n, n) z = ConstantOfShape (d) e = EyeLike <k = {k}> (z)
           p = Mul (m, e) y = ReduceSum (p, two)
           only = ReduceSum <keepdims = 0> (e, one) ones = Unsqueeze (only, zero) }}""",
        "x:1=T",
        needs=["PAD101"] if k > 0 else [],
    )  # fmt: skip


def test_a_wide_diagonal_of_one_length_beside_another() -> None:
    assert_exact(
        """g (float[1, T] x, float[1, U] o) => (float[1, T] y) <int64[1] one = {1}> {
           a = Shape (x) n = Gather (a, one) b = Shape (o) m = Gather (b, one) d = Concat <axis = 0> (n, m)
           z = ConstantOfShape (d) e = EyeLike <dtype = 1> (z) t = Transpose <perm = [1, 0]> (o)
           f = MatMul (e, t) r = Transpose <perm = [1, 0]> (f) y = Add (x, r) }""",
        "x:1=T",
        "o:1=U",
    )  # fmt: skip


ANSWERS = table("""
Trilu(T, U) => T, U; finite finite; finite
Trilu(T, U) upper=0 => T, U; finite finite; finite
Trilu(T, T) => T, T; 0 finite; finite
Trilu(T, T; 5) => T, T; 0 finite; finite
Trilu(T, T; any) => T, T; 0 any; finite
Trilu(T, T; 0) => T, T; 0 0; finite
Trilu(T, T; infinite) => T, T; 0 finite
Trilu(T, T; masked) => T, T; 0 finite; finite masked
Trilu(T, T; 2..3) => T, T; 0 finite; 0..3; finite
Trilu(T, T; -3..-2) => T, T; 0 finite; -3..0; finite
Trilu(T, T; image) => T, T; 0 finite; finite
Trilu(T, T | = 1) => T, T; 0 finite; finite
Trilu(T, T | = -1) => T, T; finite finite; finite
Trilu(T, T | = 1) upper=0 => T, T; finite finite; finite
Trilu(T, T | = -1) upper=0 => T, T; finite 0; finite
Trilu(T, T) upper=0 => T, T; finite 0; finite
Trilu(T, T) upper=1 => T, T; 0 finite; finite
Trilu(3, T, T | = 2) upper=1 => 3, T, T; 0 finite; finite
Trilu(T, 2*T) => T, 2*T; finite finite; finite
Trilu(T, 2*T) upper=0 => T, 2*T; finite 0; finite
Trilu(2*T, T) => 2*T, T; 0 finite; finite
Trilu(2*T, T) upper=0 => 2*T, T; finite finite; finite
Trilu(T, 4) upper=0 => T, 4; finite; finite
Trilu(4, T) upper=0 => 4, T; finite; finite
Trilu(T, 1) upper=0 => T, 1; finite; finite
Trilu(1, T) upper=0 => 1, T; 0; finite
Trilu(1, T) upper=1 => 1, T; finite; finite
Trilu(T, 1) upper=1 => T, 1; 0; finite
Trilu(T, 1 | = 1) upper=1 => T, 1; 0; finite
Trilu(1, T | = -1) upper=0 => 1, T; 0; finite
Trilu(T x 2, T) => 2*T, T; 0 finite; finite
Trilu(2 x T, T) => refused: Trilu of a merged axis whose padding is interleaved with valid steps
Trilu(T, 2 x T) => refused: Trilu of a merged axis whose padding is interleaved with valid steps
Trilu(batch, T) => refused: Trilu of the batch mixes rows of different lengths
Trilu(T, batch) => refused: Trilu of the batch mixes rows of different lengths
Trilu(batch, T, T) => batch, T, T; 0 finite; finite
Trilu(T, T; any finite) => T, T; 0 finite; finite
Trilu(T, T; finite any) upper=0 => T, T; finite 0; finite
Trilu(T, T | = 2) => T, T; 0 finite; finite
Trilu(T-1, T) => T-1, T; finite finite; finite
Trilu(T, T-1) => T, T-1; 0 finite; finite
Trilu(T, T-1) upper=0 => T, T-1; finite finite; finite
Trilu(T-1, T) upper=0 => T-1, T; finite 0; finite
Trilu(T, T; infinite any masked) => T, T; 0 any; masked
EyeLike(T, T) => T, T; 0 0; 0..1; finite
EyeLike(T, T) k=1 => T, T; 0 finite; 0..1; finite
EyeLike(T, T) k=-1 => T, T; finite 0; 0..1; finite
EyeLike(T, U) => T, U; finite finite; 0..1; finite
EyeLike(T, 4) => T, 4; finite; 0..1; finite
EyeLike(4, T) => 4, T; finite; 0..1; finite
EyeLike(T, T; int64) => T, T; 0 0; 0..1; finite
EyeLike(T, T; int64) dtype=1 => T, T; 0 0; 0..1; finite
EyeLike(T, 2*T) => T, 2*T; finite 0; 0..1; finite
EyeLike(2*T, T) => 2*T, T; 0 finite; 0..1; finite
EyeLike(T, T, T) => refused: EyeLike of rank 3
EyeLike(T) => refused: EyeLike of rank 1
EyeLike(batch, T) => refused: EyeLike of the batch mixes rows of different lengths
EyeLike(T, batch) => refused: EyeLike of the batch mixes rows of different lengths
EyeLike(T, 1) => T, 1; 0; 0..1; finite
EyeLike(1, T) => 1, T; 0; 0..1; finite
EyeLike(T, 1) k=-1 => T, 1; finite; 0..1; finite
EyeLike(1, T) k=1 => 1, T; finite; 0..1; finite
EyeLike(T-1, T) => T-1, T; finite 0; 0..1; finite
EyeLike(T, T-1) => T, T-1; 0 finite; 0..1; finite
EyeLike(T x 2, T) => 2*T, T; 0 finite; 0..1; finite
""")


@pytest.mark.parametrize(("question", "expected"), ANSWERS)
def test_answer(question: str, expected: str) -> None:
    """The corner of the padding that is zero, decided from the sizes."""
    assert answer_to(question) == expected
