"""Exact statements about a length in one symbol, for every value of a span.

A regular piece is known from one period: the least value lies in the first period if the length grows, in the last if
it falls. Lines that enclose the piece shorten the search further.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, floor, lcm

from paddable.lengths.decide.columns import POINTS, too_many, values
from paddable.lengths.decide.pieces import Piece, pieces
from paddable.lengths.expression import Length
from paddable.lengths.span import Span

__all__ = ["last_negative", "least", "remainder"]


def least(length: Length, symbol: str, span: Span) -> int | None:
    """The least value over the span, None if unbounded below."""
    parts = pieces(length, span.first, span.last)
    if any(part.last is None and part.slope < 0 for part in parts):
        return None
    best: int | None = None
    bounds = [(ceil(low), part) for part in parts if (low := part.least()) is not None]
    for bound, part in sorted(bounds, key=lambda item: item[0]):
        if best is not None and bound >= best:
            break
        points = _where_least(part, span)
        if points:
            found = _least_of(length, symbol, part, points)
            best = found if best is None else min(best, found)
    return best


def _where_least(part: Piece, span: Span) -> range:
    """Points of a piece among which its least value is."""
    points = span.within(part.first, part.last)
    if part.period is None:
        assert points is not None
        return points
    length = lcm(part.period, span.step)
    if part.slope >= 0:
        once = span.within(part.first, part.first + length - 1)
        assert once is not None
        return once if points is None else points[: len(once)]
    assert points is not None
    return points[-(length // span.step) :]


def _least_of(length: Length, symbol: str, part: Piece, points: range) -> int:
    """The least of the values at ``points``, from the lower end of the piece on, until the lines rule out the rest."""
    best: int | None = None
    for chunk in _chunks(length, points if part.slope >= 0 else points[::-1]):
        if best is not None and ceil(part.slope * chunk[0] + part.low) >= best:
            break
        found = min(values(length, {symbol: chunk}))
        best = found if best is None else min(best, found)
    assert best is not None
    return best


def _chunks(length: Length, points: range) -> Iterator[range]:
    """Cuts points into growing chunks, so that an early answer is cheap; Undecided after ``POINTS`` points."""
    start, size = 0, 16
    while start < len(points):
        if start >= POINTS:
            raise too_many(length, len(points))
        yield points[start : start + size]
        start, size = start + size, size * 4


def remainder(length: Length, symbol: str, span: Span, divisor: int) -> int | None:
    """The remainder modulo ``divisor`` if every value of the span gives the same, else None."""
    expected = length.evaluate({symbol: span.first}) % divisor
    for part in pieces(length, span.first, span.last):
        points = span.within(part.first, part.last)
        if part.period is not None:
            stride = lcm(part.period, span.step)
            once = span.within(part.first, part.first + stride - 1)
            assert once is not None
            if (points is None or len(points) > len(once)) and part.slope * stride % divisor:
                return None
            points = once if points is None else points[: len(once)]
        assert points is not None
        for chunk in _chunks(length, points):
            if any(value % divisor != expected for value in values(length, {symbol: chunk})):
                return None
    return expected


def last_negative(length: Length, symbol: str, span: Span) -> int | None:
    """The greatest value of the span at which the length is negative; None if it is nowhere.

    Raises:
        OverflowError: if it is negative at arbitrarily great values.
    """
    for part in reversed(pieces(length, span.first, span.last)):
        points = span.within(part.first, part.last)
        if part.slope > 0:
            # Negative for sure up to where the upper line is, never beyond where the lower line is.
            end = floor(-part.low / part.slope)
            points = span.within(part.first, end if part.last is None else min(end, part.last))
        elif part.period is not None:
            stride = lcm(part.period, span.step)
            if points is None:
                points = span.within(part.first, part.first + stride - 1)
                assert points is not None
                if part.slope < 0 or _least_of(length, symbol, part, points) < 0:
                    raise OverflowError(f"{length} is negative however great {symbol} is")
                continue
            points = points[-(stride // span.step) :]
        assert points is not None
        for chunk in _chunks(length, points[::-1]):
            for point, value in zip(chunk, values(length, {symbol: chunk}), strict=True):
                if value < 0:
                    return point
    return None
