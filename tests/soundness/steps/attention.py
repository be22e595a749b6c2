"""Attention over time, with and without masks and positions of its own."""

from __future__ import annotations

import numpy as np
from onnx import helper

from ..builder import BOOL, FLOAT, INT64, Builder, Tensor
from . import step
from .length import arange


def _scores(b: Builder, query: Tensor, key: Tensor) -> Tensor:
    """[B, Tq, Tk] products of two channels-last streams."""
    width = query.size(2)
    shape = [query.shape[0], query.shape[1], key.shape[1]]
    if b.opset >= 12 and b.chance(0.2):
        scores = b.op("Einsum", query, key, shape=shape, equation=b.pick(["bqd,bkd->bqk", "bqd, bkd -> bqk"]))
    else:
        scores = b.op("MatMul", query, b.transpose(key, 0, 2, 1), shape=shape)
    return b.op("Mul", scores, b.floats(width**-0.5))


def _weigh(b: Builder, scores: Tensor, value: Tensor) -> Tensor:
    shape = [*scores.shape[:2], value.shape[2]]
    form = b.between(0, 5)
    if form == 0:
        # safe softmax: rows without a key give zero
        weights = b.op("Softmax", scores, axis=2)
        nan = b.op("IsNaN", weights, dtype=BOOL)
        weights = b.op("Where", nan, b.floats(0.0), weights, dtype=FLOAT)
    elif form == 1:
        weights = b.op("Exp", b.op("LogSoftmax", scores, axis=2))
    elif form == 2:
        largest = b.reduce("ReduceMax", scores, 2)
        raised = b.op("Exp", b.op("Sub", scores, largest))
        weights = b.op("Div", raised, b.reduce("ReduceSum", raised, 2))
    else:
        weights = b.op("Softmax", scores, axis=-1 if b.opset >= 13 and b.chance() else 2)
    if b.opset >= 12 and b.chance(0.2):
        return b.op("Einsum", weights, value, shape=shape, equation="bqk,bkd->bqd")
    return b.op("MatMul", weights, value, shape=shape)


def _qkv(b: Builder, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    width = x.size(2)
    return b.linear(x, width), b.linear(x, width), b.linear(x, width)


@step
def attention(b: Builder, x: Tensor) -> Tensor:
    x = b.time_middle(x)
    query, key, value = _qkv(b, x)
    return b.op("Add", x, _weigh(b, _scores(b, query, key), value))


@step
def attention_of_heads(b: Builder, x: Tensor) -> Tensor:
    """[B, H, T, d], the form of every exporter."""
    x = b.time_middle(x)
    batch, time, width = x.shape[0], x.shape[1], x.size(2)
    if width % 2:
        return x
    half = width // 2

    def split(part: Tensor) -> Tensor:
        wide = b.reshape(part, [b.rows(part), b.free(part, 1), 2, half], [batch, time, 2, half])
        return b.transpose(wide, 0, 2, 1, 3)

    query, key, value = (split(part) for part in _qkv(b, x))
    scores = b.op("MatMul", query, b.transpose(key, 0, 1, 3, 2), shape=[batch, 2, time, time])
    scores = b.op("Div", scores, b.floats(half**0.5))
    if b.chance(0.4):
        scores = b.op("Add", scores, _causal_bias(b, x))
    mixed = b.op("MatMul", b.op("Softmax", scores, axis=3), value, shape=query.shape)
    back = b.transpose(mixed, 0, 2, 1, 3)
    return b.linear(b.reshape(back, [b.rows(back), b.free(back, 1), width], x.shape), width)


def _causal_bias(b: Builder, x: Tensor) -> Tensor:
    """[T, T]: 0 where a query may look, else a fill, built as exporters build it."""
    time = x.shape[1]
    fill = b.pick([-np.inf, -1e4, float(np.finfo(np.float32).min), -1e9])
    form = b.between(0, 2)
    if form == 0 and b.opset >= 14:
        size = b.op("Concat", b.dim(x, 1), b.dim(x, 1), shape=[2], axis=0)
        filled = b.op(
            "ConstantOfShape",
            size,
            shape=[time, time],
            dtype=FLOAT,
            value=helper.make_tensor("fill", FLOAT, [1], [fill]),
        )
        return b.op("Trilu", filled, b.constant(1), shape=[time, time], upper=1)
    steps = arange(b, x)
    rows, columns = b.unsqueeze(steps, 1), b.unsqueeze(steps, 0)
    if form == 1:
        hidden = b.op("Less", rows, columns, dtype=BOOL)
        return b.op("Where", hidden, b.floats(fill), b.floats(0.0), dtype=FLOAT)
    if b.opset >= 12:
        seen = b.op("LessOrEqual", columns, rows, dtype=BOOL)
    else:
        seen = b.op("Not", b.op("Greater", columns, rows, dtype=BOOL))
    return b.op("Where", seen, b.floats(0.0), b.floats(fill), dtype=FLOAT)


@step
def causal_attention(b: Builder, x: Tensor) -> Tensor:
    x = b.time_middle(x)
    query, key, value = _qkv(b, x)
    scores = b.op("Add", _scores(b, query, key), _causal_bias(b, x))
    return b.op("Add", x, _weigh(b, scores, value))


@step
def window_attention(b: Builder, x: Tensor) -> Tensor:
    """Keys within a distance; padding rows may keep no valid key."""
    x = b.time_middle(x)
    query, key, value = _qkv(b, x)
    steps = arange(b, x)
    gap = b.op("Sub", b.unsqueeze(steps, 1), b.unsqueeze(steps, 0))
    reach = b.between(1, 3)
    near = b.op("Less", b.op("Abs", gap), b.constant(reach), dtype=BOOL)
    if b.chance():
        near = b.op("And", near, b.op("Less", gap, b.constant(reach - 1 or 1), dtype=BOOL))
    fill = b.floats(b.pick([-np.inf, -1e4, float(np.finfo(np.float32).min)]))
    scores = b.op("Where", near, _scores(b, query, key), fill, dtype=FLOAT)
    return b.op("Add", x, _weigh(b, scores, value))


@step
def alibi(b: Builder, x: Tensor) -> Tensor:
    """A linear penalty of the distance, or of the distance to the end."""
    x = b.time_middle(x)
    query, key, value = _qkv(b, x)
    steps = arange(b, x)
    columns = b.unsqueeze(steps, 0)
    if b.chance():
        gap = b.op("Sub", columns, b.unsqueeze(steps, 1))
        gap = b.op("Neg", b.op("Abs", gap))
    else:
        gap = b.op("Sub", columns, b.calc("Sub", b.dim(x, 1, scalar=True), 1))
    bias = b.op("Mul", b.cast(gap, FLOAT), b.floats(0.25))
    scores = b.op("Add", _scores(b, query, key), bias)
    return b.op("Add", x, _weigh(b, scores, value))


@step
def bucketed_bias(b: Builder, x: Tensor) -> Tensor:
    """wavlm: a table of biases read by clipped distance."""
    if b.opset < 12:
        return x  # Max and Min of integers came later
    x = b.time_middle(x)
    query, key, value = _qkv(b, x)
    steps = arange(b, x)
    gap = b.op("Sub", b.unsqueeze(steps, 0), b.unsqueeze(steps, 1))
    bucket = b.op("Add", b.op("Min", b.op("Max", gap, b.constant(-3)), b.constant(3)), b.constant(3))
    table = b.weight(7)
    bias = b.op("Gather", table, bucket, shape=bucket.shape, axis=0)
    return b.op("Add", x, _weigh(b, b.op("Add", _scores(b, query, key), bias), value))


@step
def relative_positions(b: Builder, x: Tensor) -> Tensor:
    """Transformer-XL: q times a centred table [2T - 1], shifted by Pad, Reshape, Slice, Reshape, Slice."""
    x = b.time_middle(x)
    batch, time, width = x.shape[0], x.shape[1], x.size(2)
    query, key, value = _qkv(b, x)
    middle = 60
    table = b.weight(2 * middle - 1, width)
    size = b.dim(x, 1)
    start = b.op("Sub", b.constant([middle]), size)
    end = b.calc("Add", size, middle - 1)
    centred = b.slice(table, 0, start, end, time * 2 - 1)
    positions = b.transpose(centred, 1, 0)
    raw = b.op("MatMul", query, positions, shape=[batch, time, time * 2 - 1])
    if b.chance():
        wide = b.op("Pad", raw, b.constant([0, 0, 1, 0, 0, 0]), shape=[batch, time, time * 2])
    else:
        shape = b.op("Concat", b.dim(raw, 0), b.dim(raw, 1), b.constant([1]), shape=[3], axis=0)
        zeros = b.op("ConstantOfShape", shape, shape=[batch, time, 1], dtype=FLOAT)
        wide = b.op("Concat", zeros, raw, shape=[batch, time, time * 2], axis=2)
    double = b.calc("Mul", size, 2)
    tall = b.reshape(wide, [b.rows(wide), double, size], [batch, time * 2, time])
    cut = b.slice(tall, 1, 1, 2**31 - 1, time * 2 - 1)
    back = b.reshape(cut, [b.rows(cut), size, b.calc("Sub", double, 1)], [batch, time, time * 2 - 1])
    shifted = b.slice(back, 2, 0, size, time)
    return b.op("Add", x, _weigh(b, b.op("Add", _scores(b, query, key), shifted), value))


@step
def cross_attention(b: Builder, x: Tensor) -> Tensor:
    """Queries of the stream, keys of another ragged input or of an earlier, differently long stream."""
    x = b.time_middle(x)
    found = [
        t for t in b.others
        if t.rank == 3 and t.dtype == FLOAT and t.shape[0] == x.shape[0] and t.shape[1:] != x.shape[1:]
        and sum(1 for s in t.shape[1:] if not s.is_constant) == 1
    ]  # fmt: skip
    if not found:
        return attention(b, x)
    other = b.time_middle(b.pick(found))
    query, key, value = b.linear(x, 4), b.linear(other, 4), b.linear(other, x.size(2))
    mixed = _weigh(b, _scores(b, query, key), value)
    return b.op("Add", x, mixed)


@step
def masked_attention(b: Builder, x: Tensor) -> Tensor:
    """Masks that native makes of its own length or mask input."""
    x = b.time_middle(x)
    mask = _own_mask(b, x)
    if mask is None:
        return x
    query, key, value = _qkv(b, x)
    scores = _scores(b, query, key)
    if b.chance():
        fill = b.floats(b.pick([-np.inf, -1e4, -1e9]))
        scores = b.op("Where", b.unsqueeze(mask, 1), scores, fill, dtype=FLOAT)
    else:
        number = b.cast(b.op("Not", mask), FLOAT)
        scores = b.op("Add", scores, b.op("Mul", b.unsqueeze(number, 1), b.floats(b.pick([-1e4, -1e9]))))
    return b.op("Add", x, _weigh(b, scores, value))


@step
def masked_stream(b: Builder, x: Tensor) -> Tensor:
    """x times its own mask, or a mean over the mask."""
    x = b.time_middle(x)
    mask = _own_mask(b, x)
    if mask is None:
        return x
    number = b.unsqueeze(b.cast(mask, FLOAT), 2)
    form = b.between(0, 2)
    if form == 0:
        return b.op("Mul", x, number)
    if form == 1:
        return b.op("Where", b.unsqueeze(mask, 2), x, b.floats(0.0), dtype=FLOAT)
    mean = b.op("Div", b.reduce("ReduceSum", b.op("Mul", x, number), 1), b.reduce("ReduceSum", number, 1))
    return b.op("Add", x, mean)


def _own_mask(b: Builder, x: Tensor) -> Tensor | None:
    """[B, T] true on valid steps, from the input that declares it, while the stream still has the input's steps."""
    for symbol, held in b.masks.items():
        if str(x.shape[1]) == symbol and held.shape[0] == x.shape[0]:
            return b.op("Greater", held, b.constant(0), dtype=BOOL)
    for symbol, held in b.lengths.items():
        if str(x.shape[1]) == symbol and held.shape[0] == x.shape[0]:
            steps = arange(b, x)
            if b.chance():
                return b.op("Less", b.unsqueeze(steps, 0), b.unsqueeze(held, 1), dtype=BOOL)
            late = b.op("Less", b.unsqueeze(steps, 0), b.unsqueeze(held, 1), dtype=BOOL)
            return b.op("Equal", b.cast(late, INT64), b.constant(1), dtype=BOOL)
    return None
