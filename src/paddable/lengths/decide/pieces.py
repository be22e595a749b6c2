"""A length in one symbol as quasi-linear pieces: where each minimum is decided, ``f(t + P) = f(t) + slope * P``.

Each piece carries two parallel lines that enclose the length. The lines of a floor division are

    x/k - (k-1)/k <= floor(x/k) <= x/k

and the lines of its operands decide a minimum outside a narrow zone around each crossing. The zones become pieces of
their own without a period, to be evaluated point by point. So the last breakpoint is computed, never guessed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor, gcd, lcm

from paddable.lengths.expression import FloorDiv, Length, Max, Min, Symbol

__all__ = ["Piece", "pieces"]


@dataclass(frozen=True, slots=True)
class Piece:
    """What is known of ``f`` on ``first .. last`` (None: to infinity).

    ``slope*t + low <= f(t) <= slope*t + high`` at every integer t of the piece, and ``f(t + period) = f(t) +
    slope*period`` where both points lie in the piece. ``period`` None: no such period.
    """

    first: int
    last: int | None
    slope: Fraction
    low: Fraction
    high: Fraction
    period: int | None

    def least(self) -> Fraction | None:
        """A number that no value in the piece is below, None if there is none."""
        if self.slope >= 0:
            return self.slope * self.first + self.low
        return None if self.last is None else self.slope * self.last + self.low

    def greatest(self) -> Fraction | None:
        """A number that no value in the piece is above, None if there is none."""
        least = self.scaled(-1).least()
        return None if least is None else -least

    def scaled(self, factor: int) -> Piece:
        """The piece of ``factor * f``."""
        low, high = (self.low, self.high) if factor >= 0 else (self.high, self.low)
        return replace(self, slope=self.slope * factor, low=low * factor, high=high * factor)

    def below(self, other: Piece) -> bool:
        """Whether the lines prove ``self <= other`` on the whole of a common interval."""
        steepening = self.slope - other.slope
        gap = other.low - self.high
        if self.last is None:
            return steepening <= 0 and steepening * self.first <= gap
        return max(steepening * self.first, steepening * self.last) <= gap


@lru_cache(maxsize=1 << 14)
def pieces(length: Length, first: int, last: int | None) -> tuple[Piece, ...]:
    """The pieces of a length in at most one symbol over ``first .. last``, in order and without gaps."""
    offset = Fraction(length.offset)
    parts: list[tuple[Piece, ...]] = [(Piece(first, last, Fraction(0), offset, offset, 1),)]
    mine: tuple[Piece, ...]
    for coefficient, atom in length.terms:
        match atom:
            case Symbol():
                mine = (Piece(first, last, Fraction(1), Fraction(0), Fraction(0), 1),)
            case FloorDiv(numerator, divisor):
                mine = tuple(_floored(piece, divisor) for piece in pieces(numerator, first, last))
            case Min(args):
                mine = tuple(_least(tuple(pieces(arg, first, last) for arg in args)))
            case Max(args):
                negated = tuple(tuple(piece.scaled(-1) for piece in pieces(arg, first, last)) for arg in args)
                mine = tuple(piece.scaled(-1) for piece in _least(negated))
        parts.append(tuple(piece.scaled(coefficient) for piece in mine) if coefficient != 1 else mine)
    return tuple(_sum(group) for group in _aligned(parts))


def _floored(piece: Piece, divisor: int) -> Piece:
    period = piece.period
    if period is not None:
        period = period * divisor // gcd(int(piece.slope * period), divisor)
    low = (piece.low - (divisor - 1)) / divisor
    return replace(piece, slope=piece.slope / divisor, low=low, high=piece.high / divisor, period=period)


def _sum(group: Sequence[Piece]) -> Piece:
    slope, low, high = group[0].slope, group[0].low, group[0].high
    for piece in group[1:]:
        slope, low, high = slope + piece.slope, low + piece.low, high + piece.high
    return Piece(group[0].first, group[0].last, slope, low, high, _common_period(group))


def _common_period(group: Sequence[Piece]) -> int | None:
    periods = [piece.period for piece in group if piece.period is not None]
    return lcm(*periods) if len(periods) == len(group) else None


def _aligned(parts: Sequence[Sequence[Piece]]) -> Iterator[tuple[Piece, ...]]:
    """Cuts partitions of one interval at each other's borders."""
    if all(len(part) == 1 for part in parts):
        yield tuple(part[0] for part in parts)
        return
    starts = sorted({piece.first for part in parts for piece in part})
    last = parts[0][-1].last
    at = [0] * len(parts)
    for start, end in zip(starts, [*(following - 1 for following in starts[1:]), last], strict=True):
        for number, part in enumerate(parts):
            if at[number] + 1 < len(part) and part[at[number] + 1].first <= start:
                at[number] += 1
        yield tuple(replace(part[index], first=start, last=end) for part, index in zip(parts, at, strict=True))


def _least(args: Sequence[Sequence[Piece]]) -> Iterator[Piece]:
    """The pieces of a minimum."""
    for group in _aligned(args):
        rivals = _rivals(group)
        first, last = rivals[0].first, rivals[0].last
        cuts = {cut for one in rivals for other in rivals for cut in _zone(one, other)}
        starts = [first, *sorted(cut for cut in cuts if first < cut and (last is None or cut <= last))]
        for start, end in zip(starts, [*(following - 1 for following in starts[1:]), last], strict=True):
            yield _lower_envelope(_rivals([replace(rival, first=start, last=end) for rival in rivals]))


def _rivals(group: Sequence[Piece]) -> list[Piece]:
    """The pieces that may be the least somewhere."""
    kept: list[Piece] = []
    for piece in group:
        if not any(other.below(piece) for other in kept):
            kept = [other for other in kept if not piece.below(other)]
            kept.append(piece)
    return kept


def _zone(one: Piece, other: Piece) -> tuple[int, ...]:
    """First point at which ``other`` is no longer surely below, and first at which ``one``, the flatter, surely is."""
    growth = other.slope - one.slope
    if growth <= 0:
        return ()
    return floor((one.low - other.high) / growth) + 1, ceil((one.high - other.low) / growth)


def _lower_envelope(rivals: Sequence[Piece]) -> Piece:
    head = rivals[0]
    if len(rivals) == 1:
        return head
    if all(rival.slope == head.slope for rival in rivals):
        low, high = min(rival.low for rival in rivals), min(rival.high for rival in rivals)
        return replace(head, low=low, high=high, period=_common_period(rivals))
    # A crossing zone: finite, because lines of different slopes are decided beyond it. Enclosed by constants.
    assert head.last is not None
    least = [bound for rival in rivals if (bound := rival.least()) is not None]
    greatest = [bound for rival in rivals if (bound := rival.greatest()) is not None]
    return Piece(head.first, head.last, Fraction(0), min(least), min(greatest), None)
