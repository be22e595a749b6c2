"""Order along time: slices, flips, rolls, concatenations, single steps."""

from __future__ import annotations

from paddable.lengths import constant, minimum

from ..builder import BOOL, FLOAT, INT64, Builder, Tensor
from . import step
from .length import arange

_END = 2**31 - 1


@step
def sliced(b: Builder, x: Tensor) -> Tensor:
    """From the start, from the end, strided, reversed, by computed bounds."""
    axis = b.time_axis(x)
    time = x.shape[axis]
    form = b.between(0, 8)
    if form == 0:
        start = b.between(1, 3)
        return b.slice(x, axis, start, b.pick([_END, 2**63 - 1]), time - start)
    if form == 1:
        end = b.between(1, 3)
        return b.slice(x, axis, 0, -end, time - end)
    if form == 2:
        return b.slice(x, axis, 1, -1, time - 2)
    if form == 3:
        step_size = b.between(2, 3)
        start = b.between(0, 1)
        return b.slice(x, axis, start, _END, (time - start).ceildiv(step_size), step_size)
    if form == 4:
        return b.slice(x, axis, -1, b.pick([-_END, -(2**63)]), time, -1)
    if form == 5:
        end = b.calc("Sub", b.dim(x, axis), 2)
        return b.slice(x, axis, 0, end, time - 2)
    if form == 6:
        start = b.calc("Div", b.dim(x, axis), 2)
        return b.slice(x, axis, start, _END, time - time // 2)
    if form == 7:
        half = b.calc("Div", b.dim(x, axis), 2)
        return b.slice(x, axis, 0, half, time // 2)
    return b.slice(x, axis, -2, -_END, (time - 1).ceildiv(2), -2)


@step
def rolled(b: Builder, x: Tensor) -> Tensor:
    """The last steps moved to the front."""
    axis = b.time_axis(x)
    time, count = x.shape[axis], b.between(1, 2)
    late = b.slice(x, axis, -count, _END, count)
    early = b.slice(x, axis, 0, -count, time - count)
    pair = (
        (late, early)
        if b.chance()
        else (b.slice(x, axis, count, _END, time - count), b.slice(x, axis, 0, count, count))
    )
    return b.op("Concat", *pair, shape=x.shape, axis=axis)


@step
def delta(b: Builder, x: Tensor) -> Tensor:
    """Differences of neighbours."""
    axis = b.time_axis(x)
    time = x.shape[axis]
    late, early = b.slice(x, axis, 1, _END, time - 1), b.slice(x, axis, 0, -1, time - 1)
    return b.op("Add", b.op("Sub", late, early), b.op("Mul", late, b.floats(0.3)))


@step
def halves(b: Builder, x: Tensor) -> Tensor:
    """The second half in front of the first."""
    axis = b.time_axis(x)
    time = x.shape[axis]
    middle = b.calc("Div", b.dim(x, axis), 2)
    first = b.slice(x, axis, 0, middle, time // 2)
    second = b.slice(x, axis, middle, _END, time - time // 2)
    return b.op("Concat", second, first, shape=x.shape, axis=axis)


@step
def joined(b: Builder, x: Tensor) -> Tensor:
    """A learned prompt or class token before or after, or the stream twice."""
    x = b.time_middle(x)
    if not x.shape[0].is_constant:
        return x
    rows, time, width = x.size(0), x.shape[1], x.size(2)
    form = b.between(0, 4)
    if form == 4:
        token = b.op("Expand", b.weight(1, 2, width), b.constant([rows, 2, width]), shape=[rows, 2, width])
        return b.op("Concat", token, x, shape=[rows, time + 2, width], axis=1)
    if form == 0:
        return b.op("Concat", b.weight(rows, 2, width), x, shape=[rows, time + 2, width], axis=1)
    if form == 1:
        return b.op("Concat", x, b.weight(rows, 1, width), shape=[rows, time + 1, width], axis=1)
    if form == 2:
        zeros = b.floats(b.random.standard_normal((rows, 2, width)) * 0)
        return b.op("Concat", x, zeros, shape=[rows, time + 2, width], axis=1)
    return b.op("Concat", x, b.op("Neg", x), shape=[rows, time * 2, width], axis=1)


@step
def joined_to_another(b: Builder, x: Tensor) -> Tensor:
    """Two ragged parts of different lengths, one after the other."""
    x = b.time_middle(x)
    found = [
        t for t in b.others
        if t.rank == 3 and t.dtype == FLOAT and t.shape[0] == x.shape[0] and t.shape[2] == x.shape[2]
        and not t.shape[1].is_constant
    ]  # fmt: skip
    if not found:
        return x
    other = b.pick(found)
    parts = (x, other) if b.chance() else (other, x)
    return b.op("Concat", *parts, shape=[x.shape[0], x.shape[1] + other.shape[1], x.shape[2]], axis=1)


@step
def single_step(b: Builder, x: Tensor) -> Tensor:
    """One step picked by index, counted from either end, or from the middle."""
    axis = b.time_axis(x)
    shape = [s for i, s in enumerate(x.shape) if i != axis]
    form = b.between(0, 4)
    if form == 0:
        picked = b.op("Gather", x, b.constant(b.between(0, 1)), shape=shape, axis=axis)
    elif form == 1:
        if x.shape[0] != constant(1):
            return x
        picked = b.op("Gather", x, b.constant(-1), shape=shape, axis=axis)
    elif form == 2:
        picked = b.squeeze(b.slice(x, axis, -1, _END, 1), axis)
    elif form == 3:
        if x.shape[0] != constant(1):
            return x
        middle = b.calc("Div", b.dim(x, axis, scalar=True), 2)
        picked = b.op("Gather", x, middle, shape=shape, axis=axis)
    else:
        if x.shape[0] != constant(1):
            return x
        last = b.calc("Sub", b.dim(x, axis, scalar=True), 1)
        picked = b.op("Gather", x, last, shape=shape, axis=axis)
    b.output(picked)
    return b.op("Add", x, b.op("Tanh", b.unsqueeze(picked, axis)))


@step
def embedded(b: Builder, x: Tensor) -> Tensor:
    """Integer codes of each step, looked up in a table."""
    x = b.time_middle(x)
    width = x.size(2)
    one = b.squeeze(b.slice(x, 2, 0, 1, 1), 2)
    code = b.cast(b.op("Mul", b.op("Sigmoid", one), b.floats(9.99)), INT64)
    if b.chance(0.3):
        code = b.op("ArgMax", x, shape=x.shape[:2], dtype=INT64, axis=2, keepdims=0)
    table = b.weight(max(10, width), width)
    return b.op("Add", x, b.op("Gather", table, code, shape=x.shape, axis=0))


@step
def gathered_channels(b: Builder, x: Tensor) -> Tensor:
    """GatherElements along the channels by data."""
    x = b.time_middle(x)
    width = x.size(2)
    index = b.op("ArgMax", x, shape=[*x.shape[:2], 1], dtype=INT64, axis=2, keepdims=1)
    found = b.op("GatherElements", x, index, shape=index.shape, axis=2)
    return b.op("Add", x, b.op("Mul", found, b.weight(width)))


@step
def gathered_by_tuples(b: Builder, x: Tensor) -> Tensor:
    """GatherND by clamped positions: dynamo's form of x[:, index]."""
    x = b.time_middle(x)
    if x.shape[0] != constant(1):
        return x
    flat = b.squeeze(x, 0)
    time = x.shape[1]
    index = b.calc("Add", arange(b, x), b.between(-1, 2))
    last = b.calc("Sub", b.dim(x, 1, scalar=True), 1)
    index = b.op("Min", index, last) if b.opset >= 12 else index
    if b.opset < 12:
        return x
    found = b.op("GatherND", flat, b.unsqueeze(index, 1), shape=[time, x.shape[2]])
    return b.op("Add", x, b.unsqueeze(found, 0))


@step
def held_where_quiet(b: Builder, x: Tensor) -> Tensor:
    """A flip chosen per element by a comparison with the present."""
    axis = b.time_axis(x)
    flipped = b.slice(x, axis, -1, -_END, x.shape[axis], -1)
    louder = b.op("Less", flipped, x, dtype=BOOL)
    chosen = b.op("Where", louder, x, flipped, dtype=FLOAT)
    return b.op("Add", chosen, b.op("Mul", x, b.floats(0.3)))  # not the same in both directions, lest extrema tie


@step
def cut_to_another(b: Builder, x: Tensor) -> Tensor:
    """Cut to the shorter of two streams."""
    x = b.time_middle(x)
    found = [t for t in b.others if t.rank == 3 and t.shape[0] == x.shape[0] and not t.shape[1].is_constant]
    found = [t for t in found if t.shape[1] != x.shape[1]]
    if not found:
        return x
    other = b.pick(found)
    return b.slice(x, 1, 0, b.dim(other, 1), minimum(x.shape[1], other.shape[1]))


@step
def sampled(b: Builder, x: Tensor) -> Tensor:
    """Steps picked by data: floor(sigmoid * T), no further than the last."""
    axis = b.time_axis(x)
    if x.shape[0] != constant(1) or b.opset < 12:
        return x
    steps = b.dim(x, axis, scalar=True)
    place = b.op("Mul", b.op("Sigmoid", x), b.cast(steps, FLOAT))
    index = b.op("Min", b.cast(place, INT64), b.calc("Sub", steps, 1))
    return b.op("Add", x, b.op("GatherElements", x, index, shape=x.shape, axis=axis))


@step
def sliced_twice_at_once(b: Builder, x: Tensor) -> Tensor:
    """One Slice of both axes."""
    axis = b.time_axis(x)
    time, width = x.shape[axis], x.size(3 - axis)
    start = b.between(0, 2)
    shape = list(x.shape)
    shape[axis], shape[3 - axis] = time - start - 1, constant(width - 1)
    bounds = b.constant([start, 0]), b.constant([-1, width - 1]), b.constant([axis, 3 - axis])
    cut = b.op("Slice", x, *bounds, shape=shape)
    return b.linear(b.time_middle(cut), width)
