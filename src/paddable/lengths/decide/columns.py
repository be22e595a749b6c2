"""Evaluates a length at many points at once: one list comprehension per operation instead of one call per point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from paddable.errors import RefusedError
from paddable.lengths.expression import Atom, FloorDiv, Length, Max, Min, Symbol

__all__ = ["POINTS", "Undecided", "too_many", "values"]

POINTS = 1 << 18
"""The most points that one decision evaluates, about a tenth of a second."""


class Undecided(RefusedError):
    """A statement about lengths was neither proved nor refuted within the limits of the procedure."""


def too_many(length: Length, count: int) -> Undecided:
    """The error to raise when a decision takes more than ``POINTS`` points."""
    return Undecided(
        f"deciding about {length} takes {count} points",
        why=f"at most {POINTS} are evaluated for one decision",
        fix="give the symbols a coarser step or a smaller range",
    )


def values(length: Length, points: Mapping[str, Sequence[int]]) -> list[int]:
    """The values of ``length`` at every point: ``points`` has one column per symbol, all of one size."""
    count = len(next(iter(points.values())))
    known: dict[Atom, list[int]] = {}

    def total(length: Length) -> list[int]:
        sums = [length.offset] * count
        for coefficient, atom in length.terms:
            column = known[atom]
            if coefficient == 1:
                sums = [a + b for a, b in zip(sums, column, strict=True)]
            else:
                sums = [a + coefficient * b for a, b in zip(sums, column, strict=True)]
        return sums

    for atom in length.walk():
        match atom:
            case Symbol(name):
                known[atom] = list(points[name])
            case FloorDiv(numerator, divisor):
                known[atom] = [value // divisor for value in total(numerator)]
            case Min(args):
                known[atom] = list(map(min, *map(total, args)))
            case Max(args):
                known[atom] = list(map(max, *map(total, args)))
    return total(length)
