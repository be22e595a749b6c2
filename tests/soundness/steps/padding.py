"""Pad along time in every mode, by constants and by computed amounts."""

from __future__ import annotations

from ..builder import Builder, Tensor
from . import step


def _pads(b: Builder, x: Tensor, before: int | Tensor, after: int | Tensor) -> Tensor:
    axis = b.time_axis(x)
    amounts: list[int | Tensor] = [0] * 6
    amounts[axis], amounts[3 + axis] = before, after
    if all(isinstance(a, int) for a in amounts):
        return b.constant(amounts)
    return b.op("Concat", *[a if isinstance(a, Tensor) else b.constant([a]) for a in amounts], shape=[6], axis=0)


def _padded(b: Builder, x: Tensor, before: int, after: int, mode: str, value: Tensor | None = None) -> Tensor:
    axis = b.time_axis(x)
    shape = [s + (before + after) if i == axis else s for i, s in enumerate(x.shape)]
    return b.op("Pad", x, _pads(b, x, before, after), value, shape=shape, mode=mode)


@step
def padded(b: Builder, x: Tensor) -> Tensor:
    mode = b.pick(["constant", "reflect", "edge", *(["wrap"] if b.opset >= 19 else [])])
    value = b.floats(b.pick([0.0, 1.0, -2.0])) if mode == "constant" and b.chance() else None
    return _padded(b, x, b.between(0, 3), b.between(0, 3), mode, value)


@step
def cropped_by_pad(b: Builder, x: Tensor) -> Tensor:
    return _padded(b, x, b.pick([0, -1]), b.pick([0, -1, -2]), "constant")


@step
def padded_to_a_multiple(b: Builder, x: Tensor) -> Tensor:
    """By the amount that fills the last frame: constant or mirrored."""
    axis, factor = b.time_axis(x), b.between(2, 6)
    size = b.dim(x, axis)
    rest = b.op("Mod", size, b.constant([factor]))
    amount = b.op("Mod", b.op("Sub", b.constant([factor]), rest), b.constant([factor]))
    total = x.shape[axis].ceildiv(factor) * factor
    shape = [total if i == axis else s for i, s in enumerate(x.shape)]
    return b.op("Pad", x, _pads(b, x, 0, amount), shape=shape, mode=b.pick(["constant", "constant", "edge", "reflect"]))


@step
def padded_in_front_by_a_size(b: Builder, x: Tensor) -> Tensor:
    """Up to a multiple, or by half the length: constant, repeated or mirrored."""
    axis, factor = b.time_axis(x), b.between(2, 6)
    size, time = b.dim(x, axis), x.shape[axis]
    if b.chance():
        amount = b.op("Mod", b.op("Sub", b.constant([0]), size), b.constant([factor]))
        total = time.ceildiv(factor) * factor
    else:
        amount, total = b.calc("Div", size, factor), time + time // factor
    shape = [total if i == axis else s for i, s in enumerate(x.shape)]
    mode = b.pick(["constant", "constant", "edge", "reflect"])
    value = b.floats(b.pick([0.0, 1.0, -2.0])) if mode == "constant" and b.chance() else None
    return b.op("Pad", x, _pads(b, x, amount, 0), value, shape=shape, mode=mode)


@step
def steps_again_up_to_a_multiple(b: Builder, x: Tensor) -> Tensor:
    """The first, the last or the mirrored last steps, as many as fill the last frame."""
    x = b.time_middle(x)
    time, factor = x.shape[1], b.between(2, 5)
    size, total = b.dim(x, 1), x.shape[1].ceildiv(factor) * factor
    amount = b.op("Mod", b.op("Sub", b.constant([0]), size), b.constant([factor]))
    rest = total - time
    if b.chance():
        again = b.slice(x, 1, 0, amount, rest)
    else:
        again = b.slice(x, 1, b.op("Sub", size, amount), size, rest)
        if b.chance():
            ends = (b.constant([end]) for end in (-1, -(1 << 62), 1, -1))
            again = b.op("Slice", again, *ends, shape=again.shape)
    return b.op("Concat", x, again, shape=[x.shape[0], total, x.shape[2]], axis=1)


@step
def numbers_beside_channels(b: Builder, x: Tensor) -> Tensor:
    """Channels of a constant: they are that in the padding too."""
    x = b.time_middle(x)
    value = b.floats(b.pick([1.0, -2.0])) if b.chance() else None
    shape = [*x.shape[:2], x.shape[2] + 2]
    return b.op("Pad", x, b.constant([0, 0, 1, 0, 0, 1]), value, shape=shape, mode="constant")


@step
def padded_convolution(b: Builder, x: Tensor) -> Tensor:
    """Mirrored or repeated ends before a valid convolution."""
    x = b.time_last(x)
    width, time, stride = x.size(1), x.shape[2], b.pick([1, 1, 2])
    wide = _padded(b, x, 2, 2, b.pick(["reflect", "edge", "constant"]))
    weight = b.weight(width, width, 5, fan_in=5 * width)
    return b.op("Conv", wide, weight, b.weight(width), shape=[*x.shape[:2], (time - 1) // stride + 1], strides=[stride])
