"""Statements about a length in several symbols, for every point of the box that their spans make.

A length is a sum of components that share no symbol; each is decided alone. In one symbol ``line`` decides exactly. In
several, a length without min and max is, on each class of remainders modulo the periods, affine: its least value lies in
the first or last period of each symbol. Minima and maxima are removed first, see ``orders``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import ceil, lcm, prod

from paddable.lengths import line
from paddable.lengths.columns import POINTS, Undecided, too_many, values
from paddable.lengths.expression import FloorDiv, Length, Max, Min, atomic
from paddable.lengths.orders import cases
from paddable.lengths.pieces import pieces
from paddable.lengths.span import Span

__all__ = ["Bound", "components", "least", "remainder", "witnesses"]

_SMALL = 1 << 12


@dataclass(frozen=True)
class Bound:
    """A lower bound (None: none known); ``exact``: it is the least value, and None means unbounded."""

    value: int | None
    exact: bool


def components(length: Length) -> list[Length]:
    """The terms of a length grouped so that groups share no symbol; the offset is left out."""
    groups: list[tuple[frozenset[str], list[int]]] = []
    for index, (_, atom) in enumerate(length.terms):
        symbols = atomic(atom).symbols
        touching = [group for group in groups if not group[0].isdisjoint(symbols)]
        groups = [group for group in groups if group not in touching]
        members = sorted([index, *(member for group in touching for member in group[1])])
        groups.append((symbols.union(*(group[0] for group in touching)), members))
    return [Length(tuple(length.terms[member] for member in members), 0) for _, members in groups]


def least(length: Length, spans: Mapping[str, Span]) -> Bound:
    """The least value over the box, or a lower bound of it."""
    total, exact = length.offset, True
    unbounded = False
    for part in components(length):
        bound = _least_of_component(part, spans)
        exact &= bound.exact
        unbounded |= bound.value is None
        total += bound.value or 0
    return Bound(None if unbounded else total, exact)


def _least_of_component(part: Length, spans: Mapping[str, Span]) -> Bound:
    if len(part.symbols) == 1:
        (symbol,) = part.symbols
        try:
            return Bound(line.least(part, symbol, spans[symbol]), True)
        except Undecided:
            return Bound(_line_bound(part, symbol, spans[symbol]), False)
    counts = [spans[name].count for name in part.symbols]
    if all(count is not None for count in counts) and prod(count or 0 for count in counts) <= _SMALL:
        return Bound(min(_at_all(part, {name: _points(spans[name]) for name in part.symbols})), True)
    if not any(isinstance(atom, Min | Max) for atom in part.walk()):
        return _least_without_extrema(part, spans)
    try:
        found = [(least(case.length, case.spans), case.tight) for case in cases(part, spans)]
    except Undecided:
        return Bound(None, False)
    bounds = [bound.value for bound, _ in found if bound.value is not None]
    exact = all(bound.exact and tight for bound, tight in found)
    return Bound(min(bounds) if len(bounds) == len(found) else None, exact)


def _line_bound(part: Length, symbol: str, span: Span) -> int | None:
    bounds = [piece.least() for piece in pieces(part, span.first, span.last)]
    known = [ceil(bound) for bound in bounds if bound is not None]
    return min(known) if len(known) == len(bounds) else None


def _least_without_extrema(part: Length, spans: Mapping[str, Span]) -> Bound:
    points: dict[str, range] = {}
    for name in part.symbols:
        span, slope = spans[name], part.slope(name)
        if slope < 0 and span.last is None:
            return Bound(None, True)
        stride = lcm(part.period(name), span.step)
        if slope >= 0:
            once = span.within(span.first, span.first + stride - 1)
        else:
            assert span.last is not None
            once = span.within(span.last - stride + 1, span.last)
        assert once is not None
        points[name] = once
    if prod(map(len, points.values())) <= POINTS:
        return Bound(min(_at_all(part, points)), True)
    slack = _slack(part)
    corners = sum((part.slope(name) * _end(spans[name], part.slope(name)) for name in part.symbols), Fraction(0))
    return Bound(ceil(corners + slack), False)


def _end(span: Span, slope: Fraction) -> int:
    end = span.first if slope >= 0 else span.last
    assert end is not None
    return end


def _slack(length: Length, factor: Fraction = Fraction(1)) -> Fraction:
    """A lower bound of ``factor * (length - its linear part)``."""
    total = factor * length.offset
    for coefficient, atom in length.terms:
        if isinstance(atom, FloorDiv):
            inner = factor * coefficient / atom.divisor
            total += _slack(atom.numerator, inner) - (inner * (atom.divisor - 1) if inner > 0 else 0)
    return total


def remainder(length: Length, spans: Mapping[str, Span], divisor: int) -> int | None:
    """The remainder modulo ``divisor`` if it is the same at every point of the box, else None.

    Raises:
        Undecided: if neither is proved.
    """
    terms = tuple((coefficient % divisor, atom) for coefficient, atom in length.terms if coefficient % divisor)
    total = length.offset
    for part in components(Length(terms, 0)):
        found = _remainder_of_component(part, spans, divisor)
        if found is None:
            return None
        total += found
    return total % divisor


def _remainder_of_component(part: Length, spans: Mapping[str, Span], divisor: int) -> int | None:
    if len(part.symbols) == 1:
        (symbol,) = part.symbols
        return line.remainder(part, symbol, spans[symbol], divisor)
    if not any(isinstance(atom, Min | Max) for atom in part.walk()):
        return _remainder_without_extrema(part, spans, divisor)
    seen = {value % divisor for value in witnesses(part, spans)}
    if len(seen) > 1:
        return None
    if {remainder(case.length, case.spans, divisor) for case in cases(part, spans)} == seen:
        return seen.pop()
    raise Undecided(
        f"whether {part} modulo {divisor} is constant is not decided",
        why="it depends on the order of several symbols",
        fix="bound the symbols so that the order of the arguments of min and max is decided",
    )


def _remainder_without_extrema(part: Length, spans: Mapping[str, Span], divisor: int) -> int | None:
    points: dict[str, range] = {}
    for name in part.symbols:
        span = spans[name]
        stride = lcm(part.period(name), span.step)
        once = span.within(span.first, span.first + stride - 1)
        assert once is not None
        if (span.count is None or span.count > len(once)) and part.slope(name) * stride % divisor:
            return None
        points[name] = once
    if prod(map(len, points.values())) > POINTS:
        raise too_many(part, prod(map(len, points.values())))
    found = {value % divisor for value in _at_all(part, points)}
    return found.pop() if len(found) == 1 else None


def witnesses(length: Length, spans: Mapping[str, Span]) -> list[int]:
    """Values at some hundred points of the box: near its corners and near the constants of minima and maxima.

    For refutation only: one point that contradicts a statement refutes it, no number of points proves it.
    """
    marks = {arg.offset for atom in length.walk() if isinstance(atom, Min | Max) for arg in atom.args}
    spread = [0, 1, 2, 3, 5, 8, 13, 34, 89, 233, 987, 10_000]
    points: dict[str, Sequence[int]] = {}
    names = sorted(length.symbols)
    for name in names:
        span = spans[name]
        near = [span.first + span.step * steps for steps in spread]
        near += [mark + shift for mark in marks for shift in (-span.step, 0, span.step)]
        if span.last is not None:
            near += [span.last - span.step * steps for steps in spread[:4]]
        near = [value - (value - span.residue) % span.step for value in near]
        points[name] = sorted({value for value in near if value in span})[: 400 if len(names) == 1 else 24]
    return _at_all(length, points)


def _at_all(length: Length, points: Mapping[str, Sequence[int]]) -> list[int]:
    names = sorted(points)
    if not names:
        return [length.offset]
    rows: Iterator[tuple[int, ...]] = product(*(points[name] for name in names))
    return values(length, dict(zip(names, zip(*rows, strict=True), strict=True)))


def _points(span: Span) -> range:
    points = span.within(span.first, span.last)
    assert points is not None
    return points
