"""Masked forms of the operators that a mask alone does not mend: means and normalisations over time (PAD101)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import onnx_ir as ir

from paddable.lengths import Length, symbol
from paddable.padding.deduce.scope import BATCH
from paddable.padding.facts.axes import Axes, axis_size
from paddable.padding.remedies.emitter import Emitter

__all__ = ["FORMS"]

FLOAT = ir.DataType.FLOAT


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
    if emitter.scope.single_row or row_axis is None:
        return count
    return emitter.unsqueeze(count, list(range(1, rank - row_axis)))


def _row_axis(axes: Axes) -> int | None:
    for position, axis in enumerate(axes):
        if len(axis) == 1 and axis[0].batch:
            return position
    return None


def mean(emitter: Emitter, node: ir.Node, x: ir.Value, axes: Axes, arguments: Mapping[str, Any]) -> ir.Value:
    """sum(x) / length; ``x`` is zero in the padding already."""
    dtype = _dtype(node)
    reduced, keepdims = list(arguments["axes"]), int(arguments["keepdims"])
    wide = _wide(emitter, x, dtype)
    work = FLOAT if wide is not x else dtype
    total = emitter.reduce("ReduceSum", wide, reduced, keepdims)
    rank = len(axes) if keepdims else len(axes) - len(reduced)
    row = _row_axis(axes)
    if row is not None and not keepdims:
        row -= sum(1 for a in reduced if a < row)
    count = _rows_to(emitter, _count(emitter, arguments["sizes"], work), row, rank)
    if emitter.scope.single_row:
        count = emitter.op("Reshape", count, emitter.constant(np.ones(rank, dtype=np.int64)))
    result = emitter.op("Div", total, count)
    return result if wide is x else emitter.cast(result, dtype)


def normalise(emitter: Emitter, node: ir.Node, x: ir.Value, axes: Axes, arguments: Mapping[str, Any]) -> ir.Value:
    """(x - mean) / sqrt(variance + epsilon) * scale + bias, both statistics over the valid steps, in two passes.

    The second pass sums (x - mean)**2 over valid steps: subtracting first keeps the digits that E[x^2] - mean^2 loses.
    """
    dtype = _dtype(node)
    channels, groups = arguments["channels"], arguments["groups"]
    axes = arguments["axes"]
    rank = len(axes)
    mask = emitter.mask(axes, arguments["atoms"])
    work = FLOAT if dtype in (ir.DataType.FLOAT16, ir.DataType.BFLOAT16) else dtype
    zero = emitter.constant(np.array(0.0), work)
    wide = _wide(emitter, x, dtype)
    valid = emitter.where(mask, wide, zero)
    spatial = list(range(2, rank))

    def total(value: ir.Value) -> ir.Value:
        summed = emitter.reduce("ReduceSum", value, spatial, 1)
        if groups and groups != channels:
            # [N, C, 1..] -> [N, G, C/G, 1..], summed over C/G, spread to the channels again
            each = channels // groups
            ones = [1] * len(spatial)
            grouped = emitter.op("Reshape", summed, emitter.constant([0, groups, each, *ones]))
            grouped = emitter.reduce("ReduceSum", grouped, [2], 1)
            spread = emitter.op("Expand", grouped, emitter.constant([1, 1, each, *ones]))
            summed = emitter.op("Reshape", spread, emitter.constant([0, channels, *ones]))
        return summed

    count = _count(emitter, arguments["sizes"], work)
    if groups and groups != channels:
        count = emitter.op("Mul", count, emitter.constant([channels // groups], work))
    row = _row_axis(axes)
    count = _rows_to(emitter, count, row, rank)
    average = emitter.op("Div", total(valid), count)
    centred = emitter.where(mask, emitter.op("Sub", wide, average), zero)
    variance = emitter.op("Div", total(emitter.op("Mul", centred, centred)), count)
    deviation = emitter.op("Sqrt", emitter.op("Add", variance, emitter.constant(np.array(arguments["epsilon"]), work)))
    result = emitter.op("Div", centred, deviation)
    scale, bias = node.inputs[1], node.inputs[2]
    assert scale is not None and bias is not None
    column = emitter.constant([channels] + [1] * len(spatial))
    scale, bias = _wide(emitter, scale, dtype), _wide(emitter, bias, dtype)
    if arguments["grouped_scale"]:
        each = channels // groups
        scale, bias = (
            emitter.op("Expand", emitter.unsqueeze(v, [1]), emitter.constant([groups, each])) for v in (scale, bias)
        )
    result = emitter.op("Mul", result, emitter.op("Reshape", scale, column))
    result = emitter.op("Add", result, emitter.op("Reshape", bias, column))
    return result if work == dtype else emitter.cast(result, dtype)


def average_pool(emitter: Emitter, node: ir.Node, x: ir.Value, axes: Axes, arguments: Mapping[str, Any]) -> ir.Value:
    """pool(x) / pool(valid): the average over valid steps, as count_include_pad=0 means it at the valid end."""
    dtype = _dtype(node)
    axes = arguments["axes"]
    wide = _wide(emitter, x, dtype)
    work = FLOAT if wide is not x else dtype
    mask = emitter.cast(emitter.mask(axes, arguments["atoms"]), work)
    # spatial axes at full size, so that the window's own padding is left out of both counts alike
    row = _row_axis(axes)
    full: list[ir.Value | int] = [emitter.size(axis_size(a)) if i >= 2 or i == row else 1 for i, a in enumerate(axes)]
    weight = emitter.op("Expand", mask, emitter.shape_vector(full))
    attributes = dict(node.attributes)
    summed = _again(emitter, node, wide, attributes)
    counted = _again(emitter, node, weight, attributes)
    floor = emitter.constant(np.array(1e-6), work)
    result = emitter.op("Div", summed, emitter.op("Max", counted, floor))
    return result if wide is x else emitter.cast(result, dtype)


def last_index(emitter: Emitter, node: ir.Node, x: ir.Value, axes: Axes, arguments: Mapping[str, Any]) -> ir.Value:
    """The last of equal extremes: ties with the identity in the padding count as the last valid step."""
    found = _again(emitter, node, x, dict(node.attributes))
    axis = node.attributes["axis"].as_int() % len(axes) if "axis" in node.attributes else 0
    kept = node.attributes["keepdims"].as_int() if "keepdims" in node.attributes else 1
    row = _row_axis(axes)
    rank = len(axes) if kept else len(axes) - 1
    if row is not None and not kept and axis < row:
        row -= 1
    last = emitter.op("Sub", emitter.length(arguments["size"]), emitter.constant([1]))
    last = _rows_to(emitter, last, row, rank)
    if emitter.scope.single_row:
        last = emitter.op("Reshape", last, emitter.constant(np.ones(rank, dtype=np.int64)))
    return emitter.where(emitter.op("Less", last, found), last, found)


def _again(emitter: Emitter, node: ir.Node, x: ir.Value, attributes: Mapping[str, ir.Attr]) -> ir.Value:
    copy = ir.Node(
        "", node.op_type, [x], list(attributes.values()), name=emitter.names.fresh(f"paddable/{node.op_type}")
    )
    copy.outputs[0].name = copy.name
    emitter.nodes.append(copy)
    return copy.outputs[0]


def squeeze(emitter: Emitter, node: ir.Node, x: ir.Value, axes: Axes, arguments: Mapping[str, Any]) -> ir.Value:
    """Squeeze behind a batch axis that native has not."""
    return emitter.squeeze(x, arguments["axes"])


def unsqueeze(emitter: Emitter, node: ir.Node, x: ir.Value, axes: Axes, arguments: Mapping[str, Any]) -> ir.Value:
    """Unsqueeze behind a batch axis that native has not."""
    return emitter.unsqueeze(x, arguments["axes"])


def rows_in_place(
    emitter: Emitter, node: ir.Node, x: ir.Value, axes: Axes, arguments: Mapping[str, Any]
) -> tuple[ir.Value, ir.Value]:
    """Rows that native, of one row, leaves unsorted: what was sorted, and the place of each."""
    return emitter.op("Identity", x, dtype=x.dtype), emitter.iota(symbol(BATCH))


def resample(emitter: Emitter, node: ir.Node, x: ir.Value, axes: Axes, arguments: Mapping[str, Any]) -> ir.Value:
    """x at the positions that Resize computes from the run-time sizes.

    In the float32 arithmetic of ONNX Runtime (upsamplebase.h): a position that falls on a step, or beside it by
    rounding, is the same one in native and here.
    """
    axis, axes = int(arguments["axis"]), arguments["axes"]

    def number(value: float) -> ir.Value:
        return emitter.constant([value], FLOAT)

    before, after = (emitter.cast(emitter.per_row(emitter.length(arguments[k])), FLOAT) for k in ("size", "total"))
    steps = emitter.cast(emitter.iota(arguments["total"]), FLOAT)
    scale = emitter.op("Div", after, before)
    if arguments["transform"] == "align_corners":
        ends = (emitter.op("Sub", count, number(1)) for count in (before, emitter.op("Max", after, number(2))))
        last, others = ends
        found = emitter.op("Div", emitter.op("Mul", steps, last), others)
    elif arguments["transform"] == "asymmetric":
        found = emitter.op("Div", steps, scale)
    else:
        half = number(0.5)
        found = emitter.op("Sub", emitter.op("Div", emitter.op("Add", steps, half), scale), half)
    if arguments["transform"] in ("align_corners", "pytorch_half_pixel"):
        found = emitter.where(emitter.op("Less", number(1), after), found, number(0))
    found = emitter.where(emitter.op("Equal", after, before), steps, found)
    end = emitter.op("Sub", before, number(1))

    def within(value: ir.Value) -> ir.Value:
        return emitter.op("Min", emitter.op("Max", value, number(0)), end)

    def read(place: ir.Value) -> ir.Value:
        index = emitter.cast(place, ir.DataType.INT64)
        if emitter.scope.single_row:
            return emitter.op("Gather", x, index, axis=axis)
        return emitter.gather_rows(x, index, axes, axis)

    if arguments["mode"] == "nearest":
        return read(within(emitter.op("Floor" if arguments["rounding"] == "floor" else "Ceil", found)))
    found = within(found)
    low = emitter.op("Floor", found)
    part = emitter.cast(emitter.op("Sub", found, low), _dtype(node))
    flat = [atom for held in axes for atom in held]
    own = sum(len(held) for held in axes[:axis])
    row = next((i for i, atom in enumerate(flat) if atom.batch), None)
    if emitter.scope.single_row or row is None:
        part = emitter.place(part, axes, [own])
    else:
        part = emitter.place(part, axes, [row, own], (row, own))
    first, second = read(low), read(within(emitter.op("Add", low, number(1))))
    rest = emitter.op("Sub", emitter.cast(number(1), _dtype(node)), part)
    return emitter.op("Add", emitter.op("Mul", first, rest), emitter.op("Mul", second, part))


Form = Callable[[Emitter, ir.Node, ir.Value, Axes, Mapping[str, Any]], ir.Value | tuple[ir.Value, ...]]
"""Gives what stands for the node's outputs: for the only one, or for each of several."""
FORMS: dict[str, Form] = {
    "mean": mean,
    "normalise": normalise,
    "average_pool": average_pool,
    "last_index": last_index,
    "resample": resample,
    "rows_in_place": rows_in_place,
    "squeeze": squeeze,
    "unsqueeze": unsqueeze,
}
