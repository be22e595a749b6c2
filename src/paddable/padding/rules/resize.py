"""Resize along time (PAD102).

Passes: nearest by an integer scale.
Needs: elsewhere the last valid step repeated behind the valid end, as native repeats it; to a size whose ratio to time
depends on the length, gathers at the positions that native computes, in the same float arithmetic; zeros along the axes
that stay, where the padding may be infinite and steps are averaged.
Refuses: given scales that vary with the length, cubic interpolation, several axes with aligned corners, and crops.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from paddable.lengths import Length, constant, maximum, minimum
from paddable.padding.deduce.broadcast import pads_of
from paddable.padding.deduce.context import RuleContext
from paddable.padding.deduce.registry import rule
from paddable.padding.facts.axes import Axis
from paddable.padding.facts.facts import Facts, PaddingFact
from paddable.padding.facts.kinds import ANY, FINITE, Kind
from paddable.padding.remedies import Segment
from paddable.padding.remedies.forms import Resampled
from paddable.padding.rules.slicing import replaced_axis

__all__: list[str] = []


@rule("Resize")
def resize(context: RuleContext) -> Sequence[Facts | None]:
    scales = _scales(context, context.data(0))
    mode = str(context.attribute("mode", "nearest"))
    transform = str(context.attribute("coordinate_transformation_mode", "half_pixel"))
    rounding = str(context.attribute("nearest_mode", "round_prefer_floor"))
    if mode != "nearest" and any(scale != 1 for scale in scales):
        _finite_beside(context, [axis for axis, scale in enumerate(scales) if scale == 1])
    resized: dict[int, Axis] = {}
    for axis, scale in enumerate(scales):
        if isinstance(scale, Fraction) and scale == 1:
            continue
        if transform == "align_corners" and isinstance(scale, Fraction):
            scale = _aligned(context, axis, scale)
        if isinstance(scale, Length):  # one step is a size of its own, and equal to 1 too
            if any(isinstance(other, Length) or other != 1 for k, other in enumerate(scales) if k != axis):
                context.refuse("Resize of several axes to sizes of their own", "resize one axis after the other")
            return [_resampled(context, axis, scale, mode, transform, rounding)]
        old = context.peek(0).axes[axis]
        context.keep_rows_apart(old, "Resize of")
        if any(a.ragged for a in old):
            resized[axis] = _resize_axis(context, axis, scale, mode, transform, rounding)
        else:
            resized[axis] = context.axis(int(context.length_of(old).constant * scale))
    # every remedy is of what is read, so the new axes come last
    value = context.peek(0)
    if resized and mode != "nearest":
        pads = tuple(PaddingFact(_blended(pad.weak), _blended(pad.strong)) for pad in value.pads)
        value = replace(value, pads=pads, constant=None, below=False)
    pad = PaddingFact.of(FINITE if value.everywhere.finite else ANY)
    for axis, new in resized.items():
        value = replaced_axis(value, axis, new, pad)
    return [value]


def _aligned(context: RuleContext, axis: int, scale: Fraction) -> Fraction | Length:
    """The size to which aligned corners scale an axis: their positions depend on the sizes, and not on the scale."""
    held = context.peek(0).axes[axis]
    if not any(atom.ragged for atom in held):
        return scale
    return context.scope.simplify(context.length_of(held) * scale.numerator // scale.denominator)


def _finite_beside(context: RuleContext, axes: Sequence[int]) -> None:
    """Along the axes that stay, kernels read the next step too, and count it with the weight 0: NaN of an infinity."""
    value = context.peek(0)
    if not value.finite_padding:
        atoms = [i for axis in axes for i in value.span(axis)]
        context.fill(0, atoms, 0.0, "PAD102", "the step behind the last one is counted with the weight 0")


def _blended(kind: Kind) -> Kind:
    """Of means of such elements: rounding moves a constant, and a step that does not count makes NaN of an infinity."""
    return kind if kind.is_zero else FINITE if kind.finite else ANY


def _scales(context: RuleContext, value: Facts) -> list[Fraction | Length]:
    """Of each axis its scale, or the size that is asked for where their ratio depends on the length."""
    axes = context.attribute("axes") or list(range(value.rank))
    result: list[Fraction | Length] = [Fraction(1)] * value.rank
    if context.present(2) and context.length_of(context.peek(2).axes[0]) != constant(0):
        for axis, scale in zip(axes, context.sizes(2), strict=True):
            if not scale.is_constant:
                context.refuse("a scale that varies with the length", "give a constant scale")
            result[axis] = scale.fraction
        return result
    for axis, target in zip(axes, context.sizes(3), strict=True):
        wanted, size = target.integer, value.size(axis)
        if wanted is None or not isinstance(size, Length):
            context.refuse("a size that cannot be written as an expression of the input length")
        if context.scope.same(wanted, size):
            continue
        if size.is_constant and wanted.is_constant:
            result[axis] = Fraction(wanted.constant, size.constant)
            continue
        times = context.scope.ratio(wanted, size)
        result[axis] = wanted if times is None else Fraction(times)
    return result


_POSITIONS = ("asymmetric", "half_pixel", "pytorch_half_pixel", "align_corners")


def _resampled(context: RuleContext, axis: int, total: Length, mode: str, transform: str, rounding: str) -> Facts:
    """To a size of its own: every step of the result is made of valid steps, in the padding too."""
    value = context.replace(0, context.prefix_axis(0, axis))
    size = context.length_of(value.axes[axis])
    context.keep_rows_apart(value.axes[axis], "Resize of")
    whole = transform in _POSITIONS and mode in ("linear", "bilinear", "nearest")
    policy = str(context.attribute("keep_aspect_ratio_policy", "stretch"))
    if not whole or context.attribute("antialias", 0) or policy != "stretch":
        context.refuse(
            f"Resize from {size} to {total}: the scale depends on the length",
            "give a constant scale, or use linear or nearest",
        )
    if not value.axes[axis] or (mode != "nearest" and not value.dtype.is_floating_point()):
        context.refuse("Resize of a single step, or of integers by their means", "use Expand, or cast them to float")
    for length in (size, total):
        context.need(length - 1, "a resized axis must not be empty")
    if not context.scope.single_row and _rows(value) is None:  # a table, of which each row makes another size
        if axis == 0 or value.axes[0]:
            context.refuse(
                "what is resized has no batch axis, and each row has a length of its own",
                "export with batch 1, or give it a first axis of size 1",
            )
        value = context.give_rows(0, value, value.rank)
    leak = "the scale is taken from the container's sizes"
    context.ask(Resampled("PAD102", leak, axis, value.axes, size, total, mode, transform, rounding))
    axes = (*value.axes[:axis], context.axis(total), *value.axes[axis + 1 :])
    span, places = value.span(axis), sum(len(held) for held in axes[:axis])
    more = len(axes[axis])

    def kind_at(region: tuple[int, ...]) -> Kind:
        """As of the other axes: what is read along this one is valid."""
        own = [i if i < places else i - more + len(span) for i in region if not places <= i < places + more]
        kind = value.kind(own)
        return kind if mode == "nearest" else _blended(kind)

    return Facts(
        value.dtype, axes, pads_of(axes, kind_at), None, value.low, value.high, finite=value.finite, masked=value.masked
    )


def _rows(value: Facts) -> int | None:
    return next((k for k, axis in enumerate(value.axes) if len(axis) == 1 and axis[0].batch), None)


def _resize_axis(context: RuleContext, axis: int, scale: Fraction, mode: str, transform: str, rounding: str) -> Axis:
    """What is read past the valid end is mended; gives the axis of the result."""
    value = context.replace(0, context.prefix_axis(0, axis))
    size = context.length_of(value.axes[axis])
    total = context.scope.simplify(size * scale.numerator // scale.denominator)
    context.need(total - 1, "a resized axis must not be empty")
    if transform not in ("asymmetric", "half_pixel", "pytorch_half_pixel"):
        context.refuse(f"Resize with {transform} over time", "use align_corners, half_pixel or asymmetric")
    if mode not in ("nearest", "linear", "bilinear"):
        context.refuse(f"Resize mode {mode} over time", "use nearest or linear")
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
        context.take(0, axis, size, segments, "PAD102", "the resampling at the valid end reads the padding")
    return context.axis(total)
