"""Operators on quantised integers, as onnxruntime.quantization writes them (PAD102, PAD108).

Passes: a fixed scale sees no padding, so these leak where their float forms do.
Needs: the zero point in the padding where the float form needs 0.
Refuses: pools over the valid end, softmax and concatenation over time, channels last.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import onnx_ir as ir

from paddable.padding.deduce.broadcast import broadcast, pads_of, same_axis
from paddable.padding.deduce.context import RuleContext
from paddable.padding.deduce.registry import rule
from paddable.padding.deduce.zero_point import Zero, zero_point
from paddable.padding.facts.axes import Axes, Axis
from paddable.padding.facts.facts import Facts
from paddable.padding.facts.kinds import ANY, FINITE
from paddable.padding.rules.contraction import contract, gemm_terms, matmul_terms, on_codes
from paddable.padding.rules.convolution import convolve, output_axis, spatial_value, windows

__all__: list[str] = []

_FORMAT = "quantise with QuantFormat.QDQ, and save it as it is: the operator itself stays in float"
_LAYOUT = "save the model below optimisation level 3 (ALL)"


def _codes(context: RuleContext, axes: Axes, zero_input: int) -> Facts:
    dtype = context.peek(zero_input).dtype if context.present(zero_input) else context.peek(0).dtype
    return Facts(dtype, axes, pads_of(axes, lambda region: FINITE))


def _scaled(context: RuleContext, axes: Axes, others: Sequence[int]) -> Facts:
    """A product of integers in float: finite where the scales and the bias are, and no mask's fill."""
    finite = all(context.data(i).finite for i in others if context.present(i))
    pads = pads_of(axes, lambda region: FINITE if finite else ANY)
    return Facts(ir.DataType.FLOAT, axes, pads, finite=finite, masked=False)


def _zero_of_steps(context: RuleContext, index: int) -> Zero:
    zero = zero_point(context, index)
    if zero is None:
        context.refuse(f"{context.type} with several zero points for its input", "use one for the tensor")
    return zero


@rule("ConvInteger")
def conv_integer(context: RuleContext) -> Sequence[Facts | None]:
    return [replace(convolve(context, 1, zero=_zero_of_steps(context, 2)), dtype=ir.DataType.INT32)]


@rule("QLinearConv")
def qlinear_conv(context: RuleContext) -> Sequence[Facts | None]:
    result = convolve(context, 3, zero=_zero_of_steps(context, 2))
    return [_codes(context, result.axes, 7)]


@rule("QLinearConv", domain="com.microsoft")
def contrib_qlinear_conv(context: RuleContext) -> Sequence[Facts | None]:
    if context.attribute("channels_last", 0):
        context.refuse("QLinearConv with the channels last", _LAYOUT)
    return qlinear_conv(context)


@rule("QLinearMatMul")
def qlinear_matmul(context: RuleContext) -> Sequence[Facts | None]:
    terms, result = matmul_terms(context, 0, 3)
    return [_codes(context, contract(context, on_codes(context, terms, (2, 5)), result).axes, 7)]


@rule("QGemm", domain="com.microsoft")
def qgemm(context: RuleContext) -> Sequence[Facts | None]:
    if context.present(6) and context.data(6).ragged:
        context.refuse("QGemm with a ragged bias", _FORMAT)
    terms = on_codes(context, gemm_terms(context, 0, 3), (2, 5))
    product = contract(context, terms, ("m", "n"))
    if not context.present(8):  # no scale of the result: it stays float
        return [_scaled(context, product.axes, (1, 4, 6))]
    return [_codes(context, product.axes, 8)]


@rule("MatMulIntegerToFloat", domain="com.microsoft")
def matmul_integer_to_float(context: RuleContext) -> Sequence[Facts | None]:
    terms, result = matmul_terms(context, 0, 1)
    product = contract(context, on_codes(context, terms, (4, 5)), result)
    if context.present(6) and context.data(6).ragged:
        context.refuse("MatMulIntegerToFloat with a ragged bias", _FORMAT)
    return [_scaled(context, product.axes, (2, 3, 6))]


@rule("QLinearAdd", "QLinearMul", domain="com.microsoft")
def qlinear_arithmetic(context: RuleContext) -> Sequence[Facts | None]:
    for i in (0, 3):
        context.data(i)
    return [_codes(context, broadcast(context, (0, 3)).axes, 7)]


@rule("QLinearSigmoid", "QLinearLeakyRelu", domain="com.microsoft")
def qlinear_activation(context: RuleContext) -> Sequence[Facts | None]:
    return [_codes(context, context.data(0).axes, 4)]


@rule("QLinearSoftmax", domain="com.microsoft")
def qlinear_softmax(context: RuleContext) -> Sequence[Facts | None]:
    value = context.data(0)
    axis = context.attribute("axis", -1) % value.rank
    over = range(axis, value.rank) if context.attribute("opset", 13) < 13 else (axis,)
    if any(a.ragged or a.batch for k in over for a in value.axes[k]):
        context.refuse("QLinearSoftmax over time: no code is so low that its weight is 0", _FORMAT)
    return [_codes(context, value.axes, 4)]


@rule("QLinearConcat", domain="com.microsoft")
def qlinear_concat(context: RuleContext) -> Sequence[Facts | None]:
    """Inputs: scale and zero point of the result, then codes, scale and zero point of each part."""
    values = [context.data(i) for i in range(2, len(context.operands), 3)]
    first, *_ = values
    axis = context.attribute("axis") % first.rank
    if any(not atom.fixed for value in values for atom in value.axes[axis]):
        context.refuse("QLinearConcat along time", _FORMAT)
    for k in range(first.rank):
        if k != axis and not all(same_axis(context.scope, first.axes[k], value.axes[k]) for value in values):
            context.refuse("the parts of QLinearConcat do not agree at every length", "a constant frozen by tracing?")
    total = sum(context.length_of(value.axes[axis]).constant for value in values)
    return [_codes(context, (*first.axes[:axis], context.axis(total), *first.axes[axis + 1 :]), 1)]


@rule("QLinearAveragePool", domain="com.microsoft")
def qlinear_pool(context: RuleContext) -> Sequence[Facts | None]:
    if context.attribute("channels_last", 0):
        context.refuse("QLinearAveragePool with the channels last", _LAYOUT)
    value = spatial_value(context)
    axes: list[Axis] = [value.axes[0], value.axes[1]]
    for k, window in enumerate(windows(context, value, list(context.attribute("kernel_shape")))):
        length = context.length_of(value.axes[k + 2])
        size = context.scope.simplify(window.size(length))
        axes.append(output_axis(context, size))
        varies = any(a.ragged for a in value.axes[k + 2])
        if varies and (window.ceil or not context.scope.at_most(window.last_read(size), length - 1)):
            context.refuse("QLinearAveragePool over the valid end", _FORMAT)
    return [_codes(context, tuple(axes), 4)]
