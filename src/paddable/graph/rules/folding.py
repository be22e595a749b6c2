"""Col2Im: windows added up into a signal. The windows of the padding overlap the valid end (PAD102)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from paddable.graph.facts.axes import Axis
from paddable.graph.facts.kinds import ANY, FINITE
from paddable.graph.facts.value import Value
from paddable.graph.rules.broadcast import pads_of, same_axis
from paddable.graph.rules.operation import Operation
from paddable.graph.rules.registry import rule
from paddable.lengths import Length, constant

__all__: list[str] = []


@rule("Col2Im")
def fold(operation: Operation) -> Sequence[Value | None]:
    """[N, channels x kernel, windows] to [N, channels, size...]: each window is added where it was taken."""
    value = operation.data(0)
    sizes, kernel = operation.sizes(1), operation.integers(2)
    if kernel is None or any(a.ragged or a.batch for a in value.axes[1]):
        operation.refuse("Col2Im whose windows vary in size")
    rank = len(kernel)
    strides = list(operation.attribute("strides") or [1] * rank)
    dilations = list(operation.attribute("dilations") or [1] * rank)
    pads = list(operation.attribute("pads") or [0] * 2 * rank)
    spatial: list[Axis] = []
    windows: list[Axis] = []
    for k, found in enumerate(sizes):
        size = found.integer
        if size is None:
            operation.refuse("the size of Col2Im's result is no length")
        padded = operation.scope.simplify(size) + (pads[k] + pads[rank + k] - dilations[k] * (kernel[k] - 1) - 1)
        count = operation.scope.simplify(padded // strides[k] + 1)
        if not count.is_constant:
            operation.need(count - 1, "Col2Im needs at least one window")
        spatial.append(operation.axis(operation.scope.simplify(size)))
        windows.append(operation.axis(count))
    value = _agreeing(operation, value, windows)
    value = operation.fill(0, value.span(2), 0.0, "PAD102", "the windows of the padding are added to the valid end")
    channels = operation.length_of(value.axes[1]).constant // math.prod(kernel)
    axes = (value.axes[0], operation.axis(channels), *spatial)
    finite = value.everywhere.finite
    return [Value(value.dtype, axes, pads_of(axes, lambda region: FINITE if finite else ANY), finite=value.finite)]


def _agreeing(operation: Operation, value: Value, windows: Sequence[Axis]) -> Value:
    """The input, its last axis being the windows of each axis of the result in order."""
    whole = tuple(atom for axis in windows for atom in axis)
    if same_axis(operation.scope, whole, value.axes[2]):
        return value
    value = operation.prefix_axis(0, 2)
    operation.operands[0] = value
    wanted, given = _product(operation, windows), operation.length_of(value.axes[2])
    first_varies = all(atom.fixed for atom in whole[1:])
    if not first_varies or not (
        operation.scope.same(wanted, given) or operation.scope.need_equal(wanted, given, f"{wanted} must equal {given}")
    ):
        operation.refuse(f"Col2Im of {given} windows, where its result has {wanted}")
    return value


def _product(operation: Operation, windows: Sequence[Axis]) -> Length:
    total = constant(1)
    for axis in windows:
        length = operation.length_of(axis)
        if total.is_constant:
            total = length * total.constant
        elif length.is_constant:
            total = total * length.constant
        else:
            operation.refuse("Col2Im over two axes that vary, which its input does not tell apart")
    return total
