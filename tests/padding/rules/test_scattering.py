"""Writing by index: places at the end of the valid part, places of one's own, and what they leave of the padding."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import onnx_ir as ir
import pytest

from paddable.lengths import parse
from paddable.padding.deduce.context import NoProof, RuleContext
from paddable.padding.facts.facts import Affine, Elements, Facts
from paddable.padding.facts.kinds import ANY, FINITE, Kind, constant
from paddable.padding.facts.numbers import number
from paddable.padding.remedies import FromEnd
from paddable.padding.rules.scattering import scatter_elements, scatter_nd

from ..example import Example
from ..given import axes_of, context_of, tensor, told

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
    "the last steps of every row": Example(
        "n = Shape <start = 1, end = 2> (x) v = Add (n, k) r = Unsqueeze (v, ends) b = Shape <end = 1> (x) "
        "s = Concat <axis = 0> (b, rest) e = Expand (r, s) u = Expand (five, s) "
        "y = ScatterElements <axis = 1> (x, e, u)",
        "float[batch, T, 4] y",
        "float[batch, T, 4] x",
        "int64[3] k = {-1, -2, -3}, int64[2] ends = {0, 2}, int64[2] rest = {3, 4}, float five = {5}",
        finds="PAD106 ScatterElements, PAD105 ScatterElements",
        claims="T finite; finite",
        first="T=2",
        harmless="PAD105",
        rows=0,
    ),
    "a step before the end, by tuples": Example(
        "n = Shape <start = 1, end = 2> (x) b = Shape <end = 1> (x) c = Squeeze (b) r = Range (nil, c, one) "
        "m = Sub (n, three) e = Expand (m, b) ru = Unsqueeze (r, axis) eu = Unsqueeze (e, axis) "
        "p = Concat <axis = 1> (ru, eu) s = Concat <axis = 0> (b, four) u = Expand (five, s) y = ScatterND (x, p, u)",
        "float[batch, T, 4] y",
        "float[batch, T, 4] x",
        "int64 nil = {0}, int64 one = {1}, int64[1] axis = {1}, int64 three = {3}, int64[1] four = {4}, "
        "float five = {5}",
        finds="PAD106 Concat, PAD105 ScatterND",
        claims="T finite; finite",
        first="T=2",
        rows=0,
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
        finds="PAD105 ScatterND",
        claims="T finite; finite",
    ),
    "steps from both ends, added": Example(
        'y = ScatterND <reduction = "add"> (x, p, u)',
        "float[1, 2, T] y",
        constants="int64[3, 3] p = {0, -2, -3, 0, 1, 0, 0, -1, -1}, float[3] u = {5, 6, 7}",
        finds="PAD105 ScatterND",
        claims="T finite; finite",
        first="T=3",
    ),
    "the step before the last, which is the last of one": Example(
        f"{ZEROS} m = Sub (n, two) i = Reshape (m, pair) p = Concat <axis = 1> (row, i) w = ScatterND (z, p, u) "
        "y = Add (w, x)",
        "float[1, T] y",
        PLACE,
        f"{TIME}, int64[2] pair = {{1, 1}}, float[1] u = {{5}}, int64 two = {{2}}",
        finds="PAD106 ScatterND, PAD105 ScatterND",
        claims="T finite; finite",
    ),
    "a step before the last three, which two have": Example(
        f"{ZEROS} m = Sub (n, three) i = Reshape (m, pair) p = Concat <axis = 1> (row, i) w = ScatterND (z, p, u) "
        "y = Add (w, x)",
        "float[1, T] y",
        PLACE,
        f"{TIME}, int64[2] pair = {{1, 1}}, float[1] u = {{5}}, int64 three = {{3}}",
        finds="PAD106 ScatterND, PAD105 ScatterND",
        claims="T finite; finite",
        first="T=2",
    ),
    "elements from the end, where each row has its own": Example(
        "m = ArgMax <axis = 1> (x) n = Neg (m) k = Sub (n, axis) f = Cast <to = 1> (m) "
        "y = ScatterElements <axis = 1> (x, k, f)",
        "float[batch, T] y",
        "float[batch, T] x",
        TIME,
        rows=0,
        finds="PAD107 ArgMax, PAD105 ScatterElements",
        claims="T finite; finite",
        harmless="PAD107",
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


INT64 = ir.DataType.INT64
ONE = tensor("1", low=5.0, high=5.0, finite=True, masked=False)


def _places(*numbers: int, axes: tuple[str, ...]) -> Facts:
    array = np.array([number(n) for n in numbers], dtype=object).reshape([int(a) for a in axes])
    return Facts.known(INT64, axes_of(*axes), Elements(array), float(min(numbers)), float(max(numbers)))


def _answer(context: RuleContext) -> str:
    rule = scatter_nd if context.type == "ScatterND" else scatter_elements
    try:
        (found,) = rule(context)
    except NoProof as error:
        return error.reason
    assert found is not None
    return f"{told(found)}; {found.low:g}..{found.high:g}; {found.valid}"


@pytest.mark.parametrize(
    ("reduction", "low", "high", "valid"),
    [
        ("none", 0, 5, "finite"), ("max", 0, 5, "finite"), ("min", 0, 5, "finite"),
        ("add", -math.inf, math.inf, "finite"), ("mul", -math.inf, math.inf, "finite"),
    ],
)  # fmt: skip
def test_what_is_written_is_replaced_or_combined(reduction: str, low: float, high: float, valid: str) -> None:
    """Padding along the written axis stays what it was; the bounds of a sum are none."""
    value = tensor("1", "T", pad=constant(1), low=0.0, high=1.0, finite=True, masked=False)
    context = context_of("ScatterND", value, _places(0, 3, axes=("1", "2")), ONE, reduction=reduction)
    assert _answer(context) == f"1, T; 1; {low:g}..{high:g}; {valid}"


@pytest.mark.parametrize(
    ("values", "updates", "reduction", "padding", "valid"),
    [
        (constant(1), constant(1), "none", "1", "1"), (constant(1), constant(2), "none", "finite", "finite"),
        (constant(1), constant(1), "add", "finite", "finite"), (FINITE, ANY, "none", "any", "any"),
        (FINITE, ANY, "add", "any", "any"), (ANY, FINITE, "none", "any", "any"), (ANY, FINITE, "add", "any", "any"),
        (FINITE, FINITE, "mul", "finite", "finite"),
    ],
)  # fmt: skip
def test_beside_what_is_written_a_region_is_of_both(
    values: Kind, updates: Kind, reduction: str, padding: str, valid: str
) -> None:
    """Features are written, of every step: the padding of time holds what was there and what is written there."""
    given = [_of("3", "T", kind=values), _places(1, axes=("1", "1")), _of("1", "T", kind=updates)]
    found = _answer(context_of("ScatterND", *given, reduction=reduction))
    assert found.split("; ")[1] == padding and found.split("; ")[-1] == valid


def _of(*axes: str, kind: Kind) -> Facts:
    return tensor(*axes, pad=kind, finite=kind.finite, constant=kind.value, masked=False)


@pytest.mark.parametrize(
    ("axes", "places", "updates", "expected"),
    [
        (("1", "T"), _places(0, 3, axes=("1", "2")), ("1",), "1, T"),
        (("3", "T"), _places(0, 3, axes=("1", "2")), ("1",), "3, T"),
        (("3", "T"), _places(1, axes=("1", "1")), ("1", "T"), "3, T"),
        (("3", "T"), _places(1, axes=("1", "1")), ("1", "U"), "other axes"),
        (("3", "T"), _places(1, axes=("1", "1")), ("1",), "other axes"),
        (("3", "T"), _places(0, -1, axes=("1", "2")), ("1",), "3, T"),
        (("3", "4"), _places(0, -1, axes=("1", "2")), ("1",), "3, 4"),
        (("T", "3"), _places(-1, axes=("1", "1")), ("1", "3"), "T, 3"),
        (("batch", "T"), _places(0, 3, axes=("1", "2")), ("1",), "along the batch"),
        (("T", "batch"), _places(1, axes=("1", "1")), ("1", "batch"), "the same places for every row"),
        (("1", "T x 3"), _places(0, 3, axes=("1", "2")), ("1",), "1, T x 3"),
        (("1", "3 x T"), _places(0, 3, axes=("1", "2")), ("1",), "interleaved"),
        (("2 x 3", "T"), _places(1, axes=("1", "1")), ("1", "T"), "2 x 3, T"),
        (("3", "T"), tensor("1", "2", dtype=INT64, low=0.0), ("1",), "3, T"),
        (("3", "T"), tensor("1", "2", dtype=INT64, low=-1.0), ("1",), "3, T"),
        (("3", "T"), tensor("T", "2", dtype=INT64, low=0.0), ("T",), "the number of places"),
        (("3", "T"), tensor("1", "T", dtype=INT64), ("1",), "varying width"),
    ],
)  # fmt: skip
def test_places_as_tuples(axes: tuple[str, ...], places: Facts, updates: tuple[str, ...], expected: str) -> None:
    context = context_of(
        "ScatterND",
        tensor(*axes, pad=FINITE),
        places,
        tensor(*updates, pad=FINITE),
        rows=None if "batch" in axes else 1,
    )
    found = _answer(context)
    assert found.startswith(f"{expected}; ") or (not expected[0].isdigit() and expected in found), found


def test_as_many_places_as_there_are_at_the_end() -> None:
    """x[:, -2:] = 5: where there is one step, one is written, and the domain begins at two."""
    context = context_of("ScatterND", tensor("3", "T"), tensor("min(T, 2)", "2", dtype=INT64), ONE)
    assert "other axes" in _answer(context)  # in this round
    assert context.scope.spans["T"].first == 2


@pytest.mark.parametrize(("places", "first"), [((0, 0), 1), ((0, 3), 4), ((2, 7), 8), ((-1, -4), 4), ((-3, 2), 3)])
def test_native_has_the_steps_that_are_written(places: tuple[int, int], first: int) -> None:
    context = context_of("ScatterND", tensor("3", "T"), _places(*places, axes=("1", "2")), ONE)
    _answer(context)
    assert context.scope.spans["T"].first == first
    sizes = [remedy.sizes for remedy in context.remedies if isinstance(remedy, FromEnd)]
    assert sizes == ([(None, parse("T"))] if places[1] < 0 else [])


@pytest.mark.parametrize(
    ("axis", "axes", "places", "updates", "expected"),
    [
        (1, ("2", "T"), _places(3, 3, axes=("2", "1")), ("2", "1"), "2, T"),
        (-1, ("2", "T"), _places(3, 3, axes=("2", "1")), ("2", "1"), "2, T"),
        (None, ("T",), _places(3, 5, axes=("2",)), ("2",), "T"),
        (1, ("2", "T"), _places(3, 3, axes=("1", "2")), ("1", "2"), "a part of an axis"),
        (1, ("2", "T"), _places(3, 3, axes=("2", "1")), ("2", "3"), "other axes"),
        (1, ("2", "T"), _places(3, -3, axes=("2", "1")), ("2", "1"), "2, T"),
        (1, ("batch", "2", "T"), tensor("1", "2", "1", dtype=INT64), ("1", "2", "1"), "a part of an axis"),
        (2, ("batch", "2", "T"), tensor("batch", "2", "1", dtype=INT64), ("batch", "2", "1"), "batch, 2, T"),
        (0, ("2", "3"), _places(*[1] * 3, axes=("1", "3")), ("1", "3"), "2, 3"),
        (0, ("batch", "3"), _places(*[1] * 3, axes=("1", "3")), ("1", "3"), "along the batch"),
        (1, ("2", "3 x T"), _places(3, 3, axes=("2", "1")), ("2", "1"), "interleaved"),
        (0, ("2", "T"), tensor("1", "T", dtype=INT64, low=0.0), ("1", "T"), "number of places"),
    ],
)  # fmt: skip
def test_places_along_one_axis(
    axis: int | None, axes: tuple[str, ...], places: Facts, updates: tuple[str, ...], expected: str
) -> None:
    attributes = {} if axis is None else {"axis": axis}
    context = context_of(
        "ScatterElements", tensor(*axes, pad=FINITE), places, tensor(*updates, pad=FINITE),
        rows=None if "batch" in axes else 1, **attributes,
    )  # fmt: skip
    found = _answer(context)
    assert found.startswith(f"{expected}; ") or (not expected[0].isdigit() and expected in found), found


def test_each_row_that_writes_itself_leaves_nothing_of_the_data() -> None:
    """A packed sequence's inverse: places of rows, of one dimension, in the order of the rows."""
    place = Facts.known(INT64, axes_of("batch"), Affine(number(0), ((0, Fraction(1)),)))
    value, updates = tensor("batch", dtype=INT64), tensor("batch", dtype=INT64, low=7.0)
    assert scatter_elements(context_of("ScatterElements", value, place, updates, rows=None)) == [updates]
    for other in (tensor("3", dtype=INT64), tensor("2 x batch", dtype=INT64)):
        assert "row" in _answer(context_of("ScatterElements", value, place, other, rows=None))
    wide = Facts.known(INT64, axes_of("batch", "3"), Affine(number(0), ((0, Fraction(1)),)))
    square = [tensor("batch", "3", dtype=INT64), wide, tensor("batch", "3", dtype=INT64)]
    assert "row" in _answer(context_of("ScatterElements", *square, rows=None))
    twice = Facts.known(INT64, axes_of("batch"), Affine(number(0), ((0, Fraction(2)),)))
    assert "row" in _answer(context_of("ScatterElements", value, twice, updates, rows=None))
