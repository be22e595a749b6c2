"""Writing by index: places at the end of the valid part, places of one's own, and what they leave of the padding."""

from __future__ import annotations

import pytest

from ..example import Example

ZEROS = "s = Shape (x) z = ConstantOfShape (s) n = Gather (s, time)"
PLACE = "float[1, T] x"
TIME = "int64 time = {1}, int64 one = {1}, int64[1] axis = {1}, int64[1, 1] row = {0}"

EXAMPLES = {
    "the last step": Example(
        f"{ZEROS} m = Sub (n, one) i = Reshape (m, pair) p = Concat <axis = 1> (row, i) w = ScatterND (z, p, u) "
        "y = Add (w, x)",
        "float[1, T] y",
        PLACE,
        f"{TIME}, int64[2] pair = {{1, 1}}, float[1] u = {{5}}",
        finds="PAD106 ScatterND",
        claims="T finite; finite",
    ),
    "a step that must be there": Example(
        "y = ScatterND (x, p, u)",
        "float[1, T] y",
        PLACE,
        "int64[1, 2] p = {0, 3}, float[1] u = {5}",
        claims="T finite; finite",
        first="T=4",
    ),
    "added to a step": Example(
        'y = ScatterND <reduction = "add"> (x, p, u)',
        "float[1, T] y",
        PLACE,
        "int64[1, 2] p = {0, 3}, float[1] u = {5}",
        claims="T finite; finite",
        first="T=4",
    ),
    "beside features of an axis that was joined": Example(
        "t = Transpose <perm = [0, 2, 1]> (x) h = Reshape (t, parts) k = Transpose <perm = [0, 2, 1, 3]> (h) "
        "f = Transpose <perm = [0, 2, 1, 3]> (k) v = Reshape (f, joined) y = ScatterND (v, p, u)",
        "float[1, T, 4] y",
        "float[1, 4, T] x",
        "int64[4] parts = {0, 0, 2, 2}, int64[3] joined = {0, 0, 4}, int64[1, 2] p = {0, 0}, "
        "float[1, 4] u = {1, 2, 3, 4}",
        claims="T finite; finite",
    ),
    "into steps that are joined with their features": Example(
        "t = Transpose <perm = [0, 2, 1]> (x) v = Reshape (t, joined) y = ScatterND (v, p, u)",
        "float[1, M] y",
        "float[1, 4, T] x",
        "int64[2] joined = {1, -1}, int64[1, 2] p = {0, 9}, float[1] u = {5}",
        claims="T finite; finite",
        first="T=3",
    ),
    "into features that are joined with their steps": Example(
        "v = Reshape (x, joined) y = ScatterND (v, p, u)",
        "float[1, M] y",
        "float[1, 4, T] x",
        "int64[2] joined = {1, -1}, int64[1, 2] p = {0, 9}, float[1] u = {5}",
        refused="places in a merged axis whose padding is interleaved with valid steps",
    ),
    "a feature of every step": Example(
        "h = Transpose <perm = [1, 0, 2]> (x) f = Slice (h, zero, one) u = Exp (f) w = ScatterND (h, p, u) "
        "y = Transpose <perm = [1, 0, 2]> (w)",
        "float[1, 2, T] y",
        constants="int64[1, 1] p = {1}, int64[1] zero = {0}, int64[1] one = {1}",
        claims="T any; any",
    ),
    "a step from the end": Example(
        "y = ScatterND (x, p, u)",
        "float[1, T] y",
        PLACE,
        "int64[1, 2] p = {0, -1}, float[1] u = {5}",
        refused="a place that may be negative",
    ),
    "as many places as steps": Example(
        f"{ZEROS} r = Range (none, n, one) h = Unsqueeze (r, axis) k = Shape (h) f = Expand (none, k) "
        "p = Concat <axis = 1> (f, h) u = Squeeze (x, first) y = ScatterND (z, p, u)",
        "float[1, T] y",
        PLACE,
        f"{TIME}, int64 none = {{0}}, int64[1] first = {{0}}",
        refused="the number of places that are written varies with the length",
    ),
    "the last step of rows": Example(
        "l = ReduceSum <keepdims = 0> (m, axis) k = Sub (l, one) s = Shape (x) z = ConstantOfShape (s) "
        "b = Gather (s, none) r = Range (none, b, one) i = Unsqueeze (r, axis) j = Unsqueeze (k, axis) "
        "p = Concat <axis = 1> (i, j) v = Shape (k) u = Expand (five, v) w = ScatterND (z, p, u) y = Add (w, x)",
        "float[batch, T] y",
        "float[batch, T] x, int64[batch, T] m",
        "int64[1] axis = {1}, int64 one = {1}, int64 none = {0}, float five = {5}",
        held="m:1=T",
        rows=0,
        claims="T finite; finite",
    ),
    "the same step of all rows": Example(
        "y = ScatterND (x, p, u)",
        "float[batch, T] y",
        "float[batch, T] x",
        "int64[1, 2] p = {0, 0}, float[1] u = {5}",
        rows=0,
        refused="ScatterND along the batch mixes rows",
    ),
    "elements of features": Example(
        "f = ArgMax <axis = 1> (x) y = ScatterElements <axis = 1> (x, f, u)",
        "float[1, 2, T] y",
        constants="float[1, 1, 1] u = {5}",
        refused="what is written has other axes than the places",
    ),
    "an element of time": Example(
        "s = Shape (x) n = Gather (s, time) m = Sub (n, one) i = Reshape (m, pair) "
        "y = ScatterElements <axis = 1> (x, i, u)",
        "float[1, T] y",
        PLACE,
        "int64 time = {1}, int64 one = {1}, int64[2] pair = {1, 1}, float[1, 1] u = {5}",
        finds="PAD106 ScatterElements",
        claims="T finite; finite",
    ),
    "elements of one row for all": Example(
        "y = ScatterElements <axis = 1> (x, i, u)",
        "float[batch, T] y",
        "float[batch, T] x",
        "int64[1, 1] i = {0}, float[1, 1] u = {5}",
        rows=0,
        refused="ScatterElements with an index that covers a part of an axis",
    ),
    "a fill for a step": Example(
        "y = ScatterND (x, p, u)",
        "float[1, T] y",
        PLACE,
        "int64[1, 2] p = {0, 3}, float[1] u = {-inf}",
        claims="T finite; any; masked",
        first="T=4",
    ),
    "a step for a fill": Example(
        "n = Neg (x) c = Greater (x, n) m = Where (c, x, low) y = ScatterND (m, p, u)",
        "float[1, T] y",
        PLACE,
        "int64[1, 2] p = {0, 3}, float[1] u = {5}, float low = {-inf}",
        claims="T any; any; masked",
        first="T=4",
    ),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name: str) -> None:
    EXAMPLES[name].check()
