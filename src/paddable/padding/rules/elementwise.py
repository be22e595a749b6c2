"""Elementwise operators: each element of the result depends on the same element of the operands.

Passes: everything, fact by fact and region by region. A region of one constant is evaluated, so zero stays zero where
f(0) = 0, and a mask's constant meets Where, And and Mul as a constant. ``0 * x`` and ``0 / x`` are zero only beside
finite (nonzero) values.
Needs: the run-time length where a number made of sizes meets data (PAD106); 1 in the padding of an integer divisor
that may be 0 there; the lengths at which a length as a divisor is not 0.
Refuses: operands whose sizes do not agree at every length.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import onnx_ir as ir

from paddable.lengths import Length
from paddable.padding.deduce.broadcast import Broadcast, bring_rows, broadcast, pads_of
from paddable.padding.deduce.context import RuleContext
from paddable.padding.deduce.own_rows import computed_with_places
from paddable.padding.deduce.pointwise import CONTRIBUTED, POINTWISE, bounds, evaluate, keeps_finite, row
from paddable.padding.deduce.registry import rule
from paddable.padding.deduce.symbolic import decide_comparison, difference, elementwise_content
from paddable.padding.facts.axes import row_axis
from paddable.padding.facts.facts import MASK_FILL, Affine, Diagonal, Facts, Pending
from paddable.padding.facts.kinds import ANY, BELOW, FINITE, ZERO, Kind, constant, join
from paddable.padding.facts.numbers import Face

__all__ = ["elementwise"]

_COMPARISONS = ("Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual")


def _combine(context: RuleContext, operands: Sequence[Facts], kinds: Sequence[Kind]) -> Kind:
    """The kind of the result in a region where the operands are of these kinds."""
    op_type = context.type
    result_integer = row(op_type).boolean or _result_type(context, operands).is_integer()
    if op_type == "Where":
        condition = kinds[0].value
        if condition is not None:
            return kinds[1] if condition else kinds[2]
        return join(kinds[1:])
    if op_type == "And" and any(k.is_zero for k in kinds):
        return ZERO
    if op_type == "Or" and any(k.value == 1.0 for k in kinds):
        return constant(1.0)
    if op_type in ("IsNaN", "IsInf") and all(k.finite for k in kinds):
        return ZERO
    if op_type in ("Mul", "BitwiseAnd") and any(k.is_zero for k in kinds) and all(k.finite for k in kinds):
        return ZERO
    if op_type == "Div" and kinds[0].is_zero and kinds[1].finite and keeps_finite("Div", operands):
        return ZERO
    if op_type in ("Add", "Sub") and all((not k.finite and k.value is not None) or k.finite for k in kinds):
        infinite = [k for k in kinds if not k.finite]
        if len(infinite) == 1:
            bound = infinite[0].value or 0.0
            return constant(-bound if op_type == "Sub" and infinite[0] is kinds[1] else bound)
    if op_type == "Add" and all(k.below for k in kinds) and not all(k.finite for k in kinds):
        return BELOW
    if op_type in ("Mul", "Div") and kinds[0].below and not kinds[0].finite and operands[1].low == operands[1].high > 0:
        return BELOW
    known = [k.value for k in kinds if k.value is not None]
    if len(known) == len(kinds):
        value = _evaluate(context, known, result_integer)
        if value is not None:
            return constant(value)
        if row(op_type).zero_at_zero and kinds[0].is_zero and (len(kinds) == 1 or op_type == "PRelu"):
            return ZERO
    if row(op_type).boolean:
        return FINITE
    if result_integer:  # an integer is finite, but what is made of NaN keeps to no bounds
        return FINITE if all(k.finite for k in kinds) else ANY
    if all(k.finite for k in kinds) and keeps_finite(op_type, operands):
        return FINITE
    return ANY


def _evaluate(context: RuleContext, values: Sequence[float], integer: bool) -> float | None:
    op_type = context.type
    if op_type == "Cast":
        to = context.attribute("to")
        if to == 9:
            return float(values[0] != 0)
        if to == 10:
            with np.errstate(all="ignore"):
                return float(np.float16(values[0]))
        if to in (1, 11, 16):
            return values[0]
        return float(int(values[0])) if math.isfinite(values[0]) else None
    if op_type == "Clip":
        x = values[0]
        rest = list(values[1:])
        low = rest.pop(0) if context.present(1) else context.attribute("min", -math.inf)
        high = rest.pop(0) if context.present(2) else context.attribute("max", math.inf)
        return min(max(x, low), high)
    if op_type == "Div" and integer:
        return float(int(values[0] / values[1])) if values[1] else None
    return evaluate(op_type, values)


def _result_type(context: RuleContext, operands: Sequence[Facts]) -> ir.DataType:
    if row(context.type).boolean:
        return ir.DataType.BOOL
    if context.type == "Cast":
        return ir.DataType(context.attribute("to"))
    if context.type == "Where":
        return operands[1].dtype
    return operands[0].dtype


@rule(*POINTWISE)
def elementwise(context: RuleContext) -> Sequence[Facts | None]:
    """Facts per region, known contents where they are arithmetic on lengths."""
    return [_elementwise(context)]


@rule(*CONTRIBUTED, domain="com.microsoft")
def contrib_activation(context: RuleContext) -> Sequence[Facts | None]:
    """The contributed activations behave as Gelu does."""
    return [_elementwise(context)]


def _operand_indices(context: RuleContext) -> list[int]:
    if context.type == "Dropout":
        return [0]
    return [i for i, operand in enumerate(context.operands) if operand is not None]


def _elementwise(context: RuleContext) -> Facts:
    indices = _operand_indices(context)
    pending = _carried_pending(context, indices)
    if pending is None:
        for i in indices:
            context.settle(i)
    rank = max(context.peek(i).rank - context.peek(i).rows_in_front for i in indices)
    in_front = _spread_rows(context, indices, rank)
    joined = broadcast(context, indices)
    content = elementwise_content(context, joined)
    if pending is not None and joined.axes != joined.values[_widest(joined)].axes:
        pending.token.commit()
        pending = None
    if content is not None:
        dtype = _result_type(context, joined.values)
        low, high = context.bounds(content, joined.axes)
        finite = all(value.finite for value in joined.values) and keeps_finite(context.type, joined.values)
        return Facts.known(dtype, joined.axes, content, low, high, finite=finite, rows_in_front=in_front)
    placed = computed_with_places(context, joined)
    if placed is not None:
        return placed
    gap = difference(joined) if context.type in _COMPARISONS else None
    row_axis = _row_axis(context, joined)
    one_varies = sum(1 for v in joined.values if v.ragged) == 1  # constants broadcast over a window as it stands
    if context.type in ("Div", "Mod"):
        _nonzero(context, joined.values[1])
    for i in indices:
        context.data(i, row_axis=row_axis, shifted=one_varies)
    if context.type in ("Div", "Mod") and context.peek(0).dtype.is_integer():
        _divisible(context)
    joined = broadcast(context, indices)
    in_front = in_front or len(joined.axes) > rank
    operands = joined.values
    if gap is not None:
        gap = difference(joined) or gap
    atoms = tuple(atom for axis in joined.axes for atom in axis)

    def kind_at(region: tuple[int, ...]) -> Kind:
        if gap is not None:
            decided = decide_comparison(context, gap, atoms, region)
            if decided is not None:
                return constant(float(decided))
        return _combine(context, operands, joined.kinds(region))

    dtype = _result_type(context, operands)
    low, high = bounds(context.type, operands, context.attribute)
    if context.type == "Clip":
        low, high = _clip_bounds(context, operands)
    valid = kind_at(())
    result = Facts(
        dtype,
        joined.axes,
        pads_of(joined.axes, kind_at),
        None,
        low,
        high,
        finite=valid.finite or dtype.is_integer() or dtype == ir.DataType.BOOL,
        below=valid.below,
        masked=dtype.is_floating_point() and _masked(context, _on_the_valid_part(context, joined), valid),
        constant=valid.value,
        diagonal=_diagonal(context, joined, gap),
        rows_in_front=in_front,
    )
    return replace(result, pending=pending) if pending is not None else result


def _diagonal(context: RuleContext, joined: Broadcast, gap: Affine | None) -> Diagonal | None:
    """The kind where two ragged indices are equal: decided for a comparison of positions, combined for the rest."""
    pair = None
    if gap is not None and len(gap.coefficients) == 2:
        (row, first), (column, second) = gap.coefficients
        atoms = [atom for axis in joined.axes for atom in axis]
        square = context.scope.same(atoms[row].size, atoms[column].size)
        if square and first == -second and all(atoms[i].ragged and atoms[i].prefix for i in (row, column)):
            decided = decide_comparison(context, Affine(gap.base), tuple(atoms), ())
            return None if decided is None else Diagonal(row, column, constant(float(decided)))
    kinds = []
    for value, place in zip(joined.values, joined.places, strict=True):
        found = value.diagonal
        if found is None:
            kinds.append(value.everywhere)
            continue
        here = place.index(found.row), place.index(found.column)
        if pair not in (None, here):
            return None
        pair = here
        kinds.append(found.kind)
    return None if pair is None else Diagonal(*pair, _combine(context, joined.values, kinds))


def _nonzero(context: RuleContext, divisor: Facts) -> None:
    """A length as divisor must not be zero: native is undefined there (n - 1 of an unbiased deviation)."""
    number = divisor.scalar
    length = number.length if number is not None else None
    if isinstance(length, Length) and not length.is_constant:
        context.scope.need(length - 1, f"the divisor {length} must not be zero")


def _divisible(context: RuleContext) -> None:
    """A runtime stops where integers are divided by 0, in the padding too: what may be 0 there is 1."""
    divisor = context.peek(1)
    if divisor.low <= 0 <= divisor.high and not divisor.image:
        loose = [i for i in divisor.ragged if divisor.pads[i].strong.value in (None, 0.0)]
        context.fill(1, loose, 1.0, "", "integers are divided by what may be 0 in the padding")


def _widest(joined: Broadcast) -> int:
    """The operand with most atoms: the one that a pending remedy hangs on."""
    return max(range(len(joined.values)), key=lambda k: len(joined.values[k].atoms))


def _on_the_valid_part(context: RuleContext, joined: Broadcast) -> Sequence[Facts]:
    """The operands that a valid element may come from: a padding mask never selects its fill there."""
    chosen = joined.kinds(())[0].value if context.type == "Where" else None
    return joined.values if chosen is None else [joined.values[1 if chosen else 2]]


def _masked(context: RuleContext, operands: Sequence[Facts], valid: Kind) -> bool:
    if row(context.type).unmasks:
        return False
    if valid.value is not None:
        return valid.value <= MASK_FILL
    return any(v.masked or (v.valid.value is not None and abs(v.valid.value) >= -MASK_FILL) for v in operands)


def _clip_bounds(context: RuleContext, operands: Sequence[Facts]) -> tuple[float, float]:
    """Bounds of ``min(max(x, least), most)``; each limit may be an interval itself."""
    x, rest = operands[0], list(operands[1:])
    low, high = x.low, x.high
    if context.present(1):
        least = rest.pop(0)
        low, high = max(low, least.low), max(high, least.high)
    elif context.attribute("min") is not None:
        limit = float(context.attribute("min"))
        low, high = max(low, limit), max(high, limit)
    if context.present(2):
        most = rest.pop(0)
        low, high = min(low, most.low), min(high, most.high)
    elif context.attribute("max") is not None:
        limit = float(context.attribute("max"))
        low, high = min(low, limit), min(high, limit)
    return low, high


def _row_axis(context: RuleContext, joined: Broadcast) -> int | None:
    """Where the batch stands in the result, counted from the right."""
    if context.scope.single_row:
        return None
    rows = row_axis(joined.axes)
    if rows is not None:
        return len(joined.axes) - rows
    if any(atom.batch for axis in joined.axes for atom in axis):
        return None
    return len(joined.axes) + 1  # in front: a vector of lengths has no batch axis in native


def _spread_rows(context: RuleContext, indices: Sequence[int], rank: int) -> bool:
    """Bring operands with rows in front to the batch axis of the others. True when no other operand has one."""
    front = [i for i in indices if context.peek(i).rows_in_front]
    if not front:
        return False
    rows = None
    for i in indices:
        value = context.peek(i)
        for position, axis in enumerate(value.axes):
            if i not in front and any(atom.batch for atom in axis):
                rows = value.rank - position
    for i in front:
        others = [context.peek(k).rank for k in indices if k not in front]
        bring_rows(context, i, rank + 1 if rows is None else rows, max(others, default=0))
    return rows is None


def _carried_pending(context: RuleContext, indices: Sequence[int]) -> Pending | None:
    """A pending remedy passes through an elementwise node whose other operands are constants."""
    found = [i for i in indices if context.peek(i).pending is not None]
    if len(found) != 1:
        return None
    value = context.peek(found[0])
    others = [context.peek(i) for i in indices if i != found[0]]
    if any(
        other.rows_in_front or other.ragged or (other.content is not None and other.content.face is not Face.CONSTANT)
        for other in others
    ):
        return None
    if any(other.rank > value.rank for other in others):
        return None
    pending = value.pending
    context.replace(found[0], replace(value, pending=None))
    return pending
