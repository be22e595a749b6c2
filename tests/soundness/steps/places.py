"""Reading and writing by computed places: indices with each row's own number, the last step of a mask, a table that is
padded to the length and shifted."""

from __future__ import annotations

from ..builder import BOOL, FLOAT, INT64, Builder, Tensor
from . import step
from .length import arange

_END = 2**31 - 1


def _numbers_of_rows(b: Builder, x: Tensor) -> Tensor:
    """0, 1, 2, ... along the batch: [B]."""
    rows = b.dim(x, 0, scalar=True)
    return b.op("Range", b.constant(0), rows, b.constant(1), shape=[x.shape[0]], dtype=INT64)


@step
def read_by_row_and_step(b: Builder, x: Tensor) -> Tensor:
    """x[rows, steps] as GatherND of tuples, or by row * size + step from rows that are joined with their steps."""
    x = b.time_middle(x)
    batch, time, width = x.shape[0], x.shape[1], x.size(2)
    rows, steps = b.unsqueeze(_numbers_of_rows(b, x), 1), b.unsqueeze(arange(b, x), 0)
    if b.chance(0.3):
        steps = b.op("Mul", steps, b.constant(0))  # the first step for all of them
    if b.chance() and b.opset >= 12:
        both = b.op(b.pick(["Max", "Add"]), rows, steps)
        sizes = b.op("Shape", both, shape=[2], dtype=INT64)
        spread = [b.unsqueeze(b.op("Expand", part, sizes, shape=[batch, time]), 2) for part in (rows, steps)]
        tuples = b.op("Concat", *spread, shape=[batch, time, 2], axis=2)
        return b.op("GatherND", x, tuples, shape=x.shape)
    joined = b.op("Reshape", x, b.constant([-1, width]), shape=[time, width])
    far = b.op("Mul", rows, b.dim(x, 1, scalar=True))
    return b.op("Gather", joined, b.op("Add", far, steps), shape=x.shape, axis=0)


@step
def mask_up_to_a_step(b: Builder, x: Tensor) -> Tensor:
    """transformers: 1 written at the last step of each row, flipped, summed, flipped, and used as a mask."""
    x = b.time_middle(x)
    batch, time = x.shape[0], x.shape[1]
    last = _last_step(b, x)
    if last is None or b.opset < 12:
        return x
    rows = b.unsqueeze(_numbers_of_rows(b, x), 1)
    tuples = b.op("Concat", rows, b.unsqueeze(last, 1), shape=[batch, 2], axis=1)
    size = b.op("Concat", b.dim(x, 0), b.dim(x, 1), shape=[2], axis=0)
    zeros = b.cast(b.op("ConstantOfShape", size, shape=[batch, time], dtype=FLOAT), INT64)
    ones = b.op("Expand", b.constant(1), b.dim(x, 0), shape=[batch])
    hot = b.op("ScatterND", zeros, tuples, ones)
    if b.chance():
        flipped = b.slice(hot, 1, -1, -_END, time, -1)
        summed = b.slice(b.op("CumSum", flipped, b.constant(1)), 1, -1, -_END, time, -1)
    else:
        summed = b.op("CumSum", hot, b.constant(1), reverse=1)
    return b.op("Mul", x, b.unsqueeze(b.cast(summed, FLOAT), 2))


def _last_step(b: Builder, x: Tensor) -> Tensor | None:
    """[B]: the last step of each row, from what the model is told, or for one row from the size."""
    for symbol, held in b.masks.items():
        if str(x.shape[1]) == symbol and held.shape[0] == x.shape[0]:
            if b.chance():
                count = b.reduce("ReduceSum", held, 1, keepdims=0)
            else:
                summed = b.op("CumSum", held, b.constant(1))
                count = b.op("Gather", summed, b.constant(-1), shape=[held.shape[0]], axis=1)
            return b.op("Sub", count, b.constant(1))
    for symbol, held in b.lengths.items():
        if str(x.shape[1]) == symbol and held.shape[0] == x.shape[0]:
            return b.op("Sub", held, b.constant(1))
    if x.shape[0].is_constant and x.size(0) == 1:
        return b.op("Sub", b.dim(x, 1), b.constant([1]))
    return None


@step
def write_at_a_step(b: Builder, x: Tensor) -> Tensor:
    """A frame of numbers written at the last or at an early step of a single row; or at steps of every row."""
    x = b.time_middle(x)
    if not (x.shape[0].is_constant and x.size(0) == 1):
        return _numbers_of_the_length_spread(b, x)
    early = b.chance()
    place = b.constant([b.between(0, 3)]) if early else b.op("Sub", b.dim(x, 1), b.constant([b.between(1, 3)]))
    tuples = b.unsqueeze(b.op("Concat", b.constant([0]), place, shape=[2], axis=0), 0)
    added = b.opset >= 16 and b.chance(0.3)
    return b.op("ScatterND", x, tuples, b.weight(1, x.size(2)), shape=x.shape, reduction="add" if added else None)


@step
def table_padded_to_the_length(b: Builder, x: Tensor) -> Tensor:
    """VITS: relative positions within a window, padded by T - w - 1, shifted to keys, and weights shifted back."""
    if b.opset < 13:
        return x  # Pad and Max of integers as inputs
    x = b.time_middle(x)
    batch, time, width = x.shape[0], x.shape[1], x.size(2)
    reach, size = b.between(1, 4), b.dim(x, 1)
    zero, none = b.constant([0]), b.constant(0)
    more = b.op("Max", b.calc("Sub", size, reach + 1), none, shape=[1])
    start = b.op("Max", b.op("Sub", b.constant([reach + 1]), size), none, shape=[1])
    less, double = b.calc("Sub", size, 1), b.calc("Mul", size, 2)
    wide, far = b.calc("Sub", double, 1), time * 2 - 1

    def centred() -> Tensor:
        pads = b.op("Concat", more, zero, more, zero, shape=[4], axis=0)
        # native's size is max(2T - 1, 2w + 1); nothing here reads it but the slice
        longer = b.op("Pad", b.weight(2 * reach + 1, width), pads, shape=[far, width])
        return b.slice(longer, 0, start, b.op("Add", start, wide), far)

    raw = b.op("MatMul", x, b.transpose(centred(), 1, 0), shape=[batch, time, far])
    column = b.op("Pad", raw, b.constant([0, 0, 0, 0, 0, 1]), shape=[batch, time, time * 2])
    flat = b.op("Flatten", column, shape=[batch, time], axis=1)
    behind = b.op("Concat", zero, zero, zero, less, shape=[4], axis=0)
    extended = b.op("Pad", flat, behind, shape=[batch, time])
    tall = b.reshape(extended, [b.rows(x), b.calc("Add", size, 1), wide], [batch, time + 1, far])
    top = b.slice(tall, 1, 0, size, time)
    scores = b.slice(top, 2, less, _END, time)
    weights = b.op("Softmax", scores, axis=2)
    mixed = b.op("MatMul", weights, x, shape=x.shape)
    if b.chance():
        return b.op("Add", x, mixed)
    spread = b.op("Pad", weights, b.op("Concat", *[zero] * 5, less, shape=[6], axis=0), shape=[batch, time, far])
    line = b.op("Flatten", spread, shape=[batch, time], axis=1)
    moved = b.op("Pad", line, b.op("Concat", zero, size, zero, zero, shape=[4], axis=0), shape=[batch, time])
    back = b.reshape(moved, [b.rows(x), size, double], [batch, time, time * 2])
    distances = b.slice(back, 2, 1, _END, far)
    return b.op("Add", mixed, b.op("MatMul", distances, centred(), shape=x.shape))


def _numbers_of_the_length_spread(b: Builder, x: Tensor) -> Tensor:
    """A vector computed from the length, spread over other axes by Expand: as data, as a mask, as places."""
    x = b.time_middle(x)
    batch, width, count = x.shape[0], x.size(2), b.between(2, 4)
    ahead = [b.between(-4, 1) for _ in range(count)] if b.chance() else [-1 - k for k in range(count)]
    column = b.unsqueeze(b.op("Add", b.constant(ahead), b.dim(x, 1), shape=[count]), 0, 2)
    use = b.pick(["channels", "data", "mask", "read", "write"])
    if use == "channels":  # of as many rows as the stream has features
        line = b.unsqueeze(b.op("Add", b.constant([b.between(-4, 3) for _ in range(width)]), b.dim(x, 1)), 0)
        spread = b.op("Expand", line, b.constant([1, 1, width]), shape=[1, 1, width])
        return b.op("Add", x, b.op("Sin", b.cast(spread, FLOAT)))
    size = b.op("Concat", b.dim(x, 0), b.constant([count]), b.constant([width]), shape=[3], axis=0)
    spread = b.op("Expand", column, size, shape=[batch, count, width])
    if use in ("read", "write") and (max(ahead) >= 0 or b.opset < 13 or len(set(ahead)) < count):
        return x
    if use == "read":
        read = b.op("GatherElements", x, spread, shape=[batch, count, width], dtype=FLOAT, axis=1)
        return b.op("Add", x, b.reduce("ReduceMean", read, 1))
    if use == "write":
        new = b.op("Expand", b.floats(0.5), size, shape=[batch, count, width])
        return b.op("ScatterElements", x, spread, new, shape=x.shape, axis=1)
    made = b.op("Sin", b.cast(spread, FLOAT))
    if use == "mask":
        made = b.cast(b.op("Less", spread, b.constant(b.between(3, 12)), dtype=BOOL), FLOAT)
    return b.op("Add", x, b.reduce("ReduceMean", made, 1))


@step
def resized_to_a_size(b: Builder, x: Tensor) -> Tensor:
    """interpolate(size=...): to a size whose ratio to time is another at every length."""
    if b.opset < 13:
        return x
    x = b.time_last(x)
    time, more, halved = x.shape[2], b.between(1, 4), b.chance()
    size = b.calc("Div", b.dim(x, 2), 2) if halved else b.dim(x, 2)
    wanted = (time // 2 if halved else time) + more
    sizes = b.op("Concat", b.dim(x, 0), b.dim(x, 1), b.calc("Add", size, more), shape=[3], axis=0)
    return b.op(
        "Resize", x, None, None, sizes, shape=[x.shape[0], x.shape[1], wanted], mode=b.pick(["nearest", "linear"]),
        coordinate_transformation_mode=b.pick(["asymmetric", "half_pixel", "pytorch_half_pixel", "align_corners"]),
        nearest_mode=b.pick(["floor", "ceil", "round_prefer_floor", "round_prefer_ceil"]),
    )  # fmt: skip
