"""What a rule learns of its operands: bounds of index vectors and lengths, and the face that a number is read with."""

from __future__ import annotations

import pytest

from ..example import Example

NUMBERS = "int64 nil = {0}, int64 one = {1}, int64 two = {2}, float[2, 20] w, int64[1] o = {0}, int64[1] a = {1}"
UP_TO_20 = "s = Shape <start = 2> (x) n = Squeeze (s) t = Slice (w, o, s, a) z = Add (x, t) i = Range (nil, n, one)"


def bounded(nodes: str, **expected: str) -> Example:
    """An index vector ``m`` of at most 20 steps, as the first output."""
    body = f"{UP_TO_20} {nodes} f = Cast <to = 1> (m) y = Unsqueeze (f, o)"
    return Example(body, "float[1, T] y, float[1, 2, T] z", constants=NUMBERS, **expected)


EXAMPLES = {
    "positions": bounded("m = Identity (i)", claims="T finite; 0..19; finite", last="T=20"),
    "positions from the second": bounded("m = Add (i, one)", claims="T finite; 1..20; finite", last="T=20"),
    "every other position": bounded("m = Mul (i, two)", claims="T finite; 0..38; finite", last="T=20"),
    "positions below 0": bounded("m = Neg (i)", claims="T finite; -19..0; finite", last="T=20"),
    "positions counted from the end": bounded(
        "m = Sub (n, i)", finds="PAD106 ", claims="T finite; 1..20; finite", last="T=20"
    ),
    "positions counted to the end": bounded(
        "m = Sub (i, n)", finds="PAD106 ", claims="T finite; -20..-1; finite", last="T=20"
    ),
    "positions and the length": bounded(
        "m = Add (i, n)", finds="PAD106 ", claims="T finite; 1..39; finite", last="T=20"
    ),
    "twice the positions from the end": bounded(
        "d = Sub (n, i) m = Mul (d, two)",
        finds="PAD106 ",
        claims="T finite; 2..40; finite",
        last="T=20",
    ),
    "positions and their opposites": bounded("d = Neg (i) m = Add (d, i)", claims="T finite; 0..0; 0", last="T=20"),
    "a number that is a constant by now": Example(
        "v = Shape <start = 2> (x) n = Squeeze (v) m = Min (n, two) c = Conv (x, k) f = Cast <to = 1> "
        "(m) y = Mul (c, f)",
        "float[1, 2, U] y",
        constants=f"float[2, 2, 5] k, {NUMBERS}",
        claims="T-4 finite; finite",
        first="T=5",
    ),
    "a number that varies still": Example(
        "v = Shape <start = 2> (x) n = Squeeze (v) m = Min (n, two) c = Conv <pads = [2, 2]> (x, k) f = Cast <to = 1> "
        "(m) y = Mul (c, f)",
        "float[1, 2, U] y",
        constants=f"float[2, 2, 5] k, {NUMBERS}",
        finds="PAD102 Conv, PAD106 Mul",
        claims="T finite; finite",
    ),
    "two numbers of a shape": Example(
        "v = Shape <start = 1> (x) f = Cast <to = 1> (v) y = Mul (x, f)",
        "float[1, T, 2] y",
        "float[1, T, 2] x",
        finds="PAD106 Mul",
        claims="T finite; finite",
    ),
    "half the positions from the end": Example(
        "v = Shape <start = 2> (x) n = Squeeze (v) i = Range (nil, n, one) d = Sub (n, i) f = Cast <to = 1> (d) "
        "m = Mul (f, half) y = Add (x, m)",
        "float[1, 2, T] y",
        constants=f"float half = {{0.5}}, {NUMBERS}",
        finds="PAD106 Add",
        claims="T finite; finite",
    ),
    "centred positions of rows": Example(
        "v = Shape <start = 2> (x) n = Squeeze (v) k = Sub (one, n) i = Range (k, n, one) f = Cast <to = 1> (i) "
        "g = Unsqueeze (f, front) y = Add (u, g) z = Neg (x)",
        "float[batch, 1, U] y, float[batch, 1, T] z",
        "float[batch, 1, T] x, float[batch, 1, 1] u",
        f"int64[2] front = {{0, 1}}, {NUMBERS}",
        rows=0,
        finds="PAD105 ",
        claims="2*T-1 from T finite; finite",
    ),
    "positions to the end of rows": Example(
        "v = Shape <start = 2> (x) n = Squeeze (v) i = Range (nil, n, one) d = Sub (i, n) f = Cast <to = 1> (d) "
        "g = Unsqueeze (f, front) y = Add (x, g)",
        "float[batch, 1, T] y",
        "float[batch, 1, T] x",
        f"int64[2] front = {{0, 1}}, {NUMBERS}",
        rows=0,
        finds="PAD106 Add",
        claims="T finite; finite",
    ),
    "seventeen numbers": Example(
        "y = Gather <axis = 2> (x, i)",
        "float[1, 2, 17] y",
        constants=f"int64[17] i = {{{', '.join(map(str, range(17)))}}}",
        claims="finite",
        first="T=17",
    ),
    "a window without other axes": Example(
        "z = Squeeze (x, front) n = Shape (z) b = Sub (nine, n) t = Slice (w, b, nine, o) c = CumSum (t, nil) "
        "s = Add (z, c) y = Unsqueeze (s, front)",
        "float[1, 1, T] y",
        "float[1, 1, T] x",
        "int64[1] nine = {9}, float[9] w, int64[2] front = {0, 1}, int64 nil = {0}, int64[1] o = {0}",
        finds="PAD105 CumSum",
        claims="T finite; finite",
        last="T=9",
    ),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name: str) -> None:
    EXAMPLES[name].check()
