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
        "m = Sub (n, i)", finds="PAD106 ", claims="T finite; 1..20; finite", last="T=20", harmless="PAD106"
    ),
    "positions counted to the end": bounded(
        "m = Sub (i, n)", finds="PAD106 ", claims="T finite; -20..-1; finite", last="T=20", harmless="PAD106"
    ),
    "positions and the length": bounded(
        "m = Add (i, n)", finds="PAD106 ", claims="T finite; 1..39; finite", last="T=20", harmless="PAD106"
    ),
    "twice the positions from the end": bounded(
        "d = Sub (n, i) m = Mul (d, two)",
        finds="PAD106 ",
        claims="T finite; 2..40; finite",
        last="T=20",
        harmless="PAD106",
    ),
    "positions and their opposites": bounded("d = Neg (i) m = Add (d, i)", claims="T finite; 0..0; 0", last="T=20"),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name: str) -> None:
    EXAMPLES[name].check()
