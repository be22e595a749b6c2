"""Indices that hold each row's own place in the batch: what every row reads of itself, and what is refused."""

from __future__ import annotations

import pytest

from ..example import Example
from ..native import assert_exact, verdict_of

_START = """o = Constant <value_int = 1> () z = Constant <value_int = 0> () a0 = Constant <value_ints = [0]> ()
    a1 = Constant <value_ints = [1]> () a2 = Constant <value_ints = [2]> () a3 = Constant <value_ints = [3]> ()
    m1 = Constant <value_ints = [-1]> () m2 = Constant <value_ints = [-1, 1]> ()
    sh = Shape (x) t = Gather (sh, o) b = Gather (sh, z) r = Range (z, t, o)
    c = Range (z, b, o)"""
_TUPLES = """c1 = Unsqueeze (c, a1) c2 = Unsqueeze (c1, a2) r0 = Unsqueeze (r, a0) steps = Unsqueeze (r0, a1)
    both = Max (c2, steps) shape = Shape (both) ce = Expand (c2, shape) re = Expand (steps, shape)
    cu = Unsqueeze (ce, m1) ru = Unsqueeze (re, m1)"""


def _graph(body: str) -> str:
    return f"g (float[batch, T] x) => (float[batch, 1, T] y) {{ {_START} {body} }}"


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_tuples_of_places_and_steps(rows: int) -> None:
    """The causal masks of transformers: x[places, steps], whose shape is read off the larger of the two."""
    body = f"{_TUPLES} i = Concat <axis = -1> (cu, ru) q = GatherND (x, i) y = Softmax <axis = 2> (q)"
    assert_exact(_graph(body), "x:1=T", rows=None, padded_rows=rows)


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_rows_joined_with_their_steps(rows: int) -> None:
    """TorchScript's form of the same: the rows in one axis, read by place * size + step."""
    body = """c1 = Unsqueeze (c, a1) c2 = Unsqueeze (c1, a2) r0 = Unsqueeze (r, a0) steps = Unsqueeze (r0, a1)
        f = Flatten <axis = 2> (x) far = Mul (c2, t) i = Add (steps, far) q = Gather <axis = 0> (f, i)
        s = Squeeze (q, a3) y = Softmax <axis = 2> (s)"""
    assert_exact(_graph(body), "x:1=T", rows=None, padded_rows=rows)


_REFUSED = {
    "the place of the next row": f"{_TUPLES} next = Add (cu, o) i = Concat <axis = -1> (next, ru) y = GatherND (x, i)",
    "the place as a step": f"{_TUPLES} i = Concat <axis = -1> (ru, cu) y = GatherND (x, i)",
    "two steps behind the place": f"""{_TUPLES} pair = Concat <axis = -1> (ru, ru) i = Concat <axis = -1> (cu, pair)
        cube = Unsqueeze (x, a2) y = GatherND (cube, i)""",
    "the place as a number": f"{_TUPLES} f = Cast <to = 1> (both) u = Unsqueeze (x, a1) y = Add (u, f)",
    "twice the place": "d = Add (c, c) w = Gather <axis = 0> (x, d) y = Unsqueeze (w, a1)",
    "rows of another size": """two = Add (t, t) c1 = Unsqueeze (c, a1) c2 = Unsqueeze (c1, a2) r0 = Unsqueeze (r, a0)
        steps = Unsqueeze (r0, a1) f = Flatten <axis = 2> (x) far = Mul (c2, two) i = Add (steps, far)
        q = Gather <axis = 0> (f, i) y = Squeeze (q, a3)""",
    "two steps of the row": """c1 = Unsqueeze (c, a1) c2 = Unsqueeze (c1, a2) r0 = Unsqueeze (r, a0)
        steps = Unsqueeze (r0, a1) f = Flatten <axis = 2> (x) far = Mul (c2, t) i = Add (steps, far) k = Add (i, steps)
        q = Gather <axis = 0> (f, k) y = Squeeze (q, a3)""",
    "half of the rows": """w = Unsqueeze (x, a1)
        e = Concat <axis = 1> (w, w) four = Reshape (e, m2) c1 = Unsqueeze (c, a1) c2 = Unsqueeze (c1, a2)
        r0 = Unsqueeze (r, a0) steps = Unsqueeze (r0, a1) far = Mul (c2, t) i = Add (steps, far)
        q = Gather <axis = 0> (four, i) y = Squeeze (q, a3)""",
    "steps behind the row": """c1 = Unsqueeze (c, a1) c2 = Unsqueeze (c1, a2) r1 = Add (r, o) r0 = Unsqueeze (r1, a0)
        steps = Unsqueeze (r0, a1) f = Flatten <axis = 2> (x) far = Mul (c2, t) i = Add (steps, far)
        q = Gather <axis = 0> (f, i) y = Squeeze (q, a3)""",
}


@pytest.mark.parametrize("what", _REFUSED)
def test_what_reads_another_row_is_refused(what: str) -> None:
    verdict = verdict_of(_graph(_REFUSED[what]), "x:1=T", rows=None, padded_rows=2)
    assert verdict.outcome == "refused" and "place" in verdict.reason, verdict.reason


def test_rows_sorted_by_length_stay_where_they_are() -> None:
    """A packed sequence that is not sorted: TopK of the lengths, ScatterElements of its inverse, Gather of both."""
    example = Example(
        """k = Shape (l) v, i = TopK <axis = -1> (l, k) h = Gather <axis = 0> (x, i) s = Shape (i)
        z = ConstantOfShape (s) zi = Cast <to = 7> (z) one = Squeeze (k) r = Range (none, one, step)
        j = ScatterElements <axis = 0> (zi, i, r)
        m = Softmax <axis = 2> (h) y = Gather <axis = 0> (m, j)""",
        "float[batch, 2, T] y",
        "float[batch, 2, T] x, int64[batch] l",
        "int64 none = {0}, int64 step = {1}",
        held="l=T",
        rows=0,
        finds="PAD103 Softmax",
        claims="T 0; 0..1; finite",
        guards="TopK",
    )
    example.check()
