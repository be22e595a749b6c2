"""Data movement: heads, batch x heads, channels x time, pixel shuffle, windows, chunks, tiles."""

from __future__ import annotations

from paddable.lengths import Domain, Length, constant

from ..builder import Builder, Tensor
from . import step


@step
def transposed(b: Builder, x: Tensor) -> Tensor:
    return b.transpose(x, 0, 2, 1)


@step
def heads(b: Builder, x: Tensor) -> Tensor:
    """[B, T, C] -> [B, T, H, C/H] -> [B, H, T, C/H] and back."""
    x = b.time_middle(x)
    time, width = x.shape[1], x.size(2)
    if width % 2:
        return x
    split = b.reshape(x, [b.rows(x), b.free(x, 1), 2, width // 2], [x.shape[0], time, 2, width // 2])
    turned = b.transpose(split, 0, 2, 1, 3)
    turned = b.op(b.pick(["Tanh", "Abs", "Cos"]), turned)
    if b.chance():
        turned = b.linear(turned, width // 2)
    back = b.transpose(turned, 0, 2, 1, 3)
    return b.reshape(back, [b.rows(back), b.free(back, 1), width], [x.shape[0], time, width])


@step
def heads_in_the_batch(b: Builder, x: Tensor) -> Tensor:
    """[B, T, C] -> [B x H, T, C/H], as torch's own attention writes it."""
    x = b.time_middle(x)
    batch, time, width = x.shape[0], x.shape[1], x.size(2)
    if width % 2 or not batch.is_constant:
        return x
    rows = batch.constant
    split = b.reshape(x, [rows, b.free(x, 1), 2, width // 2], [rows, time, 2, width // 2])
    flat = b.reshape(b.transpose(split, 0, 2, 1, 3), [rows * 2, b.free(x, 1), width // 2], [rows * 2, time, width // 2])
    flat = b.op(b.pick(["Tanh", "Sin", "Relu"]), b.linear(flat, width // 2))
    if b.chance():
        weights = b.op("MatMul", flat, b.transpose(flat, 0, 2, 1), shape=[rows * 2, time, time])
        weights = b.op("Softmax", weights, axis=2)
        flat = b.op("MatMul", weights, flat, shape=flat.shape)
    back = b.reshape(flat, [rows, 2, b.dim(flat, 1), width // 2], [rows, 2, time, width // 2])
    back = b.transpose(back, 0, 2, 1, 3)
    return b.reshape(back, [rows, -1 if b.chance() else b.dim(back, 1), width], [rows, time, width])


@step
def channels_by_time(b: Builder, x: Tensor) -> Tensor:
    """[B, C, T] -> [B, 1, C x T]: time stands innermost in a merge, its padding interleaved."""
    x = b.time_last(x)
    batch, width, time = x.shape[0], x.size(1), x.shape[2]
    merged = b.reshape(x, [b.rows(x), 1, -1], [batch, 1, time * width])
    merged = b.op(
        "InstanceNormalization", merged, b.weight(1, positive=True), b.weight(1), shape=merged.shape, epsilon=0.05
    )
    if b.chance():
        merged = b.op("Tanh", merged)
    return b.reshape(merged, [b.rows(merged), width, b.free(x, 2)], [batch, width, time])


@step
def pixel_shuffle(b: Builder, x: Tensor) -> Tensor:
    """[B, T, 2C] -> [B, 2T, C]."""
    x = b.time_middle(x)
    width, time = x.size(2), x.shape[1]
    x = b.linear(x, 2 * width)
    width = 2 * width
    size: int | Tensor = -1 if b.chance() else b.calc("Mul", b.dim(x, 1), 2)
    return b.reshape(x, [b.rows(x), size, width // 2], [x.shape[0], time * 2, width // 2])


def _cropped(b: Builder, x: Tensor, factor: int) -> Tensor:
    """Time cut to a multiple of ``factor``."""
    time = x.shape[1]
    size = b.calc("Mul", b.calc("Div", b.dim(x, 1), factor), factor)
    return b.slice(x, 1, 0, size, (time // factor) * factor)


def _filled_up(b: Builder, x: Tensor, factor: int) -> Tensor:
    """Time padded with zeros to a multiple of ``factor``, by the amount an exporter computes."""
    time = x.shape[1]
    size = b.dim(x, 1)
    if b.chance():
        whole = b.calc("Mul", b.calc("Div", b.calc("Add", size, factor - 1), factor), factor)
        amount = b.op("Sub", whole, size)
    else:
        amount = b.op("Mod", b.op("Sub", b.constant([0]), size), b.constant([factor]))
    amounts = b.op("Concat", b.constant([0, 0, 0, 0]), amount, b.constant([0]), shape=[6], axis=0)
    return b.op("Pad", x, amounts, shape=[x.shape[0], time.ceildiv(factor) * factor, x.shape[2]])


def _multiple(b: Builder, x: Tensor, factor: int) -> Tensor:
    if Domain().divisible(x.shape[1], factor) and b.chance():
        return x
    return _cropped(b, x, factor) if b.chance() else _filled_up(b, x, factor)


def _pieces(x: Tensor, factor: int) -> Length:
    return x.shape[1] // factor


@step
def stacked_frames(b: Builder, x: Tensor) -> Tensor:
    """[B, kT, C] -> [B, T, kC] (low frame rate), projected to the old width."""
    x, factor = b.time_middle(x), b.between(2, 3)
    width = x.size(2)
    x = _multiple(b, x, factor)
    stacked = b.reshape(x, [b.rows(x), -1, factor * width], [x.shape[0], _pieces(x, factor), factor * width])
    return b.linear(stacked, width)


@step
def windows(b: Builder, x: Tensor) -> Tensor:
    """[B, kW, C] -> [B, W, k, C], mixed inside the window, and back."""
    x, factor = b.time_middle(x), b.between(2, 4)
    width = x.size(2)
    x = _multiple(b, x, factor)
    count = _pieces(x, factor)
    inside = b.reshape(x, [b.rows(x), -1, factor, width], [x.shape[0], count, factor, width])
    form = b.between(0, 2)
    if form == 0:
        inside = b.op("Sub", inside, b.reduce("ReduceMean", inside, 2))
    elif form == 1:
        inside = b.op("Softmax", inside, axis=-1) if b.opset >= 13 else b.op("Softmax", inside, axis=3)
    else:
        mixed = b.op("MatMul", b.weight(factor, factor, fan_in=factor), inside, shape=inside.shape)
        inside = b.op("Add", inside, mixed)
    size: int | Tensor = -1 if b.chance() else b.calc("Mul", b.dim(inside, 1), factor)
    return b.reshape(inside, [b.rows(inside), size, width], [x.shape[0], count * factor, width])


@step
def chunks_in_the_batch(b: Builder, x: Tensor) -> Tensor:
    """[1, kW, C] -> [W, k, C]: chunks become rows, each attended or convolved alone."""
    x, factor = b.time_middle(x), b.between(2, 4)
    if x.shape[0] != constant(1):
        return x
    width = x.size(2)
    x = _multiple(b, x, factor)
    count = _pieces(x, factor)
    rows = b.reshape(x, [-1, factor, width], [count, factor, width])
    form = b.between(0, 2)
    if form == 0:
        scores = b.op("MatMul", rows, b.transpose(rows, 0, 2, 1), shape=[count, factor, factor])
        rows = b.op("MatMul", b.op("Softmax", scores, axis=2), rows, shape=rows.shape)
    elif form == 1:
        turned = b.transpose(rows, 0, 2, 1)
        turned = b.op("Conv", turned, b.weight(width, width, 3, fan_in=3 * width), shape=turned.shape, pads=[1, 1])
        rows = b.transpose(turned, 0, 2, 1)
    else:
        rows = b.op("Tanh", b.linear(rows, width))
    return b.reshape(rows, [1, -1, width], [1, count * factor, width])


@step
def repeated_steps(b: Builder, x: Tensor) -> Tensor:
    """repeat_interleave: [B, T, C] -> [B, T, 1, C] -> [B, T, 2, C] -> [B, 2T, C]."""
    x = b.time_middle(x)
    batch, time, width = x.shape[0], x.shape[1], x.size(2)
    wide = b.unsqueeze(x, 2)
    if b.chance():
        wide = b.op("Tile", wide, b.constant([1, 1, 2, 1]), shape=[batch, time, 2, width])
    else:
        parts = [b.dim(x, 0), b.dim(x, 1), b.constant([2]), b.dim(x, 2)]
        wide = b.op("Expand", wide, b.op("Concat", *parts, shape=[4], axis=0), shape=[batch, time, 2, width])
    size: int | Tensor = -1 if b.chance() else b.calc("Mul", b.dim(x, 1), 2)
    return b.reshape(wide, [b.rows(wide), size, width], [batch, time * 2, width])


@step
def tiled_channels(b: Builder, x: Tensor) -> Tensor:
    axis = 3 - b.time_axis(x)
    counts = [1, 1, 1]
    counts[axis] = 2
    shape = list(x.shape)
    shape[axis] = shape[axis] * 2
    tiled = b.op("Tile", x, b.constant(counts), shape=shape)
    first, second = b.split(tiled, axis, [x.size(axis)] * 2)
    return b.op("Add", first, b.op("Sin", second))


@step
def expanded_vector(b: Builder, x: Tensor) -> Tensor:
    """A learned vector expanded to every step and joined to the channels."""
    x = b.time_middle(x)
    parts = [b.dim(x, 0), b.dim(x, 1), b.constant([x.size(2)])]
    target = b.op("Concat", *parts, shape=[3], axis=0)
    vector = b.op("Expand", b.weight(1, 1, x.size(2)), target, shape=x.shape)
    joined = b.op("Concat", x, vector, shape=[x.shape[0], x.shape[1], 2 * x.size(2)], axis=2)
    return b.linear(joined, x.size(2))


@step
def squeezed(b: Builder, x: Tensor) -> Tensor:
    axis = b.between(0, 3)
    wide = b.op(b.pick(["Sin", "Abs"]), b.unsqueeze(x, axis))
    return b.squeeze(wide, axis)


@step
def flattened(b: Builder, x: Tensor) -> Tensor:
    """[1, T, C] -> [T, C], one matrix product, and back."""
    x = b.time_middle(x)
    if x.shape[0] != constant(1):
        return x
    width = x.size(2)
    if b.chance():
        flat = b.op("Flatten", x, shape=[x.shape[1], width], axis=2)
    else:
        flat = b.reshape(x, [-1, width], [x.shape[1], width])
    form = b.op("Gemm", flat, b.weight(width, width, fan_in=width), b.weight(width), shape=flat.shape)
    return b.unsqueeze(form, 0)


@step
def split_channels(b: Builder, x: Tensor) -> Tensor:
    axis = 3 - b.time_axis(x)
    width = x.size(axis)
    if width < 3:
        return x
    parts = b.split(x, axis, [1, width - 2, 1])
    order = [parts[i] for i in b.random.permutation(3)]
    return b.op("Concat", *order, shape=x.shape, axis=axis)
