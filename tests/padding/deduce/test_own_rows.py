"""Each row's own place in the batch: what it is told by, what arithmetic leaves of it, and what it may read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import onnx_ir as ir
import pytest

from paddable.lengths import Span, constant, parse
from paddable.padding.deduce.broadcast import broadcast
from paddable.padding.deduce.context import NoProof, RuleContext
from paddable.padding.deduce.own_rows import (
    computed_with_places,
    index_tuples,
    is_place,
    need_joined_rows,
    of_places,
    read_of_itself,
)
from paddable.padding.deduce.scope import Scope
from paddable.padding.facts.axes import Axes, Axis, fixed
from paddable.padding.facts.facts import Affine, Elements, Facts, OwnRow
from paddable.padding.facts.numbers import Face, Number, number

INT64 = ir.DataType.INT64
SCOPE = Scope({"T": Span(2, None), "U": Span(2, None)}, rows=None)
ROWS, TIME, OTHER = (SCOPE.axis(parse(name)) for name in ("batch", "T", "U"))
SIZE, HELD = number(parse("T"), Face.SIZE), number(parse("T"), Face.LENGTH)


def counted(axes: Axes, *steps: float, base: Number | None = None) -> Facts:
    """A base, 0 where none is told, and so much a step along each atom."""
    coefficients = tuple((k, Fraction(c)) for k, c in enumerate(steps) if c)
    return Facts.known(INT64, axes, Affine(base or number(0), coefficients))


def one(value: Number | None) -> Facts:
    return Facts.known(INT64, (), Elements(np.array(value, dtype=object)))


PLACE, STEPS = counted((ROWS,), 1), counted((TIME,), 1)
COLUMN = counted((ROWS, ()), 1)
DATA = Facts(INT64, (TIME,))


def _context(op_type: str, *operands: Facts) -> RuleContext:
    node = ir.node(op_type, [ir.Value(name=f"x{k}") for k in range(len(operands))])
    return RuleContext(node, 18, list(operands), SCOPE, {})


def _answer(ask: Callable[[], object]) -> object:
    try:
        return ask()
    except NoProof as error:
        return "not its own" if "not their own" in error.reason else "refused"


@pytest.mark.parametrize(
    ("value", "place", "made_of_places"),
    [
        (PLACE, True, True), (COLUMN, True, True), (STEPS, False, False), (DATA, False, False),
        (one(number(0)), False, False), (counted((ROWS,), 2), False, True), (counted((ROWS,), -1), False, True),
        (counted((ROWS,), 1, base=number(1)), False, True), (counted((ROWS,), 1, base=SIZE), False, True),
        (counted((ROWS, TIME), 1, 1), False, True), (counted((ROWS,)), False, False),
        (Facts(INT64, (ROWS,), own_row=OwnRow()), False, True), (counted((ROWS, TIME), 0, 1), False, False),
    ],
)  # fmt: skip
def test_what_a_place_is(value: Facts, place: bool, made_of_places: bool) -> None:
    assert (is_place(value), of_places(value)) == (place, made_of_places)


SCALED = Facts(INT64, (ROWS, ()), own_row=OwnRow(stride=parse("T")))
STEPPED = Facts(INT64, (ROWS, TIME), own_row=OwnRow(stride=parse("T"), stepped=True))


@pytest.mark.parametrize(
    ("op_type", "operands", "own"),
    [
        ("Mul", [PLACE, one(SIZE)], OwnRow(stride=parse("T"))), ("Mul", [one(SIZE), PLACE], OwnRow(stride=parse("T"))),
        ("Mul", [PLACE, one(number(3))], OwnRow(stride=parse("3"))), ("Mul", [PLACE, one(HELD)], OwnRow()),
        ("Mul", [PLACE, one(number(Fraction(1, 2)))], OwnRow()), ("Mul", [PLACE, one(None)], OwnRow()),
        ("Mul", [PLACE, PLACE], OwnRow()), ("Mul", [counted((ROWS,), 2), one(SIZE)], OwnRow()),
        ("Sub", [PLACE, one(SIZE)], OwnRow()), ("Add", [PLACE, one(SIZE)], OwnRow()),
        ("Max", [PLACE, one(SIZE)], OwnRow()), ("Min", [PLACE, one(SIZE)], OwnRow()),
        ("Max", [PLACE, one(SIZE), one(SIZE)], OwnRow()), ("Add", [SCALED, STEPS], STEPPED.own_row),
        ("Add", [STEPS, SCALED], STEPPED.own_row), ("Sub", [SCALED, STEPS], OwnRow()),
        ("Mul", [SCALED, one(SIZE)], OwnRow()), ("Add", [STEPPED, STEPS], OwnRow()),
        ("Add", [SCALED, COLUMN], OwnRow()), ("Add", [SCALED, SCALED], OwnRow()), ("Add", [SCALED, DATA], OwnRow()),
        ("Add", [SCALED, counted((OTHER,), 1)], OwnRow()),
        ("Add", [SCALED, counted((TIME,), 1, base=number(1))], OwnRow()),
        ("Add", [SCALED, counted((TIME,), 1, base=number(-1))], OwnRow()),
        ("Add", [SCALED, counted((TIME,), -1)], OwnRow()), ("Add", [SCALED, counted((TIME,), 2)], OwnRow()),
        ("Add", [SCALED, counted((TIME,), 0.5)], OwnRow()), ("Add", [SCALED, counted((TIME,), base=SIZE)], OwnRow()),
        ("Add", [SCALED, counted((TIME,), base=number(1))], STEPPED.own_row),
        ("Add", [SCALED, counted((TIME,), base=number(2))], OwnRow()),
        ("Add", [SCALED, counted((TIME,), base=number(Fraction(1, 2)))], OwnRow()), ("Exp", [PLACE], "refused"),
        ("Div", [PLACE, one(number(3))], "refused"), ("Add", [STEPS, one(SIZE)], None), ("Exp", [DATA], None),
    ],
)  # fmt: skip
def test_what_arithmetic_leaves_of_a_place(op_type: str, operands: list[Facts], own: object) -> None:
    """``place * size + step`` is known for what it is where every step is one of so many; else only the shape is."""
    context = _context(op_type, *operands)
    joined = broadcast(context, range(len(operands)))
    found = _answer(lambda: computed_with_places(context, joined))
    if isinstance(found, Facts):
        assert found.own_row == own and found.axes == joined.axes and found.finite
    else:
        assert found == own


BOTH = (ROWS, TIME, ())
PLACES, EACH = counted(BOTH, 1), counted(BOTH, 0, 1)


@pytest.mark.parametrize(
    ("values", "axis", "entry", "low"),
    [
        ([PLACES, EACH], 2, 0, 0.0), ([EACH, PLACES], 2, 1, 0.0), ([EACH, PLACES, EACH], 2, 1, 0.0),
        ([PLACES, counted(BOTH, 0, 1, base=number(-3))], 2, 0, -3.0),
        ([PLACES, counted(BOTH, 0, 1, base=number(3))], 2, 0, 0.0), ([EACH, EACH], 2, None, None),
        ([PLACES, PLACES], 2, "refused", None), ([PLACES, EACH], 1, "refused", None),
        ([counted(BOTH, 2), EACH], 2, "refused", None),
        ([PLACES, counted((ROWS, TIME, fixed(2)), 0, 1)], 2, "refused", None),
        ([PLACES, counted((ROWS, OTHER, ()), 0, 1)], 2, "refused", None),
        ([PLACES, counted((TIME, ROWS, ()), 1)], 2, "refused", None),
    ],
)  # fmt: skip
def test_tuples_of_a_place_and_of_steps(values: list[Facts], axis: int, entry: object, low: float | None) -> None:
    values = [replace(value, low=_low(value)) for value in values]
    context = _context("Concat", *values)
    found = _answer(lambda: index_tuples(context, range(len(values)), values, axis))
    if not isinstance(found, Facts):
        assert found == entry
        return
    lows = [constant(int(_low(value))) for value in values]
    known = tuple(
        () if is_place(value) else ((least, least + parse("T-1")),) for least, value in zip(lows, values, strict=True)
    )
    assert found.own_row == OwnRow(entry=entry, others=known) and found.low == low
    assert found.axes == (ROWS, TIME, fixed(len(values)))


def _low(value: Facts) -> float:
    assert isinstance(value.content, Affine)
    return float(value.content.base.fraction)


@pytest.mark.parametrize(
    ("joined", "index", "answer"),
    [
        ((*ROWS, *TIME), STEPPED, None), ((*ROWS, *TIME), SCALED, None), ((*ROWS, *TIME), DATA, "refused"),
        ((*ROWS, *TIME), Facts(INT64, (ROWS, ROWS), own_row=OwnRow(stride=parse("T"))), "refused"),
        ((*ROWS, *TIME), Facts(INT64, (ROWS,), own_row=OwnRow(entry=0)), "refused"),
        ((*ROWS, *TIME), Facts(INT64, (TIME,), own_row=OwnRow(stride=parse("T"))), "refused"),
        (ROWS, STEPPED, "not its own"), ((*ROWS, *OTHER), STEPPED, "not its own"),
        ((*TIME, *TIME), STEPPED, "not its own"), ((*ROWS, *ROWS), STEPPED, "not its own"),
        ((*ROWS, *TIME, *fixed(2)), STEPPED, "not its own"),
        ((*ROWS, *SCOPE.axis(parse("T"), shift=parse("T"))), STEPPED, "not its own"),
    ],
)  # fmt: skip
def test_rows_joined_with_as_many_steps_as_the_place_counts(joined: Axis, index: Facts, answer: object) -> None:
    assert _answer(lambda: need_joined_rows(_context("Gather", index), joined, index)) == answer


@pytest.mark.parametrize(
    ("axes", "own", "index", "depth", "answer"),
    [
        ((ROWS, TIME), OwnRow(entry=0), (ROWS,), 2, 0), ((TIME, ROWS), OwnRow(entry=1), (ROWS,), 2, 1),
        ((ROWS, TIME), OwnRow(entry=0), (ROWS, TIME), 1, 0), ((ROWS, TIME), None, (ROWS,), 2, None),
        ((TIME, ROWS), OwnRow(entry=1), (ROWS,), 1, "refused"), ((ROWS, TIME), OwnRow(entry=0), (TIME,), 2, "refused"),
        ((ROWS, TIME), OwnRow(entry=0), (ROWS, ROWS), 2, "refused"), ((ROWS, TIME), OwnRow(), (ROWS,), 2, "refused"),
        ((ROWS, TIME), OwnRow(entry=1), (ROWS,), 2, "not its own"),
        (((*ROWS, *TIME),), OwnRow(entry=0), (ROWS,), 1, "not its own"),
    ],
)  # fmt: skip
def test_tuples_read_the_row_that_they_are_in(
    axes: Axes, own: OwnRow | None, index: Axes, depth: int, answer: object
) -> None:
    source, tuples = Facts(INT64, axes), Facts(INT64, index, own_row=own)
    assert _answer(lambda: read_of_itself(_context("GatherND", source, tuples), source, tuples, depth)) == answer
