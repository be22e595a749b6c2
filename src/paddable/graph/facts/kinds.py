"""What is known of the elements of one region of a tensor: nothing, that they are finite, or their constant value."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["ANY", "BELOW", "FALSE", "FINITE", "TRUE", "ZERO", "Kind", "constant", "join"]


@dataclass(frozen=True)
class Kind:
    """One element of the lattice  constant(c) < finite < below < any.

    A constant may be infinite (a mask's fill), so ``finite`` is kept beside ``value``. *Below* is finite or -inf:
    scores under a mask, of which a softmax is proper if one of its row is finite.
    """

    finite: bool
    value: float | None = None
    below: bool = False

    @property
    def is_zero(self) -> bool:
        return self.value == 0.0

    def __str__(self) -> str:
        if self.value is not None:
            return f"{self.value:g}"
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


def join(kinds: Iterable[Kind]) -> Kind:
    """The weakest of several kinds: what holds whichever of them the region is."""
    kinds = list(kinds)
    if not kinds:
        return ANY
    if all(kind.value is not None and kind.value == kinds[0].value for kind in kinds):
        return kinds[0]
    if all(kind.finite for kind in kinds):
        return FINITE
    return BELOW if all(kind.below for kind in kinds) else ANY
