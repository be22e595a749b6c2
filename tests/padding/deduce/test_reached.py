"""Places of each row, spread along the batch: native has a step at each of them, with several rows as with one."""

from __future__ import annotations

import pytest

from ..native import verdict_of

_PLACES = """xs = Shape (x) b = Gather (xs, i0) n = Gather (xs, i1) three = Sub (n, i3) half = Div (n, i2)
    twice = Mul (n, i2) far = Sub (twice, i9) low = Max (far, i0)"""
_STATED = """int64[1] i0 = {0}, int64[1] i1 = {1}, int64[1] i2 = {2}, int64[1] i3 = {3}, int64[1] i4 = {4},
    int64[1] i5 = {5}, int64[1] i9 = {9}, int64[3] column = {1, 2, 1}, int64[3] rows = {-1, 1, 1},
    int64 zero = {0}, int64 one = {1}, float f = {1}"""
_READ = {
    "GatherND": "i = Expand (c, one_each) y = GatherND <batch_dims = 1> (x, i)",
    "GatherElements": "i = Expand (c, four_each) y = GatherElements <axis = 1> (x, i)",
    "ScatterElements": "i = Expand (c, four_each) u = Expand (f, four_each) y = ScatterElements <axis = 1> (x, i, u)",
    "ScatterND": """s = Squeeze (b, i0) own = Range (zero, s, one) o = Reshape (own, rows) oe = Expand (o, one_each)
        k = Expand (c, one_each) i = Concat <axis = 2> (oe, k) u = Expand (f, four_each) y = ScatterND (x, i, u)""",
}
_LENGTHS = {
    "three, half": (2, None),
    "half, i5": (6, None),
    "three, far": (3, 8),  # 2*T-9 counts from the end below 5
    "half, low": (1, 8),
}


@pytest.mark.parametrize(
    ("operator", "places"),
    [*((operator, "three, far") for operator in _READ), *(("GatherElements", places) for places in _LENGTHS)],
)
def test_two_rows_of_two_places(operator: str, places: str) -> None:
    body = f"""{_PLACES} z = Concat <axis = 0> ({places}) c = Reshape (z, column)
        one_each = Concat <axis = 0> (b, i2, i1) four_each = Concat <axis = 0> (b, i2, i4) {_READ[operator]}"""
    text = f"g (float[batch, T, 4] x) => (float[batch, U, 4] y) <{_STATED}> {{ {body} }}"
    verdict = verdict_of(text, "x:1=T", rows=None, padded_rows=2)
    assert (verdict.outcome, verdict.reason, verdict.tight) == ("exact", "", "")
    assert (verdict.spans["T"].first, verdict.spans["T"].last) == _LENGTHS[places]
