"""What is known of the elements of one region of a tensor: nothing, that they are finite, or their constant value."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["ANY", "BELOW", "FALSE", "FINITE", "TRUE", "ZERO", "Kind", "constant", "join", "scalar"]


@dataclass(frozen=True)
class Kind:
    """One element of the lattice  constant(c) < finite < below < any.

    A constant may be infinite (a mask's fill), so ``finite`` is kept beside ``value``. *Below* is finite or -inf:
    scores under a mask, of which a softmax is proper if one of its row is finite.

    ``scalar`` names the one-element tensor of the graph that every element equals: a zero point that is computed.
    """

    finite: bool
    value: float | None = None
    below: bool = False
    scalar: str = ""

    @property
    def is_zero(self) -> bool:
        return self.value == 0.0

    def equals(self, other: Kind) -> bool:
        """Whether both promise one and the same number."""
        if self.value is not None or not self.scalar:
            return self.value is not None and self.value == other.value
        return self.scalar == other.scalar

    def __str__(self) -> str:
        if self.value is not None:
            return f"{self.value:g}"
        if self.scalar:
            return self.scalar
        return "finite" if self.finite else "any"


ANY = Kind(finite=False)
BELOW = Kind(finite=False, below=True)
FINITE = Kind(finite=True, below=True)
ZERO = Kind(finite=True, value=0.0, below=True)
FALSE = ZERO
TRUE = Kind(finite=True, value=1.0, below=True)


def constant(value: float) -> Kind:
    """The kind of a region that holds ``value`` everywhere. NaN promises nothing."""
    value = float(value)
    if math.isnan(value):
        return ANY
    return Kind(finite=math.isfinite(value), value=value + 0.0, below=value != math.inf)


def scalar(name: str) -> Kind:
    """The kind of a region of integers that holds the one element of the tensor ``name`` everywhere."""
    return Kind(finite=True, below=True, scalar=name)


def join(kinds: Iterable[Kind]) -> Kind:
    """The weakest of several kinds: what holds whichever of them the region is."""
    kinds = list(kinds)
    if not kinds:
        return ANY
    if all(kind.equals(kinds[0]) for kind in kinds):
        return kinds[0]
    if all(kind.finite for kind in kinds):
        return FINITE
    return BELOW if all(kind.below for kind in kinds) else ANY
