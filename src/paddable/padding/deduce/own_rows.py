"""Each row's own place in the batch: 0 in native, which has one row, and b in row b of the container.

Exporters write ``x[arange(rows), steps]`` with it. As data it is right nowhere. But by it every row reads and writes of
itself alone, which is what native does, so an index that holds it serves as it stands (the causal masks of
transformers, their masks of frames, a row picked by its own number). It comes as a vector of places, as one entry of
index tuples (GatherND, ScatterND), or as ``place * size + step`` into rows that were joined with their steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from paddable.lengths import Length, constant
from paddable.padding.deduce.broadcast import Broadcast, pads_of, same_axis
from paddable.padding.deduce.context import RuleContext
from paddable.padding.deduce.reached import reached_of
from paddable.padding.facts.axes import Axes, Axis, fixed
from paddable.padding.facts.facts import Affine, Facts, OwnRow
from paddable.padding.facts.kinds import FINITE
from paddable.padding.facts.numbers import Face

__all__ = [
    "MAY_READ",
    "computed_with_places",
    "index_tuples",
    "is_place",
    "need_joined_rows",
    "of_places",
    "read_of_itself",
]

MAY_READ = {"Shape", "Size", "Gather", "GatherND", "ScatterND", "Add", "Sub", "Mul", "Max", "Min"}
"""Operators whose rules know what each row's own place may be used for, where it is not the whole value."""

_REASON = "a row's place in the batch is used as data, and native has one row"
_NOT_ITS_OWN = "rows are read by places that are not their own"
_FIX = "export with batch 1"


def is_place(value: Facts) -> bool:
    """Whether the value is each row's own place, and nothing else."""
    content = value.content
    if not isinstance(content, Affine) or not content.base.is_constant or content.base.fraction != 0:
        return False
    return len(content.coefficients) == 1 and _counts_rows(value, *content.coefficients[0])


def _counts_rows(value: Facts, atom: int, step: Fraction) -> bool:
    return step == 1 and value.atoms[atom].batch


def of_places(value: Facts) -> bool:
    """Whether the value is made with each row's own place."""
    content = value.content
    affine = isinstance(content, Affine) and any(value.atoms[i].batch for i, _ in content.coefficients)
    return affine or value.own_row is not None


def computed_with_places(context: RuleContext, joined: Broadcast) -> Facts | None:
    """What arithmetic makes of places and other numbers; None where no operand has a place.

    ``place * size`` and ``place * size + step`` are known for what they are. Of anything else only the shape may be
    read, which is all that exporters want of it.
    """
    if not any(of_places(value) for value in joined.values):
        return None
    if context.type not in MAY_READ:
        context.refuse(_REASON, _FIX)
    own = OwnRow()
    if len(joined.values) == 2:
        first, second = joined.values
        own = _arithmetic(context, first, second) or _arithmetic(context, second, first) or own
    pads = pads_of(joined.axes, lambda region: FINITE)
    return Facts(joined.values[0].dtype, joined.axes, pads, own_row=own)


def _arithmetic(context: RuleContext, places: Facts, other: Facts) -> OwnRow | None:
    number = other.scalar
    if context.type == "Mul" and is_place(places) and number is not None:
        counted = number.integer if number.face in (Face.CONSTANT, Face.SIZE) else None
        return None if counted is None else OwnRow(stride=counted)
    own = places.own_row
    if context.type != "Add" or own is None or own.stride is None or own.stepped or of_places(other):
        return None
    return OwnRow(stride=own.stride, stepped=True) if _inside(context, other, own.stride) else None


def _inside(context: RuleContext, steps: Facts, size: Length) -> bool:
    """Whether every index is a step of an axis of that size, in the container too: native's own, counted from 0.

    A run-time length is native's there, and an axis of the container is at least as long as native's.
    """
    content = steps.content if steps.scalar is None else Affine(steps.scalar)
    if not isinstance(content, Affine) or content.face not in (Face.CONSTANT, Face.LENGTH):
        return False
    highest = content.base.integer
    if highest is None or not context.scope.at_most(constant(0), highest) or not context.scope.grows(size):
        return False
    if content.face is Face.LENGTH and content.coefficients:  # it counts on in the padding, from native's end
        return False
    if any(c < 0 or c.denominator != 1 for _, c in content.coefficients):
        return False
    for i, c in content.coefficients:
        highest = highest + (steps.atoms[i].size - 1) * int(c)
    return context.scope.at_most(highest + 1, size)


def index_tuples(context: RuleContext, indices: Sequence[int], values: Sequence[Facts], axis: int) -> Facts | None:
    """Index tuples one entry of which is each row's own place, as a Concat stacks them; None for any other Concat."""
    if not any(of_places(value) for value in values):
        return None
    entries = [k for k, value in enumerate(values) if is_place(value)]
    if len(entries) != 1 or axis != values[0].rank - 1 or any(value.axes[axis] for value in values):
        context.refuse(_REASON, _FIX)
    (entry,) = entries
    axes = values[entry].axes[:-1]
    lows = [0.0]
    others = [reached_of(value) for value in values]
    for k, i in enumerate(indices):
        if k == entry:
            continue
        steps = context.data(i, row_axis=values[entry].row_place)
        if not all(same_axis(context.scope, a, b) for a, b in zip(axes, steps.axes[:-1], strict=True)):
            context.refuse("the entries of index tuples have different shapes", _FIX)
        lows.append(steps.low)
    stacked: Axes = (*axes, fixed(len(values)))
    pads = pads_of(stacked, lambda region: FINITE)
    return Facts(values[entry].dtype, stacked, pads, low=min(lows), own_row=OwnRow(entry=entry, others=tuple(others)))


def need_joined_rows(context: RuleContext, joined: Axis, index: Facts) -> None:
    """Refuse ``place * size + step`` as an index into anything but rows joined with that many steps."""
    own, rows = index.own_row, [atom for atom in index.atoms if atom.batch]
    if own is None or own.stride is None or len(rows) != 1:
        context.refuse(
            "rows that were joined with their steps are read by another index than place * size + step, with a step "
            "that does not depend on the length",
            "export with dynamo=True, which writes index tuples (GatherND), or with batch 1",
        )
    if len(joined) != 2 or joined[0] != rows[0] or joined[1].batch or not joined[1].prefix:
        context.refuse(_NOT_ITS_OWN, _FIX)
    if not context.scope.same(joined[1].size, own.stride):
        context.refuse(_NOT_ITS_OWN, _FIX)


def read_of_itself(context: RuleContext, source: Facts, index: Facts, depth: int) -> int | None:
    """The axis of ``source`` that index tuples name by each row's own place, None where they hold no place."""
    own = index.own_row
    if own is None:
        return None
    rows = [atom for atom in index.atoms if atom.batch]
    if own.entry is None or own.entry >= depth or len(rows) != 1:
        context.refuse(_REASON, _FIX)
    if source.axes[own.entry] != (rows[0],):
        context.refuse(_NOT_ITS_OWN, _FIX)
    return own.entry
