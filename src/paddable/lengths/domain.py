"""Statements about lengths for every point of a domain: proved or refuted, never sampled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product as cartesian
from math import prod

from paddable.lengths.decide import box, line
from paddable.lengths.decide.columns import Undecided, too_many
from paddable.lengths.decide.orders import directions
from paddable.lengths.decide.product import Bound, components, is_tied, least_points
from paddable.lengths.expression import Length, Min, Symbol, atomic, constant, extreme_arguments
from paddable.lengths.simplify import simplify
from paddable.lengths.span import Span

__all__ = ["Domain"]

_NATURAL = Span(1, None)
_MOST_CONDITIONS = 1 << 10


class Domain:
    """The allowed values of each symbol, independent of the others. A symbol that is not listed is any integer >= 1.

    Every method raises ``Undecided`` when it can neither prove nor refute, and remembers its answers.
    """

    def __init__(self, spans: Mapping[str, Span] | None = None) -> None:
        self._spans = _Spans(spans or {})
        self._least: dict[Length, Bound] = {}
        self._simple: dict[Length, Length] = {}

    def __repr__(self) -> str:
        return f"Domain({dict(self._spans)!r})"

    def __eq__(self, other: object) -> bool:
        return self._spans == other._spans if isinstance(other, Domain) else NotImplemented

    def __hash__(self) -> int:
        return hash(frozenset(self._spans.items()))

    @property
    def spans(self) -> Mapping[str, Span]:
        """The listed spans."""
        return dict(self._spans)

    def span(self, symbol: str) -> Span:
        """The values of a symbol."""
        return self._spans[symbol]

    # -- order ---------------------------------------------------------------------------------------------------------

    def nonnegative(self, length: Length | int) -> bool:
        """Whether ``length >= 0`` everywhere."""
        length = _length(length)
        if not length.terms:
            return length.offset >= 0
        bound = self._lower(length)
        if bound.value is not None and bound.value >= 0:
            return True
        if bound.exact or min(box.witnesses(length, self._spans)) < 0:
            return False
        raise Undecided(
            f"whether {length} >= 0 is not decided",
            why="it depends on the order of several symbols, or repeats too late to be evaluated",
            fix="bound the symbols, give them a step, or keep the two lengths apart",
        )

    def positive(self, length: Length | int) -> bool:
        """Whether ``length > 0`` everywhere."""
        return self.nonnegative(_length(length) - 1)

    def less_equal(self, one: Length | int, other: Length | int) -> bool:
        """Whether ``one <= other`` everywhere."""
        return self.nonnegative(_length(other) - one)

    def less(self, one: Length | int, other: Length | int) -> bool:
        """Whether ``one < other`` everywhere."""
        return self.nonnegative(_length(other) - one - 1)

    def equal(self, one: Length | int, other: Length | int) -> bool:
        """Whether both have the same value everywhere."""
        difference = _length(one) - other
        if not difference.terms:
            return difference.offset == 0
        if difference.evaluate({name: self._spans[name].first for name in difference.symbols}):
            return False
        return self.nonnegative(difference) and self.nonnegative(-difference)

    def sign(self, length: Length | int) -> int | None:
        """1 if positive everywhere, -1 if negative everywhere, 0 if zero everywhere, None otherwise."""
        length = _length(length)
        first = length.evaluate({name: self._spans[name].first for name in length.symbols})
        if first == 0:
            return 0 if self.equal(length, 0) else None
        return (1 if first > 0 else -1) if self.positive(length if first > 0 else -length) else None

    def bounds(self, length: Length | int) -> tuple[int | None, int | None]:
        """Least and greatest value, None where there is none.

        Exact in one symbol, for sums of such lengths, and for lengths in several symbols without min and max that mix
        them; otherwise, and where a period is too long to be evaluated, sound: no value lies outside, and None means
        that no bound is known.
        """
        length = _length(length)
        low, high = self._lower(length).value, self._lower(-length).value
        return low, None if high is None else -high

    def _lower(self, length: Length) -> Bound:
        if length not in self._least:
            self._least[length] = box.least(length, self._spans)
        return self._least[length]

    # -- value ---------------------------------------------------------------------------------------------------------

    def is_constant(self, length: Length | int) -> int | None:
        """The value if it is the same everywhere, else None. A length that is constant here is not ragged here."""
        length = _length(length)
        value = length.evaluate({name: self._spans[name].first for name in length.symbols})
        return value if self.equal(length, value) else None

    def divisible(self, length: Length | int, divisor: int) -> bool:
        """Whether ``divisor`` divides the length everywhere."""
        return box.remainder(_length(length), self._spans, abs(divisor)) == 0

    def remainder(self, length: Length | int, divisor: int) -> int | None:
        """``length % divisor`` if it is the same everywhere, else None. ``divisor`` is positive."""
        return box.remainder(_length(length), self._spans, divisor)

    def monotone(self, length: Length | int, symbol: str) -> bool:
        """Whether the length never falls when ``symbol`` grows to its next allowed value."""
        length, span = _length(length), self._spans[symbol]
        if span.count == 1 or directions(length, Symbol(symbol)) <= {True}:
            return True
        growth = length.substitute({symbol: atomic(Symbol(symbol)) + span.step}) - length
        before_last = None if span.last is None else span.last - span.step
        shorter = Span(span.first, before_last, span.step, span.residue)
        return Domain({**self._spans, symbol: shorter}).nonnegative(growth)

    def smallest(self, conditions: Sequence[Length], symbol: str) -> int | None:
        """The least t of the span such that at every t' >= t of the span every condition is >= 0.

        Other symbols take all their values. None if there is no such t.

        Raises:
            Undecided: if a min or max of a condition ties ``symbol`` to another symbol.
        """
        span = self._spans[symbol]
        start = span.first
        for condition in conditions:
            for alone in self._conditions_on(condition, symbol):
                try:
                    last = line.last_negative(alone, symbol, span)
                except OverflowError:
                    return None
                start = start if last is None else max(start, last + span.step)
        return start if start in span else None

    def _conditions_on(self, condition: Length, symbol: str) -> Iterator[Length]:
        """Conditions in one symbol that hold together where the condition holds for all values of the others."""
        arguments = extreme_arguments(condition)
        if arguments is not None and arguments[0] is Min:
            for argument in arguments[1]:
                yield from self._conditions_on(argument, symbol)
            return
        mine = constant(0)
        others = constant(condition.offset)
        for part in components(condition):
            mine, others = (part, others) if symbol in part.symbols else (mine, others + part)
        rest = self._lower(others)
        tied = is_tied(mine)
        if tied and self.nonnegative(condition):
            return
        if tied or not rest.exact:
            raise Undecided(
                f"the least {symbol} with {condition} >= 0 is not decided",
                why=f"a min or max ties {symbol} to another symbol",
                fix="declare the least length of each input",
            )
        others_of_mine = sorted(mine.symbols - {symbol})
        points = [least_points(mine, name, self._spans[name]) for name in others_of_mine]
        known = [range_ for range_ in points if range_ is not None]
        if rest.value is None or len(known) < len(points):
            yield constant(-1)
            return
        if prod(map(len, known)) > _MOST_CONDITIONS:
            raise too_many(condition, prod(map(len, known)))
        for values in cartesian(*known):
            yield mine.substitute(dict(zip(others_of_mine, values, strict=True))) + rest.value

    # -- form ----------------------------------------------------------------------------------------------------------

    def simplify(self, length: Length | int) -> Length:
        """A length with the same value everywhere in the domain, in simpler form.

        Minima and maxima whose order is decided are removed, divisions that come out even are carried out, and what is
        constant or affine over the domain is written so.
        """
        length = _length(length)
        if length not in self._simple:
            self._simple[length] = length  # less_equal may ask for the same length while it is being simplified
            self._simple[length] = simplify(length, self)
        return self._simple[length]


class _Spans(dict[str, Span]):
    def __missing__(self, symbol: str) -> Span:
        return _NATURAL


def _length(value: Length | int) -> Length:
    return value if isinstance(value, Length) else constant(value)
