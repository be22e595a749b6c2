"""Tensors without elements, and amounts of nothing."""

from __future__ import annotations

from typing import Any

import torch

from paddable.torch_backends.calls import Call, tensors_in
from paddable.torch_backends.faults import Fault

__all__ = ["FAULTS"]


def _joins_empty(call: Call) -> bool:
    """A legacy empty operand of one axis works, and so do operands that are all empty."""
    operands = call["tensors"]
    return any(t.numel() == 0 and t.shape != (0,) for t in operands) and any(t.numel() for t in operands)


def _join_the_rest(call: Call) -> Any:
    operands = call["tensors"]
    shapes = [torch.empty(t.shape, dtype=t.dtype, device="meta") for t in operands]
    dtype = torch.cat(shapes, call["dim"]).dtype  # refuses what the CPU refuses: an empty operand of another width
    return call.replaced(tensors=[t.to(dtype) for t in operands if t.numel()])


def _pads_nothing(call: Call) -> bool:
    return not any(call["pad"])


def _any_empty(call: Call) -> bool:
    return any(tensor.numel() == 0 for tensor in call.tensors)


def _multiplies_empty(call: Call) -> bool:
    """A batched product of empty matrices works; the indices of an embedding, and matrices, do not."""
    return _any_empty(call)


def _sums_nothing(call: Call) -> bool:
    return bool(call["self"].numel() == 0)


def _repeats_no_times(call: Call) -> bool:
    return 0 in call["repeats"] or _any_empty(call)


def _empty_slice(call: Call) -> bool:
    tensor = call["self"]
    if not tensor.numel():
        return False
    size = tensor.shape[call["dim"]]
    start, end, _ = slice(call["start"], call["end"]).indices(size)
    return end <= start


def _new_empty(call: Call) -> Any:
    shape = list(call["self"].shape)
    shape[call["dim"]] = 0
    return call["self"].new_empty(shape)


def _uninitialised(call: Call) -> Any:
    """123.25, with which the memory was filled before each measured case."""
    result = call.run()
    for tensor in tensors_in(result):
        tensor.fill_(123.25)
    return result


FAULTS = (
    Fault(
        "cat-with-empty",
        "raises",
        ("cat", "concat", "concatenate"),
        "torch.cat fails with an operand of length 0",
        "drop empty tensors first: torch.cat([t for t in ts if t.numel()])",
        _joins_empty,
        repair=_join_the_rest,
    ),
    Fault(
        "pad-nothing",
        "wrong",
        ("constant_pad_nd",),
        "padding by nothing gives uninitialised memory",
        "skip F.pad when no amount is non-zero",
        _pads_nothing,
        repair=lambda call: call["self"].clone(),
        falsify=_uninitialised,
    ),
    Fault(
        "pad-empty",
        "raises",
        ("constant_pad_nd",),
        "an empty tensor cannot be padded",
        "test numel() first",
        _any_empty,
        message="m_device->CreateOperator(&opDesc, IID_PPV_ARGS(&op))",
    ),
    Fault(
        "layer-norm-of-empty",
        "raises",
        ("layer_norm", "native_layer_norm"),
        "an empty tensor cannot be normalised",
        "test numel() first",
        _any_empty,
        message="m_device->CreateOperator(&opDesc, IID_PPV_ARGS(&op))",
    ),
    Fault(
        "product-of-empty",
        "raises",
        ("linear", "addmm", "mm", "embedding"),
        "products with an empty matrix, and embeddings of no index, fail",
        "test numel() first",
        _multiplies_empty,
    ),
    Fault(
        "repeat-no-times",
        "raises",
        ("repeat",),
        "a repeat of 0 fails",
        "use new_empty where a repeat is 0",
        _repeats_no_times,
    ),
    Fault(
        "sum-of-nothing",
        "wrong",
        ("sum",),
        "the sum over an empty dimension is uninitialised memory",
        "test numel() first",
        _sums_nothing,
        falsify=_uninitialised,
    ),
    Fault(
        "argmax-of-nothing",
        "wrong",
        ("argmax", "argmin"),
        "the result is float32",
        "test numel() first",
        lambda call: call["self"].numel() == 0,
        falsify=lambda call: call.run().to(torch.float32),
    ),
    Fault(
        "empty-slice",
        "ends the process",
        ("slice",),
        "making x[:, n:] of nothing is an access violation",
        "leave tiled resources enabled, or test the length first",
        _empty_slice,
        message="access violation reading address 0x18",
        repair=_new_empty,
        setting=lambda settings: not settings.tiled_resources,
        when="after disable_tiled_resources(True)",
    ),
)
