"""Numpy broadcasting of axes, and facts of the result region by region."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from paddable.lengths import Length
from paddable.padding.deduce.context import RuleContext, merge_axis
from paddable.padding.deduce.scope import Scope
from paddable.padding.facts.axes import Axes, Axis, Factor, flatten, is_batch, subsets
from paddable.padding.facts.facts import Facts, PaddingFact
from paddable.padding.facts.kinds import ANY, Kind, join
from paddable.padding.facts.numbers import Product
from paddable.padding.remedies import Spread

__all__ = ["Broadcast", "agree", "bring_rows", "broadcast", "counts_rows", "pads_of", "regions", "same_axis"]


@dataclass(frozen=True)
class Broadcast:
    """Operands brought to common axes.

    Attributes:
        axes: the axes of the result.
        values: the operands, their axes factored as in the result.
        places: per operand, the operand's atom for each result atom, None where it has none.
    """

    axes: Axes
    values: tuple[Facts, ...]
    places: tuple[tuple[int | None, ...], ...]

    def kinds(self, region: Sequence[int]) -> list[Kind]:
        """Each operand's kind where exactly the result atoms in ``region`` are padding."""
        return [
            value.kind([own for own in (place[i] for i in region) if own is not None])
            for value, place in zip(self.values, self.places, strict=True)
        ]


def same_axis(scope: Scope, a: Axis, b: Axis) -> bool:
    """Equal factors in equal order with the valid part at the same place."""
    return len(a) == len(b) and all(
        x.batch == y.batch and x.ragged == y.ragged and scope.same(x.size, y.size) and x.shift == y.shift
        for x, y in zip(a, b, strict=True)
    )


def counts_rows(scope: Scope, axis: Axis, rows: Axis) -> bool:
    """Whether a constant axis is the batch, whose size is fixed: an expanded token, one number a row."""
    return is_batch(rows) and [scope.is_rows(atom.size) for atom in axis] == [True]


def regions(atoms: Sequence[Factor], containing: int | None = None) -> Iterator[tuple[int, ...]]:
    """All sets of ragged atoms that can be padding at once, optionally those with one given atom."""
    ragged = [i for i, atom in enumerate(atoms) if atom.ragged and i != containing]
    base = () if containing is None else (containing,)
    return ((*base, *chosen) for chosen in subsets(ragged))


def pads_of(axes: Axes, kind_at: Callable[[tuple[int, ...]], Kind]) -> tuple[PaddingFact, ...]:
    """Padding facts of a result from its kind in each region."""
    atoms = flatten(axes)
    pads = []
    for i, atom in enumerate(atoms):
        if not atom.ragged:
            pads.append(PaddingFact.of(ANY))
            continue
        pads.append(PaddingFact(kind_at((i,)), join(kind_at(region) for region in regions(atoms, i))))
    return tuple(pads)


def broadcast(context: RuleContext, indices: Sequence[int]) -> Broadcast:
    """Bring operands to common axes; frozen or disagreeing sizes are refused, shifted valid parts aligned."""
    values = [context.peek(i) for i in indices]
    rank = max(value.rank for value in values)
    axes: list[Axis] = []
    for back in range(rank, 0, -1):
        present = [k for k, value in enumerate(values) if value.rank >= back and value.axes[value.rank - back]]
        if not present:
            axes.append(())
            continue
        values = _unify(context, values, indices, present, back)
        chosen = values[present[0]]
        axes.append(chosen.axes[chosen.rank - back])
    if sum(any(atom.batch for atom in axis) for axis in axes) > 1:
        context.refuse(
            "this operation combines different rows of the batch", "keep the batch in one place, or export with batch 1"
        )
    places = []
    for value in values:
        place: list[int | None] = []
        for position, axis in enumerate(axes):
            own = position - (rank - value.rank)
            if own >= 0 and value.axes[own]:
                place += list(value.span(own))
            else:
                place += [None] * len(axis)
        places.append(tuple(place))
    return Broadcast(tuple(axes), tuple(values), tuple(places))


def bring_rows(context: RuleContext, index: int, place: int, held: int) -> Facts:
    """Bring an operand's rows, which stand in front of native's axes, to where the result has them.

    Args:
        context: of the node.
        index: the input.
        place: of the rows in the result, counted from the right.
        held: the rank of what the operand meets, which the result keeps where axes of the operand go.
    """
    value = context.peek(index)
    more = place - value.rank
    behind = value.axes[1:]
    if more < 0:  # native's own axes of size 1 in front, the last of them where the others have the batch
        if held < value.rank - 1 or any(behind[:-more]):
            context.refuse("a vector made of each row's own length is wider than the rows")
        behind = behind[-more:]
    if more:
        context.ask(Spread("", "the batch stands in front", index, more))
    return context.replace(index, replace(value, axes=(value.axes[0], *((),) * more, *behind), rows_in_front=False))


def _unify(
    context: RuleContext, values: list[Facts], indices: Sequence[int], present: list[int], back: int
) -> list[Facts]:
    scope = context.scope
    batch = next((v.row_place for v in values if v.row_place is not None), None)

    def axis_of(k: int) -> Axis:
        return values[k].axes[values[k].rank - back]

    values = list(values)
    rows = next((axis_of(k) for k in present if any(a.batch for a in axis_of(k))), None)
    for k in present:
        if rows is not None and counts_rows(scope, axis_of(k), rows):
            values[k] = replace(values[k], axes=_with_axis(values[k].axes, values[k].rank - back, rows))
    first = axis_of(present[0])
    if all(same_axis(scope, first, axis_of(k)) for k in present[1:]):
        return values
    for k in present:  # one atom each, prefix aligned
        value = values[k]
        if any(not atom.prefix for atom in axis_of(k)):
            value = context.align(indices[k], value, batch)
            values[k] = value
    first = axis_of(present[0])
    if all(same_axis(scope, first, axis_of(k)) for k in present[1:]):
        return values
    for k in present:
        merged = merge_axis(scope, values[k], values[k].rank - back)
        if merged is None:
            context.refuse("operands factor an axis differently, and padding is interleaved with valid steps")
        values[k] = merged
    for k in present[1:]:
        a, b = axis_of(present[0]), axis_of(k)
        if same_axis(scope, a, b):
            continue
        left, right = context.length_of(a), context.length_of(b)
        if not scope.same(left, right) and not agree(scope, left, right):
            context.refuse(
                f"sizes {left} and {right} do not agree at every length",
                "a constant frozen by tracing, or a table too short: compute it from x.shape",
            )
        (one,), (other,) = a, b
        if len(scope.axis(left)) != 1 or one.ragged != other.ragged:
            context.refuse(f"sizes {left} and {right} agree at single lengths only", "a constant frozen by tracing")
    return values


def agree(scope: Scope, left: Length | Product, right: Length | Product) -> bool:
    """Whether two sizes that both vary are equal somewhere; the domain ends with that (a table of positions)."""
    if isinstance(left, Product) or isinstance(right, Product) or left.is_constant or right.is_constant:
        return False
    return scope.need_equal(left, right, f"{left} must equal {right}")


def _with_axis(axes: Axes, position: int, axis: Axis) -> Axes:
    return (*axes[:position], axis, *axes[position + 1 :])
