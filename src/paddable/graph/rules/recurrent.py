"""LSTM, GRU, RNN: forward outputs read the past only; the reverse direction and final states start in the padding
(PAD104)."""

from __future__ import annotations

from collections.abc import Sequence

from paddable.graph.facts.axes import Axis
from paddable.graph.facts.kinds import ANY, FINITE, Kind
from paddable.graph.facts.value import Value
from paddable.graph.remedies import SequenceLengths
from paddable.graph.rules.broadcast import pads_of
from paddable.graph.rules.operation import Operation
from paddable.graph.rules.registry import rule

__all__: list[str] = []


@rule("LSTM", "GRU", "RNN")
def recurrent(operation: Operation) -> Sequence[Value | None]:
    if operation.attribute("layout", 0):
        operation.refuse(f"{operation.type} with layout 1", "export with time first (layout 0)")
    value = operation.data(0)
    for i in range(1, len(operation.operands)):
        if operation.present(i) and i != 4:
            operation.data(i)
    direction = str(operation.attribute("direction", "forward"))
    hidden = operation.attribute("hidden_size")
    directions = 2 if direction == "bidirectional" else 1
    if any(a.ragged or a.batch for a in value.axes[2]):
        operation.refuse("the features vary with the length")
    time: Axis = value.axes[0]
    ragged = any(a.ragged for a in time)
    if ragged:
        value = operation.prefix_axis(0, 0)
        time = value.axes[0]
    finals = [o for o in operation.node.outputs[1:] if o.name and operation.uses.get(o.name, 0)]
    given = operation.present(4)
    if given and ragged:
        lengths = operation.peek(4).scalar
        if (
            lengths is None
            or lengths.integer is None
            or not operation.scope.same(lengths.integer, operation.length_of(time))
        ):
            operation.refuse(
                f"{operation.type} with sequence lengths that are not the valid length",
                "give it the length of its input, or none: it is added where it is needed",
            )
    if given:
        operation.data(4, row_axis=1)  # computed from a shape it is the container's size (PAD106)
    if ragged and not given and (direction != "forward" or finals):
        leak = (
            "the reverse direction starts in the padding"
            if direction != "forward"
            else "the final state has read the padding"
        )
        operation.ask(SequenceLengths("PAD104", leak, 4, operation.length_of(time), value.axes[1]))
    axes = (time, operation.axis(directions), value.axes[1], operation.axis(hidden))
    span = set(value.span(0))
    batch = list(value.span(1))
    offset = len(time) + len(operation.axis(directions))

    def kind_at(region: tuple[int, ...]) -> Kind:
        rows = [batch[i - offset] for i in region if offset <= i < offset + len(batch)]
        kinds = [value.kind(rows)]
        if any(i < len(time) for i in region):
            kinds += [value.kind([*rows, i]) for i in span if value.atoms[i].ragged]
        return FINITE if all(k.finite for k in kinds) else ANY

    bounded = operation.type == "LSTM" or operation.type == "GRU" or operation.type == "RNN"
    low, high = (-1.0, 1.0) if bounded and not operation.attribute("activations") else (float("-inf"), float("inf"))
    outputs = Value(value.dtype, axes, pads_of(axes, kind_at), None, low, high, finite=value.finite)
    state_axes = (operation.axis(directions), value.axes[1], operation.axis(hidden))
    start = len(operation.axis(directions))

    def state_kind(region: tuple[int, ...]) -> Kind:
        rows = [batch[i - start] for i in region if start <= i < start + len(batch)]
        return FINITE if value.kind(rows).finite else ANY

    state = Value(value.dtype, state_axes, pads_of(state_axes, state_kind), finite=value.finite)
    return [outputs, *[state] * (len(operation.node.outputs) - 1)]
