"""Nodes that are replaced as a whole, since a mask alone does not mend them: means and normalisations over time."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from paddable.lengths import Length, symbol
from paddable.padding.deduce.scope import BATCH
from paddable.padding.facts.axes import Axes, axis_size, row_axis
from paddable.padding.remedies.emitter import Emitter
from paddable.padding.remedies.remedy import Replace

__all__ = [
    "LastIndex",
    "MaskedAveragePool",
    "MaskedMean",
    "MaskedNormalisation",
    "Parts",
    "Resampled",
    "RowGather",
    "RowsInPlace",
    "ShiftedSquare",
    "SqueezeBehindRows",
    "TransposeBehindRows",
    "UnsqueezeBehindRows",
]

FLOAT = ir.DataType.FLOAT
INT64 = ir.DataType.INT64


def _wide(emitter: Emitter, x: ir.Value, dtype: ir.DataType) -> ir.Value:
    """Sums of half precision are taken in float: a count above 2048 is none in half."""
    return emitter.cast(x, FLOAT) if dtype in (ir.DataType.FLOAT16, ir.DataType.BFLOAT16) else x


def _dtype(node: ir.Node) -> ir.DataType:
    source = node.inputs[0]
    return (source.dtype if source is not None else None) or FLOAT


def _count(emitter: Emitter, sizes: Sequence[Length], dtype: ir.DataType) -> ir.Value:
    """The number of valid elements, a product of lengths: [1] or [rows], of a float type."""
    fixed = math.prod(s.constant for s in sizes if s.is_constant)
    total: ir.Value | None = None
    for size in sizes:
        if not size.is_constant:
            value = emitter.length(size)
            total = value if total is None else emitter.op("Mul", total, value)
    assert total is not None
    if fixed != 1:
        total = emitter.op("Mul", total, emitter.constant([fixed]))
    return emitter.cast(total, dtype)


def _rows_to(emitter: Emitter, count: ir.Value, row_axis: int | None, rank: int) -> ir.Value:
    """[rows] to the rank of a reduced value with the batch at ``row_axis``."""
    if row_axis is None:
        return count
    return emitter.unsqueeze(count, list(range(1, rank - row_axis)))


@dataclass(frozen=True, eq=False)
class MaskedMean(Replace):
    """sum(x) / length; ``x`` is zero in the padding already.

    Attributes:
        reduced: the axes that are averaged.
        keepdims: whether they stay as axes of size 1.
        sizes: the size of each factor of those axes.
    """

    reduced: tuple[int, ...]
    keepdims: bool
    sizes: tuple[Length, ...]

    @property
    def text(self) -> str:
        return "masked sum divided by the length"

    def emit(self, emitter: Emitter, node: ir.Node, x: ir.Value, axes: Axes) -> ir.Value:
        dtype = _dtype(node)
        reduced, keepdims = list(self.reduced), int(self.keepdims)
        wide = _wide(emitter, x, dtype)
        work = FLOAT if wide is not x else dtype
        total = emitter.reduce_sum(wide, reduced, keepdims)
        rank = len(axes) if keepdims else len(axes) - len(reduced)
        row = row_axis(axes)
        if row is not None and not keepdims:
            row -= sum(1 for a in reduced if a < row)
        count = _rows_to(emitter, _count(emitter, self.sizes, work), row, rank)
        if emitter.scope.single_row:
            count = emitter.op("Reshape", count, emitter.constant(np.ones(rank, dtype=np.int64)))
        result = emitter.op("Div", total, count)
        return result if wide is x else emitter.cast(result, dtype)


@dataclass(frozen=True, eq=False)
class MaskedNormalisation(Replace):
    """(x - mean) / sqrt(variance + epsilon) * scale + bias, both statistics over the valid steps, in two passes.

    The second pass sums (x - mean)**2 over valid steps: subtracting first keeps the digits that E[x^2] - mean^2 loses.

    Attributes:
        axes: of ``x``.
        atoms: its ragged factors.
        sizes: the size of each factor behind the channels.
        channels: how many there are.
        groups: how many share their statistics with others; 0 where each channel has its own.
        epsilon: of the operator.
        grouped_scale: scale and bias are one a group.
    """

    axes: Axes
    atoms: tuple[int, ...]
    sizes: tuple[Length, ...]
    channels: int
    groups: int
    epsilon: float
    grouped_scale: bool

    @property
    def text(self) -> str:
        return "masked two-pass mean and variance"

    def emit(self, emitter: Emitter, node: ir.Node, x: ir.Value, axes: Axes) -> ir.Value:
        dtype = _dtype(node)
        channels, groups, axes = self.channels, self.groups, self.axes
        rank = len(axes)
        mask = emitter.mask(axes, self.atoms)
        work = FLOAT if dtype in (ir.DataType.FLOAT16, ir.DataType.BFLOAT16) else dtype
        zero = emitter.constant(np.array(0.0), work)
        wide = _wide(emitter, x, dtype)
        valid = emitter.where(mask, wide, zero)
        spatial = list(range(2, rank))

        def total(value: ir.Value) -> ir.Value:
            summed = emitter.reduce_sum(value, spatial, 1)
            if groups and groups != channels:
                # [N, C, 1..] -> [N, G, C/G, 1..], summed over C/G, spread to the channels again
                each = channels // groups
                ones = [1] * len(spatial)
                grouped = emitter.op("Reshape", summed, emitter.constant([0, groups, each, *ones]))
                grouped = emitter.reduce_sum(grouped, [2], 1)
                spread = emitter.op("Expand", grouped, emitter.constant([1, 1, each, *ones]))
                summed = emitter.op("Reshape", spread, emitter.constant([0, channels, *ones]))
            return summed

        count = _count(emitter, self.sizes, work)
        if groups and groups != channels:
            count = emitter.op("Mul", count, emitter.constant([channels // groups], work))
        row = row_axis(axes)
        count = _rows_to(emitter, count, row, rank)
        average = emitter.op("Div", total(valid), count)
        centred = emitter.where(mask, emitter.op("Sub", wide, average), zero)
        variance = emitter.op("Div", total(emitter.op("Mul", centred, centred)), count)
        deviation = emitter.op("Sqrt", emitter.op("Add", variance, emitter.constant(np.array(self.epsilon), work)))
        result = emitter.op("Div", centred, deviation)
        scale, bias = node.inputs[1], node.inputs[2]
        assert scale is not None and bias is not None
        column = emitter.constant([channels] + [1] * len(spatial))
        scale, bias = _wide(emitter, scale, dtype), _wide(emitter, bias, dtype)
        if self.grouped_scale:
            each = channels // groups
            scale, bias = (
                emitter.op("Expand", emitter.unsqueeze(v, [1]), emitter.constant([groups, each])) for v in (scale, bias)
            )
        result = emitter.op("Mul", result, emitter.op("Reshape", scale, column))
        result = emitter.op("Add", result, emitter.op("Reshape", bias, column))
        return result if work == dtype else emitter.cast(result, dtype)


@dataclass(frozen=True, eq=False)
class MaskedAveragePool(Replace):
    """pool(x) / pool(valid): the average over valid steps, as count_include_pad=0 means it at the valid end.

    Attributes:
        axes: of ``x``.
        atoms: its ragged factors that a window overhangs.
    """

    axes: Axes
    atoms: tuple[int, ...]

    @property
    def text(self) -> str:
        return "masked sum divided by the valid count"

    def emit(self, emitter: Emitter, node: ir.Node, x: ir.Value, axes: Axes) -> ir.Value:
        dtype = _dtype(node)
        axes = self.axes
        wide = _wide(emitter, x, dtype)
        work = FLOAT if wide is not x else dtype
        mask = emitter.cast(emitter.mask(axes, self.atoms), work)
        # spatial axes at full size, so that the window's own padding is left out of both counts alike
        row = row_axis(axes)
        full: list[ir.Value | int] = [
            emitter.size(axis_size(a)) if i >= 2 or i == row else 1 for i, a in enumerate(axes)
        ]
        weight = emitter.op("Expand", mask, emitter.shape_vector(full))
        attributes = dict(node.attributes)
        summed = _again(emitter, node, wide, attributes)
        counted = _again(emitter, node, weight, attributes)
        floor = emitter.constant(np.array(1e-6), work)
        result = emitter.op("Div", summed, emitter.op("Max", counted, floor))
        return result if wide is x else emitter.cast(result, dtype)


@dataclass(frozen=True, eq=False)
class LastIndex(Replace):
    """The last of equal extremes: ties with the identity in the padding count as the last valid step.

    Attributes:
        size: of the axis, in steps.
    """

    size: Length

    @property
    def text(self) -> str:
        return "at most the last valid index"

    def emit(self, emitter: Emitter, node: ir.Node, x: ir.Value, axes: Axes) -> ir.Value:
        found = _again(emitter, node, x, dict(node.attributes))
        axis = node.attributes["axis"].as_int() % len(axes) if "axis" in node.attributes else 0
        kept = node.attributes["keepdims"].as_int() if "keepdims" in node.attributes else 1
        row = row_axis(axes)
        rank = len(axes) if kept else len(axes) - 1
        if row is not None and not kept and axis < row:
            row -= 1
        last = emitter.op("Sub", emitter.length(self.size), emitter.constant([1]))
        last = _rows_to(emitter, last, row, rank)
        if emitter.scope.single_row:
            last = emitter.op("Reshape", last, emitter.constant(np.ones(rank, dtype=np.int64)))
        return emitter.where(emitter.op("Less", last, found), last, found)


@dataclass(frozen=True, eq=False)
class SqueezeBehindRows(Replace):
    """Squeeze behind a batch axis that native has not."""

    dropped: tuple[int, ...]

    @property
    def text(self) -> str:
        return "squeeze"

    def emit(self, emitter: Emitter, node: ir.Node, x: ir.Value, axes: Axes) -> ir.Value:
        return emitter.squeeze(x, self.dropped)


@dataclass(frozen=True, eq=False)
class TransposeBehindRows(Replace):
    """Transpose behind a batch axis that native has not."""

    order: tuple[int, ...]

    @property
    def text(self) -> str:
        return "transpose"

    def emit(self, emitter: Emitter, node: ir.Node, x: ir.Value, axes: Axes) -> ir.Value:
        return emitter.op("Transpose", x, perm=list(self.order))


@dataclass(frozen=True, eq=False)
class UnsqueezeBehindRows(Replace):
    """Unsqueeze behind a batch axis that native has not."""

    added: tuple[int, ...]

    @property
    def text(self) -> str:
        return "unsqueeze"

    def emit(self, emitter: Emitter, node: ir.Node, x: ir.Value, axes: Axes) -> ir.Value:
        return emitter.unsqueeze(x, self.added)


class RowsInPlace(Replace):
    """Rows that native, of one row, leaves unsorted: what was sorted, and the place of each."""

    @property
    def text(self) -> str:
        return "leave the rows where they are"

    def emit(self, emitter: Emitter, node: ir.Node, x: ir.Value, axes: Axes) -> tuple[ir.Value, ir.Value]:
        return emitter.op("Identity", x, dtype=x.dtype), emitter.iota(symbol(BATCH))


@dataclass(frozen=True, eq=False)
class Parts(Replace):
    """Parts of a ragged axis one behind the other, each read where native's begins.

    Attributes:
        axis: which is split.
        parts: of each its start and its size, in native.
    """

    axis: int
    parts: tuple[tuple[Length, Length], ...]

    @property
    def text(self) -> str:
        return "gather by run-time index"

    def emit(self, emitter: Emitter, node: ir.Node, x: ir.Value, axes: Axes) -> tuple[ir.Value, ...]:
        last = emitter.op("Sub", emitter.size(axis_size(axes[self.axis])), emitter.constant([1]), dtype=INT64)
        taken = []
        for start, size in self.parts:
            shared = emitter.scope.single_row or start.is_constant
            first = emitter.length(start) if shared else emitter.per_row(emitter.length(start))
            index = emitter.op("Add", emitter.iota(size), first, dtype=INT64)
            index = emitter.where(emitter.op("Less", last, index), last, index)
            taken.append(
                emitter.op("Gather", x, index, axis=self.axis)
                if shared
                else emitter.gather_rows(x, index, axes, self.axis)
            )
        return tuple(taken)


@dataclass(frozen=True, eq=False)
class RowGather(Replace):
    """Steps that each row picks by an index of its own, where native, of one row, has one index.

    Attributes:
        axis: of the data.
        index: the axes of the index behind the rows.
        tuples: the index has a last axis of size 1, as GatherND takes it.
    """

    axis: int
    index: Axes
    tuples: bool

    @property
    def text(self) -> str:
        return "gather row by row"

    def emit(self, emitter: Emitter, node: ir.Node, x: ir.Value, axes: Axes) -> ir.Value:
        index = node.inputs[1]
        assert index is not None
        flat = emitter.op("Reshape", emitter.cast(index, INT64), emitter.constant([0, -1]))
        taken = emitter.gather_rows(x, flat, axes, self.axis)
        shape = [emitter.size(axis_size(a)) for a in (*axes[: self.axis], *self.index, *axes[self.axis + 1 :])]
        return emitter.op("Reshape", taken, emitter.shape_vector(shape))


@dataclass(frozen=True, eq=False)
class ShiftedSquare(Replace):
    """ESPnet's first relative shift, of scores with a column in front (``deduce/relative_shift.py``).

    Attributes:
        size: L, the native number of queries and of keys.
    """

    size: Length

    @property
    def text(self) -> str:
        return "gather by run-time index"

    def emit(self, emitter: Emitter, node: ir.Node, x: ir.Value, axes: Axes) -> ir.Value:
        size, single = self.size, emitter.scope.single_row

        def number(value: int) -> ir.Value:
            return emitter.constant([value])

        def make() -> ir.Value:
            """Of each element its place in a row of scores: int64 [L * L], or [rows, L * L]."""
            column = emitter.iota(size)
            row = emitter.unsqueeze(column, [1])
            length = emitter.length(size)
            length = length if single else emitter.unsqueeze(length, [1, 2])
            over = emitter.op("Sub", column, row, dtype=INT64)
            own = emitter.op("Less", over, number(1))
            place = emitter.where(own, emitter.op("Add", length, over, dtype=INT64), emitter.op("Sub", over, number(1)))
            read = emitter.where(own, row, emitter.op("Add", row, number(1), dtype=INT64))
            found = emitter.op("Add", emitter.op("Mul", read, emitter.size(size + 1), dtype=INT64), place, dtype=INT64)
            return emitter.op("Reshape", found, number(-1) if single else emitter.constant([0, -1]))

        index = emitter.once(("shifted square", size), make)
        lead = len(axes) - 2
        flat = emitter.op("Reshape", x, emitter.constant([0] * lead + [-1]))
        if single:
            taken = emitter.op("Gather", flat, index, axis=lead)
        else:
            taken = emitter.gather_rows(flat, index, (*axes[:lead], axes[-1]), lead)
        shape: list[ir.Value | int] = [
            *(emitter.size(axis_size(axis)) for axis in axes[:lead]),
            *[emitter.size(size)] * 2,
        ]
        return emitter.op("Reshape", taken, emitter.shape_vector(shape))


@dataclass(frozen=True, eq=False)
class Resampled(Replace):
    """x at the positions that Resize computes from the run-time sizes.

    In the float32 arithmetic of ONNX Runtime (upsamplebase.h): a position that falls on a step, or beside it by
    rounding, is the same one in native and here. To the nearest step it rounds as version 1.27 does and later ones.

    Attributes:
        axis: the one that is resized.
        axes: of the operand.
        size: its native size there.
        total: the native size of the result.
        mode: ``nearest``, ``linear`` or ``bilinear``.
        transform: the operator's ``coordinate_transformation_mode``.
        rounding: its ``nearest_mode``.
    """

    axis: int
    axes: Axes
    size: Length
    total: Length
    mode: str
    transform: str
    rounding: str

    @property
    def text(self) -> str:
        return "gather at the positions of the run-time length"

    def emit(self, emitter: Emitter, node: ir.Node, x: ir.Value, axes: Axes) -> ir.Value:
        before, after = (emitter.cast(emitter.per_row(emitter.length(k)), FLOAT) for k in (self.size, self.total))
        end = emitter.op("Sub", before, emitter.constant(np.array([1.0]), FLOAT))
        found = self._positions(emitter, before, after)

        def within(value: ir.Value) -> ir.Value:
            return emitter.op("Min", emitter.op("Max", value, emitter.constant(np.array([0.0]), FLOAT)), end)

        def read(place: ir.Value) -> ir.Value:
            index = emitter.cast(place, ir.DataType.INT64)
            if emitter.scope.single_row:
                return emitter.op("Gather", x, index, axis=self.axis)
            return emitter.gather_rows(x, index, self.axes, self.axis)

        if self.mode == "nearest":
            return read(within(self._rounded(emitter, found)))
        found = within(found)
        low = emitter.op("Floor", found)
        part = self._in_place(emitter, emitter.cast(emitter.op("Sub", found, low), _dtype(node)))
        first, second = read(low), read(within(emitter.op("Add", low, emitter.constant(np.array([1.0]), FLOAT))))
        rest = emitter.op("Sub", emitter.cast(emitter.constant(np.array([1.0]), FLOAT), _dtype(node)), part)
        return emitter.op("Add", emitter.op("Mul", first, rest), emitter.op("Mul", second, part))

    def _rounded(self, emitter: Emitter, found: ir.Value) -> ir.Value:
        """To whole steps: what lies within 1e-6 of the middle goes to the side that is preferred."""
        if self.rounding == "ceil":
            return emitter.op("Ceil", found)
        low = emitter.op("Floor", found)
        if self.rounding == "floor":
            return low
        part = emitter.op("Sub", emitter.op("Sub", found, low), emitter.constant(np.array([0.5]), FLOAT))
        high = emitter.op("Add", low, emitter.constant(np.array([1.0]), FLOAT))
        edge = emitter.constant(np.array([1e-6 if self.rounding == "round_prefer_floor" else -1e-6]), FLOAT)
        if self.rounding == "round_prefer_floor":
            return emitter.where(emitter.op("Less", edge, part), high, low)
        return emitter.where(emitter.op("Less", part, edge), low, high)

    def _positions(self, emitter: Emitter, before: ir.Value, after: ir.Value) -> ir.Value:
        """Of each step of the result, where it lies among the ``before`` steps of the operand."""

        def number(value: float) -> ir.Value:
            return emitter.constant(np.array([value]), FLOAT)

        steps = emitter.cast(emitter.iota(self.total), FLOAT)
        scale = emitter.op("Div", after, before)
        if self.transform == "align_corners":
            ends = (emitter.op("Sub", count, number(1)) for count in (before, emitter.op("Max", after, number(2))))
            last, others = ends
            found = emitter.op("Div", emitter.op("Mul", steps, last), others)
        elif self.transform == "asymmetric":
            found = emitter.op("Div", steps, scale)
        else:
            half = number(0.5)
            found = emitter.op("Sub", emitter.op("Div", emitter.op("Add", steps, half), scale), half)
        if self.transform in ("align_corners", "pytorch_half_pixel"):
            found = emitter.where(emitter.op("Less", number(1), after), found, number(0))
        return emitter.where(emitter.op("Equal", after, before), steps, found)

    def _in_place(self, emitter: Emitter, part: ir.Value) -> ir.Value:
        """A number for each step, of each row where they differ, as it lies in the result."""
        flat = [atom for held in self.axes for atom in held]
        own = sum(len(held) for held in self.axes[: self.axis])
        row = next((i for i, atom in enumerate(flat) if atom.batch), None)
        if emitter.scope.single_row or row is None:
            return emitter.place(part, self.axes, [own])
        return emitter.place(part, self.axes, [row, own], (row, own))


def _again(emitter: Emitter, node: ir.Node, x: ir.Value, attributes: Mapping[str, ir.Attr]) -> ir.Value:
    copy = ir.Node(
        "", node.op_type, [x], list(attributes.values()), name=emitter.names.fresh(f"paddable/{node.op_type}")
    )
    copy.outputs[0].name = copy.name
    emitter.nodes.append(copy)
    return copy.outputs[0]
