"""Elementwise operators on the stream, alone and between two streams of one shape."""

from __future__ import annotations

from ..builder import BOOL, FLOAT, INT32, INT64, Builder, Tensor
from . import step

_UNARY = {
    "Abs": 11, "Neg": 11, "Relu": 11, "Sigmoid": 11, "Tanh": 11, "Erf": 11, "Sin": 11, "Cos": 11, "Softplus": 11,
    "Softsign": 11, "Elu": 11, "Selu": 11, "LeakyRelu": 11, "HardSigmoid": 11, "ThresholdedRelu": 11, "Celu": 12,
    "HardSwish": 14, "Mish": 18, "Gelu": 20, "Shrink": 11, "Atan": 11, "Asinh": 11, "Identity": 11, "Dropout": 11,
    "Swish": 24,
}  # fmt: skip
_BOUNDED = ["Exp", "Sinh", "Cosh", "Tan", "Asin", "Acos", "Atanh"]
_STEPPED = ["Floor", "Ceil", "Round", "Sign"]


def activation(b: Builder, x: Tensor) -> Tensor:
    """Any operator of one operand; those that overflow or are undefined far out get a value between -0.9 and 0.9."""
    names = [name for name, since in _UNARY.items() if since <= b.opset]
    name = b.pick([*names, "PRelu", *_BOUNDED])
    if name == "PRelu":
        slope = b.weight(x.size(2)) if b.time_axis(x) == 1 else b.weight(x.size(1), 1)
        return b.op("PRelu", x, slope, shape=x.shape)
    if name in _BOUNDED:
        x = b.op("Mul", b.op("Tanh", x), b.floats(0.9))
    return b.op(name, x)


@step
def activations(b: Builder, x: Tensor) -> Tensor:
    return activation(b, activation(b, x))


@step
def steps_of_a_value(b: Builder, x: Tensor) -> Tensor:
    return b.op("Add", x, b.op(b.pick(_STEPPED), b.op("Mul", x, b.floats(0.37))))


@step
def logarithm(b: Builder, x: Tensor) -> Tensor:
    form = b.between(0, 4)
    size = b.op("Abs", x)
    if form == 0:
        return b.op("Log", size)
    if form == 1:
        return b.op("Log", b.op("Add", size, b.floats(1e-6)))
    if form == 2:
        return b.op("Log", b.op("Clip", size, b.floats(1e-3), None, shape=x.shape))
    if form == 3:
        return b.op("Acosh", b.op("Add", size, b.floats(1.0)))
    return b.op("Sqrt", b.op("Add", size, b.floats(0.0 if b.chance() else 1e-5)))


@step
def own_norm(b: Builder, x: Tensor) -> Tensor:
    """x / |x| along channels: a step of zeros would become NaN."""
    axis = 3 - b.time_axis(x)
    norm = b.reduce("ReduceL2", x, axis)
    if b.chance():
        norm = b.op("Sqrt", b.reduce("ReduceSum", b.op("Mul", x, x), axis))
    if b.chance(0.3):
        norm = b.op("Max", norm, b.floats(1e-6))
    if b.chance(0.3):
        return b.op("Mul", x, b.op("Reciprocal", norm))
    return b.op("Div", x, norm)


def _other(b: Builder, x: Tensor) -> Tensor:
    """Something to combine the stream with: weights, a scalar, an earlier value of its shape, or a branch of it."""
    same = [t for t in b.others if t.shape == x.shape and t.dtype == x.dtype and t.name != x.name]
    form = b.between(0, 3)
    if form == 0 or (form == 1 and not same):
        return b.floats(b.random.standard_normal())
    if form == 1:
        return b.pick(same)
    if form == 2:
        axis = 3 - b.time_axis(x)
        return b.weight(*([x.size(axis)] if axis == 2 else [x.size(axis), 1]))
    return b.op(b.pick(["Sigmoid", "Tanh", "Cos"]), x)


@step
def binary(b: Builder, x: Tensor) -> Tensor:
    operator = b.pick(["Add", "Sub", "Mul", "Max", "Min", "Sum", "Div", "Mean"])
    other = _other(b, x)
    if operator == "Div":
        other = b.op("Add", b.op("Abs", other), b.floats(0.5))
    if operator in ("Mean", "Sum"):
        return b.op(operator, x, other)
    x = b.op(b.pick(["Mean", "Sum"]), x, b.op("Sin", x))
    pair = (x, other) if operator == "Div" or b.chance() else (other, x)
    if operator == "Div" and b.chance(0.3):
        pair = (other, b.op("Add", b.op("Abs", x), b.floats(0.5)))
    return b.op(operator, *pair)


@step
def power(b: Builder, x: Tensor) -> Tensor:
    exponent = b.pick([2.0, 3.0, 0.5, 1.0])
    base = b.op("Abs", x) if exponent == 0.5 else x
    return b.op("Tanh", b.op("Pow", base, b.floats(exponent)))


@step
def remainder(b: Builder, x: Tensor) -> Tensor:
    if b.chance():
        return b.op("Mod", b.op("Mul", x, b.floats(1.7)), b.floats(1.3), fmod=1)
    whole = b.cast(b.op("Mul", x, b.floats(8.0)), b.pick([INT32, INT64]))
    part = b.op("Mod", whole, b.constant(5, whole.dtype))
    return b.op("Add", x, b.cast(part, FLOAT))


@step
def gate(b: Builder, x: Tensor) -> Tensor:
    """A gated linear unit: channels split in two."""
    axis = 3 - b.time_axis(x)
    if x.size(axis) % 2:
        return x
    if b.chance():
        left, right = b.split(x, axis, [x.size(axis) // 2] * 2)
    else:
        half = x.size(axis) // 2
        left = b.slice(x, axis, 0, half, half)
        right = b.slice(x, axis, half, 2**31 - 1 if b.chance() else 2 * half, half)
    joined = b.op("Mul", left, b.op("Sigmoid", right))
    return b.op("Concat", joined, left, shape=x.shape, axis=axis)


@step
def select(b: Builder, x: Tensor) -> Tensor:
    other = _other(b, x)
    compared = b.pick(["Less", "Greater", "LessOrEqual", "GreaterOrEqual", "Equal"])
    if compared.endswith("OrEqual") and b.opset < 12:
        compared = "Less"
    if compared == "Equal":
        condition = b.op("Equal", b.cast(x, INT64), b.constant(0), dtype=BOOL)
    else:
        condition = b.op(compared, x, other, dtype=BOOL)
    if b.chance():
        condition = b.op("Not", condition)
    for operator in ("And", "Or", "Xor"):
        compared = b.pick(
            ["Less", "Greater", "LessOrEqual", "GreaterOrEqual"] if b.opset >= 12 else ["Less", "Greater"]
        )
        second = b.op(compared, x, b.floats(b.random.standard_normal()), dtype=BOOL)
        condition = b.op(operator, condition, second)
    if b.chance(0.3):
        return b.op("Add", x, b.cast(condition, FLOAT))
    pair = (x, other) if b.chance() else (other, x)
    return b.op("Where", condition, *pair, dtype=FLOAT)


@step
def repair(b: Builder, x: Tensor) -> Tensor:
    """Not-a-number and infinity replaced, as safe softmax and safe logarithms do."""
    value = b.op("Log", b.op("Relu", x))
    infinite = b.op(b.pick(["IsInf", "IsNaN"]), value, dtype=BOOL)
    if infinite.name.startswith("isnan"):
        value = b.op("Sqrt", x)
        infinite = b.op("IsNaN", value, dtype=BOOL)
    return b.op("Where", infinite, b.floats(0.25), value, dtype=FLOAT)


@step
def bits(b: Builder, x: Tensor) -> Tensor:
    """Integer codes of the stream."""
    if b.opset < 18:
        code = b.cast(b.op("Clip", b.op("Abs", b.op("Mul", x, b.floats(9.0))), None, b.floats(200.0), shape=x.shape), 2)
        code = b.op("BitShift", code, b.constant(1, 2), direction=b.pick(["LEFT", "RIGHT"]))
        return b.op("Add", x, b.op("Mul", b.cast(code, FLOAT), b.floats(0.01)))
    code = b.cast(b.op("Mul", x, b.floats(9.0)), INT32)
    for operator in ("BitwiseAnd", "BitwiseOr", "BitwiseXor"):
        code = b.op(operator, code, b.constant(b.between(4, 31), INT32))
    if b.chance():
        code = b.op("BitwiseNot", code)
    return b.op("Add", x, b.op("Mul", b.cast(code, FLOAT), b.floats(0.05)))


@step
def double(b: Builder, x: Tensor) -> Tensor:
    """An island of another element type."""
    wide = b.cast(x, b.pick([11, 11, 10]))
    return b.cast(b.op(b.pick(["Abs", "Tanh"]), wide), FLOAT)


@step
def clip(b: Builder, x: Tensor) -> Tensor:
    low = b.floats(-1.5) if b.chance(0.7) else None
    high = b.floats(1.5) if low is None or b.chance() else None
    return b.op("Clip", x, low, *([high] if high is not None else []), shape=x.shape)


@step
def gelu_written_out(b: Builder, x: Tensor) -> Tensor:
    error = b.op("Erf", b.op("Div", x, b.floats(2.0**0.5)))
    return b.op("Mul", b.op("Mul", x, b.op("Add", error, b.floats(1.0))), b.floats(0.5))


@step
def remember_output(b: Builder, x: Tensor) -> Tensor:
    """The stream as it is here, another output."""
    b.output(b.op("Mul", x, b.floats(1.0)))
    return x
