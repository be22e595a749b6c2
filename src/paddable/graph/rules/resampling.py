"""Resize and Upsample along time: integer scales of nearest pass, others read the repeated last step (PAD102)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from paddable.graph.facts.kinds import ANY, FINITE
from paddable.graph.facts.value import Pad, Value
from paddable.graph.remedies import Segment
from paddable.graph.rules.operation import Operation
from paddable.graph.rules.registry import rule
from paddable.graph.rules.slicing import replaced_axis
from paddable.lengths import Length, constant, maximum, minimum

__all__: list[str] = []


@rule("Resize", "Upsample")
def resize(operation: Operation) -> Sequence[Value | None]:
    value = operation.data(0)
    scales = _scales(operation, value)
    mode = str(operation.attribute("mode", "nearest"))
    transform = str(operation.attribute("coordinate_transformation_mode", "half_pixel"))
    if operation.type == "Upsample":
        transform = "asymmetric"
    rounding = str(operation.attribute("nearest_mode", "round_prefer_floor"))
    for axis, scale in enumerate(scales):
        if scale == 1:
            continue
        operation.keep_rows_apart(value.axes[axis], "Resize of")
        if not any(a.ragged for a in value.axes[axis]):
            size = operation.length_of(value.axes[axis])
            value = replaced_axis(value, axis, operation.axis(int(size.constant * scale)), Pad())
            continue
        value = _resize_axis(operation, value, axis, scale, mode, transform, rounding)
    return [value]


def _scales(operation: Operation, value: Value) -> list[Fraction]:
    listed = operation.attribute("scales")
    if listed is not None:
        return [Fraction(float(s)) for s in listed]
    index = 1 if operation.type == "Upsample" or operation.version < 11 else 2
    axes = operation.attribute("axes") or list(range(value.rank))
    result = [Fraction(1)] * value.rank
    if operation.present(index) and operation.length_of(operation.peek(index).axes[0]) != constant(0):
        for axis, scale in zip(axes, operation.sizes(index), strict=True):
            if not scale.is_constant:
                operation.refuse("a scale that varies with the length", "give a constant scale")
            result[axis] = scale.fraction
        return result
    for axis, target in zip(axes, operation.sizes(3), strict=True):
        wanted, size = target.integer, value.size(axis)
        if wanted is None or not isinstance(size, Length):
            operation.refuse("a size that is no length")
        if operation.scope.same(wanted, size):
            continue
        if size.is_constant and wanted.is_constant:
            result[axis] = Fraction(wanted.constant, size.constant)
            continue
        times = operation.scope.ratio(wanted, size)
        if times is None:
            operation.refuse(
                f"Resize from {size} to {wanted}: the scale depends on the length", "give a constant scale"
            )
        result[axis] = Fraction(times)
    return result


def _resize_axis(
    operation: Operation, value: Value, axis: int, scale: Fraction, mode: str, transform: str, rounding: str
) -> Value:
    value = operation.prefix_axis(0, axis)
    operation.operands[0] = value
    size = operation.length_of(value.axes[axis])
    total = operation.scope.simplify(size * scale.numerator // scale.denominator)
    operation.need(total - 1, "a resized axis must not be empty")
    if transform not in ("asymmetric", "half_pixel", "pytorch_half_pixel"):
        operation.refuse(f"Resize with {transform} depends on the length", "use half_pixel or asymmetric")
    if mode not in ("nearest", "linear", "bilinear"):
        operation.refuse(f"Resize mode {mode} over time", "use nearest or linear")
    inside = (
        mode == "nearest"
        and scale.denominator == 1
        and (
            (transform == "asymmetric" and rounding == "floor")
            or (
                transform != "asymmetric"
                and rounding in ("round_prefer_floor", "round_prefer_ceil", "floor")
                and scale % 2 == 0
            )
            or (transform != "asymmetric" and rounding in ("round_prefer_floor", "round_prefer_ceil"))
        )
    )
    if not inside:
        # native repeats the last step where it would read past the end
        end = size
        if transform == "pytorch_half_pixel":
            # A result of one step is read at position 0, whatever the scale: there the whole axis repeats step 0.
            # Elsewhere size < (total + 1) / scale <= 3 * (total - 1) / scale, so the minimum is the size.
            end = minimum(size, (total - 1) * (3 * scale.denominator // scale.numerator + 1))
        last = maximum(end - 1, constant(0))
        segments = (Segment(constant(0), constant(0), constant(0)), Segment(end, last, constant(0), 0))
        value = operation.take(0, axis, size, segments, "PAD102", "the resampling at the valid end reads the padding")
    finite = value.everywhere.finite
    new = operation.axis(total)
    return replaced_axis(value, axis, new, Pad.of(FINITE if finite else ANY))
