"""Reading by index (PAD105, PAD106): Gather, GatherElements and GatherND.

Passes: any index into a constant axis, which is a table; an index made of constants or of valid data into a ragged
axis.
Needs: the run-time length where an index counts from the end or is computed from a size; an index of 0 in the padding
where it may be out of range; the shortest and the longest length at which a constant index, or a table, is in range.
Refuses: an index across the batch, and an axis whose padding sits between valid steps.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from paddable.lengths import Length, constant
from paddable.padding.deduce.broadcast import pads_of, same_axis
from paddable.padding.deduce.context import RuleContext, merge_axis
from paddable.padding.deduce.from_end import count_from_the_end, counted_from_the_end, need_places
from paddable.padding.deduce.own_rows import is_place, need_joined_rows, read_of_itself
from paddable.padding.deduce.reached import reach
from paddable.padding.deduce.registry import rule
from paddable.padding.deduce.relative_shift import relative_columns
from paddable.padding.facts.axes import Axes, Axis, Factor, axis_size, is_batch, row_axis
from paddable.padding.facts.facts import Affine, Elements, Facts, PaddingFact
from paddable.padding.facts.kinds import ANY, FINITE, Kind, join
from paddable.padding.facts.numbers import Face, Product, add, multiply, number
from paddable.padding.remedies import Segment, UseSize
from paddable.padding.remedies.forms import RowGather

__all__: list[str] = []

_SEGMENTS = 16
"""Steps that one run-time index may name one by one."""


@rule("Gather")
def gather(context: RuleContext) -> Sequence[Facts | None]:
    value, index = context.peek(0), context.peek(1)
    axis, known = context.attribute("axis", 0) % value.rank, index.content
    if isinstance(value.content, Elements) and isinstance(known, Elements):
        picks = known.array
        if all(p is not None and p.is_constant for p in picks.flat):
            chosen = np.vectorize(lambda p: int(p.fraction), otypes=[np.int64])(picks) if picks.size else picks
            array = np.asarray(value.content.array.take(chosen, axis=axis), dtype=object)
            axes = tuple(context.axis(n) for n in array.shape)
            return [Facts.known(value.dtype, axes, Elements(array), finite=value.finite)]
    value = context.settle(0)
    if value.relative is not None or index.relative is not None:
        return [relative_columns(context, value, index, axis)]
    _need_own_axes(context, value)
    context.need_steps(value, range(value.rank))
    if index.own_row is not None:
        need_joined_rows(context, value.axes[axis], index)
        value = context.data(0)
        return [_gathered(value, index, axis, (*value.axes[:axis], *index.axes, *value.axes[axis + 1 :]))]
    picked = _of_progression(context, value, index, axis)
    if picked is not None:
        return [picked]
    if isinstance(value.content, Affine) and not value.content.coefficients:
        _guarded(context, index, value.axes[axis])
        axes = (*value.axes[:axis], *index.axes, *value.axes[axis + 1 :])
        return [_uniform(value, axes, value.axes[axis])]
    if _own_rows(value, index, axis):
        return [value]
    if value.content is not None or value.own_row is not None:
        value = context.data(0)
    rank, whole = index.rank, value.axes[axis]
    varies = any(a.ragged or a.batch for a in whole)
    if varies:
        taken = _taken(context, value, index, axis)
        if taken is not None:
            return [taken]
        value = _known_steps(context, value, index, axis)
        whole = value.axes[axis]
        varies = any(a.ragged or a.batch for a in whole)
    else:
        _table_end(context, value, index, axis)
    asked, index = index, _guarded(context, context.data(1, row_axis=index.rank + 1, shifted=True), whole)
    if varies and index.low < 0 and index.rank == rank > 0 and _lacks_rows(context, value, index):
        index = context.give_rows(1, index, index.rank + 1)
    in_front = index.rows_in_front or index.rank > rank
    if in_front and _picks_by_row(value, index):
        return [_by_row(context, value, index, asked, axis, tuples=False)]
    if in_front and (axis or any(a.batch for a in value.atoms)):
        context.refuse("rows are gathered by each row's own length", "export with batch 1, or use a slice")
    if varies:
        value = _ragged_source(context, value, index, asked, axis)
    axes = (*value.axes[:axis], *index.axes, *value.axes[axis + 1 :])
    return [replace(_gathered(value, index, axis, axes), rows_in_front=in_front)]


def _need_own_axes(context: RuleContext, value: Facts) -> None:
    """The axis that is read is counted among native's, and rows in front count as one more."""
    if value.rows_in_front:
        context.refuse("what each row's own length made is read by index", "export with batch 1, or use a mask")


def _picks_by_row(value: Facts, index: Facts) -> bool:
    """Whether indices of each row's own meet data that has the rows as an axis."""
    return index.rank >= 2 and any(map(is_batch, value.axes))


def _lacks_rows(context: RuleContext, value: Facts, index: Facts) -> bool:
    """Whether one index serves rows that end in different places, and would count from the end of each."""
    return not context.scope.single_row and row_axis(value.axes) is not None and row_axis(index.axes) is None


def _by_row(context: RuleContext, value: Facts, index: Facts, picks: Facts, axis: int, *, tuples: bool) -> Facts:
    """Each row's steps by its own index, the rows where the data has them."""
    value = _ragged_source(context, value, index, picks, axis)
    own = replace(index, axes=index.axes[1:], pads=index.pads[len(index.axes[0]) :], content=None)
    context.ask(RowGather("", "each row reads by an index of its own", axis, own.axes, tuples))
    axes = (*value.axes[:axis], *own.axes, *value.axes[axis + 1 :])
    return _gathered(value, own, axis, axes)


def _own_rows(value: Facts, index: Facts, axis: int) -> bool:
    """Whether each row is picked by its own place in the batch: nothing moves."""
    return is_place(index) and index.rank == 1 and value.axes[axis] == index.axes[0]


def _of_progression(context: RuleContext, value: Facts, index: Facts, axis: int) -> Facts | None:
    """One step of ``base + step * i``: counted from the end it is a size (of a running count, its length)."""
    content, pick = value.content, index.scalar
    if not isinstance(content, Affine) or pick is None or not pick.is_constant or len(value.axes[axis]) != 1:
        return None
    own = value.span(axis).start
    step = dict(content.coefficients).get(own)
    if step is None or value.atoms[own].batch or pick.fraction.denominator != 1:
        return None
    size, place = value.atoms[own].size, int(pick.fraction)
    context.need(size + place if place < 0 else size - 1 - place, f"index {place} needs a step there")
    last = number(size + place, Face.SIZE) if place < 0 else number(place)
    far = multiply(last, number(step))
    base = None if far is None else add(content.base, far)
    if base is None:
        return None
    axes = (*value.axes[:axis], *index.axes, *value.axes[axis + 1 :])
    places = [i for i in range(len(value.atoms)) if i != own]
    places[own:own] = [-1] * len(index.atoms)  # the atoms of the index, along which nothing varies
    rest = tuple((places.index(i), c) for i, c in content.coefficients if i != own)
    known: Affine | Elements = Affine(base, rest)
    if not axes:
        known = Elements(np.array(base, dtype=object))
    low, high = context.bounds(known, axes)
    return Facts.known(value.dtype, axes, known, low, high)


def _uniform(value: Facts, axes: Axes, read: Iterable[Factor]) -> Facts:
    """What is read from a tensor whose elements are one number, wherever the index points.

    Read across the batch it is one row's length, and in native each row's own: it is made again from the length inputs.
    """
    content = value.content
    if isinstance(content, Affine) and content.face is Face.LENGTH and any(atom.batch for atom in read):
        content = Affine(replace(content.base, face=Face.MIXED))
    return replace(value, axes=axes, pads=pads_of(axes, lambda region: FINITE), content=content, diagonal=None)


def _taken(context: RuleContext, value: Facts, index: Facts, axis: int) -> Facts | None:
    """An index vector that is affine in the length (a flip) is a gather by run-time index, whatever the row."""
    content = index.content
    if not isinstance(content, Affine) or len(content.coefficients) != 1 or index.rank != 1 or len(index.axes[0]) != 1:
        return None
    ((_, step),) = content.coefficients
    start, size = content.base.integer, index.size(0)
    if content.face is not Face.SIZE or start is None or step.denominator != 1 or not isinstance(size, Length):
        return None
    if index.low < 0:
        return None
    value = context.replace(0, context.prefix_axis(0, axis))
    need_places(context, index, [value.axes[axis]])
    segments = (Segment(constant(0), start, constant(0), int(step)),)
    leak = "an index computed from the container's size reads its end"
    return context.take(0, axis, size, segments, "PAD105", leak, instead=True)


def _known_steps(context: RuleContext, value: Facts, index: Facts, axis: int) -> Facts:
    """Rows that end in different places, cut to the steps that known indices name, if one counts from the end."""
    known = index.content
    if context.scope.single_row or not isinstance(known, Elements) or row_axis(value.axes) is None:
        return value
    if not any(atom.ragged for atom in value.axes[axis]):
        return value
    places = [found.integer if found is not None else None for found in known.array.flat]
    lengths = [place for place in places if place is not None]
    if len(lengths) < len(places) or len(lengths) > _SEGMENTS:
        return value
    if all(place.is_constant and place.constant >= 0 for place in lengths):
        return value
    value = context.replace(0, context.prefix_axis(0, axis))
    need_places(context, index, [value.axes[axis]])
    size = context.length_of(value.axes[axis])
    counted = [counted_from_the_end(context.scope, place, size) for place in lengths]
    segments = [Segment(constant(k), place, constant(0), 0) for k, place in enumerate(counted) if place is not None]
    if len(segments) < len(lengths):
        return value
    taken = np.array([number(k) for k in range(len(segments))], dtype=object).reshape(known.array.shape)
    context.ask(UseSize("", "the steps that are read stand one behind the other", 1, Elements(taken)))
    context.replace(1, Facts.known(index.dtype, index.axes, Elements(taken), 0.0, float(len(segments) - 1)))
    leak = "an index counted from the end reads the padding"
    return context.take(0, axis, constant(len(segments)), segments, "PAD105", leak)


def _guarded(context: RuleContext, index: Facts, source: Axis, position: int = 1) -> Facts:
    """An index whose padding may be out of range is 0 there: a runtime refuses it, or reads outside the table."""
    if index.content is not None or index.image or not index.ragged:
        return index
    rows = axis_size(source)
    known = rows.constant if isinstance(rows, Length) and rows.is_constant else 0
    if index.everywhere.finite and index.low >= -known and index.high < known:
        return index
    if index.from_sizes and not (context.scope.single_row or any(atom.batch for atom in index.atoms)):
        return index  # native's own index at the container's length: inside what it reads there, whatever the row
    loose = [i for i in index.ragged if index.pads[i].strong.value is None]
    return context.fill(position, loose, 0.0, "", "an index in the padding may be out of range")


def _ragged_source(context: RuleContext, value: Facts, index: Facts, picks: Facts, axis: int) -> Facts:
    """Reading valid steps of a ragged axis, by an index that was ``picks`` before it was given to the rows; negative
    ones count from the valid end."""
    value = context.prefix_axis(0, axis)
    need_places(context, picks, [value.axes[axis]])
    count_from_the_end(context, 1, index, picks, [value.axes[axis]])
    if any(a.batch for a in value.axes[axis]):
        context.refuse("an index reads across the batch")
    return value


def _table_end(context: RuleContext, value: Facts, index: Facts, axis: int) -> None:
    """The index must stay inside the table: a position table ends the domain, in the container too."""
    rows = value.size(axis)
    if isinstance(rows, Product) or not rows.is_constant:
        return
    content = index.content
    if isinstance(content, Elements):
        found = [held.integer for held in content.array.flat if held is not None and not held.is_constant]
        spans = [(place, place) for place in found if place is not None]
    else:
        span = None if content is None else reach(content, index.atoms)
        spans = [] if span is None else [span]
    for lowest, highest in spans:
        context.need(rows - 1 - highest, f"the table of {rows} rows ends")
        context.need(rows + lowest, f"the table of {rows} rows ends")


def _gathered(value: Facts, index: Facts, axis: int, axes: Axes) -> Facts:
    before = [i for k in range(axis) for i in value.span(k)]
    after = [i for k in range(axis + 1, value.rank) for i in value.span(k)]
    places = [*before, *(None for _ in index.atoms), *after]  # of the data; the index stands between
    own_axis = [i for i in value.span(axis) if value.atoms[i].ragged]

    def kind_at(region: tuple[int, ...]) -> Kind:
        rows = [own for own in (places[i] for i in region) if own is not None]
        if len(rows) == len(region):
            return value.kind(rows)
        # padding of the index may point anywhere, also into the source's padding
        return join([value.kind(rows), *(value.kind([*rows, i]) for i in own_axis)])

    pads = pads_of(axes, kind_at)
    image = value.image and not index.ragged and not own_axis
    return replace(value, axes=axes, pads=pads, content=None, pending=None, diagonal=None, image=image)


@rule("GatherElements")
def gather_elements(context: RuleContext) -> Sequence[Facts | None]:
    value = context.data(0)
    axis = context.attribute("axis", 0) % value.rank
    index = picks = context.peek(1)
    rows = next((index.rank - k for k, held in enumerate(index.axes) if any(a.batch for a in held)), None)
    index = _guarded(context, context.data(1, row_axis=rows), value.axes[axis])
    context.keep_rows_apart(value.axes[axis], "GatherElements along")
    merged = merge_axis(context.scope, value, axis)
    if merged is None:
        context.refuse("GatherElements along a merged axis")
    value = merged
    if any(a.ragged for a in value.axes[axis]):
        need_places(context, picks, [value.axes[axis]])
        count_from_the_end(context, 1, index, picks, [value.axes[axis]])
    for k in range(value.rank):
        if k == axis:
            continue
        if not index.axes[k] and any(a.batch for a in value.axes[k]):
            context.refuse(
                "GatherElements with one index for all rows of a batch reads the first row alone",
                "expand the index to the batch",
            )
        if index.axes[k]:
            if len(value.axes[k]) != len(index.axes[k]):  # steps in chunks beside steps one by one
                value, index = (merge_axis(context.scope, facts, k) or facts for facts in (value, index))
            _need_beginning(context, index.axes[k], value.axes[k])
    finite = value.everywhere.finite
    pads = tuple(PaddingFact.of(FINITE if finite else ANY) for a in index.axes for _ in a)
    return [replace(value, axes=index.axes, pads=pads, content=None, pending=None, diagonal=None, image=False)]


def _need_beginning(context: RuleContext, part: Axis, whole: Axis) -> None:
    """The index has the axis of the data, or as many steps from its beginning."""
    if same_axis(context.scope, whole, part):
        return
    if not all(len(axis) == 1 and axis[0].prefix and not axis[0].batch for axis in (part, whole)):
        context.refuse("GatherElements with an index whose axes are not those of the data, nor their beginning")
    (read,), (held,) = part, whole
    context.need(held.size - read.size, f"GatherElements reads {read.size} of {held.size} steps")


@rule("GatherND")
def gather_nd(context: RuleContext) -> Sequence[Facts | None]:
    """Reading by index tuples. A uniform source gives the same whatever the index is; else indices must be valid."""
    value, index = context.peek(0), context.peek(1)
    picks = index
    _need_own_axes(context, value)
    batch_dims = context.attribute("batch_dims", 0)
    if index.rows_in_front:
        index = replace(index, axes=index.axes[:-1])
        if batch_dims or context.peek(1).axes[-1] or not _picks_by_row(value, index):
            context.refuse("rows are gathered by each row's own length", "export with batch 1, or use a slice")
        value = context.data(0)
        _guarded(context, context.data(1), value.axes[0])
        return [_by_row(context, value, replace(context.peek(1), axes=index.axes), picks, 0, tuples=True)]
    width = context.length_of(index.axes[-1]) if index.axes[-1] else constant(1)
    if not width.is_constant:
        context.refuse("GatherND with tuples of varying width")
    depth = width.constant
    if batch_dims + depth > len(value.axes):
        context.refuse(f"GatherND by tuples of {depth} indices into {len(value.axes) - batch_dims} axes")
    axes = (*index.axes[:-1], *value.axes[batch_dims + depth :])
    source = value.axes[batch_dims] if depth == 1 else ()
    own = read_of_itself(context, value, index, depth) if not batch_dims else None
    if isinstance(value.content, Affine) and not value.content.coefficients:
        _guarded(context, index, source)
        read = [atom for axis in value.axes[batch_dims : batch_dims + depth] for atom in axis]
        return [_uniform(value, axes, read)]
    value = context.data(0)
    index = _guarded(
        context, context.settle(1) if own is not None else context.data(1, row_axis=index.row_place), source
    )
    if not all(same_axis(context.scope, value.axes[k], index.axes[k]) for k in range(batch_dims)):
        context.refuse("GatherND with batch axes that differ")
    indexed = [k for k in range(batch_dims, batch_dims + depth) if k != own]
    if any(a.batch for k in indexed for a in value.axes[k]):
        context.refuse("an index reads across the batch")
    for k in indexed:
        merged = merge_axis(context.scope, value, k)
        if merged is None:
            context.refuse("GatherND along a merged axis whose padding is interleaved with valid steps")
        value = merged
    read_along = [() if k == own else value.axes[k] for k in range(batch_dims, batch_dims + depth)]
    need_places(context, picks, read_along)
    count_from_the_end(context, 1, index, picks, read_along)
    finite = value.everywhere.finite
    pads = tuple(PaddingFact.of(FINITE if finite else ANY) for a in axes for _ in a)
    return [replace(value, axes=axes, pads=pads, content=None, pending=None, diagonal=None, image=False)]
