"""Quantised operators: a dynamic range sees the padding, so the padding is zeroed first (PAD109)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import onnx_ir as ir

from paddable.graph.facts.kinds import ANY, FINITE, Kind
from paddable.graph.facts.value import Value
from paddable.graph.rules.broadcast import pads_of
from paddable.graph.rules.contraction import Term, contract
from paddable.graph.rules.operation import Operation
from paddable.graph.rules.registry import rule

__all__: list[str] = []

_LEAK = "the quantisation range sees the padding"


def _zeroed(operation: Operation, index: int) -> Value:
    value = operation.data(index)
    if any(a.batch for a in value.atoms) and not operation.scope.single_row:
        operation.refuse("one quantisation range for all rows mixes them", "quantise with batch 1")
    return operation.fill(index, value.ragged, 0.0, "PAD109", _LEAK)


@rule("DynamicQuantizeLinear")
def dynamic_quantize(operation: Operation) -> Sequence[Value | None]:
    value = _zeroed(operation, 0)
    codes = Value(ir.DataType.UINT8, value.axes, pads_of(value.axes, lambda region: FINITE), None, 0.0, 255.0)
    return [codes, Value(ir.DataType.FLOAT, (), low=0.0), Value(ir.DataType.UINT8, (), low=0.0, high=255.0)]


@rule("DynamicQuantizeMatMul", domain="com.microsoft")
def dynamic_quantize_matmul(operation: Operation) -> Sequence[Value | None]:
    value = _zeroed(operation, 0)
    leading = tuple(f"b{i}" for i in range(value.rank - 2))
    return [contract(operation, [Term(0, (*leading, "m", "k")), Term(1, ("k", "n"))], (*leading, "m", "n"))]


@rule("MatMulIntegerToFloat", domain="com.microsoft")
def matmul_integer_to_float(operation: Operation) -> Sequence[Value | None]:
    value, weight = operation.data(0), operation.data(1)
    if any(a.ragged for a in value.axes[-1]):
        operation.refuse("an integer sum over time")
    leading = tuple(f"b{i}" for i in range(value.rank - 2))
    right = ("k", "n") if weight.rank == 2 else (*leading, "k", "n")
    result = contract(operation, [Term(0, (*leading, "m", "k")), Term(1, right)], (*leading, "m", "n"))
    return [replace(result, dtype=ir.DataType.FLOAT)]


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
    """A fixed scale: framewise."""
    value = operation.data(0)
    scale = operation.data(1)
    if scale.ragged:
        operation.refuse("a quantisation scale that varies with the length")
    if operation.type == "QuantizeLinear":
        zero = operation.operands[2].dtype if operation.present(2) and operation.operands[2] else ir.DataType.UINT8
        kinds = pads_of(value.axes, lambda region: FINITE)
        return [Value(zero, value.axes, kinds)]
    kinds = pads_of(value.axes, lambda region: FINITE if value.kind(region).finite else ANY)
    return [Value(scale.dtype, value.axes, kinds)]
