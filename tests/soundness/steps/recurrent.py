"""LSTM, GRU and RNN in every direction, with and without their final states."""

from __future__ import annotations

from ..builder import FLOAT, INT32, Builder, Tensor
from . import step

_GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


@step
def recurrent(b: Builder, x: Tensor) -> Tensor:
    x = b.time_middle(x)
    batch, time, width = x.shape[0], x.shape[1], x.size(2)
    operator = b.pick(list(_GATES))
    direction = b.pick(["forward", "reverse", "bidirectional"])
    count = 2 if direction == "bidirectional" else 1
    hidden = b.between(2, 3)
    gates = _GATES[operator] * hidden
    sequence = b.transpose(x, 1, 0, 2)
    weights = [b.weight(count, gates, width, fan_in=width), b.weight(count, gates, hidden, fan_in=hidden)]
    bias = b.weight(count, 2 * gates) if b.chance(0.7) else None
    results: list[tuple[int, list[object]]] = [(FLOAT, [time, count, batch, hidden]), (FLOAT, [count, batch, hidden])]
    if operator == "LSTM":
        results.append((FLOAT, [count, batch, hidden]))
    attributes: dict[str, object] = {"hidden_size": hidden, "direction": direction}
    if operator == "GRU":
        attributes["linear_before_reset"] = b.pick([0, 1])
    inputs = [sequence, *weights, bias]
    held = b.lengths.get(str(time))
    if held is not None and held.shape[0] == batch and b.chance():
        inputs.append(b.cast(held, INT32))
    elif batch.is_constant and b.chance(0.3):
        inputs += [None, b.weight(count, batch.constant, hidden)]
    outputs = b.ops(operator, inputs, results, **attributes)  # type: ignore[arg-type]
    if count == 1:
        flat = b.squeeze(outputs[0], 1)
    else:
        turned = b.transpose(outputs[0], 0, 2, 1, 3)
        flat = b.reshape(turned, [0, 0, -1], [time, batch, count * hidden])
    result = b.transpose(flat, 1, 0, 2)
    if b.chance(0.4):
        b.output(b.transpose(outputs[b.between(1, len(outputs) - 1)], 1, 0, 2))
    if b.chance(0.3):
        state = b.op("Transpose", outputs[1], shape=[batch, count, hidden], perm=[1, 0, 2])
        summary = b.reduce("ReduceSum", state, 1)
        result = b.op("Add", b.linear(result, hidden), summary)
    return b.linear(result, width)
