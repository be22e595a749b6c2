"""Where a value is valid and where it is padding, element by element, in a container of known size."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from paddable.gates.engine import Array
from paddable.lengths import Length
from paddable.padding.deduce.scope import BATCH
from paddable.padding.facts.axes import Factor
from paddable.padding.facts.facts import Affine, Elements, Facts
from paddable.padding.facts.numbers import Face, Number, Product

__all__ = ["Frame"]


@dataclass(frozen=True)
class Frame:
    """A container, and the valid steps of each row in it.

    Attributes:
        container: steps of each symbol.
        lengths: steps of each symbol, for each row.
        single: the graph was analysed for one row, so no axis counts rows.
    """

    container: Mapping[str, int]
    lengths: Sequence[Mapping[str, int]]
    single: bool

    def physical(self, size: Length | Product) -> int:
        """A size in the container."""
        if isinstance(size, Product):
            return size.scale * int(np.prod([self.physical(factor) for factor in size.factors]))
        return size.evaluate({**self.container, BATCH: len(self.lengths)})

    def valid_size(self, size: Length, row: int) -> int:
        """A size at a row's own steps; native has one row."""
        return size.evaluate({**self.lengths[row], BATCH: 1})

    def shape(self, value: Facts) -> tuple[int, ...]:
        """The physical shape."""
        return tuple(int(np.prod([self.physical(atom.size) for atom in axis], dtype=np.int64)) for axis in value.axes)

    def _atom_shape(self, value: Facts) -> tuple[int, ...]:
        return tuple(self.physical(atom.size) for atom in value.atoms)

    def inside(self, value: Facts, position: int, keep: Length | None = None) -> Array:
        """Where one ragged atom's index is valid: bool, broadcasting against the atoms' shape.

        Args:
            value: the facts.
            position: the atom.
            keep: count only so many steps as valid.
        """
        atom = value.atoms[position]
        rank = len(value.atoms)
        index = np.arange(self.physical(atom.size)).reshape([-1 if i == position else 1 for i in range(rank)])
        row_atom = next((i for i, a in enumerate(value.atoms) if a.batch), None)
        if row_atom is None:  # the same for all rows: valid as far as the longest row is
            starts, ends = zip(*(self._window(atom, keep, row) for row in range(len(self.lengths))), strict=True)
            return np.asarray((index >= min(starts)) & (index < max(ends)))
        windows = np.array([self._window(atom, keep, row) for row in range(len(self.lengths))])
        shape = [-1 if i == row_atom else 1 for i in range(rank)]
        return np.asarray((index >= windows[:, 0].reshape(shape)) & (index < windows[:, 1].reshape(shape)))

    def _window(self, atom: Factor, keep: Length | None, row: int) -> tuple[int, int]:
        start = self.physical(atom.shift) - self.valid_size(atom.shift, row)
        return start, start + self.valid_size(atom.size if keep is None else keep, row)

    def valid(self, value: Facts, keep: Mapping[int, Length] | None = None) -> Array:
        """Where every ragged atom is valid: bool, of the physical shape."""
        mask = np.ones(self._atom_shape(value), bool)
        for position in value.ragged:
            mask = mask & self.inside(value, position, (keep or {}).get(position))
        return mask.reshape(self.shape(value))

    def regions(self, value: Facts) -> Iterator[tuple[tuple[int, ...], Array]]:
        """Every kind of padding: the atoms whose index is padding, and where exactly those are."""
        outside = {position: ~self.inside(value, position) for position in value.ragged}
        for count in range(1, len(value.ragged) + 1):
            for padded in itertools.combinations(value.ragged, count):
                mask = np.ones(self._atom_shape(value), bool)
                for position, out in outside.items():
                    mask = mask & (out if position in padded else ~out)
                yield padded, mask.reshape(self.shape(value))

    def contents(self, value: Facts) -> Array | None:
        """The value itself where it is known: sizes of the container, lengths of each row. None if not known.

        Where the value does not count rows, a length is the first row's.
        """
        content = value.content
        shape = self.shape(value)
        dtype = value.dtype.numpy()
        if isinstance(content, Elements):
            numbers = [self._number(item) for item in content.array.flat]
            if any(number is None for number in numbers) or int(np.prod(shape)) != len(numbers):
                return None
            return np.array(
                [float(n) if dtype.kind == "f" else int(n) for n in numbers if n is not None], dtype
            ).reshape(shape)
        if isinstance(content, Affine):
            row_atom = next((i for i, a in enumerate(value.atoms) if a.batch), None)
            bases = [self._number(content.base, row) for row in range(1 if row_atom is None else len(self.lengths))]
            if bases[0] is None:
                return None
            total = np.zeros(self._atom_shape(value))
            each = 1 if row_atom is None else total.shape[row_atom] // len(bases)
            spread = np.repeat(np.array(bases, float), each)  # an axis may hold several entries of every row
            total = total + spread.reshape([-1 if i == row_atom else 1 for i in range(total.ndim)])
            for position, coefficient in content.coefficients:
                index = np.arange(total.shape[position], dtype=np.float64)
                total += float(coefficient) * index.reshape([-1 if i == position else 1 for i in range(total.ndim)])
            return np.asarray(total.reshape(shape), dtype)
        return None

    def _number(self, found: Number | None, row: int = 0) -> Fraction | None:
        if (
            found is None
            or found.face is Face.MIXED
            or (isinstance(found.length, Product) and found.face is Face.LENGTH)
        ):
            return None
        if found.face is Face.LENGTH:
            assert isinstance(found.length, Length)
            return Fraction(self.valid_size(found.length, row), found.divisor)
        return Fraction(self.physical(found.length), found.divisor)
