"""Reductions over time (PAD101, PAD107).

Passes: a reduction over other axes, of one constant, or of the sizes of a shape.
Needs: the identity in the padding; a mean is the sum divided by the run-time length; TopK needs k steps.
Refuses: a reduction over the batch of rows with lengths of their own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import onnx_ir as ir

from paddable.lengths import constant, maximum
from paddable.padding.deduce.broadcast import pads_of
from paddable.padding.deduce.context import RuleContext
from paddable.padding.deduce.registry import rule
from paddable.padding.facts.axes import Axes, is_batch, subsets
from paddable.padding.facts.facts import Affine, Elements, Facts
from paddable.padding.facts.kinds import ANY, FINITE, ZERO, Kind
from paddable.padding.facts.numbers import Face, Number, add, extremum, multiply, number
from paddable.padding.remedies.forms import LastIndex, MaskedMean, RowsInPlace

__all__ = ["lowest", "reduced"]

_IDENTITY = {
    "ReduceSum": 0.0, "ReduceMean": 0.0, "ReduceL1": 0.0, "ReduceL2": 0.0, "ReduceSumSquare": 0.0, "ReduceLogSum": 0.0,
    "ReduceProd": 1.0, "ReduceMax": -math.inf, "ReduceMin": math.inf, "ReduceLogSumExp": -math.inf,
}  # fmt: skip


def lowest(dtype: ir.DataType) -> float:
    """The lowest finite number of a type (integers: the minimum)."""
    if dtype == ir.DataType.BFLOAT16:
        return -3.3895313892515355e38
    numpy_type = dtype.numpy()
    return float(np.iinfo(numpy_type).min if dtype.is_integer() else np.finfo(numpy_type).min)


def identity(dtype: ir.DataType, value: float) -> float:
    """The identity in a type: integers have no infinity."""
    if dtype == ir.DataType.BOOL:
        return float(value > 0)
    if math.isinf(value) and not dtype.is_floating_point():
        info = np.iinfo(dtype.numpy())
        return float(info.min if value == -math.inf else info.max)
    return value


def axes_of(context: RuleContext, rank: int) -> list[int]:
    """Reduced axes from the attribute or the input; all of them when absent."""
    listed = context.attribute("axes")
    if listed is None:
        listed = context.integers(1)
    if listed is None or len(listed) == 0:
        return [] if context.attribute("noop_with_empty_axes", 0) else list(range(rank))
    return sorted(a % rank for a in listed)


@rule(
    "ReduceSum", "ReduceMean", "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSum", "ReduceProd", "ReduceMax",
    "ReduceMin", "ReduceLogSumExp",
)  # fmt: skip
def reduction(context: RuleContext) -> Sequence[Facts | None]:
    known = _known(context)
    if known is not None:
        return [known]
    value = context.data(0)
    axes = axes_of(context, value.rank)
    atoms = [i for a in axes for i in value.span(a)]
    ragged = [i for i in atoms if value.atoms[i].ragged]
    context.keep_rows_apart((value.atoms[i] for i in atoms), "a reduction over")
    before = value
    if ragged and value.scalar is not None and context.type in ("ReduceMax", "ReduceMin"):
        # one constant, in the padding too
        kept = reduced(value.axes, axes, bool(context.attribute("keepdims", 1)))
        pads = pads_of(kept, lambda region: value.kind(()))
        return [replace(value, axes=kept, pads=pads, content=Affine(value.scalar), diagonal=None)]
    if ragged:
        fill = identity(value.dtype, _IDENTITY[context.type])
        if context.type == "ReduceMean":
            value = context.fill(0, ragged, fill, "PAD101", "the mean over time counts the padding")
            # the sum over no step is 0, and so is its mean
            sizes = tuple(maximum(value.atoms[i].size, constant(1)) for i in atoms)
            keepdims = bool(context.attribute("keepdims", 1))
            context.ask(MaskedMean("PAD101", "the mean over time counts the padding", tuple(axes), keepdims, sizes))
        elif math.isinf(_IDENTITY[context.type]):
            value = context.fill(0, ragged, fill, "PAD107", "the extremum over time sees the padding")
        else:
            value = context.fill(0, ragged, fill, "PAD101", "the sum over time counts the padding")
    result_axes = reduced(value.axes, axes, bool(context.attribute("keepdims", 1)))
    low, high = _bounds(context.type, before)
    count = _count_of_equals(context, before, atoms) if context.type == "ReduceSum" else None
    if count is not None:
        content: Affine | Elements = Affine(count) if result_axes else Elements(np.array(count, dtype=object))
        low, high = context.bounds(content, result_axes)
        return [Facts.known(value.dtype, result_axes, content, low, high)]
    return [_result(context, value, set(atoms), result_axes, low, high)]


def _count_of_equals(context: RuleContext, value: Facts, atoms: Sequence[int]) -> Number | None:
    """The sum of a mask over time: its run-time length, since the padding is 0 by now."""
    equal, ragged = value.valid.value, [i for i in atoms if value.atoms[i].ragged]
    if equal is None or not value.is_integer or len(ragged) != 1 or list(value.ragged) != ragged:
        return None
    (own,) = ragged
    others = [value.atoms[i].size.constant for i in atoms if i != own]
    return number(value.atoms[own].size * (int(equal) * math.prod(others)), Face.LENGTH)


_FOLD: dict[str, Callable[..., Number | None]] = {
    "ReduceSum": add,
    "ReduceProd": multiply,
    "ReduceMax": lambda a, b, domain: extremum(a, b, largest=True, domain=domain),
    "ReduceMin": lambda a, b, domain: extremum(a, b, largest=False, domain=domain),
}


def _known(context: RuleContext) -> Facts | None:
    """A reduction of sizes is a size: the product of a shape's entries."""
    value = context.peek(0)
    fold = _FOLD.get(context.type)
    if fold is None or not isinstance(value.content, Elements):
        return None
    if value.content.face is Face.CONSTANT and not value.is_integer:  # a float sum rounds as the provider does
        return None
    axes = axes_of(context, value.rank)
    if axes != list(range(value.rank)) or any(x is None for x in value.content.array.flat):
        return None
    total = None
    for item in value.content.array.flat:
        if total is None:
            total = item
        elif context.type in ("ReduceMax", "ReduceMin"):
            total = fold(total, item, context.scope.domain)
        else:
            total = fold(total, item)
        if total is None:
            return None
    kept = reduced(value.axes, axes, bool(context.attribute("keepdims", 1)))
    array = np.full((1,) * len(kept), total, dtype=object)
    return Facts.known(value.dtype, kept, Elements(array))


def reduced(axes: Axes, dropped: Sequence[int], keep: bool) -> Axes:
    """The axes after a reduction."""
    return tuple(() if i in dropped else axis for i, axis in enumerate(axes) if keep or i not in dropped)


def _bounds(op_type: str, value: Facts) -> tuple[float, float]:
    if op_type in ("ReduceMean", "ReduceMax", "ReduceMin"):
        return value.low, value.high
    if op_type in ("ReduceL1", "ReduceL2", "ReduceSumSquare"):
        return 0.0, math.inf
    if op_type in ("ReduceSum", "ReduceProd") and value.low >= 0:
        return 0.0, math.inf
    return -math.inf, math.inf


def _result(context: RuleContext, value: Facts, atoms: set[int], axes: Axes, low: float, high: float) -> Facts:
    kept = [i for i in range(len(value.atoms)) if i not in atoms]
    hidden = [i for i in value.ragged if i in atoms]

    def kind_at(region: tuple[int, ...]) -> Kind:
        own = [kept[i] for i in region]
        kinds = [value.kind([*own, *extra]) for extra in subsets(hidden)]
        if all(k.is_zero for k in kinds) and context.type not in ("ReduceLogSum", "ReduceLogSumExp"):
            return ZERO
        if context.type in ("ReduceMax", "ReduceMin", "ReduceLogSumExp"):
            kinds = kinds[:1]  # the filled padding never wins
        if context.type == "ReduceLogSum":
            return ANY
        return FINITE if all(k.finite for k in kinds) else ANY

    valid = kind_at(())
    return Facts(value.dtype, axes, pads_of(axes, kind_at), None, low, high, finite=valid.finite, masked=value.masked)


@rule("ArgMax", "ArgMin")
def arg_extremum(context: RuleContext) -> Sequence[Facts | None]:
    value = context.data(0)
    axis = context.attribute("axis", 0) % value.rank
    span = list(value.span(axis))
    context.keep_rows_apart(value.axes[axis], "an extremum over")
    ragged = [i for i in span if value.atoms[i].ragged]
    if ragged:
        value = context.prefix_axis(0, axis)
        fill = identity(value.dtype, -math.inf if context.type == "ArgMax" else math.inf)
        leak = "the position of the extremum may lie in the padding"
        value = context.fill(0, value.span(axis), fill, "PAD107", leak)
        if context.attribute("select_last_index", 0):
            # where every valid step ties with the identity, the last of them is the last valid step
            context.ask(LastIndex("PAD107", leak, context.length_of(value.axes[axis])))
    axes = reduced(value.axes, [axis], bool(context.attribute("keepdims", 1)))
    return [Facts(ir.DataType.INT64, axes, pads_of(axes, lambda region: FINITE), None, 0.0)]


def _sorts_rows(context: RuleContext, axis: int) -> bool:
    """Whether all rows are sorted by one number each, as a packed sequence sorts them by length."""
    value, (count, *_) = context.peek(0), context.sizes(1)
    if value.rank > 1 or not is_batch(value.axes[axis]):
        return False
    return count.integer == value.size(axis) or context.scope.is_rows(count.integer)


def _rows_in_place(context: RuleContext) -> Sequence[Facts | None]:
    """Native has one row, which sorting leaves where it is: so are all rows of the container."""
    value = context.data(0, row_axis=1)
    context.ask(RowsInPlace("", "rows are sorted by what each of them has"))
    places = Facts.known(ir.DataType.INT64, value.axes, Affine(number(0), ((0, Fraction(1)),)), 0.0)
    return [value, places]


@rule("TopK")
def top_k(context: RuleContext) -> Sequence[Facts | None]:
    axis = context.attribute("axis", -1) % context.peek(0).rank
    if _sorts_rows(context, axis):
        return _rows_in_place(context)
    counts = context.integers(1)
    if not context.peek(0).axes[axis] and counts == [1]:  # the only element, whatever it is
        value = context.settle(0)
        zeros = Facts.known(ir.DataType.INT64, value.axes, Affine(number(0)), 0.0, 0.0)
        return [value, zeros]
    value = context.data(0)
    if counts is None:
        context.refuse("TopK without k")
    count = counts[0]
    span = list(value.span(axis))
    context.keep_rows_apart(value.axes[axis], "an extremum over")
    if any(value.atoms[i].ragged for i in span):
        value = context.prefix_axis(0, axis)
        size = context.length_of(value.axes[axis])
        context.need(size - count, f"TopK of {count} needs {count} steps")
        fill = identity(value.dtype, -math.inf if context.attribute("largest", 1) else math.inf)
        value = context.fill(0, value.span(axis), fill, "PAD107", "the largest values may lie in the padding")
    axes = (*value.axes[:axis], context.axis(count), *value.axes[axis + 1 :])
    kinds = pads_of(axes, lambda region: FINITE if value.dtype.is_integer() else ANY)
    values = Facts(value.dtype, axes, kinds, None, value.low, value.high, finite=value.finite, masked=value.masked)
    return [values, Facts(ir.DataType.INT64, axes, pads_of(axes, lambda region: FINITE), None, 0.0)]


def _equal_steps(context: RuleContext, value: Facts, axis: int) -> Fraction | None:
    """The integer that every step of an axis equals: of a mask, whose padding is made so, the count is the position."""
    scalar = value.scalar
    if scalar is not None:
        return scalar.fraction if scalar.is_constant else None
    equal, own = value.valid.value, value.span(axis)
    if equal is None or not value.is_integer or list(own) != list(value.ragged) or not value.atoms[own.start].prefix:
        return None
    context.data(0)
    context.fill(0, own, equal, "", "a running count of valid steps is the place of each")
    return Fraction(int(equal))


@rule("CumSum")
def cumulative_sum(context: RuleContext) -> Sequence[Facts | None]:
    """Forward sums read the past only; reversed ones start in the padding, which must be zero."""
    value = context.peek(0)
    listed = context.integers(1)
    assert listed is not None
    axis = listed[0] % value.rank
    context.keep_rows_apart(value.axes[axis], "CumSum along")
    reverse, exclusive = context.attribute("reverse", 0), context.attribute("exclusive", 0)
    step = None if reverse or len(value.axes[axis]) != 1 else _equal_steps(context, value, axis)
    if step is not None:
        value = context.peek(0)
        base = number(0 if exclusive else step)
        content = Affine(base, ((value.span(axis).start, Fraction(step)),) if step else ())
        low = float(min(Fraction(0), step)) if step >= 0 else -math.inf
        return [Facts.known(value.dtype, value.axes, content, low if step < 0 else float(base.fraction))]
    value = context.data(0)
    if any(a.ragged for a in value.axes[axis]):
        value = context.prefix_axis(0, axis)
        if reverse:
            value = context.fill(0, value.span(axis), 0.0, "PAD101", "the reversed sum starts in the padding")
    span = set(value.span(axis))

    def kind_at(region: tuple[int, ...]) -> Kind:
        if value.dtype.is_integer():
            return FINITE
        own = [i for i in region if i not in span]
        kinds = [value.kind(own), *(value.kind([*own, i]) for i in span if value.atoms[i].ragged)]
        if not any(i in span for i in region) and not reverse:
            kinds = kinds[:1]
        return FINITE if all(k.finite for k in kinds) else ANY

    low = 0.0 if value.low >= 0 else -math.inf
    pads = pads_of(value.axes, kind_at)
    return [Facts(value.dtype, value.axes, pads, None, low, finite=value.finite, masked=value.masked)]
