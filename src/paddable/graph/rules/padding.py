"""Pad along time: zeros must stand after the valid end, mirrored and repeated tails are gathered there (PAD102)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from paddable.graph.facts.kinds import constant as constant_kind
from paddable.graph.facts.kinds import join
from paddable.graph.facts.numbers import Number
from paddable.graph.facts.value import Pad, Value
from paddable.graph.remedies import Segment
from paddable.graph.rules.operation import Operation
from paddable.graph.rules.registry import rule
from paddable.graph.rules.relative import relative_start
from paddable.graph.rules.slicing import cut_pad, replaced_axis
from paddable.lengths import Length, constant, maximum, minimum

__all__: list[str] = []

_LAPS = 16
"""Steps that a wrap may add: a sequence of one step goes round as often."""


@rule("Pad")
def pad(operation: Operation) -> Sequence[Value | None]:
    value = operation.peek(0)
    mode = str(operation.attribute("mode", "constant") or "constant")
    amounts = _amounts(operation, value)
    if mode == "constant" and len(amounts) == 1 and value.rank - 1 in amounts:
        before, after = amounts[value.rank - 1]
        if before == constant(1) and after == constant(0):
            started = relative_start(operation, operation.data(0, shifted=True))
            if started is not None:
                return [started]
    value = operation.data(0)
    for axis, (before, after) in amounts.items():
        value = _pad_axis(operation, value, axis, before, after, mode)
        operation.operands[0] = value
    return [value]


def _amounts(operation: Operation, value: Value) -> dict[int, tuple[Length, Length]]:
    """Per padded axis the amounts before and after, as lengths."""
    listed = operation.attribute("pads")
    numbers = [Number(constant(x)) for x in listed] if listed is not None else operation.sizes(1)
    axes = operation.integers(3) if operation.present(3) else None
    axes = [a % value.rank for a in axes] if axes is not None else list(range(value.rank))
    half = len(numbers) // 2
    result = {}
    for k, axis in enumerate(axes):
        before, after = numbers[k].integer, numbers[half + k].integer
        if before is None or after is None:
            operation.refuse("a pad amount is no length")
        before, after = operation.scope.simplify(before), operation.scope.simplify(after)
        if before != constant(0) or after != constant(0):
            result[axis] = (before, after)
    return result


def _fill_value(operation: Operation) -> float:
    if operation.version < 11:
        return float(operation.attribute("value", 0.0))
    if not operation.present(2):
        return 0.0
    content = operation.peek(2).scalar
    if content is not None and content.is_constant:
        return float(content.fraction)
    array = operation.constant(2)
    if array is None or array.size != 1:
        operation.refuse("Pad with a computed value")
    return float(array.reshape(-1)[0])


def _pad_axis(operation: Operation, value: Value, axis: int, before: Length, after: Length, mode: str) -> Value:
    scope = operation.scope
    whole = value.axes[axis]
    operation.keep_rows_apart(whole, "Pad along")
    if len(whole) > 1:
        value = operation.prefix_axis(0, axis)
    size = operation.length_of(value.axes[axis])
    total = scope.simplify(size + before + after)
    front = scope.domain.is_constant(before)
    if front is None:
        operation.refuse("a pad in front of the valid part depends on the length", "pad by a constant, or at the end")
    operation.need(total, f"a crop to {total} steps must not take more than there is")
    if not any(atom.ragged for atom in whole) and scope.domain.is_constant(after) is not None:
        return replaced_axis(value, axis, operation.axis(total), Pad())
    if mode == "constant":
        return _constant(operation, value, axis, front, after, total)
    if mode == "wrap":
        return _wrapped(operation, value, axis, before, after, total)
    if mode not in ("reflect", "edge"):
        operation.refuse(f"Pad mode {mode} along time", "use constant, reflect or edge")
    return _continued(operation, value, axis, front, after, total, mirrored=mode == "reflect")


def _wrapped(operation: Operation, value: Value, axis: int, before: Length, after: Length, total: Length) -> Value:
    """Native's element i is x[(i - before) mod size]: one segment a lap, of which one step makes as many as amounts."""
    front, behind = (operation.scope.domain.is_constant(amount) for amount in (before, after))
    if front is None or behind is None or min(front, behind) < 0 or front + behind > _LAPS:
        operation.refuse(
            "Pad mode wrap along time by an amount that varies, is negative, or is large",
            f"pad by constants of {_LAPS} steps in all, or use constant, reflect or edge",
        )
    size = operation.length_of(value.axes[axis])
    operation.need(size - 1, "a wrap needs one step")
    starts = [size * lap + front for lap in range(-front, behind + 1)]
    operation.operands[0] = value
    return operation.take(
        0,
        axis,
        total,
        [Segment(start, -start, constant(0), 1) for start in starts],
        "PAD102",
        "the wrapped tail is taken from the padding",
        instead=True,
    )


def _constant(operation: Operation, value: Value, axis: int, front: int, after: Length, total: Length) -> Value:
    """Constant steps after the valid part: the padding itself must hold the constant, wherever it starts.

    Native's element i is x[i - front] where x has one and the constant elsewhere, whatever the signs: a negative amount
    crops. With the constant in the padding of x, the container's element i is the same at every length.
    """
    crops = operation.scope.at_most(after, constant(0))
    if crops and front <= 0:
        return _cropped(operation, value, axis, after, total)
    fill = _fill_value(operation)
    if crops:
        result = _cropped(operation, value, axis, after, total)
    else:
        operation.operands[0] = value
        leak = "the padding stands before the constant appended to the valid part"
        value = operation.fill(0, value.span(axis), fill, "PAD102", leak)
        kind = Pad.of(constant_kind(fill))
        if not operation.scope.at_most(constant(0), after):  # valid steps stand in the padding where it crops
            cut = cut_pad(value, axis)
            kind = Pad(join([kind.weak, cut.weak]), join([kind.strong, cut.strong]))
        result = replaced_axis(value, axis, operation.axis(total), kind)
    return replace(
        result,
        low=min(value.low, fill),
        high=max(value.high, fill),
        masked=value.masked or abs(fill) >= 1e30,
        finite=value.finite and constant_kind(fill).finite,
    )


def _continued(
    operation: Operation, value: Value, axis: int, front: int, after: Length, total: Length, *, mirrored: bool
) -> Value:
    """A mirrored or repeated tail is gathered behind the valid end. Negative amounts crop, and what is left goes on."""
    size = operation.length_of(value.axes[axis])
    least, most = minimum(after, constant(0)), maximum(after, constant(0))
    begin = max(front, 0)
    kept = size + least + min(front, 0)
    if mirrored:
        operation.need(kept - 1 - begin, f"a reflection of {begin} needs more steps")
        operation.need(kept - 1 - most, f"a reflection of {after} needs more steps")
    else:
        operation.need(kept - 1, "an edge needs one step")
    if operation.scope.at_most(after, constant(0)):
        return _cropped(operation, value, axis, after, total)
    segments = []
    if begin:
        first = Segment(constant(0), constant(begin), constant(0), -1)
        segments.append(first if mirrored else Segment(constant(0), constant(0), constant(0), 0))
    segments.append(Segment(constant(begin), constant(-front), constant(0), 1))
    end = size + front
    if mirrored:
        segments.append(Segment(end, size * 2 - 2 + front, constant(0), -1))
    else:
        segments.append(Segment(end, size - 1, constant(0), 0))
    what = "mirrored" if mirrored else "repeated"
    operation.operands[0] = value
    return operation.take(
        0, axis, total, segments, "PAD102", f"the {what} tail is taken from the padding", instead=True
    )


def _cropped(operation: Operation, value: Value, axis: int, after: Length, total: Length) -> Value:
    """Nothing is appended: native and container read the same steps."""
    uncut = operation.scope.at_most(constant(0), after)
    pad = value.pads[value.span(axis).start] if uncut else cut_pad(value, axis)
    return replaced_axis(value, axis, operation.axis(total), pad)
