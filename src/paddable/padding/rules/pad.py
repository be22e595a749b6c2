"""Pad along time (PAD102).

Passes: a crop at the end, a pad of other axes, and a table that is padded in front by the length: a window of it moves.
Needs: the constant in the padding where constants follow the valid end; a gather for a mirrored, repeated or wrapped
tail, the other axes then padded by the node.
Refuses: a wrap by more than a few steps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from paddable.lengths import Length, constant, maximum, minimum
from paddable.padding.deduce.broadcast import pads_of
from paddable.padding.deduce.context import RuleContext, window_shift
from paddable.padding.deduce.registry import rule
from paddable.padding.deduce.relative_shift import relative_pad
from paddable.padding.facts.axes import Axis
from paddable.padding.facts.facts import Appended, Elements, Facts, PaddingFact
from paddable.padding.facts.kinds import ANY, FINITE, join
from paddable.padding.facts.kinds import constant as constant_kind
from paddable.padding.facts.numbers import Face, number
from paddable.padding.remedies import PadAll, PadByOne, Segment, Take
from paddable.padding.rules.slicing import cut_pad, replaced_axis

__all__: list[str] = []

_LAPS = 16
"""Steps that a wrap may add: a sequence of one step goes round as often."""


@rule("Pad")
def pad(context: RuleContext) -> Sequence[Facts | None]:
    value = context.peek(0)
    mode = str(context.attribute("mode", "constant") or "constant")
    amounts = _amounts(context, value)
    if context.present(3) and not context.scope.single_row:
        leak = "a runtime moves the transposes of a gather by row past a Pad as if it listed all axes"
        context.ask(PadAll("", leak, 1, _written(value.rank, amounts)))
    if mode == "constant":
        moved = relative_pad(context, value, amounts, _fill_value(context))
        if moved is not None:
            return [moved]
    elif value.relative is not None:
        context.refuse("a relative shift is interrupted by another pad")
    value = replace(context.data(0), appended=None)
    if mode != "constant":  # what the node still does comes last: a gather reads the operand as it is before
        amounts = dict(sorted(amounts.items(), key=lambda item: _by_the_node(context, value.axes[item[0]], *item[1])))
    else:  # a gather reads what the node made
        amounts = dict(sorted(amounts.items(), key=lambda item: _in_front(context, value, item[0], item[1][0])))
    for axis, (before, after) in amounts.items():
        held = value.axes[axis]
        if value.bounded is not None and value.bounded.axis == axis:
            if mode != "constant":
                context.refuse(f"Pad mode {mode} of an axis whose size does not grow with the length")
            value = _gathered(context, value, axis, amounts)
            break
        value = _pad_axis(context, value, axis, amounts, mode)
        if mode == "constant" and axis == value.rank - 1 and len(amounts) == 1:
            value = replace(value, appended=_appended(context, held, before, after))
        context.replace(0, value)
    gathered = [remedy.axis for remedy in context.remedies if isinstance(remedy, Take) and remedy.instead]
    left = {axis: both for axis, both in amounts.items() if axis not in gathered}
    if gathered and left:
        context.ask(PadAll("PAD102", "", 1, _written(value.rank, left)))
    return [value]


def _in_front(context: RuleContext, value: Facts, axis: int, before: Length) -> bool:
    """Whether a constant stands in front of valid steps as often as the length asks for, or behind a few of them."""
    if value.bounded is not None and value.bounded.axis == axis:
        return True
    ragged = any(not atom.fixed for atom in value.axes[axis])
    return ragged and context.scope.domain.is_constant(before) is None


def _by_the_node(context: RuleContext, axis: Axis, before: Length, after: Length) -> bool:
    """Whether no gather by row is needed to mirror, repeat or wrap along an axis."""
    scope = context.scope
    unhurt = not any(atom.ragged for atom in axis) or scope.at_most(after, constant(0))
    return unhurt and scope.domain.is_constant(before) is not None


def _written(rank: int, amounts: Mapping[int, tuple[Length, Length]]) -> Elements:
    """The amounts of all axes, as the node reads them without a list of axes."""
    written = np.array([number(0)] * (2 * rank), dtype=object)
    for axis, (before, after) in amounts.items():
        written[[axis, rank + axis]] = number(before, Face.SIZE), number(after, Face.SIZE)
    return Elements(written)


def _appended(context: RuleContext, held: Axis, before: Length, after: Length) -> Appended | None:
    """What is known of the last axis behind the steps that it had."""
    if _fill_value(context) != 0 or len(held) != 1 or before != constant(0):
        return None
    return Appended(held[0].size) if context.scope.at_most(constant(0), after) else None


def _amounts(context: RuleContext, value: Facts) -> dict[int, tuple[Length, Length]]:
    """Per padded axis the amounts before and after, as lengths."""
    numbers = context.sizes(1)
    axes = context.integers(3)
    axes = [a % value.rank for a in axes] if axes is not None else list(range(value.rank))
    half = len(numbers) // 2
    result = {}
    for k, axis in enumerate(axes):
        before, after = numbers[k].integer, numbers[half + k].integer
        if before is None or after is None:
            context.refuse("a pad amount cannot be written as an expression of the input length")
        before, after = context.scope.simplify(before), context.scope.simplify(after)
        if before != constant(0) or after != constant(0):
            result[axis] = (before, after)
    return result


def _fill_value(context: RuleContext) -> float:
    if not context.present(2):
        return 0.0
    content = context.peek(2).scalar
    if content is not None and content.is_constant:
        return float(content.fraction)
    array = context.constant(2)
    if array is None or array.size != 1:
        context.refuse("Pad with a computed value")
    return float(array.reshape(-1)[0])


def _pad_axis(
    context: RuleContext, value: Facts, axis: int, amounts: Mapping[int, tuple[Length, Length]], mode: str
) -> Facts:
    scope, (before, after) = context.scope, amounts[axis]
    whole = value.axes[axis]
    context.keep_rows_apart(whole, "Pad along")
    if len(whole) > 1:
        value = context.prefix_axis(0, axis)
    size = context.length_of(value.axes[axis])
    total = scope.simplify(size + before + after)
    front = scope.domain.is_constant(before)
    if front is None and mode == "constant":
        window = _window(context, value, axis, before, total)
        return _gathered(context, value, axis, amounts) if window is None else window
    context.need(total, f"a crop to {total} steps must not take more than there is")
    if not any(atom.ragged for atom in whole) and front is not None and scope.domain.is_constant(after) is not None:
        result = replaced_axis(value, axis, context.axis(total), PaddingFact())
        return _with_constant(value, result, axis, _fill_value(context)) if mode == "constant" else result
    if mode == "constant" and front is not None:
        return _constant(context, value, axis, front, after, total)
    if mode == "wrap":
        return _wrapped(context, value, axis, before, after, total)
    if mode not in ("reflect", "edge"):
        context.refuse(f"Pad mode {mode} along time", "use constant, reflect or edge")
    return _continued(context, value, axis, before, after, total, mirrored=mode == "reflect")


def _gathered(context: RuleContext, value: Facts, axis: int, amounts: Mapping[int, tuple[Length, Length]]) -> Facts:
    """The constant in front as often as the length asks for: the Pad adds one on both sides, from which they are read.

    Of an axis whose size does not grow, likewise. The other axes are padded by the node, before.
    """
    if axis != list(amounts)[-1]:
        context.refuse("Pad of several axes by amounts that the length makes", "pad one axis after the other")
    before, after = amounts[axis]
    bounded, held = value.bounded, context.length_of(value.axes[axis])
    size = held if bounded is None else bounded.count
    total = context.scope.simplify(size + before + after)
    context.need(total, f"a crop to {total} steps must not take more than there is")
    leak = "the constant stands in front of the valid part as often as the container's size asks for"
    by_one = {**amounts, axis: (constant(1), constant(1))}
    context.ask(PadByOne("PAD102", leak, 1, _written(value.rank, by_one)))
    equal = bounded is not None and bounded.equal
    body = Segment(before, constant(0), constant(1), 0) if equal else Segment(before, -before, constant(1))
    behind = Segment(before + size, constant(0), held + 1, 0)
    segments = (Segment(constant(0), constant(0), constant(0), 0), body, behind)
    axes = (*value.axes[:axis], context.axis(total), *value.axes[axis + 1 :])
    context.ask(Take("", leak, 0, axis, axes, total, held + 2, segments, on_output=True))
    fill = _fill_value(context)
    kind = FINITE if value.everywhere.finite and constant_kind(fill).finite else ANY
    result = replaced_axis(value, axis, axes[axis], PaddingFact())
    return _with_constant(value, replace(result, pads=pads_of(axes, lambda region: kind), bounded=None), axis, fill)


def _window(context: RuleContext, value: Facts, axis: int, before: Length, total: Length) -> Facts | None:
    """A table with as much in front as the length asks for: element i stands at i + before(C) - before(n).

    Native and container have the table's element i - before(n) there, or the constant where the table has none. An
    amount below 0 crops, which the same index tells.
    """
    scope = context.scope
    if any(not atom.fixed for atom in value.axes[axis]):
        return None
    size = context.length_of(value.axes[axis])
    for amount in (before, total - size - before):
        context.need(size + amount, f"a crop of {amount} must not take more than there is")
    shift = window_shift(scope, before, total)
    if shift is None:
        return None
    columns = scope.axis(total, shift=shift)
    if not any(atom.ragged for atom in columns):
        return None
    fill = _fill_value(context)
    filled = constant_kind(fill)
    beside = PaddingFact.of(filled)  # what is added in front and behind
    if not all(scope.at_most(constant(0), amount) for amount in (before, total - size - before)):
        beside = PaddingFact(join([filled, value.valid]), join([filled, value.everywhere]))
    result = replaced_axis(value, axis, columns, beside)
    return _with_constant(value, result, axis, fill)


def _wrapped(context: RuleContext, value: Facts, axis: int, before: Length, after: Length, total: Length) -> Facts:
    """Native's element i is x[(i - before) mod size]: one segment a lap, of which one step makes as many as amounts."""
    front, behind = (context.scope.domain.is_constant(amount) for amount in (before, after))
    if front is None or behind is None or min(front, behind) < 0 or front + behind > _LAPS:
        context.refuse(
            "Pad mode wrap along time by an amount that varies, is negative, or is large",
            f"pad by constants of {_LAPS} steps in all, or use constant, reflect or edge",
        )
    size = context.length_of(value.axes[axis])
    context.need(size - 1, "a wrap needs one step")
    starts = [size * lap + front for lap in range(-front, behind + 1)]
    context.replace(0, value)
    return context.take(
        0,
        axis,
        total,
        [Segment(start, -start, constant(0), 1) for start in starts],
        "PAD102",
        "the wrapped tail is taken from the padding",
        instead=True,
    )


def _constant(context: RuleContext, value: Facts, axis: int, front: int, after: Length, total: Length) -> Facts:
    """Constant steps after the valid part: the padding itself must hold the constant, wherever it starts.

    Native's element i is x[i - front] where x has one and the constant elsewhere, whatever the signs: a negative amount
    crops. With the constant in the padding of x, the container's element i is the same at every length.
    """
    crops = context.scope.at_most(after, constant(0))
    if crops and front <= 0:
        return _cropped(context, value, axis, after, total)
    fill = _fill_value(context)
    if crops:
        result = _cropped(context, value, axis, after, total)
    else:
        context.replace(0, value)
        leak = "the padding stands before the constant appended to the valid part"
        span = value.span(axis)
        value = context.fill(0, span, fill, "PAD102", leak)
        filled = constant_kind(fill)
        kind = PaddingFact(filled, join([filled, *(value.pads[i].strong for i in value.ragged if i in span)]))
        if not context.scope.at_most(constant(0), after):  # valid steps stand in the padding where it crops
            cut = cut_pad(value, axis)
            kind = PaddingFact(join([kind.weak, cut.weak]), join([kind.strong, cut.strong]))
        result = replaced_axis(value, axis, context.axis(total), kind)
    return _with_constant(value, result, axis, fill)


def _with_constant(value: Facts, result: Facts, axis: int, fill: float) -> Facts:
    """What holds of the elements that the value and the constant are: it stands in the padding of other axes too."""
    filled, own = constant_kind(fill), result.span(axis)
    pads = tuple(
        pad if i in own else PaddingFact(join([pad.weak, filled]), join([pad.strong, filled]))
        for i, pad in enumerate(result.pads)
    )
    return replace(
        result,
        pads=pads,
        constant=fill if value.valid.value == fill else None,
        low=min(value.low, fill),
        high=max(value.high, fill),
        masked=value.masked or abs(fill) >= 1e30,
        finite=value.finite and constant_kind(fill).finite,
    )


def _continued(
    context: RuleContext, value: Facts, axis: int, front: Length, after: Length, total: Length, *, mirrored: bool
) -> Facts:
    """A mirrored or repeated tail is gathered behind the valid end. Negative amounts crop, and what is left goes on."""
    size = context.length_of(value.axes[axis])
    least, most = minimum(after, constant(0)), maximum(after, constant(0))
    begin = context.scope.simplify(maximum(front, constant(0)))
    kept = size + least + minimum(front, constant(0))
    if mirrored:
        context.need(kept - 1 - begin, f"a reflection of {begin} needs more steps")
        context.need(kept - 1 - most, f"a reflection of {after} needs more steps")
    else:
        context.need(kept - 1, "an edge needs one step")
    if context.scope.at_most(after, constant(0)) and front.is_constant:
        return _cropped(context, value, axis, after, total)
    segments = []
    if begin != constant(0):
        # an index below 0 reads the first step, which an edge repeats
        segments.append(Segment(constant(0), begin if mirrored else constant(0), constant(0), -1))
    segments.append(Segment(begin, -front, constant(0), 1))
    end = size + front
    if mirrored:
        segments.append(Segment(end, size * 2 - 2 + front, constant(0), -1))
    else:
        segments.append(Segment(end, size - 1, constant(0), 0))
    what = "mirrored" if mirrored else "repeated"
    context.replace(0, value)
    return context.take(0, axis, total, segments, "PAD102", f"the {what} tail is taken from the padding", instead=True)


def _cropped(context: RuleContext, value: Facts, axis: int, after: Length, total: Length) -> Facts:
    """Nothing is appended: native and container read the same steps."""
    uncut = context.scope.at_most(constant(0), after)
    pad = value.pads[value.span(axis).start] if uncut else cut_pad(value, axis)
    return replaced_axis(value, axis, context.axis(total), pad)
