"""Relative shifts, each proven as one unit: between [query, key] and [query, distance], by data movement alone.

L queries have scores ``X[i, k]`` against 2L - 1 relative positions, k = L - 1 - i + j for key j. Three movements are
known:

- *Transformer-XL* (Dai et al., 2019): a column in front ``[L, 2L]``, a view as ``[2L, L]``, the first row dropped
  ``[2L - 1, L]``, a view as ``[L, 2L - 1]``, the first L columns kept.
- *To keys*, of Tensor2Tensor and VITS: a column behind ``[L, 2L]``, a view as ``[2L * L]``, L - 1 elements behind, a
  view as ``[L + 1, 2L - 1]``, the first L rows kept, and the columns from L - 1 on.
- *To distances*, its inverse: L - 1 zeros behind each row of ``P[i, j]``, a view as ``[L * (2L - 1)]``, L zeros in
  front, a view as ``[L, 2L]``, the first column dropped.

Theorem: the first two give ``out[i, j] = X[i, L - 1 - i + j]`` for 0 <= i, j < L. Proof of the first: the padded
element (i, 1 + k) has flat index 2L*i + 1 + k; dropping L elements and reading row-major with width 2L - 1 puts flat
index (2L - 1)*i + j at (i, j), so 2L*i + 1 + k - L = (2L - 1)*i + j gives k = L - 1 - i + j, and 0 <= k <= 2L - 2. Of
the second: element (i, k) has flat index 2L*i + k, and (i, L - 1 + j) is read at (2L - 1)*i + L - 1 + j, which gives
the same k. So what was added is never read.

Theorem: the third gives ``out[i, k] = P[i, j]`` with j = k - (L - 1) + i where 0 <= j < L, and 0 elsewhere. Proof:
(i, 1 + k) has flat index 2L*i + 1 + k, L more than the flat index of what it reads, (2L - 1)*i + j. With -L < j < 2L
- 1, a j behind the row is one of its zeros, and a j in front of it one of those of the row before, or of the first L.

XLNet's queries have scores against 2L positions, a real one where the first has its column: the same movements, from
the view as ``[2L, L]`` on, and an index of the first L columns in place of the last slice.

The table of positions is centred, so its valid part starts at L(C) - L(n) in the container. There the first two read
X[i, L(C) - 1 - i + j], which is native's element L(n) - 1 - i + j behind that shift, and the third writes P[i, j] at
L(C) - 1 - i + j: the physical shift is already right and needs no remedy, if the keys' padding is 0 in the third. It
must run to its end before anything else reads it.

ESPnet's first shift is none of distances: of square scores ``X[i, k]`` with a column in front, ``[L, L + 1]``, the view
as ``[L + 1, L]`` without its first row. Theorem: with q counting that column, ``out[i, j]`` is element q = L - i + j of
row i where j <= i, else q = j - i - 1 of row i + 1. Proof: ``L*(i + 1) + j`` is both ``(L + 1)*i + (L - i + j)`` and
``(L + 1)*(i + 1) + (j - i - 1)``, and q lies in 0 .. L in the first where j <= i, in the second elsewhere. L is each
row's own, so the physical shift is wrong, and the elements are gathered (PAD105).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from paddable.lengths import Length, constant, symbol
from paddable.padding.deduce.context import RuleContext, merge_axis
from paddable.padding.deduce.scope import BATCH, Scope
from paddable.padding.facts.axes import Axes, Axis, axis_size, row_axis
from paddable.padding.facts.facts import Affine, Facts, PaddingFact, Relative
from paddable.padding.facts.kinds import ANY, FINITE, ZERO
from paddable.padding.facts.numbers import Number, Product, product
from paddable.padding.remedies.forms import ShiftedSquare

__all__ = ["relative_columns", "relative_pad", "relative_shift", "relative_start", "relative_view"]

Amounts = Mapping[int, tuple[Length, Length]]
"""Of a Pad: per padded axis the amounts before and after."""


def relative_pad(context: RuleContext, value: Facts, amounts: Amounts, fill: float) -> Facts | None:
    """The pads of the chains. None where no chain is meant; within one, anything else is refused."""
    last, one, none = value.rank - 1, constant(1), constant(0)
    relative = value.relative
    if relative is not None:
        rows = relative.rows
        if relative.stage == "flat" and _is_pad(context.scope, amounts, last, none, rows - 1):
            return _moved(context, value, relative, "extended", ((rows + 1, rows * 2 - 1),))
        context.refuse("a relative shift is interrupted by another pad")
    if set(amounts) != {last}:
        return None
    if amounts[last] in ((one, none), (none, one)):
        stage = "padded" if amounts[last] == (one, none) else "padded behind"
        return relative_start(context, context.data(0, shifted=True), stage)
    return _to_distances(context, value, amounts[last]) if fill == 0 else None


def _is_pad(scope: Scope, amounts: Amounts, axis: int, before: Length, after: Length) -> bool:
    found = amounts.get(axis)
    return len(amounts) == 1 and found is not None and scope.same(found[0], before) and scope.same(found[1], after)


def relative_start(context: RuleContext, value: Facts, stage: str = "padded") -> Facts | None:
    """A column beside [.., L, 2L - 1] scores whose last axis is centred."""
    scope = context.scope
    if value.rank < 2 or len(value.axes[-1]) != 1 or not value.axes[-2]:
        return None
    merged = merge_axis(scope, value, value.rank - 2)
    if merged is None:
        return None
    value = merged
    ((rows,), (columns,)) = value.axes[-2:]
    if not (rows.ragged and rows.prefix and columns.ragged) or columns.prefix:
        return None
    if not scope.same(columns.size, rows.size * 2 - 1):
        return None
    gap = scope.simplify(columns.shift - rows.size)
    if not gap.is_constant:
        return None
    relative = Relative(stage, rows.size, value.axes[-2], value.everywhere.finite)
    axes = (*value.axes[:-1], context.axis(rows.size * 2))
    return _within(value, axes, relative)


def _to_distances(context: RuleContext, value: Facts, amounts: tuple[Length, Length]) -> Facts | None:
    """L zeros in front of [.., L x (2L - 1)], behind each row of which L - 1 zeros stand."""
    if value.appended is None or len(value.axes[-1]) != 2 or value.pending is not None:
        return None
    scope = context.scope
    rows, columns = value.axes[-1]
    if not (rows.ragged and rows.prefix and columns.ragged and columns.prefix):
        return None
    square = scope.same(value.appended.size, rows.size) and scope.same(columns.size, rows.size * 2 - 1)
    zero = value.pads[len(value.atoms) - 1].weak.is_zero
    if not square or not zero or not scope.same(amounts[0], rows.size) or amounts[1] != constant(0):
        return None
    relative = Relative("spread", rows.size, (rows,), value.everywhere.finite)
    return _moved(context, value, relative, "spread", ((rows.size, rows.size * 2),))


def relative_view(context: RuleContext, value: Facts, sizes: Sequence[Length | Product]) -> Facts | None:
    """The views of the chains; anything else on the way is refused."""
    relative = value.relative
    if relative is None:
        return _column_view(context, value, sizes) or _square_view(context, value, sizes)
    scope, rows = context.scope, relative.rows
    wide = rows * 2 - 1
    known: dict[str, tuple[str, tuple[tuple[Length, ...], ...]]] = {
        "padded": ("viewed", ((rows * 2,), (rows,))),
        "dropped": ("shifted", ((rows,), (wide,))),
        "padded behind": ("flat", ((rows, rows * 2),)),
        "extended": ("tall", ((rows + 1,), (wide,))),
        "spread": ("wide", ((rows,), (rows * 2,))),
    }
    held = 1 if relative.stage in ("extended", "spread") else 2
    leading = [axis_size(axis) for axis in value.axes[:-held]]
    if relative.stage in known:
        stage, shape = known[relative.stage]
        wanted = [*leading, *(product(1, *axis) for axis in shape)]
        if len(sizes) == len(wanted) and all(_same(scope, a, b) for a, b in zip(wanted, sizes, strict=True)):
            return _moved(context, value, relative, stage, shape, held)
    context.refuse("a relative shift is interrupted by another view")


def _column_view(context: RuleContext, value: Facts, sizes: Sequence[Length | Product]) -> Facts | None:
    """[.., L, 2L], centred, as [.., 2L, L]: the first column is dropped with the row that it begins."""
    scope, last = context.scope, value.axes[-2:]
    if len(last) < 2 or value.pending is not None or not all(len(axis) == 1 and axis[0].ragged for axis in last):
        return None
    ((rows,), (columns,)) = last
    if not rows.prefix or columns.prefix or not scope.same(columns.size, rows.size * 2):
        return None
    wanted = [*(axis_size(axis) for axis in value.axes[:-2]), columns.size, rows.size]
    if len(sizes) != len(wanted) or not all(_same(scope, a, b) for a, b in zip(wanted, sizes, strict=True)):
        return None
    if not scope.simplify(columns.shift - rows.size).is_constant:
        return None
    relative = Relative("viewed", rows.size, value.axes[-2], value.everywhere.finite)
    return _within(value, (*value.axes[:-2], context.axis(columns.size), context.axis(rows.size)), relative)


def relative_columns(context: RuleContext, value: Facts, index: Facts, axis: int) -> Facts:
    """The first L columns by their indices, which end a chain; anything else within one is refused."""
    relative, content = value.relative, index.content
    plain = isinstance(content, Affine) and content.base.is_constant and content.base.fraction == 0
    if relative is None or relative.stage != "shifted" or axis != value.rank - 1 or index.rank != 1 or not plain:
        context.refuse("a relative shift is interrupted by an index")
    assert isinstance(content, Affine)
    whole = context.scope.same(context.length_of(index.axes[0]), relative.rows)
    if content.coefficients != ((0, Fraction(1)),) or not whole:
        context.refuse("a relative shift is interrupted by an index")
    return _to_keys(context, value, relative)


def _square_view(context: RuleContext, value: Facts, sizes: Sequence[Length | Product]) -> Facts | None:
    """[.., L, L + 1] as [.., L + 1, L]; None where another view is meant."""
    scope, last = context.scope, value.axes[-2:]
    if len(last) < 2 or len(sizes) != value.rank or not all(len(axis) == 1 and axis[0].ragged for axis in last):
        return None
    ((rows,), (columns,)) = last
    if scope.same(rows.size, columns.size) or not (rows.prefix and columns.prefix):
        return None
    lead, wanted = [axis_size(axis) for axis in value.axes[:-2]], rows.size + 1
    forms = ([*lead, tall, rows.size] for tall in (columns.size, wanted))
    if not any(all(_same(scope, a, b) for a, b in zip(form, sizes, strict=True)) for form in forms):
        return None
    if not scope.need_equal(columns.size, wanted, f"{columns.size} columns of a relative shift must be {wanted}"):
        return None
    if not scope.single_row and row_axis(value.axes[:-2]) is None:
        return None
    relative = Relative("square", rows.size, value.axes[-2], value.everywhere.finite)
    return _within(value, (*value.axes[:-2], context.axis(wanted), last[0]), relative)


def _same(scope: Scope, own: Length | Product, wanted: Length | Product) -> bool:
    if isinstance(own, Product) and isinstance(wanted, Product):
        return _prime(scope, own) == _prime(scope, wanted)
    return scope.same(own, wanted) or (own == symbol(BATCH) and scope.is_rows(wanted))


def _prime(scope: Scope, size: Product) -> tuple[int, list[str]]:
    """A product as a number and factors without a common divisor of their own: 2L x L is L x L twice."""
    scale, factors = size.scale, []
    for factor in size.factors:
        common = math.gcd(factor.offset, *(coefficient for coefficient, _ in factor.terms))
        scale *= common
        factors.append(str(scope.simplify(factor // common)))
    return scale, sorted(factors)


def relative_shift(
    context: RuleContext, value: Facts, axes: Sequence[int], starts: Sequence[Number], ends: Sequence[Number]
) -> Facts | None:
    """The slices of the chains, the last of which ends them."""
    relative = value.relative
    if relative is None:
        return None
    cuts = _cuts(context, value, axes, starts, ends)
    if not cuts:
        return value
    scope, rows, stage = context.scope, relative.rows, relative.stage
    height, width = value.rank - 2, value.rank - 1
    one, none = constant(1), constant(0)

    def is_cut(axis: int, first: Length, last: Length | None) -> bool:
        start, end = cuts.get(axis, (None, None))
        same_end = end is None if last is None else end is not None and scope.same(end, last)
        return start is not None and scope.same(start, first) and same_end

    def only(axis: int, first: Length, last: Length | None) -> bool:
        return len(cuts) == 1 and is_cut(axis, first, last)

    if stage == "square" and only(height, one, None):
        leak = "a view of padded scores mixes their rows by the container's size"
        context.ask(ShiftedSquare("PAD105", leak, rows))
        return _to_keys(context, value, relative)
    if stage == "viewed" and only(height, one, None):
        return _moved(context, value, relative, "dropped", ((rows * 2 - 1,), (rows,)))
    if stage == "shifted" and only(width, none, rows):
        return _to_keys(context, value, relative)
    if stage == "wide" and only(width, one, None):
        return _at_distances(context, value, relative)
    if stage in ("tall", "top", "right"):
        top = stage == "top" or is_cut(height, none, rows)
        right = stage == "right" or is_cut(width, rows - 1, None)
        if len(cuts) == top + right - (stage != "tall"):
            if top and right:
                return _to_keys(context, value, relative)
            shape = ((rows,), (rows * 2 - 1,)) if top else ((rows + 1,), (rows,))
            return _moved(context, value, relative, "top" if top else "right", shape)
    context.refuse("a relative shift is interrupted by another slice")


def _cuts(
    context: RuleContext, value: Facts, axes: Sequence[int], starts: Sequence[Number], ends: Sequence[Number]
) -> dict[int, tuple[Length, Length | None]]:
    """Per axis that loses steps where it starts and ends, None for its own end."""
    cuts: dict[int, tuple[Length, Length | None]] = {}
    for axis, start, end in zip(axes, starts, ends, strict=True):
        size = value.size(axis)
        first, last = start.integer, end.integer
        if first is None or last is None or isinstance(size, Product):
            context.refuse("a relative shift is interrupted by another slice")
        whole = (last.is_constant and last.constant >= (1 << 31) - 1) or context.scope.same(last, size)
        if first != constant(0) or not whole:
            cuts[axis] = (first, None if whole else last)
    return cuts


def _moved(
    context: RuleContext,
    value: Facts,
    relative: Relative,
    stage: str,
    shape: Sequence[Sequence[Length]],
    held: int | None = None,
) -> Facts:
    """The value with its last axes (as many as before, where not told) of other sizes, one step further."""
    new = tuple(tuple(atom for size in axis for atom in context.axis(size)) for axis in shape)
    return _within(value, (*value.axes[: -(held or len(new))], *new), replace(relative, stage=stage))


def _within(value: Facts, axes: Axes, relative: Relative) -> Facts:
    """A value that only the next movement may read."""
    pads = tuple(PaddingFact() for axis in axes for _ in axis)
    return replace(
        value, axes=axes, pads=pads, content=None, relative=relative, diagonal=None, constant=None, image=False
    )


def _to_keys(context: RuleContext, value: Facts, relative: Relative) -> Facts:
    axes = (*value.axes[:-2], relative.axis, context.axis(relative.rows))
    pads = tuple(PaddingFact.of(FINITE if relative.finite else ANY) for axis in axes for _ in axis)
    return replace(value, axes=axes, pads=pads, relative=None)


def _at_distances(context: RuleContext, value: Facts, relative: Relative) -> Facts:
    """A window like that of the table; beside it a valid query has zeros."""
    rows = relative.rows
    columns: Axis = context.scope.axis(rows * 2 - 1, shift=context.scope.simplify(rows - rows.offset))
    axes = (*value.axes[:-2], relative.axis, columns)
    anywhere = FINITE if relative.finite else ANY
    pads = [PaddingFact.of(anywhere) for axis in axes for _ in axis]
    pads[-1] = PaddingFact(ZERO, anywhere)
    low, high = min(value.low, 0.0), max(value.high, 0.0)
    return replace(value, axes=axes, pads=tuple(pads), relative=None, low=low, high=high)
