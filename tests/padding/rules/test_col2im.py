"""Windows added up."""

from __future__ import annotations

import pytest

from ..example import Example
from ..native import assert_exact

EXAMPLES = {
    "at a hop of one": Example(
        "s = Shape <start = 2> (x) l = Add (s, three) z = Concat <axis = 0> (one, l) y = Col2Im (x, z, b)",
        "float[1, 2, 1, U] y",
        "float[1, 8, T] x",
        "int64[1] three = {3}, int64[1] one = {1}, int64[2] b = {1, 4}",
        finds="PAD102 Col2Im",
        claims="T+3 finite; finite",
    ),
    "with gaps": Example(
        "s = Shape <start = 2> (x) l = Add (s, two) z = Concat <axis = 0> (one, l) y = Col2Im <dilations = [1, "
        "2]> (x, z, b)",
        "float[1, 2, 1, U] y",
        "float[1, 4, T] x",
        "int64[1] two = {2}, int64[1] one = {1}, int64[2] b = {1, 2}",
        finds="PAD102 Col2Im",
        claims="T+2 finite; finite",
    ),
    "at a hop of three, cropped": Example(
        "s = Shape <start = 2> (x) l = Mul (s, three) z = Concat <axis = 0> (one, l) y = Col2Im <strides = [1, "
        "3], pads = [0, 1, 0, 0]> (x, z, b)",
        "float[1, 2, 1, U] y",
        "float[1, 8, T] x",
        "int64[1] three = {3}, int64[1] one = {1}, int64[2] b = {1, 4}",
        finds="PAD102 Col2Im",
        claims="3*T finite; finite",
    ),
    "of what may be infinite": Example(
        "e = Exp (x) s = Shape <start = 2> (x) l = Add (s, three) z = Concat <axis = 0> (one, l) y = Col2Im (e, z, b)",
        "float[1, 2, 1, U] y",
        "float[1, 8, T] x",
        "int64[1] three = {3}, int64[1] one = {1}, int64[2] b = {1, 4}",
        finds="PAD102 Col2Im",
        claims="T+3 any; any",
    ),
    "of another number of windows": Example(
        "s = Shape <start = 2> (x) l = Add (s, two) z = Concat <axis = 0> (one, l) y = Col2Im (x, z, b)",
        "float[1, 2, 1, U] y",
        "float[1, 8, T] x",
        "int64[1] two = {2}, int64[1] one = {1}, int64[2] b = {1, 4}",
        refused="Col2Im of T windows, where its result has T-1",
    ),
    "to a constant size": Example(
        "y = Col2Im (x, z, b)",
        "float[1, 2, 1, 9] y",
        "float[1, 8, T] x",
        "int64[2] z = {1, 9}, int64[2] b = {1, 4}",
        refused="Col2Im of T windows, where its result has 6",
    ),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name: str) -> None:
    EXAMPLES[name].check()


WINDOWS = """s = Shape <start = 2> (x) two = Constant <value_ints = [2]> () long = Mul (s, two)
             one = Constant <value_ints = [1]> () """


@pytest.mark.parametrize("pads", ["", ", pads = [0, 1, 0, 1]"])
def test_windows_added_up(pads: str) -> None:
    """An overlap-add of windows of 4 at a hop of 2: its result is as long as native makes it."""
    more = 0 if pads else 2
    assert_exact(
        f"""g (float[1, 8, T] x) => (float[1, 2, U] y)
           <int64[2] block = {{1, 4}}, int64[1] more = {{{more}}}, int64[1] flat = {{2}}> {{
           {WINDOWS} l = Add (long, more) size = Concat <axis = 0> (one, l)
           f = Col2Im <strides = [1, 2]{pads}> (x, size, block) y = Squeeze (f, flat) }}""",
        "x:2=T",
        opset=18,
        needs=["PAD102"],
    )  # fmt: skip


def test_patches_added_up() -> None:
    """Patches in rows of time and three columns."""
    assert_exact(
        """g (float[1, 12, T, 3] x) => (float[1, 2, U, 6] y)
           <int64[2] block = {3, 2}, int64[1] six = {6}, int64[3] shape = {0, 0, -1}> {
           r = Reshape (x, shape) s = Shape <start = 2, end = 3> (x) two = Constant <value_ints = [2]> ()
           l = Add (s, two) size = Concat <axis = 0> (l, six)
           y = Col2Im <strides = [1, 2]> (r, size, block) }""",
        "x:2=T",
        opset=18,
        needs=["PAD102"],
    )  # fmt: skip
