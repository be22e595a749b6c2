"""Softmax over time (PAD103): the scores of padding are selected away by one key mask.

Passes: a softmax over other axes, and scores that native itself masks low enough.
Needs: -inf in the padding of the scores.
Refuses: a softmax over the batch of rows with lengths of their own.

The fill is -inf, so that exp(fill - maximum) is exactly 0 beside any valid score. The type's lowest finite number would
need a proof that some valid score of each row lies above it: a row that native masks to that number everywhere would
share its weights with the padding. No row of -inf is made: a step that is valid keeps its score.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from paddable.padding.deduce.broadcast import pads_of
from paddable.padding.deduce.context import RuleContext
from paddable.padding.deduce.registry import rule
from paddable.padding.facts.facts import Facts
from paddable.padding.facts.kinds import ANY, FINITE, ZERO, Kind
from paddable.padding.rules.reduction import lowest

__all__: list[str] = []


@rule("Softmax", "LogSoftmax", "Hardmax")
def softmax(context: RuleContext) -> Sequence[Facts | None]:
    value = context.data(0)
    default = -1 if context.version >= 13 else 1
    axis = context.attribute("axis", default) % value.rank
    axes = [axis] if context.version >= 13 else list(range(axis, value.rank))
    atoms = [i for a in axes for i in value.span(a)]
    context.keep_rows_apart((value.atoms[i] for i in atoms), "a softmax over")
    ragged = [i for i in atoms if value.atoms[i].ragged]
    floor = lowest(value.dtype)

    def low_enough(i: int) -> bool:
        fact = value.pads[i].weak if len(ragged) == 1 else value.pads[i].strong
        return fact.value is not None and (fact.value == -math.inf or (fact.value <= floor and not value.masked))

    missing = [i for i in ragged if not low_enough(i)]
    leak = "the padding takes part of the attention"
    filled = context.fill(0, missing, -math.inf, "PAD103", leak) if missing else value
    inside = set(ragged)
    # with no valid step at all the weights are spread over the padding
    some = all(context.scope.has_steps(value.atoms[i].size) for i in ragged)
    # each row keeps the step itself (a causal mask), in the padding too: no row is all -inf
    alive = (
        some
        and not missing
        and value.diagonal is not None
        and value.diagonal.kind.finite
        and (value.diagonal.row in inside or value.diagonal.column in inside)
    )

    def kind_at(region: tuple[int, ...]) -> Kind:
        if context.type == "Hardmax":
            return FINITE
        rows = [i for i in region if i not in inside]
        if any(i in inside for i in region) and not rows and context.type == "Softmax":
            return ZERO if some else ANY
        kinds = [filled.kind(rows), *(filled.kind([*rows, i]) for i in inside)]
        if alive and context.type == "Softmax" and all(k.below for k in kinds):
            return FINITE
        proper = all(k.finite for k in kinds[:1]) and not (value.masked and rows)
        if not proper or not all(k.finite or k.value == -math.inf for k in kinds):
            return ANY
        return FINITE if context.type == "Softmax" else ANY

    low, high = (0.0, 1.0) if context.type != "LogSoftmax" else (-math.inf, 0.0)
    pads = pads_of(value.axes, kind_at)
    finite = value.finite and not (value.masked and context.type == "LogSoftmax")
    finite = finite or (alive and kind_at(()).finite)
    return [Facts(value.dtype, value.axes, pads, None, low, high, finite=finite, masked=context.type == "LogSoftmax")]
