"""Integers and fractions that a graph computes from its lengths, held symbolically.

A number has two faces. Computed from shapes it is, at run time, the container's size; computed from the model's own
length input it is the run-time length. Used as a shape the first is right, used as data the second (design, section 3).
Mixing the faces up is the bug class that this module exists for.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from fractions import Fraction

from paddable.lengths import Domain, Length, Undecided, constant, maximum, minimum

__all__ = ["Face", "Number", "Product", "merge_faces", "number", "product"]


class Face(enum.Enum):
    """Where the physical value of a number comes from when the padded graph runs."""

    CONSTANT = "constant"  # the same at every length
    SIZE = "size"  # shapes: the container
    LENGTH = "length"  # the length input: the valid steps
    MIXED = "mixed"  # both, so right as neither


def merge_faces(*faces: Face) -> Face:
    """The face of a number computed from numbers of these faces."""
    seen = {face for face in faces if face is not Face.CONSTANT}
    if not seen:
        return Face.CONSTANT
    return seen.pop() if len(seen) == 1 else Face.MIXED


@dataclass(frozen=True)
class Product:
    """A product of several lengths, kept factored because it is no length itself (batch x time)."""

    scale: int
    factors: tuple[Length, ...]

    def __str__(self) -> str:
        return "*".join([*([str(self.scale)] if self.scale != 1 else []), *(f"({f})" for f in self.factors)])


def product(*parts: Length | Product | int) -> Length | Product:
    """Multiply lengths, staying a plain length as long as at most one factor varies."""
    scale = 1
    factors: list[Length] = []
    for part in parts:
        if isinstance(part, int):
            scale *= part
        elif isinstance(part, Product):
            scale *= part.scale
            factors += part.factors
        elif part.is_constant:
            scale *= part.constant
        else:
            factors.append(part)
    if not factors or scale == 0:
        return constant(scale)
    if len(factors) == 1:
        return factors[0] * scale
    return Product(scale, tuple(sorted(factors, key=str)))


@dataclass(frozen=True)
class Number:
    """``length / divisor`` with its face. ``divisor`` is 1 for every integer."""

    length: Length | Product
    divisor: int
    face: Face

    @property
    def is_constant(self) -> bool:
        return isinstance(self.length, Length) and self.length.is_constant

    @property
    def fraction(self) -> Fraction:
        """The value of a constant number."""
        assert isinstance(self.length, Length)
        return Fraction(self.length.constant, self.divisor)

    @property
    def integer(self) -> Length | None:
        """The number as a length, None when it is a fraction or a product."""
        return self.length if self.divisor == 1 and isinstance(self.length, Length) else None

    def __str__(self) -> str:
        return str(self.length) if self.divisor == 1 else f"({self.length})/{self.divisor}"


def number(value: int | Fraction | Length | Product, face: Face = Face.CONSTANT) -> Number:
    """Make a number.

    A constant has the constant face unless it is mixed: ``T - ilens`` is 0 in native and C - n in the container.
    """
    if isinstance(value, Fraction):
        return _reduced(constant(value.numerator), value.denominator, face)
    if isinstance(value, int):
        value = constant(value)
    if isinstance(value, Length):
        return _reduced(value, 1, face)
    return Number(value, 1, face)


def _reduced(length: Length, divisor: int, face: Face) -> Number:
    if length.is_constant:
        value = Fraction(length.constant, divisor)
        face = Face.MIXED if face is Face.MIXED else Face.CONSTANT
        return Number(constant(value.numerator), value.denominator, face)
    return Number(length, divisor, face)


def add(a: Number, b: Number) -> Number | None:
    if not (isinstance(a.length, Length) and isinstance(b.length, Length)):
        return None
    face = merge_faces(a.face, b.face)
    if a.divisor == b.divisor:
        return _reduced(a.length + b.length, a.divisor, face)
    return _reduced(a.length * b.divisor + b.length * a.divisor, a.divisor * b.divisor, face)


def negate(a: Number) -> Number:
    if isinstance(a.length, Product):
        return Number(Product(-a.length.scale, a.length.factors), a.divisor, a.face)
    return Number(-a.length, a.divisor, a.face)


_DYADIC = 1 << 10
"""Largest power of two that a float factor may be divided by: such products are exact below 2**14 times 2**10."""


def _odd(divisor: int) -> int:
    """What is left of a divisor without its factors of two."""
    while divisor % 2 == 0:
        divisor //= 2
    return divisor


def multiply(a: Number, b: Number) -> Number | None:
    """A product as the graph's own arithmetic gives it.

    Float products are rounded: 50 * 0.1f is 5 in float32 and above it exactly. Only exact ones are known symbolically.
    """
    face = merge_faces(a.face, b.face)
    if b.is_constant:
        a, b = b, a
    if a.is_constant:
        factor = a.fraction
        if factor == 0:
            return number(0, face)
        if factor.denominator > _DYADIC or (_odd(b.divisor) != 1 and _odd(abs(factor.numerator)) != 1):
            return None
        scaled = product(b.length, factor.numerator)
        divisor = b.divisor * factor.denominator
        if isinstance(scaled, Length):
            return _reduced(scaled, divisor, face)
        return Number(scaled, 1, face) if divisor == 1 else None
    if {a.divisor, b.divisor} == {1}:
        return Number(product(a.length, b.length), 1, face)
    return None


def divide(a: Number, b: Number, *, integer: bool, domain: Domain) -> Number | None:
    """ONNX ``Div``: truncated for integers, exact for floats."""
    face = merge_faces(a.face, b.face)
    if not b.is_constant:
        if a.length == b.length and a.divisor == b.divisor:
            return number(1, face)
        if integer and isinstance(a.length, Product) and isinstance(b.length, Length) and b.length in a.length.factors:
            factors = list(a.length.factors)
            factors.remove(b.length)
            return Number(product(a.length.scale, *factors), 1, face)
        times = _quotient(a, b, domain)
        return None if times is None else number(times, face)
    value = b.fraction
    if value == 0:
        return None
    if not integer:
        if value.denominator == 1 and isinstance(a.length, Length):
            # rounded once, and no nearer to an integer than 1/k
            sign = -1 if value < 0 else 1
            return _reduced(a.length * sign, a.divisor * abs(value.numerator), face)
        return multiply(a, number(1 / value, b.face)) if abs(value.numerator) == 1 else None
    if value.denominator != 1:
        return None
    divisor = value.numerator
    if isinstance(a.length, Product):
        if a.length.scale % divisor == 0:
            return Number(product(a.length.scale // divisor, *a.length.factors), 1, face)
        return None
    if a.divisor != 1:
        return None
    return number(domain.simplify(a.length.truncdiv(divisor)), face)


def _quotient(a: Number, b: Number, domain: Domain) -> int | None:
    """The integer that ``a / b`` is at every length: 32 * T over T, as torch.export writes an inferred size."""
    if a.divisor != b.divisor or not (isinstance(a.length, Length) and isinstance(b.length, Length)):
        return None
    (factor, _), (divisor, _) = (length.terms[0] if length.terms else (0, None) for length in (a.length, b.length))
    if not divisor or factor % divisor:
        return None
    times = factor // divisor
    try:
        return times if domain.positive(b.length) and domain.equal(a.length, b.length * times) else None
    except Undecided:
        return None


def modulo(a: Number, b: Number, domain: Domain) -> Number | None:
    """ONNX ``Mod`` with fmod=0: the sign of the divisor, so floor division."""
    if a.integer is None or b.integer is None:
        return None
    if not b.is_constant:
        wrapped = _wrapped(a.integer, b.integer, domain)
        return None if wrapped is None else number(domain.simplify(wrapped), merge_faces(a.face, b.face))
    divisor = b.fraction.numerator
    if divisor <= 0:
        return None
    return number(domain.simplify(a.integer % divisor), merge_faces(a.face, b.face))


def _wrapped(shift: Length, size: Length, domain: Domain) -> Length | None:
    """``shift % size`` for a constant shift, as ``torch.roll`` writes it; None where it jumps between short sizes."""
    if not shift.is_constant:
        return None
    steps = shift.constant
    try:
        if not domain.positive(size):
            return None
        if domain.less(abs(steps) - (steps < 0), size):
            return size + steps if steps < 0 else shift
    except Undecided:
        return None
    if steps == -2:  # sizes 1 and 2 leave no remainder
        return maximum(size + steps, constant(0))
    return minimum(size - 1, shift) if steps == 1 else None


def extremum(a: Number, b: Number, *, largest: bool, domain: Domain) -> Number | None:
    if not (isinstance(a.length, Length) and isinstance(b.length, Length)):
        return None
    face = merge_faces(a.face, b.face)
    if a.face is Face.SIZE:  # on equality prefer the run-time length: min(C, n) is n
        a, b = b, a
    assert isinstance(a.length, Length)
    assert isinstance(b.length, Length)
    left, right = a.length * b.divisor, b.length * a.divisor
    try:
        chosen = other = None
        if domain.less_equal(left, right):
            chosen, other = (b, a) if largest else (a, b)
        elif domain.less_equal(right, left):
            chosen, other = (a, b) if largest else (b, a)
        if chosen is not None and other is not None:
            grows = isinstance(other.length, Length) and all(
                domain.monotone(other.length, s) for s in other.length.symbols
            )
            if face is Face.MIXED and not (
                not largest and chosen.face is not Face.SIZE and other.face is Face.SIZE and grows
            ):
                return Number(chosen.length, chosen.divisor, Face.MIXED)
            return chosen
    except Undecided:
        pass
    if a.integer is None or b.integer is None:
        return None
    return number(domain.simplify((maximum if largest else minimum)(a.integer, b.integer)), face)


EXACT_BELOW = 1 << 22
"""Numerators below this leave a rounded quotient on its own side of every integer."""


def rounded(a: Number, *, up: bool, domain: Domain) -> Number | None:
    """Ceil or Floor of a fraction, as float32 gives it below ``EXACT_BELOW`` (the caller bounds the domain)."""
    if a.divisor == 1:
        return a
    if not isinstance(a.length, Length):
        return None
    length = a.length.ceildiv(a.divisor) if up else a.length // a.divisor
    return number(domain.simplify(length), a.face)


def compare(a: Number, b: Number, domain: Domain) -> tuple[bool | None, bool | None]:
    """Decide ``a < b`` and ``a <= b`` over the domain; None where it varies or cannot be decided."""
    if not (isinstance(a.length, Length) and isinstance(b.length, Length)):
        return None, None
    left, right = a.length * b.divisor, b.length * a.divisor
    try:
        less = True if domain.less(left, right) else (False if domain.less_equal(right, left) else None)
        at_most = True if domain.less_equal(left, right) else (False if domain.less(right, left) else None)
    except Undecided:
        return None, None
    return less, at_most


def holds_in_container(a: Number, b: Number, decided: bool, domain: Domain) -> bool:
    """Whether ``a < b`` (or ``a <= b``), decided in native, is decided alike in the container, where n <= C.

    A size that grows is at least its native value there, and a run-time length keeps its own: a length below a size
    stays below it, a size that is not below a length never comes below it.
    """
    low, high = (a, b) if decided else (b, a)
    if low.face not in (Face.LENGTH, Face.CONSTANT) or high.face is not Face.SIZE:
        return False
    size = high.length
    try:
        return isinstance(size, Length) and all(domain.monotone(size, name) for name in size.symbols)
    except Undecided:
        return False


def equal(a: Number, b: Number, domain: Domain) -> bool | None:
    """Decide ``a == b``: True everywhere, False everywhere, or None."""
    if isinstance(a.length, Product) or isinstance(b.length, Product):
        return True if a.length == b.length and a.divisor == b.divisor else None
    left, right = a.length * b.divisor, b.length * a.divisor
    try:
        if domain.equal(left, right):
            return True
        if domain.less(left, right) or domain.less(right, left):
            return False
    except Undecided:
        pass
    return None
