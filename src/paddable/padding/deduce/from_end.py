"""Places that count from the end of an axis where they are negative.

``x[T - 3]`` of two steps is ``x[-1]``, the last one. A slice bound of that kind is one length all the same, as long as
it is negative at the shortest lengths alone, or at the longest alone. An index is counted when the graph runs (PAD105).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from paddable.lengths import Domain, Length, Undecided, constant, maximum, minimum
from paddable.padding.deduce.context import RuleContext
from paddable.padding.deduce.reached import reach
from paddable.padding.deduce.scope import BATCH, Scope
from paddable.padding.facts.axes import Axis, axis_size, row_axis
from paddable.padding.facts.facts import Elements, Facts, Span
from paddable.padding.remedies import FromEnd

__all__ = ["count_from_the_end", "counted_from_the_end", "need_places"]


def counted_from_the_end(scope: Scope, place: Length, size: Length) -> Length | None:
    """The place that ONNX reads in an axis: ``place``, or ``size + place`` where that is negative. Not clamped.

    A length has no branches. But the sign settles, so that one of the signs belongs to a few lengths, at which the axis
    has ``most`` steps or less: there ``min(size, most * k)`` is the size for every k above 0, and nothing for 0.

    Args:
        scope: the domain.
        place: in native.
        size: of the axis, in native, 0 or more.

    Returns:
        None where the sign does not settle, or where it depends on several symbols.
    """
    if scope.at_most(constant(0), place):
        return place
    if scope.at_most(place, constant(-1)):
        return size + place
    if len(place.symbols) != 1 or BATCH in place.symbols:
        return None
    (symbol,) = place.symbols
    try:
        settled = scope.domain.smallest([place], symbol)
        rises = settled is not None
        if settled is None:
            settled = scope.domain.smallest([-place - 1], symbol)
        if settled is None:
            return None
        span = scope.spans[symbol]
        early = Domain({**scope.domain.spans, symbol: replace(span, low=span.first, high=settled - 1)})
        most = early.bounds(size)[1]
    except Undecided:
        return None
    if most is None:
        return None
    zero = constant(0)
    if rises:
        return scope.simplify(place + minimum(size, maximum(-place, zero) * most))
    return scope.simplify(place + size - minimum(size, maximum(place + 1, zero) * most))


def need_places(context: RuleContext, index: Facts, axes: Sequence[Axis]) -> None:
    """Narrow the domain to where native has a step at each known place, from the beginning or from the end.

    Args:
        context: of the node that reads or writes there.
        index: the places before they are read as data; of several axes they are tuples, an entry for each.
        axes: what they are places of.
    """
    for entry, axis in enumerate(axes):
        size = axis_size(axis)
        if not isinstance(size, Length) or not any(atom.ragged for atom in axis):
            continue
        reached = [span for span in _spans(index, entry, len(axes)) if span is not None]
        for lowest, highest in sorted(set(reached), key=str):
            lowest, highest = context.scope.simplify(lowest), context.scope.simplify(highest)
            alone = lowest == highest
            context.need(size + lowest, _reason(lowest, -lowest, alone))
            context.need(size - 1 - highest, _reason(highest, highest + 1, alone))


def _reason(place: Length, steps: Length, alone: bool) -> str:
    if not place.is_constant:
        return f"index {place} needs a step there" if alone else f"index {place} needs {steps} steps"
    return f"index {place} needs {-place.constant if place.constant < 0 else place.constant + 1} steps"


def _spans(index: Facts, entry: int, depth: int) -> list[Span | None]:
    """From where to where the places of one entry of the tuples reach, None where one is not known; none if none is."""
    known = index.content
    if isinstance(known, Elements):
        found = [None if held is None else held.integer for held in known.array.reshape(-1, depth)[:, entry]]
        return [None if place is None else (place, place) for place in found]
    if known is not None:
        return [reach(known, index.atoms)]
    if index.own_row is not None and index.own_row.others:
        return list(index.own_row.others[entry])
    return list(index.reached) if depth == 1 else []


def count_from_the_end(context: RuleContext, position: int, index: Facts, picks: Facts, axes: Sequence[Axis]) -> None:
    """Make negative places count from the valid end, where they count from the container's.

    Args:
        context: of the node that reads or writes there.
        position: the input that holds the places.
        index: the places as they are read.
        picks: the places before they were read as data, of which native's may be known.
        axes: what they are places of; of several axes they are tuples, an entry for each.
    """
    sizes: list[Length | None] = []
    for entry, axis in enumerate(axes):
        low = max(index.low, _lowest(context.scope, _spans(picks, entry, len(axes))))
        size = axis_size(axis)
        negative = low < 0 and any(atom.ragged for atom in axis)
        sizes.append(size if negative and isinstance(size, Length) else None)
    if all(size is None for size in sizes):
        return
    if not context.scope.single_row and row_axis(index.axes) is None:
        context.refuse(
            "an index may be negative, and counts from an end that differs by row",
            "clamp it at 0 if it never is negative, or export with batch 1",
        )
    leak = "an index counted from the end means the padding"
    context.ask(FromEnd("PAD105", leak, position, tuple(sizes), index.axes))


def _lowest(scope: Scope, spans: Sequence[Span | None]) -> float:
    """The lowest of known places, each of which stands for itself."""
    places = [None if span is None or span[0] != span[1] else scope.domain.bounds(span[0])[0] for span in spans]
    known = [place for place in places if place is not None]
    return min(known) if known and len(known) == len(places) else -math.inf
