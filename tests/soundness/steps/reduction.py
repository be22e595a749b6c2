"""Reductions over time: sums, means, extrema, pools of squeeze-and-excite, cumulative sums."""

from __future__ import annotations

from onnx import helper

from paddable.lengths import constant

from ..builder import FLOAT, INT64, Builder, Tensor
from . import step


def _rejoin(b: Builder, x: Tensor, vector: Tensor) -> Tensor:
    """A summary over time, broadcast back to the stream."""
    form = b.between(0, 2)
    if form == 0:
        return b.op("Mul", x, b.op("Sigmoid", vector))
    if form == 1:
        return b.op("Add", x, b.op("Tanh", vector))
    b.output(vector)
    return b.op("Sub", x, b.op("Tanh", vector))


_REDUCTIONS = [
    "ReduceSum", "ReduceMean", "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSum", "ReduceProd", "ReduceMax",
    "ReduceMin", "ReduceLogSumExp",
]  # fmt: skip


@step
def reduced(b: Builder, x: Tensor) -> Tensor:
    """Three reductions, one after the other."""
    return _reduced(b, _reduced(b, _reduced(b, x)))


def _reduced(b: Builder, x: Tensor) -> Tensor:
    operator = b.pick(_REDUCTIONS)
    axis = b.time_axis(x)
    source = x
    if operator == "ReduceProd":
        source = b.op("Add", b.op("Mul", b.op("Tanh", x), b.floats(0.2)), b.floats(1.0))
    elif operator == "ReduceLogSum":
        source = b.op("Add", b.op("Abs", x), b.floats(0.1))
    elif operator in ("ReduceSum", "ReduceL1", "ReduceSumSquare"):
        source = b.op("Mul", x, b.floats(0.1))
    if b.chance(0.2):
        return _rejoin(b, x, b.reduce(operator, source, 1, 2))
    if b.chance(0.3):
        vector = b.unsqueeze(b.reduce(operator, source, axis, keepdims=0), axis)
    else:
        vector = b.reduce(operator, source, axis)
    return _rejoin(b, x, vector)


@step
def reduced_integers(b: Builder, x: Tensor) -> Tensor:
    """Integer extrema and sums: the identity of an integer type is no infinity."""
    code = b.cast(b.op("Mul", x, b.floats(10.0)), b.pick([INT64, 6]))
    operator = b.pick(["ReduceMax", "ReduceMin", "ReduceSum"])
    vector = b.reduce(operator, code, b.time_axis(x))
    b.output(vector)
    return b.op("Add", x, b.op("Mul", b.cast(vector, FLOAT), b.floats(0.01)))


@step
def squeeze_excite(b: Builder, x: Tensor) -> Tensor:
    x = b.time_last(x)
    width = x.size(1)
    if b.chance(0.7):
        norm = ["GlobalLpPool"] if b.opset < 22 else []  # ONNX Runtime 1.32 has no kernel of opset 22
        pooled = b.op(
            b.pick(["GlobalAveragePool", "GlobalMaxPool", "GlobalMaxPool", *norm]), x, shape=[*x.shape[:2], 1]
        )
    else:
        pooled = b.reduce("ReduceMean", x, 2)
    hidden = b.op("Conv", pooled, b.weight(2, width, 1, fan_in=width), b.weight(2), shape=[x.shape[0], 2, 1])
    scale = b.op("Conv", b.op("Relu", hidden), b.weight(width, 2, 1, fan_in=2), b.weight(width), shape=pooled.shape)
    return b.op("Mul", x, b.op("Sigmoid", scale))


@step
def squeeze_excite_2d(b: Builder, x: Tensor) -> Tensor:
    x = b.time_last(x)
    image = b.unsqueeze(x, 1)
    pooled = b.op("GlobalAveragePool", image, shape=[x.shape[0], 1, 1, 1])
    return b.squeeze(b.op("Mul", image, b.op("Sigmoid", pooled)), 1)


@step
def mean_by_hand(b: Builder, x: Tensor) -> Tensor:
    """sum(x) / T, the number of steps read from the shape."""
    axis = b.time_axis(x)
    total = b.reduce("ReduceSum", x, axis)
    steps = b.cast(b.dim(x, axis, scalar=b.chance()), FLOAT)
    return _rejoin(b, x, b.op("Div", total, steps))


@step
def attentive_pool(b: Builder, x: Tensor) -> Tensor:
    """Softmax over time as weights of a mean and a deviation (ECAPA)."""
    x = b.time_middle(x)
    weights = _softmax(b, b.linear(x, x.size(2)), 1)
    mean = b.reduce("ReduceSum", b.op("Mul", weights, x), 1)
    square = b.reduce("ReduceSum", b.op("Mul", weights, b.op("Mul", x, x)), 1)
    spread = b.op("Sub", square, b.op("Mul", mean, mean))
    deviation = b.op("Sqrt", b.op("Clip", spread, b.floats(1e-2), None, shape=spread.shape))
    b.output(b.op("Concat", mean, deviation, shape=[x.shape[0], 1, 2 * x.size(2)], axis=2))
    return _rejoin(b, x, mean)


def _softmax(b: Builder, x: Tensor, axis: int) -> Tensor:
    """Softmax along one axis: before opset 13 the operator flattens, so the axis is brought to the end."""
    if b.opset >= 13 or axis == x.rank - 1:
        return b.op("Softmax", x, axis=axis)
    return b.transpose(b.op("Softmax", b.transpose(x, 0, 2, 1), axis=2), 0, 2, 1)


@step
def softmax_over_time(b: Builder, x: Tensor) -> Tensor:
    axis = b.time_axis(x)
    if b.opset < 13 and b.chance(0.3):
        return b.op("Mul", x, b.op("Softmax", x, axis=1))  # over both axes at once, before opset 13
    if b.opset >= 13 and b.chance():
        return b.op("Mul", b.op("LogSoftmax", x, axis=axis), b.floats(0.2))
    return b.op("Mul", x, _softmax(b, x, axis))


@step
def best_step(b: Builder, x: Tensor) -> Tensor:
    """ArgMax over time, and the value there."""
    axis = b.time_axis(x)
    operator = b.pick(["ArgMax", "ArgMin"])
    shape = [1 if i == axis else s for i, s in enumerate(x.shape)]
    place = b.op(operator, x, shape=shape, dtype=INT64, axis=axis, keepdims=1)
    b.output(place)
    found = b.op("GatherElements", x, place, shape=shape, axis=axis)
    return b.op("Add", x, b.op("Tanh", found))


@step
def best_class(b: Builder, x: Tensor) -> Tensor:
    """ArgMax over channels, a greedy decoder's output."""
    axis = 3 - b.time_axis(x)
    shape = [s for i, s in enumerate(x.shape) if i != axis]
    b.output(b.op("ArgMax", x, shape=shape, dtype=INT64, axis=axis, keepdims=0))
    return x


@step
def largest_values(b: Builder, x: Tensor) -> Tensor:
    axis = b.time_axis(x)
    count = b.between(1, 2)
    shape = [count if i == axis else s for i, s in enumerate(x.shape)]
    values, places = b.ops(
        "TopK", [x, b.constant([count])], [(FLOAT, shape), (INT64, shape)], axis=axis, largest=b.pick([0, 1])
    )
    if b.chance():
        b.output(places)
    return _rejoin(b, x, b.reduce("ReduceSum", values, axis))


@step
def cumulative(b: Builder, x: Tensor) -> Tensor:
    axis = b.time_axis(x)
    source = b.op("Mul", x, b.floats(0.3))
    total = b.op(
        "CumSum", source, b.constant(axis), shape=x.shape, reverse=b.pick([0, 1, None]), exclusive=b.pick([0, 1, None])
    )
    return b.op("Add", x, b.op("Sin", total)) if b.chance() else total


@step
def running_mean(b: Builder, x: Tensor) -> Tensor:
    """CumSum of the stream over CumSum of ones."""
    axis = b.time_axis(x)
    whole = b.op("Shape", x, shape=[3], dtype=INT64)
    if b.chance():
        one = helper.make_tensor("one", FLOAT, [1], [1.0])
        ones = b.op("ConstantOfShape", whole, shape=x.shape, dtype=FLOAT, value=one)
    else:
        ones = b.op("Expand", b.floats(1.0), whole, shape=x.shape)
    return b.op(
        "Div", b.op("CumSum", x, b.constant(axis), shape=x.shape), b.op("CumSum", ones, b.constant(axis), shape=x.shape)
    )


@step
def peak_normalised(b: Builder, x: Tensor) -> Tensor:
    """Divided by the largest absolute value of the utterance."""
    axes = [b.time_axis(x)] if b.chance() else [1, 2]
    peak = b.reduce("ReduceMax", b.op("Abs", x), *axes)
    if b.chance():
        peak = b.op("Add", peak, b.floats(1e-3))
    return b.op("Div", x, peak)


@step
def quantised(b: Builder, x: Tensor) -> Tensor:
    """DynamicQuantizeLinear and an integer product, as dynamic int8 models have."""
    x = b.time_middle(x)
    if x.shape[0] != constant(1):
        return x  # one range for all rows
    width = x.size(2)
    codes, scale, zero = b.ops("DynamicQuantizeLinear", [x], [(2, x.shape), (FLOAT, []), (2, [])])
    if b.chance():
        back = b.op("DequantizeLinear", codes, scale, zero, dtype=FLOAT)
        return b.linear(back, width)
    weight = b.constant(b.random.integers(0, 255, (width, width)), 2)
    product = b.op("MatMulInteger", codes, weight, zero, b.constant(128, 2), shape=x.shape, dtype=6)
    return b.op("Mul", b.op("Mul", b.cast(product, FLOAT), scale), b.floats(1 / 128))


@step
def dynamic_convolution(b: Builder, x: Tensor) -> Tensor:
    """As dynamic int8 models have: the window is padded with a zero point that the graph computes."""
    x = b.time_last(x)
    if x.shape[0] != constant(1):
        return x
    width = x.size(1)
    codes, scale, zero = b.ops("DynamicQuantizeLinear", [x], [(2, x.shape), (FLOAT, []), (2, [])])
    weight = b.constant(b.random.integers(0, 255, (width, width, 3)), 2)
    product = b.op(
        "ConvInteger", codes, weight, zero, b.constant(128, 2), shape=x.shape, dtype=6, kernel_shape=[3], pads=[1, 1]
    )
    return b.op("Mul", b.op("Mul", b.cast(product, FLOAT), scale), b.floats(1 / 256))


@step
def convolution_of_codes(b: Builder, x: Tensor) -> Tensor:
    """As static int8 models have, a chain of two."""
    x = b.time_last(x)
    width = x.size(1)
    scale, zero, weight_zero = b.floats(0.0537), b.constant(b.between(0, 255), 2), b.constant(128, 2)
    codes = b.op("QuantizeLinear", x, scale, zero, shape=x.shape, dtype=2)
    for _ in range(2):
        weight = b.constant(b.random.integers(0, 255, (width, width, 3)), 2)
        codes = b.op(
            "QLinearConv", codes, scale, zero, weight, b.floats(0.00513), weight_zero, scale, zero,
            shape=x.shape, dtype=2, kernel_shape=[3], pads=[1, 1],
        )  # fmt: skip
    return b.op("DequantizeLinear", codes, scale, zero, shape=x.shape, dtype=FLOAT)


@step
def gram_of_codes(b: Builder, x: Tensor) -> Tensor:
    """A sum over time of products of codes, each with its own zero point."""
    x = b.time_last(x)
    width = x.size(1)
    first, second = b.constant(b.between(0, 255), 2), b.constant(b.between(0, 255), 2)
    left = b.op("QuantizeLinear", x, b.floats(0.0537), first, shape=x.shape, dtype=2)
    right = b.op("QuantizeLinear", b.transpose(x, 0, 2, 1), b.floats(0.0613), second, dtype=2)
    gram = b.op("MatMulInteger", left, right, first, second, shape=[x.shape[0], width, width], dtype=6)
    scaled = b.op("Tanh", b.op("Mul", b.cast(gram, FLOAT), b.floats(1e-5)))
    return b.op("MatMul", scaled, x, shape=x.shape)


@step
def diagonal(b: Builder, x: Tensor) -> Tensor:
    """The diagonal of the scores of a single row, as torch.diagonal is exported."""
    x = b.time_middle(x)
    time = x.shape[1]
    scores = b.op("MatMul", x, b.transpose(x, 0, 2, 1), shape=[x.shape[0], time, time])
    size = b.dim(x, 1)
    whole = b.op("ConstantOfShape", b.op("Concat", size, size, shape=[2], axis=0), shape=[time, time], dtype=FLOAT)
    eye = b.op("EyeLike", whole, k=b.pick([0, 0, 1, -2]))
    chosen = b.reduce("ReduceSum", b.op("Mul", scores, eye, shape=scores.shape), 2)
    return b.op("Add", x, b.op("Tanh", chosen))


@step
def fixed_quantisation(b: Builder, x: Tensor) -> Tensor:
    codes = b.op("QuantizeLinear", x, b.floats(0.05), b.constant(128, 2), shape=x.shape, dtype=2)
    return b.op("DequantizeLinear", codes, b.floats(0.05), b.constant(128, 2), shape=x.shape, dtype=FLOAT)
