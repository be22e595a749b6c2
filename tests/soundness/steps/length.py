"""The number of steps used as data: positions, fractions of the utterance, counters from the end, branches on it."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto, helper

from ..builder import BOOL, FLOAT, INT64, Builder, Tensor
from . import step


def arange(b: Builder, x: Tensor, axis: int = 1, dtype: int = INT64) -> Tensor:
    """0, 1, 2, ... along a ragged axis: [T]."""
    form = b.between(0, 2)
    size = x.shape[axis]
    if form < 2:
        limit = b.dim(x, axis, scalar=True)
        if dtype != INT64:
            limit = b.cast(limit, dtype)
        return b.op("Range", b.constant(0, dtype), limit, b.constant(1, dtype), shape=[size], dtype=dtype)
    one = helper.make_tensor("one", dtype, [1], [1])
    ones = b.op("ConstantOfShape", b.dim(x, axis), shape=[size], dtype=dtype, value=one)
    return b.op("Sub", b.op("CumSum", ones, b.constant(0), shape=[size]), b.constant(1, dtype))


def _along(b: Builder, x: Tensor, vector: Tensor) -> Tensor:
    """[T] to what broadcasts against the stream."""
    return vector if b.time_axis(x) == 2 else b.unsqueeze(vector, 1)


@step
def table_of_positions(b: Builder, x: Tensor) -> Tensor:
    """A learned table, cut to the length or read by Range."""
    x = b.time_middle(x)
    time, width = x.shape[1], x.size(2)
    table = b.weight(300, width)
    if b.chance():
        rows = b.slice(table, 0, 0, b.dim(x, 1), time)
    else:
        rows = b.op("Gather", table, arange(b, x), shape=[time, width], axis=0)
    return b.op("Add", x, rows)


@step
def sinusoid(b: Builder, x: Tensor) -> Tensor:
    """Sine and cosine of position times frequency."""
    x = b.time_middle(x)
    width = x.size(2)
    position = arange(b, x, dtype=FLOAT) if b.chance() else b.cast(arange(b, x), FLOAT)
    angle = b.op("Mul", b.unsqueeze(position, 1), b.floats(1.0 / 10 ** (np.arange(width) / width)))
    return b.op("Add", x, b.op(b.pick(["Sin", "Cos"]), angle)) if b.chance() else _rotated(b, x, angle)


def _rotated(b: Builder, x: Tensor, angle: Tensor) -> Tensor:
    """Rotary positions."""
    width = x.size(2)
    if width % 2:
        return b.op("Mul", x, b.op("Cos", angle))
    half = width // 2
    first, second = b.split(x, 2, [half, half])
    turned = b.op("Concat", b.op("Neg", second), first, shape=x.shape, axis=2)
    return b.op("Add", b.op("Mul", x, b.op("Cos", angle)), b.op("Mul", turned, b.op("Sin", angle)))


@step
def divided_by_the_length(b: Builder, x: Tensor) -> Tensor:
    axis = b.time_axis(x)
    given = b.lengths.get(str(x.shape[axis]))
    if given is not None:  # the first of the lengths that the model is given: native has one row
        steps = b.cast(b.op("Gather", given, b.constant(0), shape=[], axis=0), FLOAT)
    else:
        steps = b.cast(b.dim(x, axis, scalar=b.chance()), FLOAT)
    if b.chance():
        steps = b.op("Sqrt", steps)
    return b.op("Mul", b.op("Div", x, steps), b.floats(3.0))


@step
def fraction_of_the_utterance(b: Builder, x: Tensor) -> Tensor:
    """arange / T, added or joined as a channel."""
    axis = b.time_axis(x)
    position = b.cast(arange(b, x, axis), FLOAT)
    steps = b.cast(b.dim(x, axis, scalar=True), FLOAT)
    if b.chance():
        steps = b.op("Max", b.op("Sub", steps, b.floats(1.0)), b.floats(1.0))
    return b.op("Add", x, _along(b, x, b.op("Div", position, steps)))


@step
def steps_to_the_end(b: Builder, x: Tensor) -> Tensor:
    """T - 1 - arange, as data and as an index into a table."""
    axis = b.time_axis(x)
    last = b.calc("Sub", b.dim(x, axis, scalar=True), 1)
    left = b.op("Sub", last, arange(b, x, axis))
    if b.chance():
        return b.op("Add", x, b.op("Cos", _along(b, x, b.cast(left, FLOAT))))
    table = b.weight(300)
    return b.op("Add", x, _along(b, x, b.op("Gather", table, left, shape=left.shape, axis=0)))


@step
def reversed_by_index(b: Builder, x: Tensor) -> Tensor:
    """Gather by T - 1 - arange: a flip."""
    axis = b.time_axis(x)
    last = b.calc("Sub", b.dim(x, axis, scalar=True), 1)
    index = b.op("Sub", last, arange(b, x, axis))
    return b.op("Add", x, b.op("Gather", x, index, shape=x.shape, axis=axis))


@step
def near_the_end(b: Builder, x: Tensor) -> Tensor:
    """The last steps treated apart: arange >= T - k."""
    axis = b.time_axis(x)
    edge = b.calc("Sub", b.dim(x, axis, scalar=True), b.between(1, 3))
    late = b.op("Less", edge, arange(b, x, axis), dtype=BOOL)
    return b.op("Where", _along(b, x, late), b.op("Neg", x), x, dtype=FLOAT)


@step
def window_function(b: Builder, x: Tensor) -> Tensor:
    """A symmetric window over the utterance, sin(pi (i + 1/2) / T)."""
    axis = b.time_axis(x)
    position = b.op("Add", b.cast(arange(b, x, axis), FLOAT), b.floats(0.5))
    angle = b.op("Div", b.op("Mul", position, b.floats(np.pi)), b.cast(b.dim(x, axis, scalar=True), FLOAT))
    return b.op("Mul", x, _along(b, x, b.op("Sin", angle)))


@step
def decided_branch(b: Builder, x: Tensor) -> Tensor:
    """An If whose condition the shapes decide; its branches capture the stream."""
    rank = b.op("Shape", b.op("Shape", x, shape=[3], dtype=INT64), shape=[1], dtype=INT64)
    condition = b.op("Equal", b.squeeze(rank, 0), b.constant(b.pick([2, 3])), dtype=BOOL)
    if b.chance():
        width = b.dim(x, 3 - b.time_axis(x), scalar=True)
        condition = b.op("Less", width, b.constant(b.pick([0, 1000])), dtype=BOOL)
    if b.chance():
        condition = b.op("Less", b.constant(0), b.dim(x, b.time_axis(x), scalar=True), dtype=BOOL)
    return _either(b, x, condition, [[(b.pick(["Tanh", "Neg"]), {})], [(b.pick(["Abs", "Sin"]), {})]])


@step
def branch_on_the_length(b: Builder, x: Tensor) -> Tensor:
    """An If that short and long utterances decide differently; a branch may read the whole utterance."""
    axis = b.time_axis(x)
    limit = b.constant(b.pick([4, 7, 12, 20, 33]))
    steps = b.dim(x, axis, scalar=b.chance(0.7))
    condition = b.op("Less", *((steps, limit) if b.chance() else (limit, steps)), dtype=BOOL)
    whole = [
        [("Softmax", {"axis": axis})],
        [("Neg", {}), ("LogSoftmax", {"axis": axis})],
        [("Tanh", {}), ("Exp", {})],
        [("Sigmoid", {})],
        [("Abs", {}), ("Neg", {})],
    ]
    return _either(b, x, condition, [b.pick(whole), b.pick(whole)])


def _either(b: Builder, x: Tensor, condition: Tensor, chains: list[list[tuple[str, dict[str, int]]]]) -> Tensor:
    """An If whose branches capture the stream and send it through a chain of operators with one input."""
    branches = []
    for chain in chains:
        nodes, inside = [], x.name
        for operator, attributes in chain:
            made = b.name("inside")
            nodes.append(helper.make_node(operator, [inside], [made], name=b.name("branch"), **attributes))
            inside = made
        result = helper.make_tensor_value_info(inside, TensorProto.FLOAT, None)
        branches.append(helper.make_graph(nodes, b.name("graph"), [], [result]))
    return b.op("If", condition, shape=x.shape, dtype=FLOAT, then_branch=branches[0], else_branch=branches[1])
