"""Operands at common axes: which sizes agree, where each factor stands, and what is known region by region."""

from __future__ import annotations

import pytest

from paddable.lengths import Length, parse
from paddable.padding.deduce.broadcast import (
    agree,
    bring_rows,
    broadcast,
    counts_rows,
    pads_of,
    regions,
    same_axis,
)
from paddable.padding.deduce.context import NoProof
from paddable.padding.deduce.scope import Scope
from paddable.padding.facts.facts import PaddingFact
from paddable.padding.facts.kinds import ANY, FINITE, ZERO, Kind, constant
from paddable.padding.facts.numbers import Product, product

from ..given import SPANS, axes_of, context_of, reason, tensor


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ("T", "T", True), ("T", "U", False), ("T", "T x 2", False), ("T x 2", "T", False), ("1", "1", True),
        ("3", "3", True), ("3", "2", False), ("T from T", "T", False), ("T from T", "T from T", True),
        ("batch", "batch", True), ("T x 2", "2 x T", False), ("T", "2*T//2", True),
    ],
)  # fmt: skip
def test_axes_of_equal_factors(a: str, b: str, same: bool) -> None:
    (first, second) = axes_of(a, b)
    assert same_axis(Scope(SPANS, rows=None), first, second) is same


@pytest.mark.parametrize(
    ("axis", "rows", "count", "counts"),
    [
        ("3", "batch", 3, True), ("2", "batch", 3, False), ("3", "batch", None, False), ("3", "2 x batch", 3, False),
        ("3", "T", 3, False), ("T", "batch", 3, False), ("batch", "batch", 3, False), ("3 x 3", "batch", 3, False),
        ("1", "batch", 3, False),
    ],
)  # fmt: skip
def test_a_constant_that_is_the_rows(axis: str, rows: str, count: int | None, counts: bool) -> None:
    assert counts_rows(Scope(SPANS, rows=count), *axes_of(axis, rows)) is counts


def test_the_regions_of_the_padding() -> None:
    (axis,) = axes_of("T x 3 x U")
    assert list(regions(axis)) == [(), (2,), (0,), (0, 2)]
    assert list(regions(axis, 0)) == [(0,), (0, 2)] and list(regions(axis, 2)) == [(2,), (2, 0)]


def test_the_padding_of_each_factor() -> None:
    """Where it alone is padding, and the weakest wherever it is; of a constant factor nothing is said."""
    kinds: dict[tuple[int, ...], Kind] = {(0,): ZERO, (2,): constant(1), (0, 2): FINITE, (2, 0): constant(1)}
    found = pads_of(axes_of("T", "3", "U"), kinds.__getitem__)
    assert found == (PaddingFact(ZERO, FINITE), PaddingFact(ANY, ANY), PaddingFact(constant(1), constant(1)))


@pytest.mark.parametrize(
    ("operands", "axes", "places"),
    [
        ([("3", "T"), ("T",)], ("3", "T"), [(0, 1), (None, 0)]),
        ([("T",), ("3", "1")], ("3", "T"), [(None, 0), (0, None)]),
        ([("T", "1"), ("1", "U")], ("T", "U"), [(0, None), (None, 0)]),
        ([(), ("T", "3")], ("T", "3"), [(None, None), (0, 1)]), ([("1",), ("1",)], ("1",), [(), ()]),
        ([("T x 3",), ("T x 3",)], ("T x 3",), [(0, 1), (0, 1)]), ([("T x 3",), ("3*T",)], ("3*T",), [(0,), (0,)]),
        ([("2 x 3",), ("6",)], ("6",), [(0,), (0,)]),
        ([("T", "3"), ("T", "1"), ("3",)], ("T", "3"), [(0, 1), (0, None), (None, 0)]),
        ([("batch", "T"), ("T",)], ("batch", "T"), [(0, 1), (None, 0)]),
        ([("batch", "T"), ("2", "T")], ("batch", "T"), [(0, 1), (0, 1)]),
        ([("T from T",), ("T from T",)], ("T from T",), [(0,), (0,)]),
    ],
)  # fmt: skip
def test_operands_at_common_axes(
    operands: list[tuple[str, ...]], axes: tuple[str, ...], places: list[tuple[int | None, ...]]
) -> None:
    """An axis of size 1 repeats; a batch of 2 rows is the 2 of a constant; factors are merged where they differ."""
    context = context_of("Add", *[tensor(*own) for own in operands], rows=2)
    joined = broadcast(context, range(len(operands)))
    assert joined.axes == axes_of(*axes) and list(joined.places) == places
    assert all(len(place) == sum(map(len, joined.axes)) for place in joined.places) and not context.remedies


@pytest.mark.parametrize(
    ("operands", "why"),
    [
        ([("T",), ("U",)], "sizes T and U do not agree"), ([("T",), ("5",)], "sizes T and 5 do not agree"),
        ([("3",), ("4",)], "do not agree"), ([("3 x T",), ("3*T",)], "padding is interleaved"),
        ([("batch", "1"), ("1", "batch")], "combines different rows"),
        ([("2 x batch",), ("3",)], "padding is interleaved"),
    ],
)  # fmt: skip
def test_operands_that_do_not_agree(operands: list[tuple[str, ...]], why: str) -> None:
    context = context_of("Add", *[tensor(*own) for own in operands], rows=None)
    assert why in reason(lambda: broadcast(context, range(len(operands))))


def test_a_shifted_part_meets_one_in_front() -> None:
    context = context_of("Add", tensor("T from T", pad=FINITE), tensor("T", pad=ZERO))
    joined = broadcast(context, (0, 1))
    assert joined.axes == axes_of("T") and [type(r).__name__ for r in context.remedies] == ["Take"]
    assert joined.kinds((0,)) == [ANY, ZERO] and joined.kinds(()) == [ANY, ANY]


def test_a_table_ends_the_domain() -> None:
    context = context_of("Add", tensor("T"), tensor("min(T, 9)"))
    assert broadcast(context, (0, 1)).axes == axes_of("T") and context.scope.spans["T"].last == 9


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (parse("T"), parse("min(T, 9)"), True), (parse("T"), parse("9"), False), (parse("9"), parse("T"), False),
        (parse("T"), parse("U"), False), (product(parse("T"), parse("U")), parse("T"), False),
        (parse("T"), product(parse("T"), parse("U")), False),
    ],
)  # fmt: skip
def test_sizes_that_agree_somewhere(left: Length | Product, right: Length | Product, expected: bool) -> None:
    assert agree(Scope(SPANS), left, right) is expected


@pytest.mark.parametrize(
    ("axes", "place", "held", "expected", "count"),
    [
        (("batch", "T"), 3, 3, ("batch", "1", "T"), 1), (("batch",), 3, 2, ("batch", "1", "1"), 2),
        (("batch", "T"), 2, 2, ("batch", "T"), 0), (("batch", "1", "T"), 2, 2, ("batch", "T"), -1),
        (("batch", "3", "T"), 2, 2, None, None), (("batch", "T"), 4, 3, ("batch", "1", "1", "T"), 2),
    ],
)  # fmt: skip
def test_rows_in_front_come_to_the_batch_of_the_others(
    axes: tuple[str, ...], place: int, held: int, expected: tuple[str, ...] | None, count: int | None
) -> None:
    context = context_of("Add", tensor(*axes, rows_in_front=True), rows=None)
    if expected is None:
        with pytest.raises(NoProof):
            bring_rows(context, 0, place, held)
        return
    found = bring_rows(context, 0, place, held)
    assert found.axes == axes_of(*expected) and not found.rows_in_front and context.peek(0) is found
    assert [getattr(remedy, "count", None) for remedy in context.remedies] == ([count] if count else [])
