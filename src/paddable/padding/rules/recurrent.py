"""LSTM, GRU and RNN (PAD104).

Passes: the outputs of the forward direction, which have read the past only.
Needs: sequence lengths for the reverse direction and for a final state, which start or end in the padding.
Refuses: layout 1, features that vary with the length, and sequence lengths other than the valid ones.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from paddable.padding.deduce.broadcast import pads_of
from paddable.padding.deduce.context import RuleContext
from paddable.padding.deduce.registry import rule
from paddable.padding.facts.axes import Axis
from paddable.padding.facts.facts import Facts
from paddable.padding.facts.kinds import ANY, FINITE, Kind
from paddable.padding.remedies import SequenceLengths

__all__: list[str] = []


@rule("LSTM", "GRU", "RNN")
def recurrent(context: RuleContext) -> Sequence[Facts | None]:
    if context.attribute("layout", 0):
        context.refuse(f"{context.type} with layout 1", "export with time first (layout 0)")
    value = context.data(0)
    for i in range(1, len(context.operands)):
        if context.present(i) and i != 4:
            context.data(i)
    direction = str(context.attribute("direction", "forward"))
    hidden = context.attribute("hidden_size")
    directions = 2 if direction == "bidirectional" else 1
    if any(a.ragged or a.batch for a in value.axes[2]):
        context.refuse("the features vary with the length")
    time: Axis = value.axes[0]
    ragged = any(a.ragged for a in time)
    if ragged:
        value = context.prefix_axis(0, 0)
        time = value.axes[0]
    finals = context.is_read(1) or context.is_read(2)
    given = context.present(4)
    if given and ragged:
        lengths = context.peek(4).scalar
        if (
            lengths is None
            or lengths.integer is None
            or not context.scope.same(lengths.integer, context.length_of(time))
        ):
            context.refuse(
                f"{context.type} with sequence lengths that are not the valid length",
                "give it the length of its input, or none: it is added where it is needed",
            )
    if given:
        context.data(4, row_axis=1)  # computed from a shape it is the container's size (PAD106)
    if ragged and not given and (direction != "forward" or finals):
        leak = (
            "the reverse direction starts in the padding"
            if direction != "forward"
            else "the final state has read the padding"
        )
        context.ask(SequenceLengths("PAD104", leak, 4, context.length_of(time), value.axes[1]))
    axes = (time, context.axis(directions), value.axes[1], context.axis(hidden))
    weights = all(operand.finite for operand in context.operands[1:] if operand is not None)
    span = set(value.span(0))
    batch = list(value.span(1))
    offset = len(time) + len(context.axis(directions))

    def kind_at(region: tuple[int, ...]) -> Kind:
        rows = [batch[i - offset] for i in region if i >= offset]  # behind them the hidden features are constant
        kinds = [value.kind(rows)]
        if any(i < len(time) for i in region):
            kinds += [value.kind([*rows, i]) for i in span if value.atoms[i].ragged]
        return FINITE if weights and all(k.finite for k in kinds) else ANY

    squashed = not context.attribute("activations")  # the default ones
    low, high = (-1.0, 1.0) if squashed else (-math.inf, math.inf)
    finite = value.finite and weights
    outputs = Facts(value.dtype, axes, pads_of(axes, kind_at), None, low, high, finite=finite, masked=False)
    state_axes = (context.axis(directions), value.axes[1], context.axis(hidden))
    start = len(context.axis(directions))

    def state_kind(region: tuple[int, ...]) -> Kind:
        return FINITE if weights and value.kind([batch[i - start] for i in region]).finite else ANY

    state = Facts(value.dtype, state_axes, pads_of(state_axes, state_kind), finite=finite, masked=False)
    return [outputs, state, state]
