"""Simpler forms of a length that hold on one domain only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddable.lengths.decide.columns import Undecided
from paddable.lengths.decide.product import components
from paddable.lengths.expression import (
    ZERO,
    Atom,
    FloorDiv,
    Length,
    Max,
    Min,
    Symbol,
    atomic,
    combine,
    maximum,
    minimum,
)

if TYPE_CHECKING:
    from paddable.lengths.domain import Domain

__all__ = ["simplify"]


def simplify(length: Length, domain: Domain) -> Length:
    """See ``Domain.simplify``."""
    if length.linear() is None:
        length = combine((_term(coefficient, atom, domain) for coefficient, atom in length.terms), length.offset)
    parts = [(1, _affine(part, domain)) for part in components(length)]
    return combine(parts, length.offset)


def _term(coefficient: int, atom: Atom, domain: Domain) -> tuple[int, Length]:
    match atom:
        case Symbol():
            return coefficient, atomic(atom)
        case FloorDiv(numerator, divisor):
            numerator = domain.simplify(numerator)
            if coefficient % divisor == 0:
                rest = _remainder(numerator, divisor, domain)
                if rest is not None:
                    return coefficient // divisor, numerator - rest
            return coefficient, numerator // divisor
        case Min(args):
            return coefficient, minimum(*_undominated(args, 1, domain))
        case Max(args):
            return coefficient, maximum(*_undominated(args, -1, domain))


def _remainder(numerator: Length, divisor: int, domain: Domain) -> int | None:
    try:
        return domain.remainder(numerator, divisor)
    except Undecided:
        return None


def _undominated(args: tuple[Length, ...], sign: int, domain: Domain) -> list[Length]:
    """The arguments of a minimum (sign 1) or maximum (sign -1) that no other argument replaces everywhere."""
    kept: list[Length] = []
    for arg in map(domain.simplify, args):
        if not any(_proved_nonnegative((arg - other) * sign, domain) for other in kept):
            kept = [other for other in kept if not _proved_nonnegative((other - arg) * sign, domain)]
            kept.append(arg)
    return kept


def _proved_nonnegative(length: Length, domain: Domain) -> bool:
    try:
        return domain.nonnegative(length)
    except Undecided:
        return False


def _affine(part: Length, domain: Domain) -> Length:
    """The constant or affine form of a sum of atoms that is so over the domain, such as T//2 + (T+1)//2 = T."""
    if part.linear() is not None and any(domain.span(name).count != 1 for name in part.symbols):
        return part
    slopes = {name: part.slope(name) for name in part.symbols}
    lines = [ZERO]
    if all(slope.denominator == 1 for slope in slopes.values()):
        lines.append(combine((int(slope), atomic(Symbol(name))) for name, slope in slopes.items()))
    for line in lines:
        try:
            rest = domain.is_constant(part - line)
        except Undecided:
            continue
        if rest is not None:
            return line + rest
    return part
