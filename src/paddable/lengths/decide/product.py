"""Lengths in several symbols that no minimum or maximum ties together.

A length is a sum of components that share no symbol; each is decided alone. In one symbol ``line`` decides exactly. In
several, a length without min and max is affine on each class of remainders modulo the periods: its least value lies in
the first or last period of each symbol.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import ceil, lcm, prod

from paddable.lengths.decide import line
from paddable.lengths.decide.columns import POINTS, Undecided, too_many, values
from paddable.lengths.decide.pieces import pieces
from paddable.lengths.expression import FloorDiv, Length, Max, Min, atomic
from paddable.lengths.span import Span

__all__ = ["Bound", "at_all", "components", "is_tied", "least", "least_points", "remainder"]


@dataclass(frozen=True)
class Bound:
    """A lower bound (None: none known); ``exact``: it is the least value, and None means unbounded."""

    value: int | None
    exact: bool

    def __add__(self, other: Bound) -> Bound:
        known = self.value is not None and other.value is not None
        return Bound((self.value or 0) + (other.value or 0) if known else None, self.exact and other.exact)


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


def is_tied(component: Length) -> bool:
    """Whether a component has several symbols and a minimum or maximum."""
    return len(component.symbols) > 1 and any(isinstance(atom, Min | Max) for atom in component.walk())


def at_all(length: Length, points: Mapping[str, Sequence[int]]) -> list[int]:
    """The values at the product of the points of each symbol."""
    names = sorted(points)
    if not names:
        return [length.offset]
    return values(length, dict(zip(names, zip(*product(*(points[name] for name in names)), strict=True), strict=True)))


def least(length: Length, spans: Mapping[str, Span]) -> Bound:
    """The least value of a length without tied components; a lower bound where periods are too long to be evaluated."""
    return sum((_least_of_component(part, spans) for part in components(length)), Bound(length.offset, True))


def _least_of_component(part: Length, spans: Mapping[str, Span]) -> Bound:
    if len(part.symbols) == 1:
        (symbol,) = part.symbols
        try:
            return Bound(line.least(part, symbol, spans[symbol]), True)
        except Undecided:
            return Bound(_least_of_lines(part, spans[symbol]), False)
    points = {name: least_points(part, name, spans[name]) for name in part.symbols}
    known = {name: range_ for name, range_ in points.items() if range_ is not None}
    if len(known) < len(points):
        return Bound(None, True)
    if prod(map(len, known.values())) <= POINTS:
        return Bound(min(at_all(part, known)), True)
    corner = sum((part.slope(name) * _lower_end(part, name, spans[name]) for name in known), Fraction(0))
    return Bound(ceil(corner + _slack(part)), False)


def least_points(part: Length, symbol: str, span: Span) -> range | None:
    """The points of one period among which the least value lies, whatever the other symbols; None: unbounded below."""
    stride = lcm(part.period(symbol), span.step)
    if part.slope(symbol) >= 0:
        return span.within(span.first, span.first + stride - 1)
    return None if span.last is None else span.within(span.last - stride + 1, span.last)


def _least_of_lines(part: Length, span: Span) -> int | None:
    bounds = [piece.least() for piece in pieces(part, span.first, span.last)]
    known = [ceil(bound) for bound in bounds if bound is not None]
    return min(known) if len(known) == len(bounds) else None


def _lower_end(part: Length, symbol: str, span: Span) -> int:
    end = span.first if part.slope(symbol) >= 0 else span.last
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


def remainder(part: Length, spans: Mapping[str, Span], divisor: int) -> int | None:
    """The remainder modulo ``divisor`` of an untied component if it is the same everywhere, else None."""
    if len(part.symbols) == 1:
        (symbol,) = part.symbols
        return line.remainder(part, symbol, spans[symbol], divisor)
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
    found = {value % divisor for value in at_all(part, points)}
    return found.pop() if len(found) == 1 else None
