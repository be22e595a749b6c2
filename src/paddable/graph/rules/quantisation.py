"""Values and codes: a dynamic range sees the padding, so the padding is zeroed first (PAD109)."""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir as ir

from paddable.graph.facts.kinds import ANY, FINITE, ZERO, Kind, scalar
from paddable.graph.facts.value import Value
from paddable.graph.rules.broadcast import pads_of
from paddable.graph.rules.contraction import contract, matmul_terms, on_codes
from paddable.graph.rules.operation import Operation
from paddable.graph.rules.recurrent import recurrent
from paddable.graph.rules.registry import rule
from paddable.graph.rules.zero import Zero, zero_point

__all__: list[str] = []

_LEAK = "the quantisation range sees the padding"


def _zeroed(operation: Operation, index: int) -> Value:
    value = operation.data(index)
    if any(a.batch for a in value.atoms) and not operation.scope.single_row:
        operation.refuse("one quantisation range for all rows mixes them", "quantise with batch 1")
    return operation.fill(index, value.ragged, 0.0, "PAD109", _LEAK)


@rule("DynamicQuantizeLinear")
def dynamic_quantize(operation: Operation) -> Sequence[Value | None]:
    """Zeros become the zero point, which the graph computes."""
    value = _zeroed(operation, 0)
    point = operation.node.outputs[2].name
    pads = pads_of(value.axes, lambda region: scalar(point) if region and point else FINITE)
    codes = Value(ir.DataType.UINT8, value.axes, pads, None, 0.0, 255.0)
    return [codes, Value(ir.DataType.FLOAT, (), low=0.0), Value(ir.DataType.UINT8, (), low=0.0, high=255.0)]


@rule("DynamicQuantizeMatMul", domain="com.microsoft")
def dynamic_quantize_matmul(operation: Operation) -> Sequence[Value | None]:
    _zeroed(operation, 0)
    (values, weights), result = matmul_terms(operation, 0, 1)
    product = contract(operation, [values, *on_codes(operation, [weights], [3])], result)
    pads = pads_of(product.axes, lambda region: FINITE)  # a bias may be added
    return [Value(ir.DataType.FLOAT, product.axes, pads, finite=product.finite)]


@rule("DynamicQuantizeLSTM", domain="com.microsoft")
def dynamic_quantize_lstm(operation: Operation) -> Sequence[Value | None]:
    """One range for the whole input; the state is quantised step by step."""
    _zeroed(operation, 0)
    return recurrent(operation)


@rule("MatMulNBits", domain="com.microsoft")
def matmul_nbits(operation: Operation) -> Sequence[Value | None]:
    value = operation.data(0)
    if any(a.ragged or a.batch for a in value.axes[-1]):
        operation.refuse("MatMulNBits over time")
    axes = (*value.axes[:-1], operation.axis(int(operation.attribute("N"))))

    def kind_at(region: tuple[int, ...]) -> Kind:
        return FINITE if value.kind(region).finite else ANY

    return [Value(value.dtype, axes, pads_of(axes, kind_at), finite=value.finite)]


@rule("QuantizeLinear", "DequantizeLinear")
def linear_quantisation(operation: Operation) -> Sequence[Value | None]:
    """A fixed scale: framewise, and 0 on one side is the zero point on the other."""
    value = operation.data(0)
    scale = operation.data(1)
    if scale.ragged:
        operation.refuse("a quantisation scale that varies with the length")
    zero = zero_point(operation, 2) or Zero(FINITE)
    if operation.type == "QuantizeLinear":
        kinds = pads_of(value.axes, lambda region: zero.kind if value.kind(region).is_zero else FINITE)
        return [Value(_code_type(operation), value.axes, kinds)]

    def kind_at(region: tuple[int, ...]) -> Kind:
        kind = value.kind(region)
        return ZERO if kind.equals(zero.kind) and scale.finite else FINITE if kind.finite else ANY

    return [Value(scale.dtype, value.axes, pads_of(value.axes, kind_at))]


def _code_type(operation: Operation) -> ir.DataType:
    if operation.present(2):
        return operation.peek(2).dtype
    named = operation.attribute("output_dtype", 0)
    return ir.DataType(named) if named else ir.DataType.UINT8


@rule("QuantizeLinear", "DequantizeLinear", domain="com.microsoft")
def contrib_linear_quantisation(operation: Operation) -> Sequence[Value | None]:
    """The same, for codes of types that ONNX took up later."""
    return linear_quantisation(operation)
