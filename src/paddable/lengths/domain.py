"""Statements about lengths for every point of a domain: proved or refuted, never sampled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from paddable.lengths import box, line
from paddable.lengths.columns import Undecided
from paddable.lengths.expression import Length, Symbol, atomic, constant
from paddable.lengths.simplify import simplify
from paddable.lengths.span import Span

__all__ = ["Domain"]

_NATURAL = Span(1, None)


class Domain:
    """The allowed values of each symbol, independent of each other. A symbol that is not listed is any integer from 1 on.

    Every method raises ``Undecided`` when it can neither prove nor refute, and remembers its answers.
    """

    def __init__(self, spans: Mapping[str, Span] | None = None) -> None:
        self._spans = _Spans(spans or {})
        self._least: dict[Length, box.Bound] = {}
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

    def _lower(self, length: Length) -> box.Bound:
        if length not in self._least:
            bound = box.least(length, self._spans)
            if not bound.exact and (simple := self.simplify(length)) != length:
                bound = box.least(simple, self._spans)
            self._least[length] = bound
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
        if symbol not in length.symbols or span.count == 1:
            return True
        growth = length.substitute({symbol: atomic(Symbol(symbol)) + span.step}) - length
        before_last = None if span.last is None else span.last - span.step
        shorter = Span(span.first, before_last, span.step, span.residue)
        return Domain({**self._spans, symbol: shorter}).nonnegative(growth)

    def smallest(self, conditions: Sequence[Length], symbol: str) -> int | None:
        """The least t of the span such that at every t' >= t of the span every condition is >= 0.

        Other symbols take all their values. None if there is no such t.

        Raises:
            Undecided: if a condition ties ``symbol`` to another symbol inside one floor, min or max.
        """
        span = self._spans[symbol]
        start = span.first
        for condition in conditions:
            mine, others = constant(0), constant(condition.offset)
            for part in box.components(condition):
                if symbol in part.symbols:
                    mine = part
                else:
                    others = others + part
            if len(mine.symbols) > 1:
                if self.nonnegative(condition):
                    continue
                raise Undecided(
                    f"the least {symbol} with {condition} >= 0 is not decided",
                    why=f"{symbol} is tied to another symbol inside one floor, min or max",
                    fix="declare the least length of each input",
                )
            rest = self._lower(others)
            if not rest.exact:
                raise Undecided(f"the least value of {others} is not decided")
            if rest.value is None:
                return None
            try:
                last = line.last_negative(mine + rest.value, symbol, span)
            except OverflowError:
                return None
            if last is not None:
                start = max(start, last + span.step)
        return start if start in span else None

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
