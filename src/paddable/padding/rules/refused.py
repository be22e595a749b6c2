"""Operators over a ragged axis for which no fixed shape exists, each with the rewrite that would help (PAD190).

Passes: nothing along time; where no operand varies with the length, what does not draw random numbers stays as it is.
Needs: nothing.
Refuses: results whose size or order depends on data, random numbers, loops, and operators that ONNX Runtime fused.
"""

from __future__ import annotations

from collections.abc import Sequence

from paddable.padding.deduce.context import RuleContext
from paddable.padding.deduce.registry import rule
from paddable.padding.facts.facts import Facts

__all__ = ["ADVICE", "CONTRIBUTED", "advice_for"]

ADVICE = {
    "NonZero": "use Where with the condition instead of the indices that satisfy it",
    "Unique": "the number of results depends on the data; do it outside the model",
    "Compress": "multiply by a mask or select with Where instead of dropping steps",
    "Loop": "write the recurrence as LSTM, GRU, CumSum or a convolution, or run it outside the model",
    "Scan": "write the recurrence as LSTM, GRU, CumSum or a convolution, or run it outside the model",
    "NonMaxSuppression": "the number of results depends on the data; do it outside the model",
    "SequenceMap": "unroll the sequence, or batch it",
    "SplitToSequence": "unroll the sequence, or use Slice",
    "RandomNormalLike": "pass the noise as an input",
    "RandomUniformLike": "pass the noise as an input",
    "RandomNormal": "pass the noise as an input",
    "RandomUniform": "pass the noise as an input",
    "Multinomial": "sample outside the model",
    "Bernoulli": "pass the noise as an input",
    "ReverseSequence": "use Slice with step -1, which becomes a gather on run-time indices",
}

_FORMAT = "quantise with QuantFormat.QDQ, and save it as it is: the operator itself stays in float"
_UNFUSED = "quantise the model before its attention is fused; ONNX Runtime fuses it when it loads the file"
_OPTIMISED = "save the model below optimisation level 3 (ALL): the blocked layout is for one processor"
_FORM = (
    "only the form with a mask for each key, and without a cache, a causal flag or rotary positions, is understood: "
    "save the model before it is fused; ONNX Runtime fuses it when it loads the file"
)

CONTRIBUTED = {
    "Attention": _FORM,
    "MultiHeadAttention": _FORM,
    "EmbedLayerNormalization": _FORM,
    "QAttention": _UNFUSED,
    "QEmbedLayerNormalization": _UNFUSED,
    "QLinearGlobalAveragePool": _FORMAT,
    "QLinearReduceMean": _FORMAT,
    "QLinearWhere": _FORMAT,
    "QOrderedAttention": _UNFUSED,
    "NhwcMaxPool": _OPTIMISED,
    "NhwcFusedConv": _OPTIMISED,
    "ReorderInput": _OPTIMISED,
    "ReorderOutput": _OPTIMISED,
}
"""Operators of ONNX Runtime's own that have no rule, and what to do instead."""


_NO_RULE = (
    "export the model without it, or keep it in front of or behind the part that is converted; a package may "
    "add a rule (docs/guides/add_a_rule.md)"
)


def advice_for(domain: str, op_type: str) -> str:
    """What helps where an operator has no rule."""
    table = CONTRIBUTED if domain.startswith("com.microsoft") else ADVICE
    if domain.startswith("com.microsoft.nchwc"):
        return _OPTIMISED
    return table.get(op_type, _NO_RULE)


@rule(*ADVICE)
def refused(context: RuleContext) -> Sequence[Facts | None]:
    reason = "has results whose size or order depends on data"
    if context.type.startswith("Random") or context.type in ("Multinomial", "Bernoulli"):
        reason = "draws random numbers, so no two runs agree"
    elif context.type in ("Loop", "Scan"):
        reason = "runs as often as there are steps, and what it carries along them is not followed"
    elif context.type == "ReverseSequence":
        reason = "turns round as many steps as an input says, and this is not followed"
    context.refuse(f"{context.type} {reason}", ADVICE[context.type])
