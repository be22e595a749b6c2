"""ScatterND and ScatterElements: writing by index.

Passes: places that each row has of its own, written into the valid part or into axes without padding.
Needs: the run-time length where a place counts from the end (PAD105), or is computed from a size (PAD106).
Refuses: places that vary in number with the length, or lie in another row.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from paddable.lengths import constant
from paddable.padding.deduce.broadcast import pads_of, same_axis
from paddable.padding.deduce.context import RuleContext
from paddable.padding.deduce.from_end import count_from_the_end, need_places
from paddable.padding.deduce.own_rows import is_place, read_of_itself
from paddable.padding.deduce.registry import rule
from paddable.padding.facts.axes import Axis, axis_size
from paddable.padding.facts.facts import Facts
from paddable.padding.facts.kinds import ANY, FINITE, Kind, join

__all__: list[str] = []

_WRITTEN_AS_MASK = "write it as Where with a mask that is compared from positions"


@rule("ScatterND")
def scatter_nd(context: RuleContext) -> Sequence[Facts | None]:
    index = context.peek(1)
    width = context.length_of(index.axes[-1]) if index.rank else constant(1)
    if not width.is_constant:
        context.refuse("ScatterND with tuples of varying width")
    depth = width.constant
    _need_one_number(context, index)
    value, places = context.data(0), index
    own = read_of_itself(context, value, index, depth)
    index = context.settle(1) if own is not None else context.data(1)
    for axis in range(depth):
        if axis != own:
            context.keep_rows_apart(value.axes[axis], "ScatterND along")
            _need_prefix(value.axes[axis], context)
    if own is None and any(atom.batch for atom in value.atoms):
        context.refuse("ScatterND with the same places for every row", _WRITTEN_AS_MASK)
    updates = context.data(2)
    _need_equal_axes(context, updates, (*index.axes[:-1], *value.axes[depth:]))
    _need_valid_places(context, index, places, [() if k == own else value.axes[k] for k in range(depth)])
    return [_written(context, value, updates, depth)]


@rule("ScatterElements")
def scatter_elements(context: RuleContext) -> Sequence[Facts | None]:
    value, index = context.data(0), context.peek(1)
    axis = context.attribute("axis", 0) % value.rank
    if is_place(index) and value.rank == 1 and value.axes == index.axes == context.settle(2).axes:
        return [context.peek(2)]  # each row writes itself, and nothing of the data stays
    _need_one_number(context, index)
    places = index
    index = context.data(1, row_axis=index.row_place)
    context.keep_rows_apart(value.axes[axis], "ScatterElements along")
    _need_prefix(value.axes[axis], context)
    for k in range(value.rank):
        if k != axis and not same_axis(context.scope, value.axes[k], index.axes[k]):
            context.refuse("ScatterElements with an index that covers a part of an axis")
    updates = context.data(2)
    _need_equal_axes(context, updates, index.axes)
    _need_valid_places(context, index, places, value.axes[axis : axis + 1])
    return [_written(context, value, updates, value.rank)]


def _need_one_number(context: RuleContext, index: Facts) -> None:
    """The last two steps are one where there is one alone: the domain begins where there are as many as at the end."""
    for atom in index.atoms:
        most = context.scope.domain.bounds(atom.size)[1] if atom.ragged else None
        if most is not None:
            context.scope.need_equal(
                atom.size, constant(most), f"{most} places are written, and fewer at shorter lengths"
            )


def _need_prefix(axis: Axis, context: RuleContext) -> None:
    """Valid steps come first: alone, or each with the features that were joined with it."""
    if any(not atom.fixed for atom in axis[1:]):
        context.refuse("places in a merged axis whose padding is interleaved with valid steps")


def _need_equal_axes(context: RuleContext, updates: Facts, axes: Sequence[Axis]) -> None:
    def equal(one: Axis, other: Axis) -> bool:
        """A fixed axis lies in memory alike, whatever it was joined from."""
        fixed = all(atom.fixed for atom in (*one, *other))
        return (fixed and axis_size(one) == axis_size(other)) or same_axis(context.scope, one, other)

    if updates.rank != len(axes) or not all(map(equal, updates.axes, axes)):
        context.refuse("what is written has other axes than the places", _WRITTEN_AS_MASK)


def _need_valid_places(context: RuleContext, index: Facts, places: Facts, axes: Sequence[Axis]) -> None:
    """The places are as many at every length, native has them, and none is counted from the container's end.

    Args:
        context: of the node.
        index: the places as they are read.
        places: as they were before they were read as data.
        axes: what is written along.
    """
    if index.ragged:
        context.refuse("the number of places that are written varies with the length", _WRITTEN_AS_MASK)
    need_places(context, places, axes)
    count_from_the_end(context, 1, index, places, axes)


def _written(context: RuleContext, value: Facts, updates: Facts, depth: int) -> Facts:
    """Native's places are valid steps, so that the padding of the axes that are written along stays what it was."""
    reduction = str(context.attribute("reduction", "none"))
    replaced = reduction in ("none", "max", "min")
    along = sum(len(axis) for axis in value.axes[:depth])
    behind = [i for i, atom in enumerate(value.atoms) if atom.ragged and i >= along]
    places = dict(zip(behind, (i for i, atom in enumerate(updates.atoms) if atom.ragged), strict=True))

    def kind_at(region: tuple[int, ...]) -> Kind:
        kinds = [value.kind(region)]
        if all(i >= along for i in region):
            kinds.append(updates.kind([places[i] for i in region]))
        if replaced or len(kinds) == 1:
            return join(kinds)
        return FINITE if all(kind.finite for kind in kinds) else ANY

    low, high = (min(value.low, updates.low), max(value.high, updates.high)) if replaced else (-math.inf, math.inf)
    valid = kind_at(())
    return Facts(
        value.dtype, value.axes, pads_of(value.axes, kind_at), None, low, high,
        finite=valid.finite, masked=value.masked or updates.masked, constant=valid.value,
    )  # fmt: skip
