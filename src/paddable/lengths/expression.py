"""Length expressions in canonical form: an integer offset plus integer multiples of atoms.

An atom is a symbol, a floor division by a positive integer, a minimum or a maximum. Every constructor below keeps the
form canonical, so that lengths that are built along different roads usually meet in one form:

    floor(floor(x/a)/b) = floor(x/(ab))             nested floors merge
    floor((x + ac)/c)   = floor(x/c) + a            multiples of the divisor leave the numerator
    floor(-x/k)         = -floor((x + k - 1)/k)     the leading coefficient of a numerator is positive
    floor(min(a, b)/k)  = min(floor(a/k), floor(b/k))

"Usually" is enough: equality over a domain is decided by ``Domain.equal``, never by comparing forms.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import gcd, lcm
from operator import index
from typing import TypeAlias

from paddable.errors import MisuseError, RefusedError

__all__ = [
    "Atom",
    "FloorDiv",
    "Length",
    "Max",
    "Min",
    "NotALength",
    "Symbol",
    "atomic",
    "combine",
    "constant",
    "extreme_arguments",
    "maximum",
    "minimum",
    "symbol",
]

_NAME = re.compile(r"[A-Za-z_]\w*")


class NotALength(RefusedError):
    """The result of an operation is no length expression, such as a product of two symbols."""


@dataclass(frozen=True)
class Symbol:
    """The number of valid steps of an input axis, such as ``T``."""

    name: str

    @cached_property
    def order(self) -> tuple[int, str]:
        """Sorts atoms: symbols, then floors, then minima, then maxima."""
        return 0, self.name


@dataclass(frozen=True)
class FloorDiv:
    """``floor(numerator / divisor)``, divisor > 1. The numerator's offset lies in ``0 .. divisor-1``."""

    numerator: Length
    divisor: int

    @cached_property
    def order(self) -> tuple[int, str]:
        """See ``Symbol.order``."""
        return 1, f"{self.numerator}//{self.divisor}"


@dataclass(frozen=True)
class Min:
    """The least of two or more lengths."""

    args: tuple[Length, ...]

    @cached_property
    def order(self) -> tuple[int, str]:
        """See ``Symbol.order``."""
        return 2, ",".join(map(str, self.args))


@dataclass(frozen=True)
class Max:
    """The greatest of two or more lengths."""

    args: tuple[Length, ...]

    @cached_property
    def order(self) -> tuple[int, str]:
        """See ``Symbol.order``."""
        return 3, ",".join(map(str, self.args))


Atom: TypeAlias = Symbol | FloorDiv | Min | Max


@dataclass(frozen=True, eq=False, repr=False)
class Length:
    """An integer-valued expression in symbols: ``offset + sum(coefficient * atom)``, immutable and canonical.

    Made by ``symbol``, ``constant``, ``parse`` and arithmetic, never by hand. ``==`` and ``hash`` compare forms (and a
    constant equals its integer); use ``Domain.equal`` to compare values.

    Attributes:
        terms: pairs (coefficient, atom), coefficients nonzero, atoms distinct and sorted.
        offset: the integer part.
    """

    terms: tuple[tuple[int, Atom], ...]
    offset: int

    @cached_property
    def _hash(self) -> int:
        return hash((self.terms, self.offset)) if self.terms else hash(self.offset)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if isinstance(other, Length):
            return self._hash == other._hash and self.offset == other.offset and self.terms == other.terms
        if isinstance(other, int):
            return not self.terms and self.offset == other
        return NotImplemented

    def __reduce__(self) -> tuple[type[Length], tuple[tuple[tuple[int, Atom], ...], int]]:
        return Length, (self.terms, self.offset)  # not the stored hash: another process hashes text otherwise

    def __bool__(self) -> bool:
        return bool(self.constant)

    @cached_property
    def _text(self) -> str:
        from paddable.lengths.text import render

        return render(self)

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"Length({self._text!r})"

    # -- what it is made of --------------------------------------------------------------------------------------------

    @cached_property
    def symbols(self) -> frozenset[str]:
        """Names of all symbols in the expression."""
        return frozenset(atom.name for atom in self.walk() if isinstance(atom, Symbol))

    @property
    def is_constant(self) -> bool:
        """Whether the form has no symbol. ``Domain.is_constant`` decides about the value."""
        return not self.terms

    @property
    def constant(self) -> int:
        """The value of a constant length.

        Raises:
            ValueError: if the length depends on a symbol.
        """
        if self.terms:
            raise ValueError(f"length {self} is not a constant: it depends on {', '.join(sorted(self.symbols))}")
        return self.offset

    def __int__(self) -> int:
        return self.constant

    def __index__(self) -> int:
        return self.constant

    def walk(self) -> Iterator[Atom]:
        """Every atom once, operands before the atoms that use them."""
        seen: set[Atom] = set()

        def visit(length: Length) -> Iterator[Atom]:
            for _, atom in length.terms:
                if atom not in seen:
                    for operand in operands(atom):
                        yield from visit(operand)
                    seen.add(atom)
                    yield atom

        return visit(self)

    def linear(self) -> tuple[dict[str, int], int] | None:
        """Coefficient of each symbol and the constant if the form is affine, else None."""
        if all(isinstance(atom, Symbol) for _, atom in self.terms):
            return {atom.name: c for c, atom in self.terms if isinstance(atom, Symbol)}, self.offset
        return None

    # -- arithmetic ----------------------------------------------------------------------------------------------------

    def __add__(self, other: Length | int) -> Length:
        if isinstance(other, Length):
            if not other.terms:
                other = other.offset
            elif not self.terms:
                return Length(other.terms, other.offset + self.offset)
            else:
                return combine(((1, self), (1, other)))
        other = index(other)
        return Length(self.terms, self.offset + other) if other else self

    __radd__ = __add__

    def __neg__(self) -> Length:
        return self * -1

    def __sub__(self, other: Length | int) -> Length:
        return self + -other

    def __rsub__(self, other: int) -> Length:
        return -self + other

    def __mul__(self, other: Length | int) -> Length:
        if isinstance(other, Length):
            if not self.terms:
                return other * self.offset
            if other.terms:
                raise NotALength(
                    f"the product ({self}) * ({other}) is not a length",
                    why="a product of two ragged dimensions has no decidable order",
                    fix="keep the two dimensions apart",
                )
            other = other.offset
        other = index(other)
        if other == 0:
            return ZERO
        return self if other == 1 else Length(tuple((c * other, atom) for c, atom in self.terms), self.offset * other)

    __rmul__ = __mul__

    def __floordiv__(self, other: Length | int) -> Length:
        return floor_divide(self, _divisor(self, other))

    def __mod__(self, other: Length | int) -> Length:
        divisor = _divisor(self, other)
        return self - floor_divide(self, divisor) * divisor

    def ceildiv(self, other: Length | int) -> Length:
        """``ceil(self / other)``."""
        return -floor_divide(-self, _divisor(self, other))

    def truncdiv(self, other: Length | int) -> Length:
        """Division that rounds toward zero, as ONNX ``Div`` does on integers."""
        divisor = _divisor(self, other)
        if divisor < 0:
            return -self.truncdiv(-divisor)
        return floor_divide(maximum(self, 0), divisor) - floor_divide(maximum(-self, 0), divisor)

    # -- values --------------------------------------------------------------------------------------------------------

    def evaluate(self, values: Mapping[str, int]) -> int:
        """The value when every symbol has the given value; KeyError names a missing one."""
        total = self.offset
        for coefficient, atom in self.terms:
            match atom:
                case Symbol(name):
                    total += coefficient * values[name]
                case FloorDiv(numerator, divisor):
                    total += coefficient * (numerator.evaluate(values) // divisor)
                case Min(args):
                    total += coefficient * min(arg.evaluate(values) for arg in args)
                case Max(args):
                    total += coefficient * max(arg.evaluate(values) for arg in args)
        return total

    def substitute(self, values: Mapping[str, Length | int]) -> Length:
        """The length with symbols replaced; symbols that are not named stay."""
        if self.symbols.isdisjoint(values):
            return self
        return self.replace({Symbol(name): _as_length(value) for name, value in values.items()})

    def replace(self, atoms: Mapping[Atom, Length]) -> Length:
        """The length with every occurrence of the given atoms replaced, outermost first."""

        def rebuilt(atom: Atom) -> Length:
            if (found := atoms.get(atom)) is not None:
                return found
            match atom:
                case Symbol():
                    return atomic(atom)
                case FloorDiv(numerator, divisor):
                    return floor_divide(numerator.replace(atoms), divisor)
                case Min(args):
                    return minimum(*(arg.replace(atoms) for arg in args))
                case Max(args):
                    return maximum(*(arg.replace(atoms) for arg in args))

        return combine(((c, rebuilt(atom)) for c, atom in self.terms), self.offset)

    # -- far behaviour -------------------------------------------------------------------------------------------------

    def slope(self, symbol: str) -> Fraction:
        """Growth per step of ``symbol`` toward infinity, the other symbols held fixed."""
        total = Fraction(0)
        for coefficient, atom in self.terms:
            match atom:
                case Symbol(name):
                    total += coefficient * (name == symbol)
                case FloorDiv(numerator, divisor):
                    total += coefficient * numerator.slope(symbol) / divisor
                case Min(args):
                    total += coefficient * min(arg.slope(symbol) for arg in args)
                case Max(args):
                    total += coefficient * max(arg.slope(symbol) for arg in args)
        return total

    def period(self, symbol: str | None = None) -> int:
        """P with ``f(T + P) = f(T) + slope * P`` past the last breakpoint; of all symbols if none is named.

        floor(x/k) repeats when x has grown by a multiple of k: after P·k/gcd(slope(x)·P, k) steps, P being x's own.
        """
        if symbol is None:
            return lcm(*(self.period(name) for name in self.symbols))
        period = 1
        for _, atom in self.terms:
            match atom:
                case FloorDiv(numerator, divisor):
                    inner = numerator.period(symbol)
                    growth = numerator.slope(symbol) * inner
                    period = lcm(period, inner * divisor // gcd(int(growth), divisor))
                case Min(args) | Max(args):
                    period = lcm(period, *(arg.period(symbol) for arg in args))
                case Symbol():
                    pass
        return period


ZERO = Length((), 0)


def atomic(atom: Atom) -> Length:
    """The length that is one atom."""
    return Length(((1, atom),), 0)


def symbol(name: str) -> Length:
    """The length that is the symbol ``name`` (``[A-Za-z_]\\w*``)."""
    if not _NAME.fullmatch(name):
        raise MisuseError(
            f"{name!r} is not a symbol",
            why="a symbol starts with a letter or _ and goes on with letters, digits or _",
            fix="use a name such as T",
        )
    return atomic(Symbol(name))


def constant(value: int) -> Length:
    """The length that is always ``value``."""
    return Length((), index(value))


def minimum(*args: Length | int) -> Length:
    """The least of the arguments (at least one)."""
    return _extreme(Min, tuple(map(_as_length, args)))


def maximum(*args: Length | int) -> Length:
    """The greatest of the arguments (at least one)."""
    return _extreme(Max, tuple(map(_as_length, args)))


def operands(atom: Atom) -> tuple[Length, ...]:
    """The lengths an atom is made of."""
    match atom:
        case FloorDiv(numerator, _):
            return (numerator,)
        case Min(args) | Max(args):
            return args
        case Symbol():
            return ()


def combine(parts: Iterable[tuple[int, Length]], offset: int = 0) -> Length:
    """``offset + sum(factor * length)`` over pairs (factor, length)."""
    coefficients: dict[Atom, int] = {}
    for factor, length in parts:
        offset += factor * length.offset
        for coefficient, atom in length.terms:
            coefficients[atom] = coefficients.get(atom, 0) + factor * coefficient
    terms = [(coefficient, atom) for atom, coefficient in coefficients.items() if coefficient]
    terms.sort(key=lambda term: term[1].order)
    return Length(tuple(terms), offset)


def _as_length(value: Length | int) -> Length:
    return value if isinstance(value, Length) else Length((), index(value))


def _divisor(length: Length, divisor: Length | int) -> int:
    if isinstance(divisor, Length):
        if not divisor.is_constant:
            raise NotALength(
                f"the quotient of {length} by {divisor} is not a length",
                why="only a division by a constant repeats with a period",
                fix="divide by an integer",
            )
        divisor = divisor.offset
    divisor = index(divisor)
    if divisor == 0:
        raise ZeroDivisionError(f"length {length} divided by zero")
    return divisor


@lru_cache(maxsize=1 << 15)
def floor_divide(length: Length, divisor: int) -> Length:
    """``floor(length / divisor)`` for a nonzero divisor, in canonical form."""
    if divisor < 0:
        return floor_divide(-length, -divisor)
    if (extreme := extreme_arguments(length)) is not None:
        return _extreme(extreme[0], tuple(floor_divide(arg, divisor) for arg in extreme[1]))
    # Every multiple of the divisor leaves the numerator; what stays is balanced in (-divisor/2, divisor/2].
    outside: list[tuple[int, Atom]] = []
    inside: list[tuple[int, Atom]] = []
    for coefficient, atom in length.terms:
        quotient, rest = divmod(coefficient, divisor)
        if 2 * rest > divisor:
            quotient, rest = quotient + 1, rest - divisor
        if quotient:
            outside.append((quotient, atom))
        if rest:
            inside.append((rest, atom))
    quotient, rest = divmod(length.offset, divisor)
    whole = Length(tuple(outside), quotient)
    return whole + _floor_of_rest(Length(tuple(inside), rest), divisor) if inside else whole


def _floor_of_rest(numerator: Length, divisor: int) -> Length:
    """``floor(numerator / divisor)`` of a numerator without multiples of the divisor."""
    shared = gcd(divisor, *(coefficient for coefficient, _ in numerator.terms))
    if shared > 1:
        divisor //= shared
        terms = tuple((coefficient // shared, atom) for coefficient, atom in numerator.terms)
        numerator = Length(terms, numerator.offset // shared)
    floors = [(coefficient, atom) for coefficient, atom in numerator.terms if isinstance(atom, FloorDiv)]
    if len(floors) == 1 and abs(floors[0][0]) == 1:
        # floor((floor(y/a) + z)/b) = floor((y + az)/(ab)) for every integer z; -floor(y/a) = floor((a - 1 - y)/a).
        sign, inner = floors[0]
        others = numerator - atomic(inner) * sign
        merged = inner.numerator if sign > 0 else inner.divisor - 1 - inner.numerator
        return floor_divide(merged + others * inner.divisor, inner.divisor * divisor)
    if extreme_arguments(numerator) is not None:
        return floor_divide(numerator, divisor)
    if numerator.terms[0][0] < 0:
        return -floor_divide(divisor - 1 - numerator, divisor)
    return atomic(FloorDiv(numerator, divisor))


def _opposite(kind: type[Min] | type[Max]) -> type[Min] | type[Max]:
    return Max if kind is Min else Min


def _extreme(kind: type[Min] | type[Max], args: tuple[Length, ...]) -> Length:
    """Canonical minimum or maximum: what all arguments share is taken out, the rest is sorted and has no sign."""
    pick = min if kind is Min else max
    best: dict[tuple[tuple[int, Atom], ...], int] = {}
    for arg in _flattened(kind, args):
        best[arg.terms] = pick(best.get(arg.terms, arg.offset), arg.offset)
    args = tuple(Length(terms, offset) for terms, offset in best.items())
    if len(args) == 1:
        return args[0]
    shared = frozenset.intersection(*(frozenset(terms) for terms in best))
    if shared:
        outside = Length(tuple(term for term in args[0].terms if term in shared), 0)
        return outside + _extreme(kind, tuple(arg - outside for arg in args))
    sign = 1
    if min(args, key=_argument_order).terms[0][0] < 0:
        sign, kind = -1, _opposite(kind)
    args = tuple(sorted((arg * sign for arg in args), key=_argument_order))
    base = args[0].offset
    args = tuple(arg - base for arg in args)
    factor = gcd(*(arg.offset for arg in args), *(coefficient for arg in args for coefficient, _ in arg.terms))
    args = tuple(Length(tuple((c // factor, atom) for c, atom in arg.terms), arg.offset // factor) for arg in args)
    return atomic(kind(args)) * (sign * factor) + sign * base


def _flattened(kind: type[Min] | type[Max], args: Iterable[Length]) -> Iterator[Length]:
    for arg in args:
        inner = extreme_arguments(arg)
        if inner is not None and inner[0] is kind:
            yield from _flattened(kind, inner[1])
        else:
            yield arg


def extreme_arguments(length: Length) -> tuple[type[Min] | type[Max], tuple[Length, ...]] | None:
    """Kind and arguments of a length that is one minimum or maximum, scaled and shifted."""
    if len(length.terms) == 1:
        coefficient, atom = length.terms[0]
        if isinstance(atom, Min | Max):
            kind = Min if isinstance(atom, Min) == (coefficient > 0) else Max
            return kind, tuple(arg * coefficient + length.offset for arg in atom.args)
    return None


def _argument_order(arg: Length) -> tuple[bool, list[tuple[tuple[int, str], int]], list[bool]]:
    """Constants last; the sign of coefficients matters only among arguments that differ in nothing else."""
    shape = [(atom.order, abs(coefficient)) for coefficient, atom in arg.terms]
    return not arg.terms, shape, [coefficient < 0 for coefficient, _ in arg.terms]
