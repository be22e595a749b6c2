"""Pad along time: zeros must stand after the valid end, mirrored and repeated tails are gathered there (PAD102)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from paddable.graph.facts.axes import Atom
from paddable.graph.facts.kinds import constant as constant_kind
from paddable.graph.facts.numbers import Number
from paddable.graph.facts.value import Pad, Value
from paddable.graph.remedies import Segment
from paddable.graph.rules.operation import Operation
from paddable.graph.rules.registry import rule
from paddable.graph.rules.relative import relative_start
from paddable.graph.rules.slicing import _cut, replaced_axis
from paddable.lengths import Length, constant

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
    varies = any(a.ragged for a in whole)
    if len(whole) > 1:
        value = operation.prefix_axis(0, axis)
    size = operation.length_of(value.axes[axis])
    total = scope.simplify(size + before + after)
    fixed_before = scope.domain.is_constant(before) if not before.is_constant else before.constant
    fixed_after = scope.domain.is_constant(after) if not after.is_constant else after.constant
    if not varies and fixed_before is not None and fixed_after is not None:
        return replaced_axis(value, axis, operation.axis(total), Pad())
    if fixed_before is None:
        operation.refuse("a pad in front of the valid part depends on the length", "pad by a constant, or at the end")
    if fixed_after is None:
        operation.need(after, f"a pad of {after} must not be negative")
        if not all(scope.domain.monotone(total, name) for name in total.symbols):
            operation.refuse(f"the padded size {total} does not grow with the length")
    if fixed_before < 0 or (fixed_after is not None and fixed_after < 0):
        return _crop(operation, value, axis, fixed_before, fixed_after, total, mode)
    if mode == "constant":
        return _constant(operation, value, axis, fixed_after, total)
    if mode == "wrap":
        return _wrapped(operation, value, axis, before, after, total)
    if mode not in ("reflect", "edge"):
        operation.refuse(f"Pad mode {mode} along time", "use constant, reflect or edge")
    if mode == "reflect":
        operation.need(size - 1 - fixed_before, f"a reflection of {fixed_before} needs more steps")
        operation.need(size - 1 - after, f"a reflection of {after} needs more steps")
    else:
        operation.need(size - 1, "an edge needs one step")
    if fixed_after == 0:
        kind = value.pads[value.span(axis).start] if varies else Pad()
        return replaced_axis(value, axis, operation.axis(total), kind)
    segments = []
    if fixed_before > 0:
        first = Segment(constant(0), constant(fixed_before), constant(0), -1)
        segments.append(first if mode == "reflect" else Segment(constant(0), constant(0), constant(0), 0))
    segments.append(Segment(constant(fixed_before), constant(-fixed_before), constant(0), 1))
    end = size + fixed_before
    if mode == "reflect":
        segments.append(Segment(end, size * 2 - 2 + fixed_before, constant(0), -1))
    else:
        segments.append(Segment(end, size - 1, constant(0), 0))
    what = "mirrored" if mode == "reflect" else "repeated"
    operation.operands[0] = value
    return operation.take(
        0, axis, total, segments, "PAD102", f"the {what} tail is taken from the padding", instead=True
    )


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


def _constant(operation: Operation, value: Value, axis: int, fixed_after: int | None, total: Length) -> Value:
    """Constant steps after the valid part: the padding itself must hold the constant, wherever it starts."""
    fill = _fill_value(operation)
    span = value.span(axis)
    ragged = [i for i in span if value.atoms[i].ragged]
    kind = Pad()
    if fixed_after == 0:
        kind = value.pads[span.start] if ragged else Pad()
    else:
        operation.operands[0] = value
        if ragged:
            value = operation.fill(
                0, ragged, fill, "PAD102", "the padding stands before the constant appended to the valid part"
            )
        kind = Pad.of(constant_kind(fill))
    result = replaced_axis(value, axis, operation.axis(total), kind)
    return replace(
        result,
        low=min(value.low, fill),
        high=max(value.high, fill),
        masked=value.masked or abs(fill) >= 1e30,
        finite=value.finite and constant_kind(fill).finite,
    )


def _crop(
    operation: Operation, value: Value, axis: int, before: int, after: int | None, total: Length, mode: str
) -> Value:
    """Negative amounts cut steps off."""
    if after is None or before > 0 or after > 0 or mode != "constant":
        operation.refuse("Pad with a negative amount beside a positive one", "crop with a slice, then pad")
    operation.need(total, f"a crop to {total} steps must not take more than there is")
    span = value.span(axis)
    old = value.pads[span.start] if len(span) else Pad()
    kind = Pad(_cut(old.weak, value.valid), _cut(old.strong, value.valid)) if after < 0 else old
    atom: Atom | None = value.axes[axis][0] if len(span) else None
    if atom is not None and not atom.prefix:
        operation.refuse("a crop of a shifted axis")
    return replaced_axis(value, axis, operation.axis(total), kind)
