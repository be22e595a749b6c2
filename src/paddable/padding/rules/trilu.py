"""Trilu and EyeLike.

Passes: which corner of the padding is zero is decided from the sizes.
Needs: nothing.
Refuses: an axis whose padding sits between valid steps, and a triangle over the batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import onnx_ir as ir

from paddable.lengths import constant
from paddable.padding.deduce.broadcast import pads_of
from paddable.padding.deduce.context import RuleContext, merge_axis
from paddable.padding.deduce.registry import rule
from paddable.padding.facts.facts import Facts, PaddingFact
from paddable.padding.facts.kinds import FINITE, ZERO, Kind, join

__all__: list[str] = []


@rule("Trilu")
def triangle(context: RuleContext) -> Sequence[Facts | None]:
    """Keep j >= i + k (upper) or j <= i + k (lower); the rest is zero wherever the indices are."""
    value = context.data(0)
    context.keep_rows_apart((*value.axes[-2], *value.axes[-1]), "Trilu of")
    upper = context.attribute("upper", 1)
    shift = (context.integers(1) or [0])[0]
    for axis in (value.rank - 2, value.rank - 1):
        merged = merge_axis(context.scope, value, axis)
        if merged is None:
            context.refuse("Trilu of a merged axis whose padding is interleaved with valid steps")
        value = merged
    rows, columns = value.axes[-2], value.axes[-1]
    row_span, column_span = set(value.span(value.rank - 2)), set(value.span(value.rank - 1))
    height = rows[0].size if rows else constant(1)
    width = columns[0].size if columns else constant(1)

    def always_cut(region: tuple[int, ...]) -> bool:
        """No element of the region is kept, at any length."""
        row_padded = any(i in row_span for i in region)
        column_padded = any(i in column_span for i in region)
        domain = context.scope.domain
        if upper:  # kept needs j - i >= k: largest j, smallest i
            if column_padded:
                return False
            least = height if row_padded else constant(0)
            return context.decided(lambda: domain.less(width - 1, least + shift))
        if row_padded:  # kept needs j - i <= k: smallest j, largest i
            return False
        least = width if column_padded else constant(0)
        return context.decided(lambda: domain.less(height - 1 + shift, least))

    def kind_at(region: tuple[int, ...]) -> Kind:
        if always_cut(region):
            return ZERO
        kind = value.kind(region)
        return join([kind, ZERO]) if kind.finite else kind

    pads = pads_of(value.axes, kind_at)
    low, high = min(0.0, value.low), max(0.0, value.high)
    return [
        replace(
            value, pads=pads, low=low, high=high, content=None, constant=None, pending=None, diagonal=None, image=False
        )
    ]


@rule("EyeLike")
def eye(context: RuleContext) -> Sequence[Facts | None]:
    """1 where j = i + k. Of its operand only the shape is read, and native's is the corner of the container's."""
    value = context.peek(0)
    if value.rank != 2:
        context.refuse(f"EyeLike of rank {value.rank}")
    context.keep_rows_apart(value.atoms, "EyeLike of")
    scope, shift = context.scope, context.attribute("k", 0)
    height, width = (context.length_of(axis) for axis in value.axes)
    axes = (context.axis(height), context.axis(width))
    below = context.decided(lambda: scope.domain.less(width - 1, height + shift))  # i >= height and j < width
    behind = context.decided(lambda: scope.domain.less(height - 1 + shift, width))
    kinds = ZERO if below else FINITE, ZERO if behind else FINITE
    pads = tuple(PaddingFact(kinds[k], FINITE) for k, axis in enumerate(axes) for _ in axis)
    dtype = ir.DataType(context.attribute("dtype", value.dtype.value))
    return [Facts(dtype, axes, pads, None, 0.0, 1.0, finite=True, masked=False)]
