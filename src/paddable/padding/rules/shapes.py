"""Where sizes become numbers and numbers become tensors: Shape, Size, Range, ConstantOfShape.

Passes: their results are known symbolically.
Needs: nothing here; who reads a size as data asks for the run-time length.
Refuses: a Range whose limits come from data or whose step varies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import onnx_ir as ir

from paddable.lengths import Length
from paddable.padding.deduce.context import RuleContext
from paddable.padding.deduce.registry import rule
from paddable.padding.facts.axes import axis_size
from paddable.padding.facts.facts import Affine, Elements, Facts, PaddingFact
from paddable.padding.facts.kinds import constant
from paddable.padding.facts.numbers import Face, Number, negate, number, product
from paddable.padding.facts.numbers import add as add_numbers
from paddable.padding.rules.movement import target_axes

__all__: list[str] = []


@rule("Shape")
def shape(context: RuleContext) -> Sequence[Facts | None]:
    value = context.peek(0)
    start = context.attribute("start", 0)
    end = context.attribute("end", value.rank)
    chosen = range(value.rank)[slice(start, end)]
    numbers = np.empty(len(chosen), dtype=object)
    for k, i in enumerate(chosen):
        numbers[k] = number(value.size(i), Face.SIZE)
    return [Facts.known(ir.DataType.INT64, (context.axis(len(chosen)),), Elements(numbers))]


@rule("Size")
def size(context: RuleContext) -> Sequence[Facts | None]:
    value = context.peek(0)
    total = number(product(1, *(value.size(i) for i in range(value.rank))), Face.SIZE)
    return [Facts.known(ir.DataType.INT64, (), Elements(np.array(total, dtype=object)))]


@rule("Range")
def range_(context: RuleContext) -> Sequence[Facts | None]:
    """``start + step * i``; its length is an extent, its start is a number used as data."""
    dtype = context.peek(0).dtype
    start, limit, step = (_scalar(context, i) for i in range(3))
    if not step.is_constant or step.fraction == 0:
        context.refuse("the step of a Range varies with the length")
    step_value = step.fraction
    span = add_numbers(limit, negate(start))
    if span is None or not isinstance(span.length, Length):
        context.refuse("the limits of a Range are not known as lengths", "compute them from x.shape")
    # ceil(span / step), all as integers
    numerator = span.length * (step_value.denominator if step_value > 0 else -step_value.denominator)
    count = context.scope.simplify(numerator.ceildiv(abs(step_value.numerator) * span.divisor))
    if count.is_constant and count.constant <= 0:
        context.refuse("an empty Range")
    if not count.is_constant:
        context.need(count - 1, f"a Range of {count} elements must not be empty")
        count = context.scope.simplify(count)
    for i in (0, 1):
        content_in = context.peek(i).content
        if content_in is not None and content_in.face in (Face.LENGTH, Face.MIXED):
            if i == 0:
                context.refuse("a Range starts at a run-time length")
            context.sizes(i)
    axis = context.axis(count)
    face = Face.CONSTANT if start.is_constant and start.face is not Face.MIXED else Face.SIZE
    base = Number(start.length, start.divisor, face)
    coefficients = ((0, Fraction(step_value)),) if axis else ()
    content: Affine | Elements = Affine(base, coefficients)
    if count.is_constant and count.constant <= 64:
        elements = np.empty(count.constant, dtype=object)
        for i in range(count.constant):
            elements[i] = add_numbers(base, number(step_value * i))
        content = Elements(elements)
    low, high = (float(start.fraction), float("inf")) if start.is_constant and step_value > 0 else (-np.inf, np.inf)
    return [Facts.known(dtype, (axis,), content, low, high)]


def _scalar(context: RuleContext, index: int) -> Number:
    value = context.peek(index)
    if value.scalar is None:
        context.refuse("a Range limit is computed from data", "bound it by the time axis and mask the rest")
    return value.scalar


@rule("ConstantOfShape")
def constant_of_shape(context: RuleContext) -> Sequence[Facts | None]:
    axes, copies = target_axes(context, 0)
    tensor = context.attribute("value")
    fill = tensor.numpy().reshape(-1)[0] if tensor is not None else np.float32(0)
    dtype = tensor.dtype if tensor is not None else ir.DataType.FLOAT
    if not np.isfinite(fill):
        pads = tuple(PaddingFact.of(constant(float(fill))) for axis in axes for _ in axis)
        return [Facts(dtype, axes, pads, None, float(fill), float(fill), bounded=copies)]
    content = Affine(number(Fraction(float(fill))))
    result: Affine | Elements = content
    sizes = [axis_size(axis) for axis in axes]
    if copies is None and all(isinstance(size, Length) and size.is_constant for size in sizes):
        count = [size.constant for size in sizes if isinstance(size, Length)]
        if int(np.prod(count, dtype=np.int64)) <= 256:
            result = Elements(np.full(count, content.base, dtype=object))
    return [replace(Facts.known(dtype, axes, result, float(fill), float(fill)), bounded=copies)]
