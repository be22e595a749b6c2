"""Maps over pairs of steps, [B, T, T]: a fact along one ragged axis may hold on valid rows of the other only."""

from __future__ import annotations

import numpy as np

from ..builder import FLOAT, INT64, Builder, Tensor
from . import step


def _map(b: Builder, x: Tensor) -> Tensor:
    """Products, distances or attention weights of all pairs, with or without a triangle."""
    batch, time = x.shape[0], x.shape[1]
    shape = [batch, time, time]
    form = b.between(0, 2)
    if form == 0:
        pairs = b.op("MatMul", x, b.transpose(x, 0, 2, 1), shape=shape)
    elif form == 1:
        one = b.slice(x, 2, 0, 1, 1)
        pairs = b.op("Abs", b.op("Sub", one, b.transpose(one, 0, 2, 1), shape=shape))
    else:
        other = b.linear(x, x.size(2))
        pairs = b.op("Softmax", b.op("MatMul", other, b.transpose(x, 0, 2, 1), shape=shape), axis=2)
    if b.opset >= 14 and b.chance(0.3):
        pairs = b.op("Trilu", pairs, b.constant(b.between(-1, 1)), shape=shape, upper=b.pick([0, 1]))
    if b.chance(0.3):
        pairs = b.op(b.pick(["Cos", "Sigmoid", "Tanh", "Exp"]), b.op("Mul", pairs, b.floats(0.2)))
    return pairs


def _image(b: Builder, pairs: Tensor) -> Tensor:
    """The map as an image of one channel, changed by an operator that looks around."""
    time = pairs.shape[1]
    image = b.unsqueeze(pairs, 1)
    form = b.between(0, 4)
    if form == 0:
        image = b.op("Conv", image, b.weight(1, 1, 3, 3, fan_in=9), b.weight(1), shape=image.shape, pads=[1] * 4)
    elif form == 1:
        image = b.op("MaxPool", image, shape=image.shape, kernel_shape=[3, 3], pads=[1] * 4)
    elif form == 2:
        include = b.pick([0, 1])
        image = b.op(
            "AveragePool", image, shape=image.shape, kernel_shape=[1, 3], pads=[0, 1, 0, 1], count_include_pad=include
        )
    elif form == 3:
        weights = b.weight(1, positive=True), b.weight(1)
        image = b.op("InstanceNormalization", image, *weights, shape=image.shape, epsilon=0.05)
    else:
        image = b.op("Pad", image, b.constant([0, 0, 1, 0, 0, 0, 0, 1]), shape=[pairs.shape[0], 1, time + 1, time + 1])
        image = b.op("Conv", image, b.weight(1, 1, 2, 2, fan_in=4), shape=[pairs.shape[0], 1, time, time])
    return b.squeeze(image, 1)


def _looked_along(b: Builder, pairs: Tensor) -> Tensor:
    """The map changed along one of its axes."""
    axis = b.between(1, 2)
    form = b.between(0, 3)
    if form == 0:
        total = b.op("CumSum", pairs, b.constant(axis), shape=pairs.shape, reverse=b.pick([0, 1]))
        return b.op("Sin", b.op("Mul", total, b.floats(0.2)))
    if form == 1:
        return b.op("Sub", pairs, b.reduce(b.pick(["ReduceMax", "ReduceMean", "ReduceMin"]), pairs, axis))
    if form == 2:
        place = b.op(
            "ArgMax",
            pairs,
            shape=[*pairs.shape[:axis], 1, *pairs.shape[axis + 1 :]],
            dtype=INT64,
            axis=axis,
            keepdims=1,
        )
        return b.op("Add", pairs, b.op("GatherElements", pairs, place, shape=place.shape, axis=axis))
    flipped = b.slice(pairs, axis, -1, -(2**31 - 1), pairs.shape[axis], -1)
    return b.op("Add", pairs, flipped)


@step
def pair_map(b: Builder, x: Tensor) -> Tensor:
    """A map of pairs, changed, and brought back to the stream by weights, rows, columns or a total."""
    x = b.time_middle(x)
    pairs = _map(b, x)
    for _ in range(b.between(1, 2)):
        pairs = _image(b, pairs) if b.chance() else _looked_along(b, pairs)
    if b.chance(0.2):
        b.output(pairs)
    form = b.between(0, 4)
    if form == 0:
        return b.op("MatMul", b.op("Softmax", pairs, axis=2), x, shape=x.shape)
    if form == 1:
        mixed = b.op("MatMul", pairs, b.op("Tanh", x), shape=x.shape)
        return b.op("Add", x, b.op("Sin", b.op("Mul", mixed, b.floats(0.1))))
    if form == 2:
        row = b.reduce(b.pick(["ReduceMax", "ReduceMean", "ReduceSum", "ReduceL2"]), pairs, 1)
        return b.op("Add", x, b.op("Sin", b.transpose(row, 0, 2, 1)))
    if form == 3:
        return b.op("Add", x, b.op("Sin", b.reduce(b.pick(["ReduceMin", "ReduceMean", "ReduceLogSumExp"]), pairs, 2)))
    total = b.reduce(b.pick(["ReduceMax", "ReduceMean", "ReduceSum"]), pairs, 1, 2)
    return b.op("Add", x, b.op("Sin", b.op("Mul", total, b.floats(0.01))))


@step
def twice_mapped(b: Builder, x: Tensor) -> Tensor:
    """The product of two maps: a sum over one ragged axis between two others."""
    x = b.time_middle(x)
    first, second = _map(b, x), _map(b, x)
    product = b.op("MatMul", first, second, shape=first.shape)
    product = b.op("Sin", b.op("Mul", product, b.floats(0.1)))
    return b.op("Add", x, b.op("MatMul", product, b.op("Tanh", x), shape=x.shape))


@step
def own_gated_pairs(b: Builder, x: Tensor) -> Tensor:
    """Pairs kept where data says so, the rest at a fill, as sparse attention does."""
    x = b.time_middle(x)
    pairs = _map(b, x)
    kept = b.op("Less", pairs, b.floats(0.3), dtype=9)
    fill = b.floats(b.pick([-np.inf, -1e4, 0.0]))
    chosen = b.op("Where", kept, pairs, fill, dtype=FLOAT)
    weights = b.op("Softmax", chosen, axis=2)
    weights = b.op("Where", b.op("IsNaN", weights, dtype=9), b.floats(0.0), weights, dtype=FLOAT)
    return b.op("Add", x, b.op("MatMul", weights, x, shape=x.shape))
