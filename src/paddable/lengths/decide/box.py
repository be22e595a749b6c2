"""Statements about any length, for every point of the box that the spans of its symbols make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from paddable.lengths.decide import product
from paddable.lengths.decide.columns import Undecided
from paddable.lengths.decide.orders import branches, directions, innermost_extreme
from paddable.lengths.decide.product import Bound, at_all, components, is_tied
from paddable.lengths.expression import Length, Max, Min
from paddable.lengths.span import Span

__all__ = ["least", "remainder", "witnesses"]

_SMALL = 1 << 12
_DEEPEST = 5


def least(length: Length, spans: Mapping[str, Span], depth: int = 0) -> Bound:
    """The least value over the box, or a lower bound of it."""
    parts = [
        _least_tied(part, spans, depth) if is_tied(part) else product.least(part, spans) for part in components(length)
    ]
    return sum(parts, Bound(length.offset, True))


def _least_tied(part: Length, spans: Mapping[str, Span], depth: int) -> Bound:
    points = {name: spans[name].within(spans[name].first, spans[name].last) for name in part.symbols}
    known = {name: range_ for name, range_ in points.items() if range_ is not None}
    if len(known) == len(points) and prod(map(len, known.values())) <= _SMALL:
        return Bound(min(at_all(part, known)), True)
    if depth == _DEEPEST:
        return Bound(None, False)
    atom = innermost_extreme(part)
    moves = directions(part, atom)
    plain = [part.replace({atom: arg}) for arg in atom.args]
    if moves == {isinstance(atom, Min)}:
        # What rises with a minimum is the minimum of its branches, whatever the order.
        return _lowest([least(branch, spans, depth + 1) for branch in plain])
    found: list[Bound] = []
    for branch in branches(part, atom, spans):
        bound = least(branch.length, branch.spans, depth + 1)
        found.append(Bound(bound.value, bound.exact and branch.tight))
    bound = _lowest(found)
    if bound.exact or len(moves) > 1:
        return bound
    # What rises with a maximum is at least every branch.
    floors = [least(branch, spans, depth + 1).value for branch in plain]
    return Bound(max((value for value in (bound.value, *floors) if value is not None), default=None), False)


def _lowest(bounds: Sequence[Bound]) -> Bound:
    """The lower bound of a union of regions."""
    values = [bound.value for bound in bounds if bound.value is not None]
    if len(values) == len(bounds):
        # An inexact bound that lies above an exact one does not matter.
        value = min(values)
        return Bound(value, any(bound.exact and bound.value == value for bound in bounds))
    return Bound(None, any(bound.exact and bound.value is None for bound in bounds))


def remainder(length: Length, spans: Mapping[str, Span], divisor: int) -> int | None:
    """The remainder modulo ``divisor`` if it is the same at every point of the box, else None.

    Raises:
        Undecided: if neither is proved.
    """
    terms = tuple((coefficient % divisor, atom) for coefficient, atom in length.terms if coefficient % divisor)
    total = length.offset
    for part in components(Length(terms, 0)):
        tied = is_tied(part)
        found = _remainder_tied(part, spans, divisor) if tied else product.remainder(part, spans, divisor)
        if found is None:
            return None
        total += found
    return total % divisor


def _remainder_tied(part: Length, spans: Mapping[str, Span], divisor: int) -> int | None:
    seen = {value % divisor for value in witnesses(part, spans)}
    if len(seen) > 1:
        return None
    found = branches(part, innermost_extreme(part), spans)
    if {remainder(branch.length, branch.spans, divisor) for branch in found} == seen:
        return seen.pop()
    raise Undecided(
        f"whether {part} modulo {divisor} is constant is not decided",
        why="it depends on the order of several symbols",
        fix="bound the symbols so that the order of the arguments of min and max is decided",
    )


def witnesses(length: Length, spans: Mapping[str, Span]) -> list[int]:
    """Values at some hundred points of the box: near its corners and near the constants of minima and maxima.

    For refutation only: one point that contradicts a statement refutes it, no number of points proves it.
    """
    marks = {arg.offset for atom in length.walk() if isinstance(atom, Min | Max) for arg in atom.args}
    points: dict[str, Sequence[int]] = {}
    for name in length.symbols:
        span = spans[name]
        near = [span.first + span.step * steps for steps in (0, 1, 2, 3, 5, 8, 13, 34, 89, 233, 987, 10_000)]
        near += [mark + shift for mark in marks for shift in (-span.step, 0, span.step)]
        if span.last is not None:
            near += [span.last - span.step * steps for steps in (0, 1, 2, 3)]
        near = [value - (value - span.residue) % span.step for value in near]
        points[name] = sorted({value for value in near if value in span})[:24]
    return at_all(length, points)
