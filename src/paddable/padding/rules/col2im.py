"""Col2Im: windows added up into a signal (PAD102).

Needs: zeros in the padding, whose windows overlap the valid end.
Refuses: windows that vary in size, or that the result's size does not explain.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from paddable.lengths import Length, constant
from paddable.padding.deduce.broadcast import pads_of, same_axis
from paddable.padding.deduce.context import RuleContext
from paddable.padding.deduce.registry import rule
from paddable.padding.facts.axes import Axis
from paddable.padding.facts.facts import Facts
from paddable.padding.facts.kinds import ANY, FINITE

__all__: list[str] = []


@rule("Col2Im")
def fold(context: RuleContext) -> Sequence[Facts | None]:
    """[N, channels x kernel, windows] to [N, channels, size...]: each window is added where it was taken."""
    value = context.data(0)
    sizes, kernel = context.sizes(1), context.integers(2)
    if kernel is None or any(a.ragged or a.batch for a in value.axes[1]):
        context.refuse("Col2Im whose windows vary in size")
    rank = len(kernel)
    strides = list(context.attribute("strides") or [1] * rank)
    dilations = list(context.attribute("dilations") or [1] * rank)
    pads = list(context.attribute("pads") or [0] * 2 * rank)
    spatial: list[Axis] = []
    windows: list[Axis] = []
    for k, found in enumerate(sizes):
        size = found.integer
        if size is None:
            context.refuse("the size of Col2Im's result cannot be written as an expression of the input length")
        padded = context.scope.simplify(size) + (pads[k] + pads[rank + k] - dilations[k] * (kernel[k] - 1) - 1)
        count = context.scope.simplify(padded // strides[k] + 1)
        if not count.is_constant:
            context.need(count - 1, "Col2Im needs at least one window")
        spatial.append(context.axis(context.scope.simplify(size)))
        windows.append(context.axis(count))
    value = _agreeing(context, value, windows)
    value = context.fill(0, value.span(2), 0.0, "PAD102", "the windows of the padding are added to the valid end")
    channels = context.length_of(value.axes[1]).constant // math.prod(kernel)
    axes = (value.axes[0], context.axis(channels), *spatial)
    finite = value.everywhere.finite
    kinds = pads_of(axes, lambda region: FINITE if finite else ANY)
    return [Facts(value.dtype, axes, kinds, finite=value.finite, masked=value.masked)]


def _agreeing(context: RuleContext, value: Facts, windows: Sequence[Axis]) -> Facts:
    """The input, its last axis being the windows of each axis of the result in order."""
    whole = tuple(atom for axis in windows for atom in axis)
    if same_axis(context.scope, whole, value.axes[2]):
        return value
    value = context.prefix_axis(0, 2)
    context.replace(0, value)
    wanted, given = _product(context, windows), context.length_of(value.axes[2])
    first_varies = all(atom.fixed for atom in whole[1:])
    if not first_varies or not (
        context.scope.same(wanted, given) or context.scope.need_equal(wanted, given, f"{wanted} must equal {given}")
    ):
        context.refuse(f"Col2Im of {given} windows, where its result has {wanted}")
    return value


def _product(context: RuleContext, windows: Sequence[Axis]) -> Length:
    total = constant(1)
    for axis in windows:
        length = context.length_of(axis)
        if total.is_constant:
            total = length * total.constant
        elif length.is_constant:
            total = total * length.constant
        else:
            context.refuse("Col2Im over two axes that vary, which its input does not tell apart")
    return total
