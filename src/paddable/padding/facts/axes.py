"""Axes as products of atoms, so that Reshape only regroups (design, section 4).

An axis is an ordered product of *atoms* in row-major order: constants, the batch, and ragged sizes. ``(heads, T)`` is
one axis of heads x T elements whose padding is wherever the T index is at least n. An axis without atoms has size 1.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from paddable.lengths import Length, constant
from paddable.padding.facts.numbers import Product, product

__all__ = ["Factor", "Axes", "Axis", "axis_size", "flatten", "fixed", "is_batch", "row_axis", "subsets"]

_ZERO = constant(0)

Item = TypeVar("Item")


@dataclass(frozen=True)
class Factor:
    """One factor of an axis.

    Attributes:
        size: the native size; the container holds ``size`` evaluated at C.
        ragged: the size changes with the length, so there is padding.
        batch: the rows, each with a length of its own.
        shift: where the valid part starts, as ``shift(C) - shift(n)``; zero for a prefix.
    """

    size: Length
    ragged: bool = False
    batch: bool = False
    shift: Length = _ZERO

    @property
    def fixed(self) -> bool:
        return not self.ragged and not self.batch

    @property
    def prefix(self) -> bool:
        return self.shift == _ZERO

    def __str__(self) -> str:
        mark = "" if self.prefix else f" from {self.shift}"
        return f"{self.size}{mark}"


Axis = tuple[Factor, ...]
Axes = tuple[Axis, ...]


def fixed(size: int) -> Axis:
    """An axis of constant size."""
    return () if size == 1 else (Factor(constant(size)),)


def flatten(axes: Sequence[Axis]) -> tuple[Factor, ...]:
    """All atoms in order; facts are indexed by position in this tuple."""
    return tuple(atom for axis in axes for atom in axis)


def is_batch(axis: Axis) -> bool:
    """Whether an axis is the batch and nothing else."""
    return [atom.batch for atom in axis] == [True]


def row_axis(axes: Axes) -> int | None:
    """The axis that is the batch and nothing else."""
    return next((k for k, axis in enumerate(axes) if is_batch(axis)), None)


def subsets(items: Sequence[Item]) -> Iterator[tuple[Item, ...]]:
    """All sets of some items, the empty one first: what can be padding at once."""
    for chosen in itertools.product((False, True), repeat=len(items)):
        yield tuple(itertools.compress(items, chosen))


def axis_size(axis: Axis) -> Length | Product:
    """The native size of an axis."""
    return product(1, *(atom.size for atom in axis))
