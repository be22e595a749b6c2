"""Convolutions and pools over time, in one and two dimensions."""

from __future__ import annotations

from paddable.lengths import Length, minimum

from ..builder import FLOAT, Builder, Tensor
from . import step


def _ceil_size(length: Length, kernel: int, stride: int, before: int, after: int) -> Length:
    """Pooled size with ceil_mode: a last window must start inside the input or its left padding."""
    full = (length + (before + after - kernel)).ceildiv(stride) + 1
    return minimum(full, (length + before).ceildiv(stride))


@step
def convolution(b: Builder, x: Tensor) -> Tensor:
    x = b.time_last(x)
    width, time = x.size(1), x.shape[2]
    kernel, stride, dilation = b.between(1, 5), b.pick([1, 1, 1, 2, 3]), b.pick([1, 1, 2])
    groups = b.pick([1, 1, width, 2 if width % 2 == 0 else 1])
    extent = dilation * (kernel - 1) + 1
    weights: list[Tensor] = [b.weight(width, width // groups, kernel, fan_in=kernel * width // groups)]
    if b.chance(0.8):
        weights.append(b.weight(width))
    attributes: dict[str, object] = {"group": groups, "kernel_shape": [kernel] if b.chance() else None}
    if stride > 1 or b.chance():
        attributes["strides"] = [stride]
    if dilation > 1:
        attributes["dilations"] = [dilation]
    form = b.between(0, 4)
    if form == 0 and stride == dilation == 1:
        attributes["auto_pad"] = b.pick(["SAME_UPPER", "SAME_LOWER"])
        before, after = 0, extent - 1
    elif form == 1:
        attributes["auto_pad"] = "VALID"
        before = after = 0
    else:
        before, after = b.pick([(extent // 2, extent // 2), (extent - 1, 0), (0, extent - 1), (0, 0), (1, 2)])
        attributes["pads"] = [before, after]
    size = (time + (before + after - extent)) // stride + 1
    return b.op("Conv", x, *weights, shape=[x.shape[0], width, size], **attributes)


@step
def shallow_convolution(b: Builder, x: Tensor) -> Tensor:
    """Same size, left alone by most rules: kernel 3, pads 1, chained."""
    x = b.time_last(x)
    width = x.size(1)
    for _ in range(2):
        weight = b.weight(width, width, 3, fan_in=3 * width)
        x = b.op("Relu", b.op("Conv", x, weight, b.weight(width), shape=x.shape, pads=[1, 1]))
    return x


@step
def even_convolution_cropped(b: Builder, x: Tensor) -> Tensor:
    """wav2vec2's positional convolution: an even kernel, and the last step cut off."""
    x = b.time_last(x)
    width, time = x.size(1), x.shape[2]
    kernel = b.pick([2, 4])
    weight = b.weight(width, width, kernel, fan_in=kernel * width)
    grown = b.op("Conv", x, weight, b.weight(width), shape=[x.shape[0], width, time + 1], pads=[kernel // 2] * 2)
    cut = b.slice(grown, 2, 0, -1, time)
    return b.op("Add", x, b.op("Tanh", cut))


@step
def convolution_2d(b: Builder, x: Tensor) -> Tensor:
    """Time and features as an image, subsampled in both, channels folded back."""
    x = b.time_middle(x)
    batch, time, width = x.shape[0], x.shape[1], x.size(2)
    image = b.unsqueeze(x, 1)
    channels, stride, kernel, pad = b.between(1, 3), b.pick([1, 2]), b.pick([1, 3]), b.pick([0, 1])
    if width + 2 * pad < kernel:
        return x
    rows = (time + (2 * pad - kernel)) // stride + 1
    columns = (width + 2 * pad - kernel) // stride + 1
    image = b.op(
        "Conv", image, b.weight(channels, 1, kernel, kernel, fan_in=kernel * kernel), b.weight(channels),
        shape=[batch, channels, rows, columns], strides=[stride, stride], pads=[pad] * 4,
    )  # fmt: skip
    if b.chance():
        image = b.op("Relu", image)
    folded = b.transpose(image, 0, 2, 1, 3)
    flat = b.reshape(folded, [b.rows(folded), b.free(folded, 1), channels * columns], [batch, rows, channels * columns])
    return b.linear(flat, width)


@step
def transposed_convolution(b: Builder, x: Tensor) -> Tensor:
    x = b.time_last(x)
    width, time = x.size(1), x.shape[2]
    stride = b.between(1, 3)
    kernel, dilation = b.between(stride, stride + 2), b.pick([1, 1, 2])
    extent = dilation * (kernel - 1) + 1
    groups = b.pick([1, 1, width])
    before, after = b.pick([(0, 0), (0, min(1, extent - 1)), (min(1, extent - 1), 0)])
    extra = b.pick([0, 0, 1]) if stride > 1 else 0
    size = (time - 1) * stride + (extent - before - after + extra)
    result = b.op(
        "ConvTranspose", x, b.weight(width, width // groups, kernel, fan_in=kernel * width // groups),
        *([b.weight(width)] if b.chance(0.8) else []), shape=[x.shape[0], width, size], strides=[stride],
        dilations=[dilation], pads=[before, after], group=groups, output_padding=[extra] if extra else None,
    )  # fmt: skip
    form = b.between(0, 3)
    surplus = extent - before - after + extra - stride
    if form == 0 and surplus > 0:  # encodec: the overlapping end is cut off
        if b.chance():
            return b.slice(result, 2, 0, -surplus, time * stride)
        end = b.calc("Sub", b.dim(result, 2), surplus)
        return b.slice(result, 2, 0, end, time * stride)
    if form == 1 and surplus > 1:
        return b.slice(b.op("Sin", result), 2, 1, -(surplus - 1), time * stride)
    return result


@step
def pool(b: Builder, x: Tensor) -> Tensor:
    x = b.time_last(x)
    time = x.shape[2]
    operator = b.pick(["MaxPool", "AveragePool", "LpPool"])
    kernel, stride = b.between(1, 4), b.between(1, 3)
    pad = b.between(0, kernel // 2)
    ceil = b.chance(0.3) and operator != "LpPool"
    size = _ceil_size(time, kernel, stride, pad, pad) if ceil else (time + (2 * pad - kernel)) // stride + 1
    return b.op(
        operator, x, shape=[*x.shape[:2], size], kernel_shape=[kernel], strides=[stride], pads=[pad, pad],
        ceil_mode=1 if ceil else None,
        count_include_pad=b.pick([0, 1]) if operator == "AveragePool" else None,
    )  # fmt: skip


@step
def pool_2d(b: Builder, x: Tensor) -> Tensor:
    x = b.time_last(x)
    image = b.unsqueeze(x, 1)
    operator = b.pick(["MaxPool", "AveragePool"])
    size = (x.shape[2] - 1) // 2 + 1
    pooled = b.op(
        operator, image, shape=[x.shape[0], 1, x.size(1), size], kernel_shape=[1, 3], strides=[1, 2], pads=[0, 1, 0, 1],
        count_include_pad=b.pick([0, 1]) if operator == "AveragePool" else None,
    )  # fmt: skip
    return b.squeeze(pooled, 1)


@step
def causal_convolution(b: Builder, x: Tensor) -> Tensor:
    """Padded on the left only: nothing leaks."""
    x = b.time_last(x)
    width, time = x.size(1), x.shape[2]
    kernel = b.between(2, 4)
    padded = b.op("Pad", x, b.constant([0, 0, kernel - 1, 0, 0, 0]), shape=[*x.shape[:2], time + (kernel - 1)])
    return b.op("Conv", padded, b.weight(width, width, kernel, fan_in=kernel * width), b.weight(width), shape=x.shape)


@step
def spectrum(b: Builder, x: Tensor) -> Tensor:
    """STFT of one channel, log power, projected back."""
    if b.opset < 17:
        return x
    x = b.time_middle(x)
    width, time = x.size(2), x.shape[1]
    wave = b.slice(x, 2, 0, 1, 1)
    frame, hop = b.pick([4, 6, 8]), b.between(1, 4)
    window = b.floats(0.5 + 0.5 * abs(b.random.standard_normal(frame))) if b.chance() else None
    frames = (time - frame) // hop + 1
    bins = frame // 2 + 1
    complex_ = b.op(
        "STFT", wave, b.constant(hop), window, b.constant(frame) if window is None or b.chance() else None,
        shape=[x.shape[0], frames, bins, 2],
    )  # fmt: skip
    squared = b.op("Mul", complex_, complex_)
    power = b.reduce("ReduceSum", squared, -1, keepdims=0)
    level = b.op("Log", b.op("Add", power, b.floats(1e-2)))
    return b.linear(level, width)


@step
def resized(b: Builder, x: Tensor) -> Tensor:
    x = b.time_last(x)
    time = x.shape[2]
    scale = b.pick([2.0, 3.0, 2.0, 0.5])
    mode = b.pick(["nearest", "linear"])
    transform = b.pick(["half_pixel", "asymmetric", "pytorch_half_pixel"])
    attributes: dict[str, object] = {"mode": mode, "coordinate_transformation_mode": transform}
    if mode == "nearest":
        attributes["nearest_mode"] = b.pick(["floor", "round_prefer_floor", "round_prefer_ceil", "ceil"])
    size = time * int(scale) if scale >= 1 else time // 2
    if b.chance(0.6) or scale < 1:
        empty = b.constant(b.random.standard_normal(0), FLOAT) if b.opset < 13 else None
        return b.op("Resize", x, empty, b.floats([1.0, 1.0, scale]), shape=[*x.shape[:2], size], **attributes)
    target = b.op("Concat", b.dim(x, 0), b.dim(x, 1), b.calc("Mul", b.dim(x, 2), int(scale)), shape=[3], axis=0)
    empties = [b.constant(b.random.standard_normal(0), FLOAT) for _ in range(2)] if b.opset < 13 else [None, None]
    return b.op("Resize", x, *empties, target, shape=[*x.shape[:2], size], **attributes)
