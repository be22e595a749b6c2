"""Concat along a ragged axis (PAD105).

Passes: a concatenation whose last part is ragged.
Needs: a gather by run-time index for what stands behind a ragged part; zeros there are masked instead.
Refuses: an axis whose padding sits between valid steps, and parts of which the other axes have other sizes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from paddable.lengths import Length, constant
from paddable.padding.deduce.broadcast import counts_rows, pads_of, same_axis
from paddable.padding.deduce.context import RuleContext, merge_axis
from paddable.padding.deduce.own_rows import index_tuples
from paddable.padding.deduce.registry import rule
from paddable.padding.deduce.relative_shift import relative_start
from paddable.padding.facts.axes import axis_size
from paddable.padding.facts.facts import CONTENT_LIMIT, Elements, Facts, PaddingFact
from paddable.padding.facts.kinds import ANY, FINITE, ZERO, Kind, join
from paddable.padding.remedies import Segment, Take
from paddable.padding.rules.slicing import replaced_axis

__all__: list[str] = []


@rule("Concat")
def concat(context: RuleContext) -> Sequence[Facts | None]:
    indices = list(range(len(context.operands)))
    values = [context.peek(i) for i in indices]
    first, *_ = values
    axis = context.attribute("axis") % first.rank
    if any(v.bounded is not None for v in values):
        return [_with_bounded(context, values, axis)]
    arrays = [array for array in map(_elements, values) if array is not None]
    if len(arrays) == len(values):
        joined = np.concatenate(arrays, axis=axis)
        axes = tuple(context.axis(n) for n in joined.shape)
        return [Facts.known(first.dtype, axes, Elements(joined), finite=all(v.finite for v in values))]
    vector = _size_vector(context, values)
    if vector is not None:
        return [vector]
    indices = [i for i in indices if values[i].size(axis) != constant(0)] or indices[:1]
    values = [values[i] for i in indices]
    if len(values) == 1:
        return values
    stacked = index_tuples(context, indices, values, axis)
    if stacked is not None:
        return [stacked]
    if any(v.relative is not None for v in values):
        context.refuse("a relative shift is read before it ends")
    started = _relative_column(context, indices, values, axis)
    if started is not None:
        return [started]
    for value in values:
        context.keep_rows_apart(value.axes[axis], "Concat along")
    row_axis = _row_axis(context, values)
    for k, i in enumerate(indices):
        on_axis = row_axis == values[k].rank - axis
        values[k] = context.data(i, row_axis=None if on_axis else row_axis, shifted=True)
    if not _equally_shifted(context, values, axis):
        values = [context.align(i, value) for i, value in zip(indices, values, strict=True)]
    values = _agreeing(context, values, axis)
    # an axis of one size throughout
    parts = [context.length_of(v.axes[axis]) for v in values]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    total = context.scope.simplify(total)
    values = [_single(context, v, axis) for v in values]
    ragged = [k for k, v in enumerate(values) if any(a.ragged for a in v.axes[axis])]
    result = _joined(context, values, axis, total)
    if not ragged or ragged[0] == len(values) - 1:
        return [result]
    after = ragged[0] + 1
    if all(v.valid.is_zero and not any(a.ragged for a in v.axes[axis]) for v in values[after:]):
        # zeros appended to a ragged part: with its own padding zero, the zeros may start anywhere
        k = ragged[0]
        span = values[k].span(axis)
        leak = "the padding stands before the zeros appended to the valid part"
        filled = context.fill(indices[k], span, 0.0, "PAD102", leak)
        values[k] = filled
        result = _joined(context, values, axis, total)
        pad = PaddingFact.of(ZERO)
        return [replaced_axis(result, axis, result.axes[axis], pad)]
    _gather_after(context, values, axis, parts, total)
    return [result]


def _with_bounded(context: RuleContext, values: list[Facts], axis: int) -> Facts:
    """Parts of which some have sizes that do not grow: the result is gathered, each part where native's is.

    Zipformer repeats the last step up to an even number of them.
    """
    bounds = [v.bounded for v in values]
    if any(bounded is not None and bounded.axis != axis for bounded in bounds):
        context.refuse("Concat beside an axis whose size does not grow with the length")
    row_axis = _row_axis(context, values)
    for i, value in enumerate(values):
        context.keep_rows_apart(value.axes[axis], "Concat along")
        values[i] = context.data(i, row_axis=None if row_axis == value.rank - axis else row_axis)
    values = [_single(context, v, axis) for v in _agreeing(context, values, axis)]
    held = [context.length_of(v.axes[axis]) for v in values]
    start, place, segments = constant(0), constant(0), []
    for bounded, size in zip(bounds, held, strict=True):
        equal = bounded is not None and bounded.equal
        segments.append(Segment(start, constant(0), place, 0) if equal else Segment(start, -start, place))
        start, place = start + (size if bounded is None else bounded.count), place + size
    total = context.scope.simplify(start)
    first, *_ = values
    axes = (*first.axes[:axis], context.axis(total), *first.axes[axis + 1 :])
    finite = all(v.everywhere.finite for v in values)
    context.ask(
        Take(
            "PAD105", "what follows a ragged part starts in its padding", 0, axis, axes, total, place,
            tuple(segments), on_output=True,
        )
    )  # fmt: skip
    return Facts(
        first.dtype, axes, pads_of(axes, lambda region: FINITE if finite else ANY), None,
        min(v.low for v in values), max(v.high for v in values),
        finite=all(v.finite for v in values), masked=any(v.masked for v in values),
    )  # fmt: skip


def _elements(value: Facts) -> np.ndarray | None:
    """Known contents one by one, those of one number too."""
    if isinstance(value.content, Elements):
        return value.content.array
    sizes = [size.constant for size in map(axis_size, value.axes) if isinstance(size, Length) and size.is_constant]
    if value.scalar is None or len(sizes) < value.rank or math.prod(sizes) > CONTENT_LIMIT:
        return None
    return np.full(sizes, value.scalar, dtype=object)


def _size_vector(context: RuleContext, values: Sequence[Facts]) -> Facts | None:
    """A vector of numbers, some unknown: kept so that the known ones can still be read."""
    first, *_ = values
    if first.rank != 1 or not all(v.is_integer for v in values) or all(v.content is None for v in values):
        return None
    arrays = []
    for v in values:
        size = context.length_of(v.axes[0])
        if not size.is_constant or size.constant > 64:
            return None
        if isinstance(v.content, Elements):
            arrays.append(v.content.array)
        elif v.scalar is not None:
            arrays.append(np.array([v.scalar] * size.constant, dtype=object))
        else:
            return None
    joined = np.concatenate(arrays)
    return Facts.known(first.dtype, (context.axis(len(joined)),), Elements(joined))


def _row_axis(context: RuleContext, values: Sequence[Facts]) -> int | None:
    if context.scope.single_row:
        return None
    return next((value.row_place for value in values if value.row_place is not None), None)


def _relative_column(context: RuleContext, indices: Sequence[int], values: Sequence[Facts], axis: int) -> Facts | None:
    """A column of zeros in front of centred scores starts a relative shift."""
    column, *others = values
    if len(others) != 1 or axis != column.rank - 1 or column.axes[axis] or not column.everywhere.is_zero:
        return None
    return relative_start(context, context.data(indices[1], shifted=True))


def _equally_shifted(context: RuleContext, values: Sequence[Facts], axis: int) -> bool:
    """Whether the valid parts start at the same place in all operands, and at 0 on the joined axis."""
    first, *others = values
    shifted = {k for v in values for k in range(v.rank) if not all(a.prefix for a in v.axes[k])}
    return axis not in shifted and all(
        same_axis(context.scope, v.axes[k], first.axes[k]) for v in others for k in shifted
    )


def _single(context: RuleContext, value: Facts, axis: int) -> Facts:
    merged = merge_axis(context.scope, value, axis)
    if merged is None:
        context.refuse("Concat along a merged axis whose padding is interleaved with valid steps")
    return merged


def _agreeing(context: RuleContext, values: list[Facts], axis: int) -> list[Facts]:
    """Every other axis has equal factors in all operands."""
    scope = context.scope
    for position, reference in enumerate(values[0].axes):
        if position == axis:
            continue
        rows = next((v.axes[position] for v in values if any(a.batch for a in v.axes[position])), None)
        if rows is not None:
            values = [
                replace(v, axes=(*v.axes[:position], rows, *v.axes[position + 1 :]))
                if counts_rows(scope, v.axes[position], rows) else v
                for v in values
            ]  # fmt: skip
            reference = rows
        if all(same_axis(scope, reference, v.axes[position]) for v in values[1:]):
            continue
        merged = []
        for v in values:
            single = merge_axis(scope, v, position)
            if single is None:
                context.refuse("Concat of operands that factor an axis differently")
            merged.append(single)
        values = merged
        first, *others = (context.length_of(v.axes[position]) for v in values)
        for other in others:
            if not scope.same(first, other) and not scope.need_equal(first, other, f"{first} must equal {other}"):
                context.refuse(f"Concat of sizes {first} and {other}")
    return values


def _joined(context: RuleContext, values: Sequence[Facts], axis: int, total: Length) -> Facts:
    """Facts of the concatenation, its valid part a prefix."""
    first, *_ = values
    new = context.axis(total)
    ragged = [v for v in values if any(a.ragged for a in v.axes[axis])]
    axes = (*first.axes[:axis], new, *first.axes[axis + 1 :])
    old_span = first.span(axis)
    others = [i for i in range(len(first.atoms)) if i not in old_span]
    mapping = {}
    for i in others:
        mapping[i if i < old_span.start else i - len(old_span) + len(new)] = i

    def kind_at(region: tuple[int, ...]) -> Kind:
        on_axis = any(i not in mapping for i in region)
        kinds = []
        for v in values:
            shift = len(v.span(axis)) - len(old_span)
            own = [mapping[i] + (shift if mapping[i] >= old_span.stop else 0) for i in region if i in mapping]
            if on_axis:
                if v is not ragged[-1]:
                    continue
                own = [*own, *v.span(axis)]
            kinds.append(v.kind(own))
        return join(kinds)

    pads = pads_of(axes, kind_at)
    return Facts(
        first.dtype, axes, pads, None,
        min(v.low for v in values), max(v.high for v in values),
        finite=all(v.finite for v in values), masked=any(v.masked for v in values),
    )  # fmt: skip


def _gather_after(
    context: RuleContext, values: Sequence[Facts], axis: int, parts: Sequence[Length], total: Length
) -> None:
    """A part after a ragged one starts at a run-time index: gather the result."""
    segments = [Segment(constant(0), constant(0), constant(0))]
    start = constant(0)
    for k, part in enumerate(parts[:-1]):
        start = start + part
        if any(a.ragged for a in values[k].axes[axis]) or len(segments) > 1:
            segments.append(Segment(start, -start, start))
    first, *_ = values
    result_axes = (*first.axes[:axis], context.axis(total), *first.axes[axis + 1 :])
    context.ask(
        Take(
            "PAD105", "what follows a ragged part starts in its padding", 0, axis, result_axes, total, total,
            tuple(segments), on_output=True,
        )
    )  # fmt: skip
