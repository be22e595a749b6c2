"""Sums of products over a shared axis: which side is zeroed, and what is known of the product."""

from __future__ import annotations

import pytest

from ..example import Example
from ..given import answer_to, table
from ..native import verdict_of

X = "float[1, T, 3] x"
SQUARE = "float[1, 3, 3] y"
SCORES = "float[1, T, T] y"

EXAMPLES = {
    "a projection": Example("y = MatMul (x, w)", "float[1, T, 4] y", X, "float[3, 4] w", claims="T finite; finite"),
    "a projection to what is not negative": Example(
        "a = Abs (x) y = MatMul (a, w)",
        "float[1, T, 2] y",
        X,
        "float[3, 2] w = {1, 2, 3, 4, 5, 6}",
        claims="T finite; 0..inf; finite",
    ),
    "a projection of zeros": Example(
        "p = Pad (x, pads) y = MatMul (p, w)",
        "float[1, U, 4] y",
        X,
        "float[3, 4] w, int64[6] pads = {0, 0, 0, 0, 2, 0}",
        finds="PAD102 Pad",
        claims="T+2 0; finite",
    ),
    "scores": Example(
        "t = Transpose <perm = [0, 2, 1]> (x) y = MatMul (x, t)", SCORES, X, claims="T finite; T finite; finite"
    ),
    "scores of zeros": Example(
        "p = Pad (x, pads) t = Transpose <perm = [0, 2, 1]> (x) y = MatMul (p, t)",
        "float[1, U, T] y",
        X,
        "int64[6] pads = {0, 0, 0, 0, 2, 0}",
        finds="PAD102 Pad",
        claims="T+2 0; T finite; finite",
    ),
    "a Gram matrix": Example(
        "t = Transpose <perm = [0, 2, 1]> (x) y = MatMul (t, x)", SQUARE, X, finds="PAD108 MatMul", claims="finite"
    ),
    "a Gram matrix of zeros": Example(
        "p = Pad (x, pads) t = Transpose <perm = [0, 2, 1]> (p) y = MatMul (t, p)",
        SQUARE,
        X,
        "int64[6] pads = {0, 0, 0, 0, 2, 0}",
        finds="PAD102 Pad",
        claims="finite",
    ),
    "a Gram matrix of what may be infinite": Example(
        "e = Exp (x) t = Transpose <perm = [0, 2, 1]> (e) y = MatMul (t, x)",
        SQUARE,
        X,
        finds="PAD108 MatMul",
        claims="any",
    ),
    "a Gram matrix of what may be infinite on both sides": Example(
        "e = Exp (x) t = Transpose <perm = [0, 2, 1]> (e) y = MatMul (t, e)",
        SQUARE,
        X,
        finds="PAD108 MatMul",
        claims="0..inf; any",
    ),
    "a Gram matrix of what may be infinite on the other side": Example(
        "e = Exp (x) t = Transpose <perm = [0, 2, 1]> (x) y = MatMul (t, e)",
        SQUARE,
        X,
        finds="PAD108 MatMul",
        claims="any",
    ),
    "attention": Example(
        "t = Transpose <perm = [0, 2, 1]> (x) s = MatMul (x, t) p = Softmax <axis = 2> (s) y = MatMul (p, x)",
        "float[1, T, 3] y",
        X,
        finds="PAD103 Softmax",
        claims="T finite; finite",
    ),
    "attention, its weights summed over the queries": Example(
        "t = Transpose <perm = [0, 2, 1]> (x) s = MatMul (x, t) p = Softmax <axis = 2> (s) "
        "r = Transpose <perm = [0, 2, 1]> (p) y = MatMul (r, x)",
        "float[1, T, 3] y",
        X,
        finds="PAD103 Softmax, PAD108 MatMul",
        claims="T 0; finite",
    ),
    "a square of weights": Example(
        "t = Transpose <perm = [0, 2, 1]> (x) s = MatMul (x, t) p = Softmax <axis = 2> (s) y = MatMul (p, s)",
        SCORES,
        X,
        finds="PAD103 Softmax",
        claims="T finite; T finite; finite",
    ),
    "a vector on the right": Example("y = MatMul (x, w)", "float[1, T] y", X, "float[3] w", claims="T finite; finite"),
    "a vector on the left": Example(
        "y = MatMul (w, x)", "float[1, T] y", "float[1, 3, T] x", "float[3] w", claims="T finite; finite"
    ),
    "heads": Example(
        "t = Transpose <perm = [0, 1, 3, 2]> (x) s = MatMul (x, t) p = Softmax <axis = 3> (s) y = MatMul (p, x)",
        "float[1, 2, T, 3] y",
        "float[1, 2, T, 3] x",
        finds="PAD103 Softmax",
        claims="T finite; finite",
    ),
    "one head beside several": Example(
        "y = MatMul (x, z)",
        "float[1, 2, 3, 3] y",
        "float[1, 2, 3, T] x, float[1, 1, T, 3] z",
        finds="PAD108 MatMul",
        claims="finite",
    ),
    "two sequences of one length": Example(
        "t = Transpose <perm = [0, 2, 1]> (x) y = MatMul (t, z)",
        "float[1, 3, 2] y",
        f"{X}, float[1, T, 2] z",
        finds="PAD108 MatMul",
        claims="finite",
    ),
    "two lengths that must agree": Example(
        "c = Conv <strides = [2], pads = [1, 0]> (x, w) t = Transpose <perm = [0, 2, 1]> (z) y = MatMul (c, t)",
        "float[1, 2, 2] y",
        "float[1, 2, T] x, float[1, 2, U] z",
        "float[2, 2, 3] w",
        refused="sizes T//2 and U do not agree",
    ),
    "a frozen length": Example(
        "y = MatMul (w, x)", "float[1, 2, 3] y", X, "float[1, 2, 9] w", refused="sizes 9 and T do not agree"
    ),
    "the sum over the end of the container": Example(
        "s = Shape <start = 1, end = 2> (x) n = Squeeze (s, zero) i = Range (nil, n, one) f = Cast <to = 1> (i) "
        "m = Cast <to = 1> (s) d = Sub (m, f) u = Unsqueeze (d, zero) y = MatMul (u, x)",
        "float[1, 3] y",
        X,
        "int64[1] zero = {0}, int64 nil = {0}, int64 one = {1}",
        finds="PAD105 MatMul, PAD108 MatMul",
        claims="finite",
    ),
    "a product inside": Example(
        "y = com.microsoft.FusedMatMul <transB = 1, alpha = 0.5> (x, x)", SCORES, X, claims="T finite; T finite; finite"
    ),
    "a product inside over time": Example(
        "y = com.microsoft.FusedMatMul <transA = 1> (x, x)", SQUARE, X, finds="PAD108 FusedMatMul", claims="finite"
    ),
    "a product inside, nothing transposed": Example(
        "t = Transpose <perm = [0, 2, 1]> (x) y = com.microsoft.FusedMatMul (t, x)",
        SQUARE,
        X,
        finds="PAD108 FusedMatMul",
        claims="finite",
    ),
    "a product inside, both transposed": Example(
        "t = Transpose <perm = [0, 2, 1]> (x) y = com.microsoft.FusedMatMul <transA = 1, transB = 1> (t, w)",
        "float[1, T, 2] y",
        X,
        "float[1, 2, 3] w",
        claims="T finite; finite",
    ),
    "a product inside with the batch moved": Example(
        "y = com.microsoft.FusedMatMul <transBatchA = 1> (x, x)",
        SQUARE,
        X,
        refused="FusedMatMul with transposed batch axes",
    ),
    "a linear layer": Example(
        "r = Squeeze (x, front) g = Gemm (r, w, b) y = Unsqueeze (g, front)",
        "float[1, T, 4] y",
        X,
        "float[3, 4] w, float[4] b, int64[1] front = {0}",
        claims="T finite; finite",
    ),
    "a linear layer of zeros": Example(
        "p = Pad (x, pads) r = Squeeze (p, front) g = Gemm (r, w, b) y = Unsqueeze (g, front)",
        "float[1, U, 4] y",
        X,
        "float[3, 4] w, float[4] b, int64[1] front = {0}, int64[6] pads = {0, 0, 0, 0, 2, 0}",
        finds="PAD102 Pad",
        claims="T+2 finite; finite",
    ),
    "a linear layer of zeros without a bias": Example(
        "p = Pad (x, pads) r = Squeeze (p, front) g = Gemm <transB = 1> (r, w) y = Unsqueeze (g, front)",
        "float[1, U, 4] y",
        X,
        "float[4, 3] w, int64[1] front = {0}, int64[6] pads = {0, 0, 0, 0, 2, 0}",
        finds="PAD102 Pad",
        claims="T+2 0; finite",
    ),
    "a linear layer of zeros, its bias times 0": Example(
        "p = Pad (x, pads) r = Squeeze (p, front) g = Gemm <beta = 0.0> (r, w, b) y = Unsqueeze (g, front)",
        "float[1, U, 4] y",
        X,
        "float[3, 4] w, float[4] b, int64[1] front = {0}, int64[6] pads = {0, 0, 0, 0, 2, 0}",
        finds="PAD102 Pad",
        claims="T+2 0; finite",
    ),
    "a linear layer of what is not negative": Example(
        "a = Abs (x) r = Squeeze (a, front) g = Gemm (r, w, b) y = Unsqueeze (g, front)",
        "float[1, T, 1] y",
        X,
        "float[3, 1] w = {1, 2, 3}, float[1] b = {-2}, int64[1] front = {0}",
        claims="T finite; finite",
    ),
    "a bias that varies": Example(
        "r = Squeeze (x, front) t = Transpose <perm = [1, 0]> (r) g = Gemm (r, t, t) y = Unsqueeze (g, front)",
        "float[1, T, T] y",
        "float[1, T, 1] x",
        "int64[1] front = {0}",
        refused="Gemm with a ragged bias",
    ),
    "a sum over time, transposed inside": Example(
        "r = Squeeze (x, front) g = Gemm <transA = 1> (r, r) y = Unsqueeze (g, front)",
        SQUARE,
        X,
        "int64[1] front = {0}",
        finds="PAD108 Gemm",
        claims="finite",
    ),
    "a linear layer with its activation": Example(
        'p = Pad (x, pads) r = Squeeze (p, front) g = com.microsoft.FusedGemm <activation = "Relu"> (r, w) '
        "y = Unsqueeze (g, front)",
        "float[1, U, 4] y",
        X,
        "float[3, 4] w, int64[1] front = {0}, int64[6] pads = {0, 0, 0, 0, 2, 0}",
        finds="PAD102 Pad",
        claims="T+2 finite; finite",
    ),
    "a sum in letters": Example(
        'y = Einsum <equation = "btc,bsc->bts"> (x, x)', SCORES, X, claims="T finite; T finite; finite"
    ),
    "a sum over time in letters": Example(
        'y = Einsum <equation = "btc, btd -> bcd"> (x, x)', SQUARE, X, finds="PAD108 Einsum", claims="finite"
    ),
    "a sum of one operand": Example(
        'y = Einsum <equation = "btc->bc"> (x)', "float[1, 3] y", X, finds="PAD108 Einsum", claims="finite"
    ),
    "a sum of one operand over the features": Example(
        'y = Einsum <equation = "btc->bt"> (x)', "float[1, T] y", X, claims="T finite; finite"
    ),
    "letters without an arrow": Example(
        'y = Einsum <equation = "atc,acd"> (w, x)',
        "float[1, 3, 3] y",
        "float[1, T, 3] x",
        "float[1, 3, 1] w",
        finds="PAD108 Einsum",
        claims="finite",
    ),
    "letters in another order": Example(
        'y = Einsum <equation = "btc,bsc->bst"> (x, z)',
        "float[1, U, T] y",
        f"{X}, float[1, U, 3] z",
        claims="U finite; T finite; finite",
    ),
    "letters with an ellipsis": Example(
        'y = Einsum <equation = "...tc,...sc->...ts"> (x, x)',
        SCORES,
        X,
        refused="Einsum with an ellipsis or more than two operands",
    ),
    "three operands": Example(
        'y = Einsum <equation = "btc,bsc,bsd->btd"> (x, x, x)',
        "float[1, T, 3] y",
        X,
        refused="Einsum with an ellipsis or more than two operands",
    ),
    "a diagonal": Example(
        't = Transpose <perm = [0, 2, 1]> (x) m = MatMul (x, t) y = Einsum <equation = "bii->bi"> (m)',
        "float[1, T] y",
        X,
        refused="Einsum with a repeated letter (a diagonal)",
    ),
    "codes of features": Example(
        "q = QuantizeLinear (x, s, z) y = MatMulInteger (q, w, z, v)",
        "int32[1, T, 4] y",
        X,
        "float s = {0.03}, uint8 z = {77}, uint8[3, 4] w, uint8 v = {9}",
        claims="T finite; finite",
    ),
    "codes over time": Example(
        "a = Add (x, o) t = Transpose <perm = [0, 2, 1]> (a) q = QuantizeLinear (t, s, z) p = QuantizeLinear (a, "
        "s, z) "
        "y = MatMulInteger (q, p, z, z)",
        "int32[1, 3, 3] y",
        X,
        "float s = {0.03}, uint8 z = {77}, float o = {0.5}",
        finds="PAD108 MatMulInteger",
        claims="finite",
    ),
    "codes over time without a zero point": Example(
        "a = Abs (x) t = Transpose <perm = [0, 2, 1]> (a) q = QuantizeLinear (t, s) p = QuantizeLinear (a, s) "
        "y = MatMulInteger (q, p)",
        "int32[1, 3, 3] y",
        X,
        "float s = {0.03}",
        finds="PAD108 MatMulInteger",
        claims="finite",
    ),
    "codes over time with a zero point for each column": Example(
        "q = QuantizeLinear (x, s, z) y = MatMulInteger (w, q, v, u)",
        "int32[1, 4, 3] y",
        X,
        "float s = {0.03}, uint8 z = {77}, uint8[1, 4, 9] w, uint8 v = {9}, uint8[3] u = {1, 2, 3}",
        refused="codes that vary with the length have several zero points",
    ),
    "weights with a zero point for each column": Example(
        "q = QuantizeLinear (x, s, z) y = MatMulInteger (q, w, z, u)",
        "int32[1, T, 4] y",
        X,
        "float s = {0.03}, uint8 z = {77}, uint8[3, 4] w, uint8[4] u = {1, 2, 3, 9}",
        claims="T finite; finite",
    ),
    "rows of a batch": Example(
        "t = Transpose <perm = [0, 2, 1]> (x) y = MatMul (t, x)",
        "float[batch, 3, 3] y",
        "float[batch, T, 3] x",
        rows=0,
        finds="PAD108 MatMul",
        claims="finite",
    ),
    "a sum over rows": Example(
        "t = Transpose <perm = [1, 2, 0]> (x) r = Transpose <perm = [1, 0, 2]> (x) y = MatMul (t, r)",
        "float[T, 3, 3] y",
        "float[batch, T, 3] x",
        rows=0,
        refused="a sum over the batch mixes rows of different lengths",
    ),
    "a window of a table over time": Example(
        "n = Shape <start = 2> (x) b = Sub (nine, n) t = Slice (w, b, nine, o) y = MatMul (x, t)",
        "float[1, 2, 3] y",
        constants="int64[1] nine = {9}, float[9, 3] w, int64[1] o = {0}",
        finds="PAD105 MatMul, PAD108 MatMul",
        claims="finite",
        last="T=9",
    ),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name: str) -> None:
    EXAMPLES[name].check()


def test_a_diagonal_by_einsum_is_refused_with_advice() -> None:
    verdict = verdict_of(
        """g (float[1, T, 2] x) => (float[1, T] y) { t = Transpose <perm = [0, 2, 1]> (x) m = MatMul (x, t)
           y = Einsum <equation = "bii->bi"> (m) }""",
        "x:1=T",
    )
    assert verdict.outcome == "refused" and "diagonal" in verdict.reason


ANSWERS = table("""
MatMul(T, 3 | 3, 4) => T, 4; finite; finite
MatMul(T, 3; 0 | 3, 4) => T, 4; 0; finite
MatMul(T, 3; any | 3, 4) => T, 4; any; finite
MatMul(T, 3; 0 | 3, 4; infinite) => T, 4; any
MatMul(T, 3; 0..1 | 3, 4; 0..1) => T, 4; finite; 0..inf; finite
MatMul(T, 3; 0..1 | 3, 4; -1..1) => T, 4; finite; finite
MatMul(T, 3; masked | 3, 4) => T, 4; finite; finite masked
MatMul(T, 3 | 3, 4; masked) => T, 4; finite; finite masked
MatMul(T, 3; infinite any | 3, 4) => T, 4; any
MatMul(3, T | T, 4) => 3, 4; finite | Fill(PAD108; 0; 1; 0.0)
MatMul(3, T; 0 | T, 4) => 3, 4; finite
MatMul(3, T | T, 4; 0) => 3, 4; finite
MatMul(3, T; any | T, 4; 0) => 3, 4; finite | Fill(PAD108; 0; 1; 0.0)
MatMul(3, T; 0 | T, 4; any) => 3, 4; finite | Fill(PAD108; 1; 0; 0.0)
MatMul(3, T; any | T, 4) => 3, 4; finite | Fill(PAD108; 0; 1; 0.0)
MatMul(3, T | T, 4; any) => 3, 4; finite | Fill(PAD108; 1; 0; 0.0)
MatMul(3, T; any | T, 4; any) => 3, 4; finite | Fill(PAD108; 0; 1; 0.0), Fill(PAD108; 1; 0; 0.0)
MatMul(3, T | T, U) => 3, U; finite; finite | Fill(PAD108; 0; 1; 0.0)
MatMul(U, T | T, 4) => U, 4; finite; finite | Fill(PAD108; 1; 0; 0.0)
MatMul(3, 1 | T, 4) => 3, 4; finite | Fill(PAD108; 1; 0; 0.0)
MatMul(T | T) => finite | Fill(PAD108; 0; 0; 0.0)
MatMul(T | T, 4) => 4; finite | Fill(PAD108; 0; 0; 0.0)
MatMul(3, T | T) => 3; finite | Fill(PAD108; 0; 1; 0.0)
MatMul(5, T, 3 | 3, 4) => 5, T, 4; finite; finite
MatMul(T, 3 | 5, 3, U) => 5, T, U; finite finite; finite
MatMul(2, 1, T, 3 | 5, 3, U) => 2, 5, T, U; finite finite; finite
MatMul(5, 3, T | 1, T, 4) => 5, 3, 4; finite | Fill(PAD108; 0; 2; 0.0)
MatMul(batch, T, 3 | batch, 3, U) => batch, T, U; finite finite; finite
MatMul(batch, 3, T | batch, T, 4) => batch, 3, 4; finite | Fill(PAD108; 0; 2; 0.0)
MatMul(3, batch | batch, 4) => refused: a sum over the batch mixes rows of different lengths
MatMul(T, U | U, T) => T, T; finite finite; finite | Fill(PAD108; 0; 1; 0.0)
MatMul(3, T | U, 4) => refused: sizes T and U do not agree
MatMul(3, T | 5, 4) => refused: sizes T and 5 do not agree
MatMul(3, 5 | T, 4) => refused: sizes 5 and T do not agree
MatMul(3, T x 2 | 2*T, 4) => 3, 4; finite | Fill(PAD108; 0; 1; 0.0)
MatMul(3, 2 x T | 2*T, 4) => refused: the operands factor the summed axis differently
MatMul(3, T from T | T from T, 4) => 3, 4; finite | Fill(PAD108; 0; 1; 0.0)
MatMul(3, T from T | T, 4) => 3, 4; finite | Take(PAD105; 0; 1; T; T; from 0: -T + T + 1k), Fill(PAD108; 0; 1; 0.0)
MatMul(U, T; any finite | T, 4) => U, 4; any; finite | Fill(PAD108; 1; 0; 0.0)
MatMul(U, T; finite any | T, 4) => U, 4; finite; finite | Fill(PAD108; 0; 1; 0.0)
MatMul(U, T; any 0 | T, V; any finite) => U, V; any finite; finite | Fill(PAD108; 1; 0; 0.0)
MatMul(T, 3; infinite | 3, 4) => T, 4; finite
MatMul(3, T; 0 infinite | T, 4) => 3, 4
MatMul(3, T; infinite | T, 4; infinite) => 3, 4 | Fill(PAD108; 0; 1; 0.0)
MatMul(3, T x U | T x U, 4) => 3, 4; finite | Fill(PAD108; 0; 1; 0.0), Fill(PAD108; 0; 2; 0.0)
MatMul(3, T x 4 | T x 4, 5; any) => 3, 5; finite | Fill(PAD108; 1; 0; 0.0)
MatMul(T, U; 0 | U, V; any) => T, V; 0 any; finite | Fill(PAD108; 1; 0; 0.0)
MatMul(3, V | T, 4) => refused: sizes V and T do not agree
MatMul(3, T | V, 4) => refused: sizes T and V do not agree
FusedMatMul(2, T, 3 | 2, 3, T) => 2, T, T; finite finite; finite
FusedMatMul(2, T, 3 | 2, 3, T) transA=1 => refused: sizes T and 3 do not agree
FusedMatMul(2, T, 3 | 2, 3, T) transB=1 => refused: sizes 3 and T do not agree
FusedMatMul(2, T, 3 | 2, 3, T) transA=1 transB=1 => 2, 3, 3; finite | Fill(PAD108; 0; 1; 0.0)
FusedMatMul(2, T, 3 | 2, 3, T) transBatchA=1 => refused: FusedMatMul with transposed batch axes
FusedMatMul(2, T, 3 | 2, 3, T) transBatchB=1 => refused: FusedMatMul with transposed batch axes
FusedMatMul(T, 3 | 5, 2, 3, 4) => 5, 2, T, 4; finite; finite
FusedMatMul(5, 2, T, 3 | 3, 4) => 5, 2, T, 4; finite; finite
Gemm(T, 3 | 3, T) => T, T; finite finite; finite
Gemm(T, 3 | 3, T) transA=1 => refused: sizes T and 3 do not agree
Gemm(T, 3 | 3, T) transB=1 => refused: sizes 3 and T do not agree
Gemm(T, 3 | 3, T) transA=1 transB=1 => 3, 3; finite | Fill(PAD108; 0; 0; 0.0)
Gemm(T, 3; 0; 0..1 | 3, 4; 0..1 | 4; -1..1 infinite masked) => T, 4; any; masked
Gemm(T, 3; 0; 0..1 | 3, 4; 0..1 | 4; -1..1 infinite masked) beta=0.0 => T, 4; 0; 0..inf; finite
Gemm(T, 3; 0; 0..1 | 3, 4; 0..1 | 4; -1..1 infinite masked) beta=0.5 => T, 4; any; masked
Gemm(T, 3; 0; 0..1 | 3, 4; 0..1 | 4; -1..1 infinite masked) beta=1.0 => T, 4; any; masked
Gemm(T, 3 | 3, 4 | -) => T, 4; finite; finite
Gemm(T, 3 | 3, 4 | T, 4) => refused: Gemm with a ragged bias
Gemm(T, 3 | 3, 4 | 4) => T, 4; finite; finite
Gemm(T, 3; any | 3, 4 | 4) => T, 4; any; finite
Gemm(T, 3; infinite | 3, 4 | 4) => T, 4; finite
Gemm(T, 3 | 3, 4 | 4; infinite) => T, 4; any
FusedGemm(T, 3; 0; 0..1 | 3, 4; 0..1) => T, 4; finite; finite
FusedGemm(T, 3; any | 3, 4) => T, 4; any; finite
FusedGemm(T, 3; infinite 0 | 3, 4) => T, 4; finite
Einsum(T, 3 | 3, 4) equation="ij,jk" => T, 4; finite; finite
Einsum(T, 3 | 3, 4) equation="ij,jk->ik" => T, 4; finite; finite
Einsum(3, T | 3, 4) equation="ba,bc" => T, 4; finite; finite
Einsum(3, T | 3, T) equation="ij,ij" => finite | Fill(PAD108; 0; 1; 0.0)
Einsum(T, 3) equation="ji" => 3, T; finite; finite
Einsum(T, 3) equation="ij->" => finite | Fill(PAD108; 0; 0; 0.0)
Einsum(T, 3 | 3, 4) equation="ij,jk->ki" => 4, T; finite; finite
Einsum(T, 3 | U, 3) equation="ij,kj->ki" => U, T; finite finite; finite
Einsum(T, T) equation="ii->i" => refused: Einsum with a repeated letter (a diagonal)
Einsum(T, 3 | 3, 4 | 4, 5) equation="ij,jk,kl->il" => refused: Einsum with an ellipsis or more than two operands
Einsum(T, 3) equation="...j->..." => refused: Einsum with an ellipsis or more than two operands
Einsum(T, 3 | T, 3) equation="ij,ij->ij" => T, 3; finite; finite
Einsum(T | 3) equation="i,j" => T, 3; finite; finite
Einsum(T, 3 | T, 4 ) equation="ab,ac->bc" => 3, 4; finite | Fill(PAD108; 0; 0; 0.0)
Einsum(3, T, U) equation="abc->a" => 3; finite | Fill(PAD108; 0; 1; 0.0), Fill(PAD108; 0; 2; 0.0)
Einsum(3, T, U; 0) equation="abc->ca" => U, 3; 0; finite
MatMulInteger(T, 3; int8; 0 | 3, 4; int8 | - | -) => T, 4; 0; finite
MatMulInteger(3, T; int8; 0 | T, 4; int8 | - | -) => 3, 4; finite
MatMulInteger(3, T; int8; 0 | T, 4; int8 | ; int8 | ; int8) => 3, 4; finite | Fill(PAD108; 0; 1; 0.0; 2)
MatMulInteger(3, T; int8 | T, 4; int8 | 3; int8 | ; int8)
    => refused: codes that vary with the length have several zero points
MatMulInteger(T, 3; int8; 0..9 | 3, 4; int8; 0..9 | ; int8; 2..2| 4; int8) => T, 4; finite; finite
MatMulInteger(3, T; int8; any | T, 4; int8 | - | 4; int8)
    => refused: codes that vary with the length have several zero points
MatMulInteger(3, T; int8 | T, 4; int8 | = 5 | = 7) => 3, 4; finite | Fill(PAD108; 0; 1; 0.0; 2)
""")


@pytest.mark.parametrize(("question", "expected"), ANSWERS)
def test_answer(question: str, expected: str) -> None:
    """A product over time is zero in the padding of one side, and finite in that of the other."""
    assert answer_to(question) == expected
