"""Values and codes (PAD109): a dynamic range is taken over a whole tensor, and sees its padding.

Passes: QuantizeLinear and DequantizeLinear, whose scale is fixed; MatMulNBits, whose weights alone are codes.
Needs: zeros in the padding before a range is taken: 0 lies in every range, so it leaves each as it is.
Refuses: one range for rows of different lengths, a scale that varies with the length, and MatMulNBits over time.
"""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir as ir

from paddable.padding.deduce.broadcast import pads_of
from paddable.padding.deduce.context import RuleContext
from paddable.padding.deduce.registry import rule
from paddable.padding.deduce.zero_point import Zero, zero_point
from paddable.padding.facts.facts import Facts
from paddable.padding.facts.kinds import ANY, FINITE, ZERO, Kind, scalar
from paddable.padding.rules.contraction import contract, matmul_terms, on_codes
from paddable.padding.rules.recurrent import recurrent

__all__: list[str] = []

_LEAK = "the quantisation range sees the padding"


def _zeroed(context: RuleContext, index: int) -> Facts:
    """The operand behind its remedy; a range sees a valid part in the middle as it sees one in front."""
    value = context.data(index, shifted=True)
    if any(a.batch for a in value.atoms) and not context.scope.single_row:
        context.refuse("one quantisation range for all rows mixes them", "quantise with batch 1")
    return context.fill(index, value.ragged, 0.0, "PAD109", _LEAK)


@rule("DynamicQuantizeLinear")
def dynamic_quantize(context: RuleContext) -> Sequence[Facts | None]:
    """Zeros become the zero point, which the graph computes."""
    value = _zeroed(context, 0)
    point = context.node.outputs[2].name
    pads = pads_of(value.axes, lambda region: scalar(point) if region and point else FINITE)
    codes = Facts(ir.DataType.UINT8, value.axes, pads, None, 0.0, 255.0)
    scale = Facts(ir.DataType.FLOAT, (), low=0.0, finite=value.finite, masked=False)
    return [codes, scale, Facts(ir.DataType.UINT8, (), low=0.0, high=255.0)]


@rule("DynamicQuantizeMatMul", domain="com.microsoft")
def dynamic_quantize_matmul(context: RuleContext) -> Sequence[Facts | None]:
    _zeroed(context, 0)
    (values, weights), result = matmul_terms(context, 0, 1)
    product = contract(context, [values, *on_codes(context, [weights], [3])], result)
    others = all(operand.finite for operand in context.operands[1:] if operand is not None)  # scale and bias
    pads = pads_of(product.axes, lambda region: FINITE if others else ANY)
    return [Facts(ir.DataType.FLOAT, product.axes, pads, finite=product.finite and others, masked=False)]


@rule("DynamicQuantizeLSTM", domain="com.microsoft")
def dynamic_quantize_lstm(context: RuleContext) -> Sequence[Facts | None]:
    """One range for the whole input; the state is quantised step by step."""
    context.data(0)  # its steps follow each other from the first on
    _zeroed(context, 0)
    return recurrent(context)


@rule("MatMulNBits", domain="com.microsoft")
def matmul_nbits(context: RuleContext) -> Sequence[Facts | None]:
    value = context.data(0)
    if any(a.ragged or a.batch for a in value.axes[-1]):
        context.refuse("MatMulNBits over time")
    axes = (*value.axes[:-1], context.axis(int(context.attribute("N"))))
    weights = all(operand.finite for operand in context.operands[1:] if operand is not None)

    def kind_at(region: tuple[int, ...]) -> Kind:
        return FINITE if weights and value.kind(region).finite else ANY

    pads = pads_of(axes, kind_at)
    return [Facts(value.dtype, axes, pads, finite=weights and value.finite, masked=value.masked)]


@rule("QuantizeLinear", "DequantizeLinear")
def linear_quantisation(context: RuleContext) -> Sequence[Facts | None]:
    """A fixed scale: framewise, and 0 on one side is the zero point on the other."""
    value = context.data(0)
    scale = context.data(1)
    if scale.ragged:
        context.refuse("a quantisation scale that varies with the length")
    zero = zero_point(context, 2) or Zero(FINITE)
    if context.type == "QuantizeLinear":
        kinds = pads_of(value.axes, lambda region: zero.kind if value.kind(region).is_zero else FINITE)
        return [Facts(_code_type(context), value.axes, kinds)]

    def kind_at(region: tuple[int, ...]) -> Kind:
        kind = value.kind(region)
        return ANY if not scale.finite else ZERO if kind.equals(zero.kind) else FINITE

    return [Facts(scale.dtype, value.axes, pads_of(value.axes, kind_at), finite=scale.finite, masked=False)]


def _code_type(context: RuleContext) -> ir.DataType:
    if context.present(2):
        return context.peek(2).dtype
    named = context.attribute("output_dtype", 0)
    return ir.DataType(named) if named else ir.DataType.UINT8


@rule("QuantizeLinear", "DequantizeLinear", domain="com.microsoft")
def contrib_linear_quantisation(context: RuleContext) -> Sequence[Facts | None]:
    """The same, for codes of types that ONNX took up later."""
    return linear_quantisation(context)
