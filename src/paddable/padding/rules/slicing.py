"""Slice and Split along a ragged axis (PAD105).

Passes: a cut that starts at a constant, a window that moves with the length.
Needs: a gather by run-time index for what is counted from the end or reversed, and for the parts of a Split.
Refuses: bounds that change their sign again and again, several axes cut from the end at once, and an axis whose padding
sits between valid steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from paddable.lengths import Length, constant, maximum, minimum
from paddable.padding.deduce.context import RuleContext, merge_axis, window_shift
from paddable.padding.deduce.from_end import counted_from_the_end
from paddable.padding.deduce.registry import rule
from paddable.padding.deduce.relative_shift import relative_shift
from paddable.padding.deduce.scope import KEEPS_SIGN, Scope
from paddable.padding.facts.axes import Factor, subsets
from paddable.padding.facts.facts import Affine, Bounded, Elements, Facts, PaddingFact
from paddable.padding.facts.kinds import ANY, FINITE, join
from paddable.padding.facts.numbers import Number, add, number
from paddable.padding.remedies import Segment
from paddable.padding.remedies.forms import Parts

__all__ = ["cut_pad", "replaced_axis"]

_HUGE = (1 << 31) - 1  # no axis is longer: exporters write "to the end" so

_NOT_EMPTY = (
    "let the slice end behind its start (a bound below 0 counts from the end), or leave it out with what reads it"
)

_FAR = 64
"""Lengths at which a size is seen to fall and to rise again."""


def replaced_axis(value: Facts, axis: int, new: tuple[Factor, ...], pad: PaddingFact) -> Facts:
    """The value with one axis replaced by a single atom (or none) with the given padding fact.

    Its padding still repeats valid elements if neither axis has any: a channel is picked, time stays as it is.
    """
    span = value.span(axis)
    ragged = any(atom.ragged for atom in (*value.axes[axis], *new))
    pads = (*value.pads[: span.start], *(pad for _ in new), *value.pads[span.stop :])
    return replace(
        value,
        axes=(*value.axes[:axis], new, *value.axes[axis + 1 :]),
        pads=pads,
        content=None,
        pending=None,
        diagonal=None,
        image=value.image and not ragged,
    )


@rule("Slice")
def slice_(context: RuleContext) -> Sequence[Facts | None]:
    value = context.peek(0)
    starts, ends, axes, steps = _arguments(context, value)
    if isinstance(value.content, Elements):
        picked = _sliced_elements(value, starts, ends, axes, steps)
        if picked is not None:
            new_axes = tuple(context.axis(n) for n in picked.shape)
            return [replace(value, axes=new_axes, pads=(), content=Elements(picked), pending=None)]
    shifted = relative_shift(context, value, axes, starts, ends)
    if shifted is not None:
        return [shifted]
    cuts = list(zip(axes, starts, ends, steps, strict=True))
    parts = [cut for cut in cuts if not _is_whole(context, value, *cut)]
    for cut in parts:
        value = _slice_axis(context, value, *cut, alone=len(parts) == 1)
    return [value]


def _is_whole(context: RuleContext, value: Facts, axis: int, start: Number, end: Number, step: int) -> bool:
    """Whether a slice leaves an axis as it is, however the axis came about."""
    size, first, last = value.size(axis), start.integer, end.integer
    if step != 1 or first != constant(0) or last is None or (value.bounded and value.bounded.axis == axis):
        return False
    if last.is_constant and last.constant >= _HUGE:
        return True
    return isinstance(size, Length) and context.scope.at_most(size, last)


def _arguments(context: RuleContext, value: Facts) -> tuple[list[Number], list[Number], list[int], list[int]]:
    starts, ends = context.sizes(1), context.sizes(2)
    listed = context.integers(3)
    axes = listed if listed is not None else list(range(len(starts)))
    steps = context.integers(4) or [1] * len(starts)
    return starts, ends, [a % value.rank for a in axes], steps


def _sliced_elements(
    value: Facts, starts: Sequence[Number], ends: Sequence[Number], axes: Sequence[int], steps: Sequence[int]
) -> np.ndarray | None:
    assert isinstance(value.content, Elements)
    if not all(n.is_constant for n in (*starts, *ends)):
        return None
    picked = value.content.array
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        first, last = int(start.fraction), int(end.fraction)
        stop: int | None = last
        if step < 0 and last < -picked.shape[axis]:
            stop = None
        index: list[slice] = [slice(None)] * picked.ndim
        index[axis] = slice(first, stop, step)
        picked = picked[tuple(index)]
    return picked


def _clamped(scope: Scope, length: Length, size: Length, *, backward: bool, last: bool) -> Length:
    """A slice bound within the axis, as ONNX clamps it."""
    low = constant(-1 if backward and last else 0)
    high = size - 1 if backward and not last else size
    return scope.simplify(minimum(maximum(length, low), high))


def _bound(context: RuleContext, bound: Number, size: Length, *, backward: bool, last: bool) -> Length:
    """A slice bound as ONNX counts and clamps it, as a length."""
    length = bound.integer
    if length is None:
        context.refuse(
            f"the slice bound {bound} cannot be written as an expression of the input length",
            "compute the bound from x.shape with additions, integer factors, floor divisions, minima and maxima",
        )
    if length.is_constant and abs(length.constant) >= _HUGE:
        beyond = size - backward if length.constant > 0 else constant(-1 if backward and last else 0)
        return context.scope.simplify(beyond)
    counted = counted_from_the_end(context.scope, length, size)
    if counted is None:
        _keep_sign(context, bound)
        counted = counted_from_the_end(context.scope, length, size)
    if counted is None:
        context.refuse(*_changes_sign(length))
    return _clamped(context.scope, counted, size, backward=backward, last=last)


def _keep_sign(context: RuleContext, bound: Number) -> None:
    """Leave the lengths at which a bound counts from the other end than at most lengths."""
    length = bound.integer
    assert length is not None
    if context.scope.never(length) or context.scope.need(length, f"the slice bound {length} {KEEPS_SIGN}"):
        return
    context.refuse(*_changes_sign(length))


def _changes_sign(length: Length) -> tuple[str, str]:
    return (
        f"the slice bound {length} changes its sign",
        "a negative bound counts from the end: clamp it at 0 (Max) before the slice if it should not",
    )


def _cut(context: RuleContext, start: Number, end: Number, size: Length, step: int) -> tuple[Length, Length, Length]:
    """Where a slice begins and stops, and how many steps it has."""
    backward = step < 0
    first = _bound(context, start, size, backward=backward, last=False)
    stop = _bound(context, end, size, backward=backward, last=True)
    way = -1 if backward else 1
    count = ((stop - first) * way).ceildiv(step * way)
    return first, stop, context.scope.simplify(maximum(count, constant(0)))


def _slice_axis(
    context: RuleContext, value: Facts, axis: int, start: Number, end: Number, step: int, *, alone: bool
) -> Facts:
    scope = context.scope
    whole = value.axes[axis]
    if len(whole) > 1:
        merged = merge_axis(scope, value, axis)
        if merged is None:
            context.refuse("a slice of a merged axis whose padding is interleaved with valid steps")
        value = merged
    bounded = value.bounded if value.bounded is not None and value.bounded.axis == axis else None
    size = context.length_of(value.axes[axis]) if bounded is None else bounded.count
    backward = step < 0
    first, stop, count = _cut(context, start, end, size, step)
    if not count.is_constant and not scope.grows(count):  # a bound that jumps with its sign: no container holds that
        for bound in (start, end):
            _keep_sign(context, bound)
        first, stop, count = _cut(context, start, end, size, step)
    varies = any(atom.ragged or atom.batch for atom in value.axes[axis])
    if count.is_constant and count.constant == 0 and varies:
        way = f"backwards lies behind {stop}" if backward else f"on lies before {stop}"
        context.refuse("an empty slice", f"no step from {first} {way} at any length: {_NOT_EMPTY}")
    most = _most(scope, count)
    if most is not None or bounded is not None:
        _keep_alone(context, alone)
        return _bounded(context, value, axis, first, step, count, most)
    if not count.is_constant and not scope.grows(count):  # empty again at great lengths: the domain ends before
        context.need(count - 1, f"a slice of {count} steps must not be empty", _NOT_EMPTY)
        count = scope.simplify(count)
    if scope.same(count, size) and step == 1:
        return value
    if not varies and first.is_constant and count.is_constant:
        if value.pending is not None:
            value.pending.token.commit()
        return _of_fixed(context, value, axis, first, step, count)
    context.keep_rows_apart(whole, "a slice of")
    (atom,) = value.axes[axis] or (Factor(constant(1)),)
    pending = value.pending
    if pending is not None and pending.atom in value.span(axis) and not backward:
        if scope.at_most(stop, pending.clean):
            pending = None
        else:
            pending.token.commit()
            pending = None
    elif pending is not None:
        pending.token.commit()
        pending = None
    value = replace(value, pending=None)
    context.replace(0, value)
    settled = _start(scope, first, start)
    if not backward and settled is not None:
        first = constant(settled)
        return _prefix(context, value, axis, atom, first, stop, step, count)
    if step == 1:
        moved = _window(context, value, axis, atom, first, count)
        if moved is not None:
            return moved
    _keep_alone(context, alone)
    if not atom.prefix:
        value = context.align(0, value)
    segments = (Segment(constant(0), first, constant(0), step),)
    leak = (
        "a reversed axis starts in the padding"
        if backward
        else "a slice counted from the end reads the container's end"
    )
    taken = context.take(0, axis, count, segments, "PAD105", leak, instead=True)
    return taken


def _keep_alone(context: RuleContext, alone: bool) -> None:
    """A gather stands for the whole node, and cuts one axis."""
    if not alone:
        context.refuse("a slice from the end along several axes at once", "slice one axis at a time")


def _most(scope: Scope, count: Length) -> int | None:
    """The greatest value of a size that falls and rises again, as T % 3 does. One that ends for good does not."""
    if count.is_constant or scope.grows(count):
        return None
    found = [count.evaluate(scope.point(k)) for k in range(_FAR)]
    again = any(found[k] > min(found[:k]) for k in range(1, _FAR))
    return scope.domain.bounds(count)[1] if again else None


def _bounded(
    context: RuleContext, value: Facts, axis: int, first: Length, step: int, count: Length, most: int | None
) -> Facts:
    """A number of steps that does not grow with the length: as many are held as there ever are."""
    context.keep_rows_apart(value.axes[axis], "a slice of")
    value = context.replace(0, context.prefix_axis(0, axis))
    equal = value.bounded is not None and value.bounded.equal
    segments = (Segment(constant(0), constant(0) if equal else first, constant(0), 0 if equal else step),)
    leak = "a slice counted from the end reads the container's end"
    room = constant(1 if equal or not most else most)
    taken = context.take(0, axis, room, segments, "PAD105", leak, instead=True)
    return replace(taken, bounded=Bounded(axis, count, equal))


def _of_fixed(context: RuleContext, value: Facts, axis: int, first: Length, step: int, count: Length) -> Facts:
    """Native's own elements at every length, in any order: nothing of the padding is read along this axis."""
    new = context.axis(count)
    result = replaced_axis(value, axis, new, PaddingFact())
    return replace(result, content=_sliced_affine(value, axis, first, step, new))


def _start(scope: Scope, first: Length, start: Number) -> int | None:
    """Where a slice starts, if that is one place at every length; where it is clamped to the end nothing is read."""
    given = start.integer
    if given is not None and given.is_constant and given.constant >= 0:
        return given.constant
    return scope.domain.is_constant(first)


def _prefix(
    context: RuleContext, value: Facts, axis: int, atom: Factor, first: Length, stop: Length, step: int, count: Length
) -> Facts:
    """The slice starts at a constant: valid steps stay a prefix."""
    scope = context.scope
    if not atom.ragged:
        if not count.is_constant and scope.domain.is_constant(count) is None:
            # a table cut to the length: later rows of the table are its padding
            new = scope.axis(count)
            result = replaced_axis(value, axis, new, cut_pad(value, axis))
            return replace(result, content=_sliced_affine(value, axis, first, step, new))
        new = scope.axis(count)
        result = replaced_axis(value, axis, new, PaddingFact())
        return replace(result, content=_sliced_affine(value, axis, first, step, new))
    new = scope.axis(count, shift=atom.shift if step == 1 else None)
    if not atom.prefix and step != 1:
        context.refuse("a strided slice of a shifted axis")
    size = context.length_of(value.axes[axis])
    whole = scope.same(stop, size)  # nothing valid is cut off, so padding stays padding
    pad = value.pads[value.span(axis).start] if whole else cut_pad(value, axis)
    result = replaced_axis(value, axis, new, pad)
    return replace(result, content=_sliced_affine(value, axis, first, step, new))


def cut_pad(value: Facts, axis: int) -> PaddingFact:
    """What is true of the padding of an axis of at most one atom after its last valid steps were cut off.

    They are padding now, and hold whatever the padding of the other axes holds where that crosses them.
    """
    span = value.span(axis)
    others = [i for i in value.ragged if i not in span]
    anywhere = join(value.kind(region) for region in subsets(others))
    if not any(atom.ragged for atom in value.axes[axis]):
        return PaddingFact(value.valid, anywhere)
    old = value.pads[span.start]
    return PaddingFact(join((old.weak, value.valid)), join((old.strong, anywhere)))


def _sliced_affine(value: Facts, axis: int, first: Length, step: int, new: tuple[Factor, ...]) -> Affine | None:
    content = value.content
    if not isinstance(content, Affine):
        return None
    span = value.span(axis)
    if not content.coefficients:
        return content
    if len(span) != len(new) or not first.is_constant:
        return None
    base, coefficients = content.base, []
    for i, c in content.coefficients:
        if i in span:
            moved = add(base, number(c * first.constant))
            if moved is None:
                return None
            base = moved
            coefficients.append((i, c * step))
        else:
            coefficients.append((i, c))
    return Affine(base, tuple(coefficients))


def _window(context: RuleContext, value: Facts, axis: int, atom: Factor, first: Length, count: Length) -> Facts | None:
    """A start that falls with the length (a centred table) moves the valid part: index i sits at i + first(n) -
    first(C), behind the shift that the axis has."""
    scope = context.scope
    shift = window_shift(scope, atom.shift - first, count)
    if shift is None:
        return None
    new = scope.axis(count, shift=shift)
    if len(new) != 1 or not new[0].ragged:
        return None
    return replaced_axis(value, axis, new, cut_pad(value, axis))


@rule("Split")
def split(context: RuleContext) -> Sequence[Facts | None]:
    value = context.peek(0)
    axis = context.attribute("axis", 0) % value.rank
    listed = context.attribute("split")
    outputs = len(context.node.outputs)
    if any(a.ragged for a in value.axes[axis]):
        return _parts(context, axis, listed)
    size = context.length_of(value.axes[axis])
    if not size.is_constant:
        context.refuse("Split along the batch")
    if listed is None:
        listed = context.integers(1)
    if listed is None:
        each = -(-size.constant // outputs)
        listed = [each] * (outputs - 1) + [size.constant - each * (outputs - 1)]
    merged = merge_axis(context.scope, value, axis)
    assert merged is not None
    results = []
    start = 0
    for part in listed:
        new = context.axis(int(part))
        result = replaced_axis(merged, axis, new, PaddingFact())
        content = merged.content
        if isinstance(content, Elements):
            index = [slice(None)] * content.array.ndim
            index[axis] = slice(start, start + int(part))
            result = replace(result, content=Elements(content.array[tuple(index)]))
        results.append(replace(result, pending=None))
        start += int(part)
    if value.pending is not None:
        context.settle(0)
    return results


_SIZES = "compute the sizes from x.shape, or use slices with bounds computed from it"


def _parts(context: RuleContext, axis: int, listed: Sequence[int] | None) -> list[Facts | None]:
    """Parts of a ragged axis: each is read where native's begins, and native takes no sizes but those of all steps."""
    context.keep_rows_apart(context.peek(0).axes[axis], "Split along")
    value = context.replace(0, context.prefix_axis(0, axis))
    whole, parts, start = context.length_of(value.axes[axis]), [], constant(0)
    for size in _sizes_of_parts(context, whole, listed):
        context.need(size, f"a part of {size} steps")
        parts.append((start, context.scope.simplify(size)))
        start = context.scope.simplify(start + size)
    if not context.scope.same(start, whole) and not context.scope.need_equal(start, whole, f"Split of {whole} steps"):
        context.refuse(f"Split of {whole} steps to parts of {start} in all", _SIZES)
    moved = any(not first.is_constant for first, _ in parts)
    if moved and not context.scope.single_row and value.row_place is None:
        context.refuse("what is split has no batch axis, and each row has a length of its own", "export with batch 1")
    context.ask(Parts("PAD105", "a part begins where the valid steps of those before it end", axis, tuple(parts)))
    pad = PaddingFact.of(FINITE if value.everywhere.finite else ANY)
    return [replaced_axis(value, axis, context.axis(size), pad) for _, size in parts]


def _sizes_of_parts(context: RuleContext, whole: Length, listed: Sequence[int] | None) -> list[Length]:
    """As many steps as each output has: given, or even ones."""
    if listed is not None:
        return [constant(size) for size in listed]
    if context.present(1):
        sizes = [size.integer for size in context.sizes(1)]
        known = [size for size in sizes if size is not None]
        if len(known) < len(sizes):
            context.refuse("the size of a part cannot be written as an expression of the input length", _SIZES)
        return known
    count = len(context.node.outputs)
    if context.version < 18 and not context.scope.need_multiple(
        whole, count, f"Split of {whole} to {count} even parts"
    ):
        context.refuse(f"Split of {whole} steps to {count} even parts", _SIZES)
    each = context.scope.simplify(whole.ceildiv(count) if context.version >= 18 else whole // count)
    return [each] * (count - 1) + [whole - each * (count - 1)]
