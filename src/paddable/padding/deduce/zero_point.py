"""The quantised integer that stands for 0: padding must hold it where the padding of the float form must be 0."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from paddable.padding.deduce.context import RuleContext
from paddable.padding.facts.facts import Facts
from paddable.padding.facts.kinds import FINITE, ZERO, Kind, constant

__all__ = ["Zero", "zero_point"]


@dataclass(frozen=True)
class Zero:
    """The zero point of an operand.

    Attributes:
        kind: of padding that stands for 0.
        scalar_input: the input that holds the zero point where the graph computes it.
    """

    kind: Kind = ZERO
    scalar_input: int | None = None

    def stands_for(self, kind: Kind) -> Kind:
        """What quantised integers of a kind stand for: whatever they are, it is finite."""
        return ZERO if kind.equals(self.kind) else FINITE

    def fill(self, context: RuleContext, index: int, atoms: list[int], code: str, leak: str) -> Facts:
        """Ask for the padding of an operand to stand for 0 along some atoms."""
        return context.fill(index, atoms, self.kind.value or 0.0, code, leak, scalar_input=self.scalar_input)


def zero_point(context: RuleContext, index: int) -> Zero | None:
    """The zero point at an input, None where it is one for each channel or row and they differ."""
    if not context.present(index):
        return Zero()
    array = context.constant(index)
    if array is not None:
        values = np.unique(array.astype(np.float64))
        return Zero(constant(float(values[0]))) if values.size == 1 else None
    return None if context.data(index).atoms else Zero(context.scalar_kind(index), index)
