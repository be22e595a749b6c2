"""What the interpreter knows of one tensor."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import onnx_ir as ir

from paddable.lengths import Length
from paddable.padding.facts.axes import Axes, Axis, Factor, axis_size, flatten, row_axis, subsets
from paddable.padding.facts.kinds import ANY, BELOW, FINITE, Kind, constant, join
from paddable.padding.facts.numbers import Face, Number, Product, add, merge_faces, negate

__all__ = [
    "Affine",
    "Appended",
    "Bounded",
    "Diagonal",
    "Elements",
    "OwnRow",
    "PaddingFact",
    "Pending",
    "Relative",
    "Facts",
    "CONTENT_LIMIT",
    "MASK_FILL",
]

CONTENT_LIMIT = 1024
"""As many elements at most are known one by one."""

MASK_FILL = -1e30
"""From here down a score is taken for a mask's fill: -10,000 is none, the lowest number of bfloat16 is."""


@dataclass(frozen=True)
class PaddingFact:
    """What is true of the padding along one ragged atom.

    Attributes:
        weak: where every other ragged atom is valid.
        strong: whatever the other atoms' indices are. Contracting one axis needs the weak fact, several the strong.
    """

    weak: Kind = ANY
    strong: Kind = ANY

    @staticmethod
    def of(kind: Kind) -> PaddingFact:
        return PaddingFact(kind, kind)


@dataclass(frozen=True, eq=False)
class Elements:
    """Known contents, element by element: an object array of Number, or None where unknown.

    An unknown element is a constant (the square root of 2): what varies with the length is known, or the whole is not.
    """

    array: np.ndarray

    @property
    def face(self) -> Face:
        return merge_faces(*(x.face for x in self.array.flat if x is not None))


@dataclass(frozen=True)
class Affine:
    """Known contents ``base + sum coefficient * index of an atom``; without coefficients every element is the base."""

    base: Number
    coefficients: tuple[tuple[int, Fraction], ...] = ()

    @property
    def face(self) -> Face:
        return self.base.face


@dataclass(frozen=True)
class Pending:
    """The last ``size - clean`` valid steps of an atom are wrong until a remedy is placed at the node that made them.

    A later crop to ``clean`` steps makes the remedy unnecessary (a cropped transposed convolution).
    """

    atom: int
    clean: Length
    token: Any


@dataclass(frozen=True)
class Relative:
    """A value inside the data movement of a relative shift (see ``rules/relative.py``).

    Attributes:
        stage: how far the movement has come (``deduce/relative_shift.py``).
        rows: the native number of queries L.
        axis: the query axis, restored at the end.
        finite: no score, valid or padding, was NaN or infinite.
    """

    stage: str
    rows: Length
    axis: Axis
    finite: bool


@dataclass(frozen=True)
class Appended:
    """Zeros that were appended to the last atom behind its first ``size`` steps, in native and in the container."""

    size: Length


@dataclass(frozen=True)
class Bounded:
    """An axis whose size does not grow with the length (T % 3): no container holds every shorter number of steps.

    It holds the most that there may be, the valid ones in front, or one that stands for as many equal ones. Only Concat
    and Pad along the axis, whose results grow or are fixed, read it, and Slice.
    """

    axis: int
    count: Length
    equal: bool = False


Span: TypeAlias = tuple[Length, Length]
"""The least and the greatest of some whole numbers."""


@dataclass(frozen=True)
class OwnRow:
    """A value that holds each row's own place in the batch, which native, of one row, has not (``deduce/own_rows.py``).

    Attributes:
        entry: in index tuples, the entry of the last axis that is the place.
        stride: the value is ``place * stride + step``. With neither, only the shape may be read.
        stepped: the step is added.
        others: in index tuples, what the entries are known to be, as in ``Facts.reached``.
    """

    entry: int | None = None
    stride: Length | None = None
    stepped: bool = False
    others: tuple[tuple[Span, ...], ...] = ()


@dataclass(frozen=True)
class Diagonal:
    """What is known where the indices of two ragged atoms are equal, valid or not: a causal mask keeps every step
    itself."""

    row: int
    column: int
    kind: Kind


@dataclass(frozen=True, eq=False)
class Facts:
    """A tensor: type, axes, padding facts and, if known, contents.

    Every default is the weak one, so a rule states what it proves and forgets nothing by leaving a fact out. Integers
    are finite and never a mask's fill, whatever is stated.

    Attributes:
        axes: the native shape, axis by axis.
        pads: one :class:`PaddingFact` per factor in flattened order (ignored for atoms without padding).
        content: symbolic contents of shape arithmetic and index vectors.
        low, high: bounds of every element that is valid or of a finite kind.
        finite: no valid element is NaN or infinite unless native's arithmetic overflows.
        below: no valid element is NaN or +inf, likewise: scores under a mask of native's own.
        masked: some valid element may be a mask's fill, so a finite fill of ours could tie with it.
        pending: a remedy that is placed only if something reads the steps that are wrong without it.
        image: every padding element is a copy of some valid element (a tail-filled input), so in range as an index.
            A value whose valid part or padding is another than its operand's is no image.
        diagonal: what is known where two ragged indices are equal.
        constant: what every valid element equals, if they are all equal (a mask of ones).
        relative: the value is inside a relative shift, and only its next movement may read it.
        bounded: along one axis the tensor has a number of steps that does not grow.
        from_sizes: made of sizes and constants alone, so that the whole tensor is native's at the container's length.
        appended: the last steps of the last atom are zeros; only Pad, Reshape and Flatten keep it.
        own_row: what holds each row's own place in the batch; only what every row reads of itself by it is right.
        reached: from where to where the elements reach in native, each end among them, if the contents are unknown.
        rows_in_front: the tensor has a batch axis in front that native has not, since each row's own length is in it.
    """

    dtype: ir.DataType
    axes: Axes
    pads: tuple[PaddingFact, ...] = ()
    content: Elements | Affine | None = None
    low: float = -math.inf
    high: float = math.inf
    finite: bool = False
    masked: bool = True
    pending: Pending | None = None
    relative: Relative | None = None
    image: bool = False
    constant: float | None = None
    diagonal: Diagonal | None = None
    rows_in_front: bool = False
    below: bool = False
    bounded: Bounded | None = None
    from_sizes: bool = False
    own_row: OwnRow | None = None
    appended: Appended | None = None
    reached: tuple[Span, ...] = ()

    def __post_init__(self) -> None:
        if not self.pads:
            object.__setattr__(self, "pads", tuple(PaddingFact.of(ANY) for _ in flatten(self.axes)))
        if self.is_integer:
            object.__setattr__(self, "finite", True)
            object.__setattr__(self, "masked", False)

    @classmethod
    def known(
        cls,
        dtype: ir.DataType,
        axes: Axes,
        content: Elements | Affine,
        low: float = -math.inf,
        high: float = math.inf,
        *,
        finite: bool = False,
        rows_in_front: bool = False,
    ) -> Facts:
        """A tensor of known contents, in the padding too: numbers are finite, and a mask's fill is a constant.

        Args:
            finite: the elements that are not known are finite too.
        """
        numbers = [content.base] if isinstance(content, Affine) else list(content.array.flat)
        finite = finite or all(x is not None for x in numbers)
        fill = any(x is None or (x.is_constant and x.fraction <= MASK_FILL) for x in numbers)
        pads = tuple(PaddingFact.of(FINITE if finite else ANY) for axis in axes for _ in axis)
        return cls(dtype, axes, pads, content, low, high, finite=finite, masked=fill, rows_in_front=rows_in_front)

    @property
    def rank(self) -> int:
        return len(self.axes)

    @property
    def atoms(self) -> tuple[Factor, ...]:
        return flatten(self.axes)

    @property
    def ragged(self) -> tuple[int, ...]:
        """Positions of the ragged atoms."""
        return tuple(i for i, atom in enumerate(self.atoms) if atom.ragged)

    @property
    def is_integer(self) -> bool:
        return self.dtype.is_integer() or self.dtype == ir.DataType.BOOL

    def span(self, axis: int) -> range:
        """Flattened positions of the atoms of one axis."""
        start = sum(len(a) for a in self.axes[:axis])
        return range(start, start + len(self.axes[axis]))

    def size(self, axis: int) -> Length | Product:
        return axis_size(self.axes[axis])

    @property
    def valid(self) -> Kind:
        """What is known of the valid elements."""
        number = self.scalar
        if number is not None and number.is_constant:
            return constant(float(number.fraction))
        if self.constant is not None:
            return constant(self.constant)
        if self.low == self.high:
            return constant(self.low)
        return FINITE if self.finite else BELOW if self.below else ANY

    @property
    def row_place(self) -> int | None:
        """Where the axis of the batch stands, counted from the right."""
        found = row_axis(self.axes)
        return None if found is None else self.rank - found

    @property
    def scalar(self) -> Number | None:
        """The number that every element equals, if known."""
        if isinstance(self.content, Affine) and not self.content.coefficients:
            return self.content.base
        if isinstance(self.content, Elements) and self.content.array.size == 1:
            (found,) = self.content.array.flat
            return found if isinstance(found, Number) else None
        return None

    @property
    def progression(self) -> Affine | None:
        """Known elements that rise or fall by equal steps along each axis: the places in a frame, ``n - 1 - i``."""
        if not isinstance(self.content, Elements) or any(len(axis) > 1 for axis in self.axes):
            return None
        array = self.content.array
        faces = {None if found is None else found.face for found in array.flat}
        if len(faces) != 1 or faces & {None, Face.MIXED}:
            return None
        coefficients = []
        for atom, axis in enumerate(k for k, size in enumerate(array.shape) if size > 1):
            numbers = np.moveaxis(array, axis, 0)
            steps = {
                add(then, negate(one))
                for before, after in pairwise(numbers)
                for one, then in zip(np.ravel(before), np.ravel(after), strict=True)
            }
            step = steps.pop() if len(steps) == 1 else None
            if step is None or step.face is not Face.CONSTANT or not step.is_constant:
                return None
            if step.fraction:
                coefficients.append((atom, step.fraction))
        return Affine(array.flat[0], tuple(coefficients)) if coefficients else None

    def kind(self, padded: Iterable[int]) -> Kind:
        """What is known where exactly the given atoms' indices are padding."""
        inside = [i for i in padded if self.atoms[i].ragged]
        if not inside:
            return self.valid
        number = self.scalar
        if number is not None and number.is_constant:
            return constant(float(number.fraction))
        if len(inside) == 1:
            return self.pads[inside[0]].weak
        strong = [self.pads[i].strong for i in inside]
        return min(strong, key=lambda kind: (kind.value is None, not kind.scalar, not kind.finite))

    @property
    def finite_padding(self) -> bool:
        """Whether every element that is padding along any axis is finite."""
        return all(self.kind(region).finite for region in self._regions() if region)

    @property
    def everywhere(self) -> Kind:
        """What is known of every element, valid or not."""
        return join(self.kind(region) for region in self._regions())

    def _regions(self) -> Iterator[tuple[int, ...]]:
        """The sets of ragged atoms that can be padding at once; none of them where an element is valid."""
        return subsets(self.ragged)

    def with_fill(self, atoms: Iterable[int], kind: Kind) -> Facts:
        """The value after ``Where(valid along these atoms, x, what the kind promises)``."""
        atoms = list(atoms)
        pads = list(self.pads)
        for i in self.ragged:
            if i in atoms:
                pads[i] = PaddingFact.of(kind)
            else:
                pads[i] = PaddingFact(self.pads[i].weak, join([self.pads[i].strong, kind]))
        low, high = (-math.inf, math.inf) if kind.value is None else (kind.value, kind.value)
        low, high = min(self.low, low), max(self.high, high)
        return replace(self, pads=tuple(pads), low=low, high=high, content=None, diagonal=None, image=False)
