"""Minima and maxima that tie several symbols together: one case for each order of their arguments.

Where ``min(a, b)`` is a, the order ``a <= b`` holds. If ``b - a`` has a symbol s with coefficient 1 or -1, s is replaced
by a new symbol ``b - a >= 0``: the region of the case is a box again. Where that loses a bound of s, and where no such
symbol exists, the case covers more than its region. Then it may prove, but not refute.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from paddable.lengths.columns import Undecided
from paddable.lengths.expression import Atom, FloorDiv, Length, Max, Min, Symbol, atomic
from paddable.lengths.span import Span

__all__ = ["Case", "cases"]

_MOST_EXTREMA = 6


@dataclass(frozen=True)
class Case:
    """A length without min and max that equals the original on a part of the domain, and a box that covers that part.

    ``tight``: the least value over the box is taken by the original too, on its own domain.
    """

    length: Length
    spans: Mapping[str, Span]
    tight: bool


def cases(length: Length, spans: Mapping[str, Span], depth: int = 0) -> Iterator[Case]:
    """Cases that together cover the domain.

    Raises:
        Undecided: if there are too many minima and maxima.
    """
    atom = next((atom for atom in length.walk() if isinstance(atom, Min | Max)), None)
    if atom is None:
        yield Case(length, spans, True)
        return
    if depth == _MOST_EXTREMA:
        raise Undecided(
            f"{length} has more than {_MOST_EXTREMA} minima and maxima that several symbols share",
            why="each order of their arguments would be a case of its own",
            fix="bound the symbols so that an order is decided",
        )
    for arg in atom.args:
        branch = length.replace({atom: arg})
        orders = [(other - arg) * (1 if isinstance(atom, Min) else -1) for other in atom.args if other is not arg]
        region = _region(branch, orders, spans, f"#{depth}")
        if region is None:
            continue
        if not region.tight and _signs(length, atom) == {isinstance(atom, Min)}:
            # A minimum that raises the whole: the least of the whole is the least of the branches, whatever the order.
            region = Case(branch, spans, True)
        for case in cases(region.length, region.spans, depth + 1):
            yield Case(case.length, case.spans, case.tight and region.tight)


def _region(branch: Length, orders: list[Length], spans: Mapping[str, Span], name: str) -> Case | None:
    """The branch where every order is >= 0, at best as a box in new symbols; None if that is nowhere."""
    loose: Case | None = None
    for order in orders:
        affine = order.linear()
        if affine is None:
            continue
        extent = _affine_greatest(affine, spans)
        if extent is not None and extent < 0:
            return None
        for symbol, coefficient in affine[0].items():
            span = spans[symbol]
            if abs(coefficient) != 1 or span.step != 1:
                continue
            rest = order - atomic(Symbol(symbol)) * coefficient
            replaced = (atomic(Symbol(name)) - rest) * coefficient
            inner = {**{key: value for key, value in spans.items() if key != symbol}, name: Span(0, extent)}
            kept = _stays_within(replaced, span, inner)
            case = Case(branch.substitute({symbol: replaced}), inner, kept and len(orders) == 1)
            if case.tight:
                return case
            loose = loose or case
    return loose or Case(branch, spans, False)


def _stays_within(length: Length, span: Span, spans: Mapping[str, Span]) -> bool:
    affine = length.linear()
    assert affine is not None
    slopes, offset = affine
    falling = ({name: -slope for name, slope in slopes.items()}, -offset)
    greatest_fall = _affine_greatest(falling, spans)
    greatest = _affine_greatest(affine, spans)
    above = greatest_fall is not None and -greatest_fall >= span.first
    return above and (span.last is None or (greatest is not None and greatest <= span.last))


def _affine_greatest(affine: tuple[dict[str, int], int], spans: Mapping[str, Span]) -> int | None:
    total = affine[1]
    for name, slope in affine[0].items():
        end = spans[name].last if slope > 0 else spans[name].first
        if end is None:
            return None
        total += slope * end
    return total


def _signs(length: Length, wanted: Atom, rising: bool = True) -> set[bool]:
    """Whether the length rises (True) and falls (False) with an atom, over all its occurrences."""
    found: set[bool] = set()
    for coefficient, atom in length.terms:
        direction = rising == (coefficient > 0)
        if atom == wanted:
            found.add(direction)
        match atom:
            case FloorDiv(numerator, _):
                found |= _signs(numerator, wanted, direction)
            case Min(args) | Max(args):
                for arg in args:
                    found |= _signs(arg, wanted, direction)
            case Symbol():
                pass
    return found
