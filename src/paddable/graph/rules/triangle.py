"""Trilu and EyeLike-style masks: which corner is zero is decided from the sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from paddable.graph.facts.kinds import ZERO, Kind, join
from paddable.graph.facts.value import Value
from paddable.graph.rules.broadcast import pads_of
from paddable.graph.rules.operation import Operation, merge_axis
from paddable.graph.rules.registry import rule
from paddable.lengths import constant

__all__: list[str] = []


@rule("Trilu")
def triangle(operation: Operation) -> Sequence[Value | None]:
    """Keep j >= i + k (upper) or j <= i + k (lower); the rest is zero wherever the indices are."""
    value = operation.data(0)
    operation.keep_rows_apart((*value.axes[-2], *value.axes[-1]), "Trilu of")
    upper = operation.attribute("upper", 1)
    shift = (operation.integers(1) or [0])[0] if operation.present(1) else 0
    for axis in (value.rank - 2, value.rank - 1):
        merged = merge_axis(operation.scope, value, axis)
        if merged is None:
            operation.refuse("Trilu of a merged axis whose padding is interleaved with valid steps")
        value = merged
    rows, columns = value.axes[-2], value.axes[-1]
    row_span, column_span = set(value.span(value.rank - 2)), set(value.span(value.rank - 1))
    height = rows[0].size if rows else constant(1)
    width = columns[0].size if columns else constant(1)

    def always_cut(region: tuple[int, ...]) -> bool:
        """No element of the region is kept, at any length."""
        row_padded = any(i in row_span for i in region)
        column_padded = any(i in column_span for i in region)
        domain = operation.scope.domain
        if upper:  # kept needs j - i >= k: largest j, smallest i
            if column_padded:
                return False
            least = height if row_padded else constant(0)
            return operation.decided(lambda: domain.less(width - 1, least + shift))
        if row_padded:  # kept needs j - i <= k: smallest j, largest i
            return False
        least = width if column_padded else constant(0)
        return operation.decided(lambda: domain.less(height - 1 + shift, least))

    def kind_at(region: tuple[int, ...]) -> Kind:
        if always_cut(region):
            return ZERO
        kind = value.kind(region)
        return join([kind, ZERO]) if kind.finite else kind

    pads = pads_of(value.axes, kind_at)
    low, high = min(0.0, value.low), max(0.0, value.high)

    return [replace(value, pads=pads, low=low, high=high, content=None, pending=None, diagonal=None, image=False)]
