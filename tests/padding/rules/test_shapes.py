"""Sizes as numbers, and tensors made of them."""

from __future__ import annotations

import pytest

from ..example import Example

EXAMPLES = {
    "a size as data": Example(
        "s = Shape <start = 2> (x) f = Cast <to = 1> (s) y = Div (x, f)",
        "float[1, 2, T] y",
        finds="PAD106 Div",
        claims="T finite; finite",
    ),
    "a size counted from the end": Example(
        "s = Shape <start = -1> (x) f = Cast <to = 1> (s) y = Div (x, f)",
        "float[1, 2, T] y",
        finds="PAD106 Div",
        claims="T finite; finite",
    ),
    "a size before the end": Example(
        "s = Shape <start = -2, end = -1> (x) f = Cast <to = 1> (s) y = Div (x, f)",
        "float[1, 2, T] y",
        claims="T finite; finite",
    ),
    "a whole shape": Example("s = Shape (x) y = Reshape (x, s)", "float[1, 2, T] y", claims="T finite; finite; image"),
    "the number of elements": Example(
        "s = Size (x) f = Cast <to = 1> (s) y = Div (x, f)",
        "float[1, 2, T] y",
        finds="PAD106 Div",
        claims="T finite; finite",
    ),
    "the number of elements of features": Example(
        "s = Size (w) f = Cast <to = 1> (s) y = Div (x, f)",
        "float[1, 2, T] y",
        constants="float[5, 2] w",
        claims="T finite; finite",
    ),
    "positions": Example(
        "s = Shape <start = 2> (x) n = Squeeze (s) i = Range (nil, n, one) f = Cast <to = 1> (i) y = Add (x, f)",
        "float[1, 2, T] y",
        constants="int64 nil = {0}, int64 one = {1}",
        claims="T finite; finite",
    ),
    "positions from the third": Example(
        "s = Shape <start = 2> (x) n = Squeeze (s) m = Add (n, two) i = Range (two, m, one) f = Cast <to = 1> "
        "(i) y = Add (x, f)",
        "float[1, 2, T] y",
        constants="int64 two = {2}, int64 one = {1}",
        claims="T finite; finite",
    ),
    "positions backward": Example(
        "s = Shape <start = 2> (x) n = Squeeze (s) l = Sub (n, one) i = Range (l, back, back) f = Cast <to = 1> "
        "(i) y = Add (x, f)",
        "float[1, 2, T] y",
        constants="int64 one = {1}, int64 back = {-1}",
        finds="PAD106 Add",
        claims="T finite; finite",
    ),
    "positions below 0": Example(
        "s = Shape <start = 2> (x) n = Squeeze (s) m = Neg (n) i = Range (m, nil, one) f = Cast <to = 1> (i) y = "
        "Add (x, f)",
        "float[1, 2, T] y",
        constants="int64 one = {1}, int64 nil = {0}",
        finds="PAD106 Add",
        claims="T finite; finite",
    ),
    "every third position": Example(
        "s = Shape <start = 2> (x) n = Squeeze (s) i = Range (nil, n, three) f = Cast <to = 1> (i) u = Slice (x, "
        "zero, far, axis, by) y = Add (u, f)",
        constants="int64 nil = {0}, int64 three = {3}, int64[1] zero = {0}, int64[1] far = {99999999999}, "
        "int64[1] axis = {2}, int64[1] by = {3}",
        claims="(T+2)//3 finite; finite",
    ),
    "half positions": Example(
        "s = Shape <start = 2> (x) n = Squeeze (s) m = Cast <to = 1> (n) h = Mul (m, half) i = Range (nil, h, "
        "half) y = Add (x, i)",
        "float[1, 2, T] y",
        constants="float nil = {0}, float half = {0.5}",
        claims="T finite; finite",
    ),
    "constant positions": Example(
        "i = Range (one, nine, two) f = Cast <to = 1> (i) u = Unsqueeze (f, axes) y = Mul (x, u)",
        "float[1, 4, T] y",
        "float[1, 1, T] x",
        "int64 one = {1}, int64 nine = {9}, int64 two = {2}, int64[2] axes = {0, 2}",
        claims="T finite; finite",
    ),
    "no positions": Example(
        "i = Range (one, one, one) f = Cast <to = 1> (i) y = Add (x, f)",
        "float[1, 2, 0] y",
        constants="int64 one = {1}",
        refused="an empty Range",
    ),
    "positions from the third alone": Example(
        "s = Shape <start = 2> (x) n = Squeeze (s) i = Range (two, n, one) f = Cast <to = 1> (i) u = Slice (x, "
        "two1, far, axis) y = Add (u, f)",
        constants="int64 two = {2}, int64 one = {1}, int64[1] two1 = {2}, int64[1] far = {99999999999}, int64[1] "
        "axis = {2}",
        claims="T-2 finite; finite",
        first="T=3",
    ),
    "positions up to data": Example(
        "m = ReduceMax <keepdims = 0> (x) k = Cast <to = 7> (m) i = Range (nil, k, one) f = Cast <to = 1> (i) y "
        "= Unsqueeze (f, front)",
        "float[1, N] y",
        constants="int64 nil = {0}, int64 one = {1}, int64[1] front = {0}",
        refused="a Range limit is computed from data",
    ),
    "a step that varies": Example(
        "s = Shape <start = 2> (x) n = Squeeze (s) i = Range (nil, n, n) f = Cast <to = 1> (i) y = Unsqueeze (f, "
        "front)",
        "float[1, N] y",
        constants="int64 nil = {0}, int64[1] front = {0}",
        refused="the step of a Range varies with the length",
    ),
    "zeros of a shape": Example(
        "s = Shape (x) z = ConstantOfShape (s) y = Concat <axis = 1> (x, z)",
        "float[1, 4, T] y",
        claims="T finite; finite",
    ),
    "ones of a shape": Example(
        "s = Shape (x) z = ConstantOfShape <value = float[1] {1}> (s) y = Concat <axis = 1> (x, z)",
        "float[1, 4, T] y",
        claims="T finite; finite",
    ),
    "infinities of a shape": Example(
        "s = Shape (x) z = ConstantOfShape <value = float[1] {-inf}> (s) y = Max (x, z)",
        "float[1, 2, T] y",
        claims="T any; any; masked",
    ),
    "not a number of a shape": Example(
        "s = Shape (x) z = ConstantOfShape <value = float[1] {nan}> (s) n = IsNaN (z) y = Where (n, x, z)",
        "float[1, 2, T] y",
        claims="T any; any; masked",
    ),
    "numbers of a constant shape": Example(
        "z = ConstantOfShape <value = int64[1] {3}> (two) f = Cast <to = 1> (z) u = Unsqueeze (f, axes) y = Mul (x, u)",
        "float[1, 2, T] y",
        constants="int64[1] two = {2}, int64[2] axes = {0, 2}",
        claims="T finite; finite",
    ),
    "many numbers of a constant shape": Example(
        "z = ConstantOfShape <value = float[1] {3}> (two) y = Mul (x, z)",
        "float[1, 300, T] y",
        "float[1, 300, T] x",
        "int64[3] two = {1, 300, 1}",
        claims="T finite; finite",
    ),
    "ones that are longer": Example(
        "s = Shape <start = 2> (x) l = Add (s, two) z = ConstantOfShape <value = float[1] {1}> (l) u = Unsqueeze "
        "(z, front) y = MatMul (w, u)",
        "float[1, 3, N] y",
        constants="int64[1] two = {2}, int64[2] front = {0, 1}, float[1, 3, 1] w",
        claims="T+2 finite; finite",
    ),
    "ones that are shorter": Example(
        "s = Shape <start = 2> (x) l = Sub (s, two) z = ConstantOfShape <value = float[1] {1}> (l) u = Unsqueeze "
        "(z, front) y = MatMul (w, u)",
        "float[1, 3, N] y",
        constants="int64[1] two = {2}, int64[2] front = {0, 1}, float[1, 3, 1] w",
        claims="T-2 finite; finite",
        first="T=3",
    ),
    "a square of lengths as data": Example(
        "s = Shape <start = 2> (x) q = Mul (s, s) f = Cast <to = 1> (q) y = Div (x, f)",
        "float[1, 2, T] y",
        finds="PAD106 Div",
        claims="T any; any",
    ),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name: str) -> None:
    EXAMPLES[name].check()
