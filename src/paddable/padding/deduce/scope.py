"""The domain under which a graph is analysed, and how it narrows.

A model accepts some lengths and no others: a convolution needs its kernel, a position table ends, a reshape asks for
a multiple. Rules state such conditions here; the interpreter repeats until the domain stands still.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from paddable.lengths import Domain, Length, Min, Span, Undecided, constant
from paddable.padding.facts.axes import Axis, Factor
from paddable.padding.facts.numbers import Product

__all__ = ["BATCH", "KEEPS_SIGN", "Scope"]

Condition: TypeAlias = Callable[[Domain], bool]

BATCH = "batch"
KEEPS_SIGN = "must not change its sign"
"""Of a slice bound: with another sign it counts from the other end of the axis, and native answers another question."""
_FAR = 1 << 20
_LONGEST_PERIOD = 1 << 16


class Scope:
    """The symbols of one analysis: ragged lengths with their spans, and the batch.

    Args:
        spans: the accepted values of each declared length.
        rows: the size of the batch, None when it is symbolic. One row needs no symbol.

    Attributes:
        reasons: of each symbol, what narrowed its lengths last.
        limits: of each symbol, what its ``min``, ``max`` and ``step`` come from, with the node.
        turns: of each symbol, the length from which on bounds keep their sign, and what says so.
        at: the node that is visited, as messages name it.
    """

    def __init__(self, spans: Mapping[str, Span], *, rows: int | None = 1) -> None:
        self.spans = dict(spans)
        self.rows, self.single_row = rows, rows == 1
        self.reasons: dict[str, str] = {}
        self.limits: dict[str, dict[str, str]] = {}
        self.turns: dict[str, tuple[int, str]] = {}
        self.at = ""
        self.narrowed = False
        self._refresh()

    def _refresh(self) -> None:
        spans = dict(self.spans)
        if not self.single_row:
            spans[BATCH] = Span(1, None)
        self.domain = Domain(spans)
        self._growing: dict[Length, bool] = {}
        self._steps: dict[Length, bool] = {}

    def restore(self, spans: Mapping[str, Span]) -> None:
        """Take back what narrowed the domain since it was this."""
        self.spans = dict(spans)
        self._refresh()

    # -- sizes -------------------------------------------------------------------------------------------------

    def simplify(self, length: Length) -> Length:
        return self.domain.simplify(length)

    def axis(self, size: Length | Product | int, shift: Length | None = None) -> Axis:
        """The axis of a given native size."""
        if isinstance(size, int):
            size = constant(size)
        if isinstance(size, Product):
            atoms: list[Factor] = []
            if size.scale != 1:
                atoms.append(Factor(constant(size.scale)))
            # Row-major order of an unknown product: rows first, as every exporter writes it.
            for factor in sorted(size.factors, key=lambda f: f.symbols != {BATCH}):
                atoms += self.axis(factor)
            return tuple(atoms)
        if size.is_constant:
            return () if size.constant == 1 else (Factor(size),)
        settled = self.domain.is_constant(size)
        if settled is not None:
            return () if settled == 1 else (Factor(constant(settled)),)
        size = self.domain.simplify(size)
        if size.symbols == {BATCH}:
            return (Factor(size, batch=True),)
        return (Factor(size, ragged=True, shift=shift if shift is not None else constant(0)),)

    def count(self, atom: Factor) -> int | None:
        """The size of an atom that is the same at every length: a constant, or the rows of a fixed batch."""
        if atom.batch:
            return self.rows
        return None if atom.ragged else atom.size.constant

    def is_rows(self, size: Length | Product | None) -> bool:
        """Whether a constant is the number of rows of a fixed batch."""
        return isinstance(size, Length) and size.is_constant and size.constant == self.rows

    # -- decisions ---------------------------------------------------------------------------------------------

    def same(self, a: Length | Product, b: Length | Product) -> bool:
        """Whether two sizes are equal at every accepted length."""
        if isinstance(a, Product) or isinstance(b, Product):
            return a == b
        if a == b:
            return True
        try:
            return self.domain.equal(a, b)
        except Undecided:
            return False

    def at_most(self, a: Length, b: Length) -> bool:
        """Whether ``a <= b`` at every accepted length (False when it cannot be decided)."""
        try:
            return self.domain.less_equal(a, b)
        except Undecided:
            return False

    def grows(self, size: Length) -> bool:
        """Whether a size never falls as a length rises (False when it cannot be decided)."""
        known = self._growing.get(size)
        if known is None:
            try:
                known = all(self.domain.monotone(size, name) for name in size.symbols)
            except Undecided:
                known = False
            self._growing[size] = known
        return known

    def has_steps(self, size: Length) -> bool:
        """Whether a size is at least 1 at every accepted length (False when it cannot be decided)."""
        known = self._steps.get(size)
        if known is None:
            known = self._steps[size] = self.at_most(constant(1), size)
        return known

    def ratio(self, a: Length, b: Length) -> int | None:
        """The integer q with ``a == q * b`` at every accepted length, if there is one."""
        if b.is_constant:
            if a.is_constant and b.constant and a.constant % b.constant == 0:
                return a.constant // b.constant
            return None
        for point in (self.point(), self.point(7)):
            low, high = b.evaluate(point), a.evaluate(point)
            if low:
                break
        else:
            return None
        if high % low:
            return None
        quotient = high // low
        return quotient if quotient >= 1 and self.same(a, b * quotient) else None

    def point(self, extra: int = 0) -> dict[str, int]:
        """Some accepted assignment of every symbol."""
        values = {BATCH: 2}
        for symbol, span in self.spans.items():
            value = span.low + 97 + extra if span.high is None else min(span.high, span.low + 97 + extra)
            values[symbol] = value - (value - span.residue) % span.step
        return values

    # -- narrowing ---------------------------------------------------------------------------------------------

    def need(self, length: Length, reason: str) -> bool:
        """State that ``length >= 0`` is needed; the domain shrinks to where it holds. False if it holds nowhere."""
        if self.narrow(
            length.symbols,
            lambda domain: domain.nonnegative(length),
            lambda domain: domain.nonnegative(-length - 1),
            reason,
        ):
            return True
        least = next((atom for factor, atom in length.terms if factor > 0 and isinstance(atom, Min)), None)
        if least is None:
            return False
        # a minimum is large enough where each of its parts is, and each part bounds a symbol of its own
        return all(self.need(length.replace({least: part}), reason) for part in least.args)

    def need_equal(self, a: Length, b: Length, reason: str) -> bool:
        """State that two sizes must agree; the domain shrinks to where they do. False if they never do.

        A stride that is undone again agrees at its multiples only, which narrows the step.
        """
        symbols, rest = a.symbols | b.symbols, a - b

        def agree(domain: Domain) -> bool:
            return domain.equal(a, b)

        def differ(domain: Domain) -> bool:
            return domain.sign(rest) in (-1, 1)

        return self.narrow(symbols, agree, differ, reason) or self._step(rest, 1, agree, differ, reason)

    def need_multiple(self, length: Length, divisor: int, reason: str) -> bool:
        """State that ``length`` must be a multiple of ``divisor``, narrowing the step of its symbol if it must."""
        if self.domain.divisible(length, divisor):
            return True
        return self._step(length, divisor, lambda domain: domain.divisible(length, divisor), lambda _: False, reason)

    def never(self, length: Length) -> bool:
        """Whether ``length < 0`` at every accepted length (False when it cannot be decided)."""
        return self._holds(lambda domain: domain.nonnegative(-length - 1), {})

    def narrow(self, symbols: frozenset[str], condition: Condition, fails: Condition, reason: str) -> bool:
        """Shrink one symbol's span to the largest interval on which ``condition`` is decided true.

        It must not come true again beyond the interval, so that a longest length is one: ``fails`` decides that it is
        false throughout a domain. A pad of T - 2*((T+1)//2) is 0 at every even length, and no interval says so.
        """
        if self._holds(condition, {}):
            return True
        candidates = [s for s in sorted(symbols) if s in self.spans]
        for symbol in candidates:
            span = self._interval(symbol, self.spans[symbol], condition, fails)
            if span is not None:
                self._set(symbol, span, reason)
                return True
        return False

    def _step(self, length: Length, divisor: int, condition: Condition, fails: Condition, reason: str) -> bool:
        """Shrink a span to the one residue class in which ``length`` is 0, or a multiple of ``divisor``."""
        if len(length.symbols - {BATCH}) != 1:
            return False
        (symbol,) = length.symbols - {BATCH}
        span = self.spans[symbol]
        period = length.period() * divisor * span.step
        if period > _LONGEST_PERIOD:
            return False
        start = span.low + period
        accepted = []
        for t in range(start, start + period):
            value = length.evaluate({symbol: t, BATCH: 1})
            if t % span.step == span.residue and (value % divisor == 0 if divisor > 1 else value == 0):
                accepted.append(t)
        step = period // len(accepted) if accepted and period % len(accepted) == 0 else 0
        if not step or any(t % step != accepted[0] % step for t in accepted):
            return False
        narrowed = self._interval(symbol, replace(span, step=step, residue=accepted[0] % step), condition, fails)
        if narrowed is None:
            return False
        self._set(symbol, narrowed, reason)
        return True

    def _holds(self, condition: Condition, spans: Mapping[str, Span]) -> bool:
        merged = {**self.spans, **spans}
        if not self.single_row:
            merged[BATCH] = Span(1, None)
        try:
            return condition(Domain(merged))
        except Undecided:
            return False

    def _interval(self, symbol: str, span: Span, condition: Condition, fails: Condition) -> Span | None:
        """The largest part of a span on which ``condition`` holds, None if it is no interval."""
        span = replace(span, low=span.first, high=span.last)

        def holds(low: int, high: int | None, condition: Condition = condition) -> bool:
            return self._holds(condition, {symbol: replace(span, low=low, high=high)})

        far = span.low + _FAR if span.high is None else span.high
        if holds(far, span.high):  # true far out: only the beginning is refused
            return replace(span, low=_first(span.low, far, lambda low: holds(low, span.high)))
        for offset in (0, *(1 << k for k in range(18))):  # true up to some end: a table, a crop
            seed = span.low + offset
            if seed + span.step > far:
                return None
            if holds(seed, seed + span.step):
                high = _last(seed + span.step, far, partial(holds, seed))
                if high < far and not holds(high + 1, span.high, fails):
                    return None
                return replace(span, low=_first(span.low, seed, partial(holds, high=high)), high=high)
        return None

    def _set(self, symbol: str, span: Span, reason: str) -> None:
        span = replace(span, low=span.first, high=span.last)
        if span != self.spans[symbol]:
            self.reasons[symbol] = reason
            old, told = self.spans[symbol], f"{reason} ({self.at})" if self.at else reason
            changes = {"min": span.first != old.first, "max": span.last != old.last, "step": span.step != old.step}
            kinds = ["step"] if changes["step"] else [kind for kind, changed in changes.items() if changed]
            if "min" in kinds:
                if KEEPS_SIGN in reason:
                    self.turns[symbol] = span.first, told
                elif symbol in self.turns:  # shorter lengths go for that reason all the same
                    told = f"{told}, and {self.turns[symbol][1]}"
            self.limits.setdefault(symbol, {}).update(dict.fromkeys(kinds, told))
            self.spans[symbol] = span
            self.narrowed = True
            self._refresh()


def _first(low: int, high: int, holds: Callable[[int], bool]) -> int:
    """Smallest value in [low, high] from which ``holds``; it holds at ``high`` and is monotone."""
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return high


def _last(low: int, high: int, holds: Callable[[int], bool]) -> int:
    """Largest value in [low, high] up to which ``holds``; it holds at ``low`` and is monotone."""
    while low < high:
        middle = (low + high + 1) // 2
        if holds(middle):
            low = middle
        else:
            high = middle - 1
    return low
