"""Matrix products that sum over time."""

from __future__ import annotations

from paddable.lengths import constant

from ..builder import Builder, Tensor
from . import step


@step
def gram(b: Builder, x: Tensor) -> Tensor:
    """x^T x: channels by channels, a sum over time."""
    x = b.time_middle(x)
    width = x.size(2)
    shape = [x.shape[0], width, width]
    if b.opset >= 12 and b.chance(0.3):
        matrix = b.op("Einsum", x, x, shape=shape, equation="btc,btd->bcd")
    else:
        matrix = b.op("MatMul", b.transpose(x, 0, 2, 1), b.op("Tanh", x), shape=shape)
    matrix = b.op("Tanh", b.op("Mul", matrix, b.floats(0.2)))
    b.output(matrix)
    return b.op("MatMul", x, matrix, shape=x.shape)


@step
def linear_attention(b: Builder, x: Tensor) -> Tensor:
    """(elu(q) + 1) ((elu(k) + 1)^T v), normalised by the sum of keys."""
    x = b.time_middle(x)
    width = x.size(2)
    query, key = (b.op("Add", b.op("Elu", b.linear(x, width)), b.floats(1.0)) for _ in range(2))
    context = b.op("MatMul", b.transpose(key, 0, 2, 1), x, shape=[x.shape[0], width, width])
    total = b.op("MatMul", query, b.transpose(b.reduce("ReduceSum", key, 1), 0, 2, 1), shape=[*x.shape[:2], 1])
    return b.op("Div", b.op("MatMul", query, context, shape=x.shape), b.op("Add", total, b.floats(0.5)))


@step
def gemm_over_time(b: Builder, x: Tensor) -> Tensor:
    x = b.time_middle(x)
    if x.shape[0] != constant(1):
        return x
    flat, width = b.squeeze(x, 0), x.size(2)
    matrix = b.op("Gemm", flat, b.op("Sin", flat), b.weight(width), shape=[width, width], transA=1, alpha=0.1)
    return b.op("Add", x, b.unsqueeze(b.op("MatMul", flat, b.op("Tanh", matrix), shape=flat.shape), 0))


@step
def projection(b: Builder, x: Tensor) -> Tensor:
    x = b.time_middle(x)
    if b.opset >= 12 and b.chance(0.2):
        return b.op(
            "Einsum", x, b.weight(x.size(2), x.size(2), fan_in=x.size(2)), shape=x.shape, equation="btc,cd->btd"
        )
    return b.linear(x, x.size(2))


@step
def summed_pairs(b: Builder, x: Tensor) -> Tensor:
    """A [T, T] matrix of products, summed over both axes or over one."""
    x = b.time_middle(x)
    time = x.shape[1]
    pairs = b.op("MatMul", x, b.transpose(x, 0, 2, 1), shape=[x.shape[0], time, time])
    if b.chance(0.3):
        pairs = b.op("Softmax", pairs, axis=2)
    elif b.chance():
        pairs = b.op("Sigmoid", pairs)
    form = b.between(0, 2)
    if form == 0:
        vector = b.reduce("ReduceSum", pairs, 1, 2)
        return b.op("Add", x, b.op("Sin", b.op("Mul", vector, b.floats(0.01))))
    column = b.reduce(b.pick(["ReduceSum", "ReduceMax", "ReduceMean"]), pairs, 2)
    if form == 1:
        return b.op("Add", x, b.op("Tanh", column))
    row = b.reduce(b.pick(["ReduceMax", "ReduceMean"]), pairs, 1)
    return b.op("Add", x, b.op("Tanh", b.transpose(row, 0, 2, 1)))


@step
def pair_scores_returned(b: Builder, x: Tensor) -> Tensor:
    """Attention weights as an output with two ragged axes."""
    x = b.time_middle(x)
    time = x.shape[1]
    pairs = b.op("MatMul", x, b.transpose(x, 0, 2, 1), shape=[x.shape[0], time, time])
    b.output(b.op("Softmax", pairs, axis=2) if b.chance() else pairs)
    return x
