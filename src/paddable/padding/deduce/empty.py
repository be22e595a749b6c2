"""Axes that are empty at the shortest lengths: ``x[:, 3:]`` has no step at three steps, and native may still answer.

What only moves or maps steps does the same with none of them, and a sum over none is 0. Every other operator fails on
an empty axis, or has no answer there, so it needs one step: the shortest accepted length is where it has one.
"""

from __future__ import annotations

from paddable.padding.deduce.context import RuleContext
from paddable.padding.deduce.registry import find_rule
from paddable.padding.rules.elementwise import elementwise

__all__ = ["need_steps", "takes_empty"]

# Not Reshape: ONNX Runtime rewrites a batch in its shape to -1, and divides by the empty axis.
_MOVES = {"Concat", "Expand", "Pad", "Shape", "Size", "Slice", "Squeeze", "Transpose", "Unsqueeze"}
_SUMS = {
    "Conv", "CumSum", "MatMul", "ReduceL1", "ReduceL2", "ReduceMean", "ReduceProd", "ReduceSum",
    "ReduceSumSquare",
}  # fmt: skip
_CHECKED = {"Gather", "LayerNormalization", "Softmax"}  # their rules know which axis may be empty
_TAKES_EMPTY = _MOVES | _SUMS | _CHECKED


def takes_empty(domain: str, op_type: str) -> bool:
    """Whether an operator may read an empty axis, or its rule states itself which axes must not be."""
    return domain in ("", "ai.onnx") and (op_type in _TAKES_EMPTY or find_rule(domain, op_type) is elementwise)


def need_steps(context: RuleContext, reader: str) -> None:
    """Narrow the domain to where no operand is empty.

    Args:
        context: its operands are what is read.
        reader: who reads them, for the reason.

    Raises:
        NoProof: an operand is empty at every length.
    """
    for value in context.operands:
        if value is not None:
            context.need_steps(value, range(value.rank), reader)
