"""Operators on codes, as onnxruntime.quantization writes them: the padding must be the zero point where it must be 0.

A fixed scale sees no padding, so these leak where their float forms do (PAD102, PAD108). Pools and concatenations over
time are refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import onnx_ir as ir

from paddable.graph.facts.axes import Axes, Axis
from paddable.graph.facts.kinds import FINITE
from paddable.graph.facts.value import Value
from paddable.graph.rules.broadcast import broadcast, pads_of, same_axis
from paddable.graph.rules.contraction import contract, gemm_terms, matmul_terms, on_codes
from paddable.graph.rules.convolution import convolve, output_axis, spatial_value, windows
from paddable.graph.rules.operation import Operation
from paddable.graph.rules.registry import rule
from paddable.graph.rules.zero import Zero, zero_point

__all__: list[str] = []

_FORMAT = "quantise with QuantFormat.QDQ, and save it as it is: the operator itself stays in float"
_LAYOUT = "save the model below optimisation level 3 (ALL)"


def _codes(operation: Operation, axes: Axes, zero_input: int) -> Value:
    dtype = operation.peek(zero_input).dtype if operation.present(zero_input) else operation.peek(0).dtype
    return Value(dtype, axes, pads_of(axes, lambda region: FINITE))


def _zero_of_steps(operation: Operation, index: int) -> Zero:
    zero = zero_point(operation, index)
    if zero is None:
        operation.refuse(f"{operation.type} with several zero points for its input", "use one for the tensor")
    return zero


@rule("ConvInteger")
def conv_integer(operation: Operation) -> Sequence[Value | None]:
    return [replace(convolve(operation, 1, False, _zero_of_steps(operation, 2)), dtype=ir.DataType.INT32)]


@rule("QLinearConv")
def qlinear_conv(operation: Operation) -> Sequence[Value | None]:
    result = convolve(operation, 3, operation.present(8), _zero_of_steps(operation, 2))
    return [_codes(operation, result.axes, 7)]


@rule("QLinearConv", domain="com.microsoft")
def contrib_qlinear_conv(operation: Operation) -> Sequence[Value | None]:
    if operation.attribute("channels_last", 0):
        operation.refuse("QLinearConv with the channels last", _LAYOUT)
    return qlinear_conv(operation)


@rule("QLinearMatMul")
def qlinear_matmul(operation: Operation) -> Sequence[Value | None]:
    terms, result = matmul_terms(operation, 0, 3)
    return [_codes(operation, contract(operation, on_codes(operation, terms, (2, 5)), result).axes, 7)]


@rule("QGemm", domain="com.microsoft")
def qgemm(operation: Operation) -> Sequence[Value | None]:
    if operation.present(6) and operation.data(6).ragged:
        operation.refuse("QGemm with a ragged bias", _FORMAT)
    terms = on_codes(operation, gemm_terms(operation, 0, 3), (2, 5))
    product = contract(operation, terms, ("m", "n"))
    if not operation.present(8):  # no scale of the result: it stays float
        return [Value(ir.DataType.FLOAT, product.axes, pads_of(product.axes, lambda region: FINITE))]
    return [_codes(operation, product.axes, 8)]


@rule("MatMulIntegerToFloat", domain="com.microsoft")
def matmul_integer_to_float(operation: Operation) -> Sequence[Value | None]:
    terms, result = matmul_terms(operation, 0, 1)
    product = contract(operation, on_codes(operation, terms, (4, 5)), result)
    if operation.present(6) and operation.data(6).ragged:
        operation.refuse("MatMulIntegerToFloat with a ragged bias", _FORMAT)
    return [Value(ir.DataType.FLOAT, product.axes, pads_of(product.axes, lambda region: FINITE))]


@rule("QLinearAdd", "QLinearMul", domain="com.microsoft")
def qlinear_arithmetic(operation: Operation) -> Sequence[Value | None]:
    for i in (0, 3):
        operation.data(i)
    return [_codes(operation, broadcast(operation, (0, 3)).axes, 7)]


@rule("QLinearSigmoid", "QLinearLeakyRelu", domain="com.microsoft")
def qlinear_activation(operation: Operation) -> Sequence[Value | None]:
    return [_codes(operation, operation.data(0).axes, 4)]


@rule("QLinearSoftmax", domain="com.microsoft")
def qlinear_softmax(operation: Operation) -> Sequence[Value | None]:
    value = operation.data(0)
    axis = operation.attribute("axis", -1) % value.rank
    over = range(axis, value.rank) if operation.attribute("opset", 13) < 13 else (axis,)
    if any(a.ragged or a.batch for k in over for a in value.axes[k]):
        operation.refuse("QLinearSoftmax over time: no code is so low that its weight is 0", _FORMAT)
    return [_codes(operation, value.axes, 4)]


@rule("QLinearConcat", domain="com.microsoft")
def qlinear_concat(operation: Operation) -> Sequence[Value | None]:
    """Inputs: scale and zero point of the result, then codes, scale and zero point of each part."""
    values = [operation.data(i) for i in range(2, len(operation.operands), 3)]
    first = values[0]
    axis = operation.attribute("axis") % first.rank
    if any(not atom.fixed for value in values for atom in value.axes[axis]):
        operation.refuse("QLinearConcat along time", _FORMAT)
    for k in range(first.rank):
        if k != axis and not all(same_axis(operation.scope, first.axes[k], value.axes[k]) for value in values):
            operation.refuse("the parts of QLinearConcat do not agree at every length", "a constant frozen by tracing?")
    total = sum(operation.length_of(value.axes[axis]).constant for value in values)
    return [_codes(operation, (*first.axes[:axis], operation.axis(total), *first.axes[axis + 1 :]), 1)]


@rule("QLinearAveragePool", domain="com.microsoft")
def qlinear_pool(operation: Operation) -> Sequence[Value | None]:
    if operation.attribute("channels_last", 0):
        operation.refuse("QLinearAveragePool with the channels last", _LAYOUT)
    value = spatial_value(operation)
    axes: list[Axis] = [value.axes[0], value.axes[1]]
    for k, window in enumerate(windows(operation, value, list(operation.attribute("kernel_shape")))):
        length = operation.length_of(value.axes[k + 2])
        size = operation.scope.simplify(window.size(length))
        axes.append(output_axis(operation, size))
        varies = any(a.ragged for a in value.axes[k + 2])
        if varies and (window.ceil or not operation.scope.at_most(window.last_read(size), length - 1)):
            operation.refuse("QLinearAveragePool over the valid end", _FORMAT)
    return [_codes(operation, tuple(axes), 4)]
