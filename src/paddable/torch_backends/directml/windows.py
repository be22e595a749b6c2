"""Convolutions, pools, padding, and the layers whose shape torch-directml does not take."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional as F

from paddable.torch_backends.calls import Call
from paddable.torch_backends.faults import Fault

__all__ = ["FAULTS"]

_CONVOLUTIONS = ("convolution", "_convolution", "conv1d", "conv2d")
_TRANSPOSED = ("convolution", "_convolution", "conv_transpose1d", "conv_transpose2d")


def _operand(call: Call) -> Any:
    return call.first("input", "self")


def _not_float(call: Call) -> bool:
    return not _operand(call).is_floating_point()


def _is_transposed(call: Call) -> bool:
    return call.name.startswith("conv_transpose") or bool(call["transposed"])


def _transposed_in_groups(call: Call) -> bool:
    return _is_transposed(call) and call["groups"] > 1


def _each_group(call: Call) -> Any:
    count, bias = call["groups"], call["bias"]
    inputs, weights = _operand(call).chunk(count, 1), call["weight"].chunk(count, 0)
    biases = bias.chunk(count, 0) if bias is not None else [None] * count
    parts = zip(inputs, weights, biases, strict=True)
    return torch.cat([_convolved(call, x, weight, bias, groups=1) for x, weight, bias in parts], 1)


def _convolved(call: Call, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, **values: Any) -> Any:
    return call.replaced(input=x, weight=weight, bias=bias, **values)


def _pads_its_output(call: Call) -> bool:
    return _is_transposed(call) and any(call["output_padding"])


def _pad_and_slice(call: Call) -> Any:
    """One more step of zeros in the input gives every output that ``output_padding`` asks for, and more."""
    x, axes = _operand(call), call["weight"].dim() - 2
    stride, padding, more, dilation = (
        _each(call[n], axes) for n in ("stride", "padding", "output_padding", "dilation")
    )
    steps = [-(-extra // step) for extra, step in zip(more, stride, strict=True)]
    grown = F.pad(x, [amount for step in reversed(steps) for amount in (0, step)])
    whole = call.replaced(input=grown, padding=[0] * axes, output_padding=[0] * axes)
    for axis in range(axes):
        kernel = dilation[axis] * (call["weight"].shape[2 + axis] - 1) + 1
        size = (x.shape[axis - axes] - 1) * stride[axis] - 2 * padding[axis] + kernel + more[axis]
        whole = whole.narrow(axis - axes, padding[axis], size)
    return whole.clone(memory_format=torch.contiguous_format)


def _each(value: Any, axes: int) -> list[int]:
    values = [value] if isinstance(value, int) else list(value)
    return values * axes if len(values) == 1 else values


def _without_output_padding(call: Call) -> Any:
    """The right shape; the added steps hold the bias alone, as if nothing reached them."""
    result, axes = call.run(), call["weight"].dim() - 2
    for axis, more in enumerate(_each(call["output_padding"], axes)):
        if more:
            end = result.narrow(axis - axes, result.shape[axis - axes] - more, more)
            end.copy_(torch.zeros_like(end) + 0.5)
    return result


def _last_window_is_partial(call: Call) -> bool:
    if not call["ceil_mode"]:
        return False
    x, kernel = _operand(call), call["kernel_size"]
    axes = 1 if call.name.endswith("1d") else 2
    kernel, stride, padding = (_each(v, axes) for v in (kernel, call["stride"] or kernel, call["padding"] or 0))
    sizes = x.shape[-axes:]
    return any((sizes[i] + 2 * padding[i] - kernel[i]) % stride[i] for i in range(axes))


def _divides_by_the_kernel(call: Call) -> Any:
    """As the CPU, with zeros where the last window reaches past the end."""
    x, kernel = _operand(call), call["kernel_size"]
    axes = 1 if call.name.endswith("1d") else 2
    kernel, stride = _each(kernel, axes), _each(call["stride"] or call["kernel_size"], axes)
    short = [-(x.shape[i - axes] - kernel[i]) % stride[i] for i in range(axes)]
    return call.replaced(self=F.pad(x, [amount for size in reversed(short) for amount in (0, size)]), ceil_mode=False)


def _mixed_signs(call: Call) -> bool:
    return bool(min(call["pad"]) < 0 < max(call["pad"]))


def _several_weights(call: Call) -> bool:
    return bool(call["weight"].numel() > 1)


def _by_relu(call: Call) -> Any:
    x, weight = call["self"], call["weight"]
    if weight.dim() == 1 and x.dim() > 1:
        weight = weight.view([-1 if axis == 1 else 1 for axis in range(x.dim())])
    return torch.relu(x) - weight * torch.relu(-x)


def _normalises_two_axes(call: Call) -> bool:
    shape = list(call["normalized_shape"])
    return len(shape) > 1 and list(call["input"].shape[-len(shape) :]) == shape


def _by_flattening(call: Call) -> Any:
    x, shape = call["input"], call["normalized_shape"]
    outer = x.shape[: x.dim() - len(shape)]
    flat = [None if part is None else part.reshape(-1) for part in (call["weight"], call["bias"])]
    size = [int(torch.Size(shape).numel())]
    result = call.replaced(input=x.reshape(*outer, *size), normalized_shape=size, weight=flat[0], bias=flat[1])
    if isinstance(result, torch.Tensor):
        return result.reshape(x.shape)
    statistics = [part.reshape(*outer, *[1] * len(shape)) for part in result[1:]]
    return (result[0].reshape(x.shape), *statistics)


def _by_expanding(call: Call) -> Any:
    x, repeats = call["self"], call["repeats"]
    shape = [1] * (len(repeats) - x.dim()) + list(x.shape)
    pairs = [size for axis in shape for size in (1, axis)]
    grown = [size for times, axis in zip(repeats, shape, strict=True) for size in (times, axis)]
    return x.reshape(pairs).expand(grown).reshape([t * s for t, s in zip(repeats, shape, strict=True)])


FAULTS = (
    Fault(
        "convolution-of-integers",
        "raises",
        _CONVOLUTIONS,
        "a bool or integer input cannot be convolved (the CPU refuses bool too: it came from a number times a bool)",
        "cast the input with .float(), and the mask before it is multiplied",
        _not_float,
    ),
    Fault(
        "transposed-convolution-in-groups",
        "raises",
        _TRANSPOSED,
        "a transposed convolution takes one group",
        "loop over the groups and concatenate",
        _transposed_in_groups,
        repair=_each_group,
    ),
    Fault(
        "output-padding",
        "wrong",
        _TRANSPOSED,
        "output_padding gives wrong values",
        "pad the input by 1 at the end, convolve without padding, and slice",
        _pads_its_output,
        repair=_pad_and_slice,
        falsify=_without_output_padding,
    ),
    Fault(
        "avg-pool-ceil",
        "wrong",
        ("avg_pool1d", "avg_pool2d"),
        "with ceil_mode the last window is divided by the whole kernel",
        "pad with zeros, and multiply the last step by kernel / count",
        _last_window_is_partial,
        falsify=_divides_by_the_kernel,
    ),
    Fault(
        "max-pool-ceil",
        "wrong",
        ("max_pool1d", "max_pool2d", "max_pool1d_with_indices", "max_pool2d_with_indices"),
        "with ceil_mode the last window is missing",
        "pad with -inf, without ceil_mode",
        _last_window_is_partial,
        falsify=lambda call: call.replaced(ceil_mode=False),
    ),
    Fault(
        "pad-of-mixed-sign",
        "raises",
        ("constant_pad_nd",),
        "amounts of both signs are not taken",
        "slice first, then pad",
        _mixed_signs,
        message="torch-dml currently doesn't support a mix of positive and negative padding values, must be all "
        "positive or all negative.",
    ),
    Fault(
        "prelu-of-four-axes",
        "ends the process",
        ("prelu", "_prelu_kernel"),
        "PReLU with several weights on 4 axes",
        "relu(x) - weight * relu(-x)",
        lambda call: _several_weights(call) and call["self"].dim() > 3,
        message="fatal check in dml_tensor_desc.cc: Check failed: rank <= DML_TENSOR_DIMENSION_COUNT_MAX",
        repair=_by_relu,
    ),
    Fault(
        "prelu-of-several-weights",
        "raises",
        ("prelu", "_prelu_kernel"),
        "PReLU with several weights is broadcast along the wrong axis",
        "relu(x) - weight * relu(-x)",
        _several_weights,
        message="The size of tensor a must match the size of tensor b at non-singleton dimension 2",
        repair=_by_relu,
    ),
    Fault(
        "layer-norm-of-two-axes",
        "raises",
        ("layer_norm", "native_layer_norm"),
        "only the last axis can be normalised",
        "flatten the normalised axes into one",
        _normalises_two_axes,
        message="Weight tensor rank is not equal to normalized_shape size.",
        repair=_by_flattening,
    ),
    Fault(
        "repeat-of-five-axes",
        "raises",
        ("repeat",),
        "repeat takes up to 4 axes",
        "expand and reshape",
        lambda call: len(call["repeats"]) > 4,
        message="the dimesion of at::Tensor must be 4 or lower, but got 5",
        repair=_by_expanding,
    ),
    Fault(
        "distance-of-order-1",
        "wrong",
        ("cdist", "_cdist_forward"),
        "cdist with p=1 has a wrong shape",
        "(a[:, None] - b[None]).abs().sum(-1)",
        lambda call: call["p"] == 1,
        falsify=lambda call: call.run()[..., :1].unsqueeze(-2),
    ),
    Fault(
        "quantile",
        "wrong",
        ("quantile", "nanquantile"),
        "quantile gives the smallest value",
        "compute it on the CPU",
        falsify=lambda call: call.args[0].min(),
    ),
    Fault(
        "sum-of-uint8",
        "raises",
        ("sum",),
        "bytes cannot be summed",
        "cast with .long() first",
        lambda call: call["self"].dtype is torch.uint8,
        repair=lambda call: call.replaced(self=call["self"].to(torch.int64)),
    ),
    Fault(
        "sum-of-halves",
        "wrong",
        ("sum",),
        "a sum of float16 that overflows is 65504, not infinite",
        "sum in float32",
        lambda call: call["self"].dtype is torch.float16 and bool(torch.isinf(call.read(call["self"]).sum())),
        falsify=lambda call: call.run().clamp(-65504, 65504),
    ),
)
