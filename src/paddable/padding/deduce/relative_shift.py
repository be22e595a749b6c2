"""The relative shift of Transformer-XL (Dai et al., 2019), proven as one unit.

Scores ``X[i, k]`` of L queries against 2L - 1 relative positions, k = L - 1 - i + j, are brought to ``[i, j]`` by data
movement alone: a zero column in front ``[L, 2L]``, a view as ``[2L, L]``, the first row dropped ``[2L - 1, L]``, a view
as ``[L, 2L - 1]``, the first L columns kept.

Theorem: ``out[i, j] = X[i, L - 1 - i + j]`` for 0 <= i, j < L. Proof: the padded element (i, 1 + k) has flat index
2L*i + 1 + k; dropping L elements and reading row-major with width 2L - 1 puts flat index (2L - 1)*i + j at (i, j), so
2L*i + 1 + k - L = (2L - 1)*i + j gives k = L - 1 - i + j, and 0 <= k <= 2L - 2.

The table of positions is centred, so its valid part starts at L(C) - L(n) in the container. There the same movement
reads X[i, L(C) - 1 - i + j], which is native's element L(n) - 1 - i + j behind that shift: the physical shift is
already right and needs no remedy. It must run to its end before anything else reads it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from paddable.lengths import Length, constant, symbol
from paddable.padding.deduce.context import RuleContext, merge_axis
from paddable.padding.deduce.scope import BATCH
from paddable.padding.facts.axes import axis_size
from paddable.padding.facts.facts import Facts, PaddingFact, Relative
from paddable.padding.facts.kinds import ANY, FINITE
from paddable.padding.facts.numbers import Number, Product

__all__ = ["relative_shift", "relative_start", "relative_view"]


def relative_start(context: RuleContext, value: Facts) -> Facts | None:
    """A zero column in front of [.., L, 2L - 1] scores whose last axis is centred."""
    scope = context.scope
    if value.rank < 2 or len(value.axes[-1]) != 1 or not value.axes[-2]:
        return None
    merged = merge_axis(scope, value, value.rank - 2)
    if merged is None:
        return None
    value = merged
    rows, columns = value.axes[-2][0], value.axes[-1][0]
    if not (rows.ragged and rows.prefix and columns.ragged) or columns.prefix:
        return None
    if not scope.same(columns.size, rows.size * 2 - 1):
        return None
    gap = scope.simplify(columns.shift - rows.size)
    if not gap.is_constant:
        return None
    finite = value.everywhere.finite
    relative = Relative("padded", rows.size, value.axes[-2], finite)
    axes = (*value.axes[:-1], context.axis(rows.size * 2))
    return replace(
        value,
        axes=axes,
        pads=tuple(PaddingFact() for a in axes for _ in a),
        content=None,
        relative=relative,
        diagonal=None,
    )


def relative_view(context: RuleContext, value: Facts, sizes: Sequence[Length | Product]) -> Facts | None:
    """The two views of the chain; anything else on the way is refused."""
    relative = value.relative
    if relative is None:
        return None
    scope = context.scope
    rows = relative.rows
    wanted = {
        "padded": ("viewed", (rows * 2, rows)),
        "dropped": ("shifted", (rows, rows * 2 - 1)),
    }.get(relative.stage)
    leading = [axis_size(a) for a in value.axes[:-2]]
    if (
        wanted is None
        or len(sizes) != value.rank
        or not all(
            scope.same(a, b) or (a == symbol(BATCH) and b == constant(scope.rows or 0))
            for a, b in zip([*leading, *wanted[1]], sizes, strict=True)
        )
    ):
        context.refuse("a relative shift is interrupted by another view")
    stage, (height, width) = wanted
    axes = (*value.axes[:-2], context.axis(height), context.axis(width))
    return replace(
        value, axes=axes, pads=tuple(PaddingFact() for a in axes for _ in a), relative=replace(relative, stage=stage)
    )


def relative_shift(
    context: RuleContext, value: Facts, axes: Sequence[int], starts: Sequence[Number], ends: Sequence[Number]
) -> Facts | None:
    """The two slices of the chain: the first row dropped, the first L columns kept."""
    relative = value.relative
    if relative is None:
        return None
    scope = context.scope
    rows = relative.rows
    cuts = {}
    for axis, start, end in zip(axes, starts, ends, strict=True):
        size = value.size(axis)
        first, last = start.integer, end.integer
        if first is None or last is None or isinstance(size, Product):
            context.refuse("a relative shift is interrupted by another slice")
        whole = (last.is_constant and last.constant >= (1 << 31) - 1) or scope.same(last, size)
        if first == constant(0) and whole:
            continue
        cuts[axis] = (first, None if whole else last)
    if not cuts:
        return value
    if relative.stage == "viewed" and cuts == {value.rank - 2: (constant(1), None)}:
        new = (*value.axes[:-2], context.axis(rows * 2 - 1), value.axes[-1])
        pads = tuple(PaddingFact() for a in new for _ in a)
        return replace(value, axes=new, pads=pads, relative=replace(relative, stage="dropped"))
    if relative.stage == "shifted" and set(cuts) == {value.rank - 1}:
        first, last = cuts[value.rank - 1]
        if first == constant(0) and last is not None and scope.same(last, rows):
            new = (*value.axes[:-2], relative.axis, context.axis(rows))
            pads = tuple(PaddingFact.of(FINITE if relative.finite else ANY) for a in new for _ in a)
            return replace(value, axes=new, pads=pads, relative=None)
    context.refuse("a relative shift is interrupted by another slice")
