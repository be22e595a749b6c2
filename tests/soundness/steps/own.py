"""What each row's own length decides: positions that it reads, how far a step sees, the end of a table, and ESPnet's
first relative shift."""

from __future__ import annotations

from ..builder import FLOAT, INT64, Builder, Tensor, ragged
from . import step
from .length import arange

_END = 2**31 - 1


@step
def stretched_by_index(b: Builder, x: Tensor) -> Tensor:
    """As many steps more, each read where it lies in the shorter signal."""
    x = b.time_middle(x)
    size, more = b.dim(x, 1, scalar=True), b.between(1, 4)
    total = b.calc("Add", size, more)
    place = b.op("Range", b.constant(0), total, b.constant(1), shape=[x.shape[1] + more], dtype=INT64)
    index = b.op("Div", b.op("Mul", place, size), total)
    shape = [x.shape[0], x.shape[1] + more, x.size(2)]
    if b.chance():
        return b.op("Gather", x, index, shape=shape, axis=1)
    turned = b.transpose(x, 1, 0, 2)
    read = b.op("GatherND", turned, b.unsqueeze(index, 1), shape=[shape[1], shape[0], shape[2]])
    return b.transpose(read, 1, 0, 2)


@step
def sees_ahead(b: Builder, x: Tensor) -> Tensor:
    """Attention to the steps up to some behind the own one, and to no more than there are."""
    if b.opset < 12:
        return x  # Min of integers
    x = b.time_middle(x)
    batch, time = x.shape[0], x.shape[1]
    place = arange(b, x)
    end = b.op("Min", b.op("Add", place, b.constant(b.between(1, 5))), b.dim(x, 1, scalar=True))
    size = b.dim(x, 1)
    sizes = b.op("Concat", *b.pick([[size, size], [b.constant([1]), size, size]]), axis=0, shape=[2])
    column = b.op("Expand", b.unsqueeze(end, 1), sizes, shape=[time, time])
    seen = b.op("Less", place, column, shape=[time, time], dtype=9)
    scores = b.op("MatMul", x, b.transpose(x, 0, 2, 1), shape=[batch, time, time])
    masked = b.op("Where", seen, scores, b.floats(-1e9), shape=[batch, time, time], dtype=FLOAT)
    return b.op("MatMul", b.op("Softmax", masked, axis=2), x, shape=x.shape)


@step
def end_of_a_table(b: Builder, x: Tensor) -> Tensor:
    """ALiBi as MPT has it: of a row of biases the last, as many as there are steps."""
    if b.opset < 12:
        return x  # Max of integers
    x = b.time_middle(x)
    batch, time, long = x.shape[0], x.shape[1], 600
    bias = b.weight(1, long)
    start = b.op("Max", b.op("Sub", b.constant([long]), b.dim(x, 1)), b.constant([0]))
    used = b.slice(bias, 1, start, _END, time)
    scores = b.op("MatMul", x, b.transpose(x, 0, 2, 1), shape=[batch, time, time])
    weights = b.op("Softmax", b.op("Add", scores, used, shape=[batch, time, time]), axis=2)
    return b.op("MatMul", weights, x, shape=x.shape)


@step
def first_relative_shift(b: Builder, x: Tensor) -> Tensor:
    """ESPnet's first relative attention: scores of positions, a column in front, a view, a row less."""
    x = b.time_middle(x)
    batch, time, width = x.shape[0], x.shape[1], x.size(2)
    places = b.unsqueeze(arange(b, x, dtype=FLOAT), 0)
    table = b.op("Sin", b.op("Mul", places, b.weight(width, 1), shape=[width, time]))
    raw = b.op("MatMul", x, table, shape=[batch, time, time])
    wide = b.op("Pad", raw, b.constant([0, 0, 1, 0, 0, 0]), shape=[batch, time, time + 1])
    size = b.dim(x, 1)
    tall = b.reshape(wide, [b.rows(x), b.calc("Add", size, 1), size], [batch, time + 1, time])
    shifted = b.slice(tall, 1, 1, _END, time)
    if b.chance():
        shifted = b.reshape(shifted, [b.rows(x), size, size], [batch, time, time])
    return b.op("MatMul", b.op("Softmax", shifted, axis=2), x, shape=x.shape)


@step
def picked_of_heads(b: Builder, x: Tensor) -> Tensor:
    """DeBERTa: one index for all, expanded to the heads of every row, which are one axis with the rows."""
    x = b.time_middle(x)
    batch, time, width = x.shape[0], x.shape[1], x.size(2)
    if width % 2 or ragged(batch):  # chunks that are rows would be joined with their heads
        return x
    rows, size, half = b.dim(x, 0), b.dim(x, 1), width // 2
    split = b.reshape(x, [b.rows(x), b.free(x, 1), 2, half], [batch, time, 2, half])
    turned = b.transpose(split, 0, 2, 1, 3)
    joined = b.op("Concat", b.calc("Mul", rows, 2), size, b.constant([half]), axis=0, shape=[3])
    flat = b.op("Reshape", turned, joined, shape=[batch * 2, time, half])
    index = b.constant([[[int(b.random.integers(half)) for _ in range(half)]]])
    read = b.op("GatherElements", flat, b.op("Expand", index, joined, shape=flat.shape), shape=flat.shape, axis=2)
    whole = b.op("Concat", rows, b.constant([2]), size, b.constant([half]), axis=0, shape=[4])
    apart = b.transpose(b.op("Reshape", read, whole, shape=[batch, 2, time, half]), 0, 2, 1, 3)
    return b.reshape(apart, [b.rows(x), b.free(x, 1), width], x.shape)
