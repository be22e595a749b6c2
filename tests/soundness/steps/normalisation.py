"""Normalisations: framewise, and over time."""

from __future__ import annotations

import numpy as np

from paddable.lengths import Length

from ..builder import FLOAT, Builder, Tensor
from . import step


def settle(b: Builder, x: Tensor) -> Tensor:
    """Channels normalised, so that a chain of random steps keeps its scale."""
    x = b.time_middle(x)
    if b.opset >= 23 and b.chance(0.3):
        return rms_norm(b, x)
    if b.opset >= 17:
        width = x.size(2)
        return b.op(
            "LayerNormalization",
            x,
            b.weight(width, positive=True),
            b.weight(width),
            axis=-1,
            epsilon=0.05,
            shape=x.shape,
        )
    centred = b.op("Sub", x, b.reduce("ReduceMean", x, 2))
    variance = b.reduce("ReduceMean", b.op("Mul", centred, centred), 2)
    return b.op("Div", centred, b.op("Sqrt", b.op("Add", variance, b.floats(0.05))))


@step
def layer_norm(b: Builder, x: Tensor) -> Tensor:
    return settle(b, x)


@step
def rms_norm(b: Builder, x: Tensor) -> Tensor:
    x = b.time_middle(x)
    if b.opset >= 23:
        return b.op("RMSNormalization", x, b.weight(x.size(2), positive=True), axis=-1, epsilon=0.05, shape=x.shape)
    mean = b.reduce("ReduceMean", b.op("Pow", x, b.floats(2.0)), -1)
    root = b.op("Sqrt", b.op("Add", mean, b.floats(0.05)))
    return b.op("Mul", x, b.op("Reciprocal", root))


@step
def batch_norm(b: Builder, x: Tensor) -> Tensor:
    x = b.time_last(x)
    width = x.size(1)
    weights = [b.weight(width, positive=True), b.weight(width), b.weight(width), b.weight(width, positive=True)]
    return b.op("BatchNormalization", x, *weights, shape=x.shape)


@step
def lp_norm(b: Builder, x: Tensor) -> Tensor:
    time = b.time_axis(x)
    return b.op("LpNormalization", x, axis=time if b.chance(0.3) else 3 - time, p=b.pick([1, 2]))


@step
def mean_variance_norm(b: Builder, x: Tensor) -> Tensor:
    """Over time, or over everything; a channel of its own noise, since a constant one is NaN."""
    if b.opset < 13:
        return x
    axes = b.pick([[b.time_axis(x)], [1, 2]])
    return b.op("MeanVarianceNormalization", x, axes=axes)


@step
def instance_norm(b: Builder, x: Tensor) -> Tensor:
    """wav2vec2's group norm: statistics over time, a channel at a time."""
    x = b.time_last(x)
    width = x.size(1)
    return b.op(
        "InstanceNormalization", x, b.weight(width, positive=True), b.weight(width), shape=x.shape, epsilon=0.05
    )


@step
def group_norm(b: Builder, x: Tensor) -> Tensor:
    """The operator where the opset has it, else Reshape, InstanceNormalization, Reshape."""
    x = b.time_last(x)
    batch, width, time = x.shape[0], x.size(1), x.shape[2]
    groups = b.pick([g for g in (1, 2) if width % g == 0])
    if b.opset >= 21 and b.chance(0.9):
        scale, bias = b.weight(width, positive=True), b.weight(width)
        return b.op("GroupNormalization", x, scale, bias, shape=x.shape, num_groups=groups, epsilon=0.05)
    size: int | Tensor = -1
    if batch.is_constant:
        target: list[int | Tensor] = [batch.constant, groups, size]
    else:
        target = [b.rows(x), groups, size]
    each = width // groups
    merged = b.reshape(x, target, [batch, groups, time * each])
    ones, zeros = b.floats(np.ones(groups)), b.floats(np.zeros(groups))
    normal = b.op("InstanceNormalization", merged, ones, zeros, shape=merged.shape, epsilon=0.05)
    whole = b.op("Shape", x, shape=[3], dtype=7)
    back = b.op("Reshape", normal, whole, shape=x.shape)
    return b.op("Add", b.op("Mul", back, b.weight(width, 1, positive=True)), b.weight(width, 1))


@step
def group_norm_2d(b: Builder, x: Tensor) -> Tensor:
    """Statistics over features and time of an image."""
    x = b.time_last(x)
    image = b.unsqueeze(x, 1)
    if b.chance():
        image = b.op(
            "InstanceNormalization", image, b.weight(1, positive=True), b.weight(1), shape=image.shape, epsilon=0.05
        )
    else:
        pair = b.op("Concat", image, b.op("Sin", image), shape=[x.shape[0], 2, *x.shape[1:]], axis=1)
        pair = b.op(
            "InstanceNormalization", pair, b.weight(2, positive=True), b.weight(2), shape=pair.shape, epsilon=0.05
        )
        image = b.reduce("ReduceSum", pair, 1)
    return b.squeeze(image, 1)


@step
def mean_variance_by_hand(b: Builder, x: Tensor) -> Tensor:
    """Utterance normalisation written out: biased or unbiased deviation, as torch's exporter writes it."""
    axis = b.time_axis(x)
    axes = [axis] if b.chance(0.7) else [1, 2]
    centred = b.op("Sub", x, b.reduce("ReduceMean", x, *axes))
    variance = b.reduce("ReduceMean", b.op("Mul", centred, centred), *axes)
    if b.chance():
        # n / (n - 1): the numbers of elements come from Shape
        count = b.dim(x, axis, scalar=True)
        if len(axes) == 2:
            count = b.calc("Mul", count, _width(x, 3 - axis))
        many = b.cast(count, FLOAT)
        less = b.op("Sub", many, b.floats(1.0))
        if b.chance():
            variance = b.op("Div", b.op("Mul", variance, many), b.op("Add", less, b.floats(0.05)))
        else:
            variance = b.op("Mul", variance, b.op("Div", many, less))
    return b.op("Div", centred, b.op("Sqrt", b.op("Add", variance, b.floats(0.05))))


def _width(x: Tensor, axis: int) -> int:
    size: Length = x.shape[axis]
    return size.constant
