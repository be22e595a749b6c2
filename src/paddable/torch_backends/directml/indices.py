"""Operators that read or write by index."""

from __future__ import annotations

from typing import Any

import torch

from paddable.torch_backends.calls import Call
from paddable.torch_backends.faults import Fault

__all__ = ["FAULTS"]


def _longer_than_target(call: Call) -> bool:
    target, index, dim = call["self"], call["index"], call["dim"]
    return bool(index.dim() > 1 and index.shape[dim] > target.shape[dim])


def _repeats(call: Call) -> bool:
    index = call.read(call["index"])
    if index.dim() == 0 or index.numel() == 0:
        return False
    ordered = index.sort(call["dim"]).values
    return bool((ordered.diff(dim=call["dim"]) == 0).any())


def _keep_one_addend(call: Call) -> Any:
    """The last of the addends that meet."""
    target, dim, index, source = call["self"], call["dim"], call["index"], call["src"]
    result = target if call.name.endswith("_") else target.clone()
    source = source[tuple(slice(0, size) for size in index.shape)]
    return result.scatter_(dim, index, target.gather(dim, index) + source)


def _covers_in_part(call: Call) -> bool:
    """An axis other than the scattered one is longer than the index; a negative axis is not recognised as it."""
    target, index = call["self"], call["index"]
    return any(
        size != index.shape[axis] for axis, size in enumerate(target.shape[: index.dim()]) if axis != call["dim"]
    )


def _outside(call: Call) -> bool:
    if call.name == "embedding":
        index, size = call.read(call["indices"]), call["weight"].shape[0]
    else:
        index, size = call.read(call["index"]), call["self"].shape[call["dim"]] if call["self"].dim() else 1
    return index.numel() > 0 and bool((index.min() < 0) | (index.max() >= size))


def _clamped(call: Call) -> Any:
    if call.name == "embedding":
        return call.replaced(indices=call["indices"].clamp(0, call["weight"].shape[0] - 1))
    return call.replaced(index=call["index"].clamp(0, call["self"].shape[call["dim"]] - 1))


def _empty_results(call: Call) -> Any:
    result = call.run()
    if isinstance(result, torch.Tensor):
        return result.new_empty(0)
    return tuple(part.new_empty(0) for part in result)


FAULTS = (
    Fault(
        "scatter-add-longer-than-target",
        "raises",
        ("scatter_add", "scatter_add_"),
        "more rows are added than the target has",
        "multiply by a one-hot matrix, or use index_add (which runs on the CPU)",
        _longer_than_target,
    ),
    Fault(
        "scatter-add-repeated",
        "wrong",
        ("scatter_add", "scatter_add_"),
        "of addends with the same index only one is kept",
        "multiply by a one-hot matrix, or use index_add (which runs on the CPU)",
        _repeats,
        falsify=_keep_one_addend,
    ),
    Fault(
        "scatter-in-part",
        "raises",
        ("scatter", "scatter_", "one_hot"),
        "the index must cover every axis but the scattered one, which must be counted from the front",
        "for one_hot: (index[..., None] == torch.arange(n)).long()",
        lambda call: call.name == "one_hot" or _covers_in_part(call),
        message="DirectML scatter doesn't allow partially modified dimensions. Please update the dimension so that the "
        "indices and input only differ in the provided dimension.",
    ),
    Fault(
        "index-out-of-range",
        "wrong",
        ("gather", "embedding"),
        "an index that is negative or too large raises no error and reads some other value",
        "check the indices on the CPU",
        _outside,
        falsify=_clamped,
    ),
    Fault(
        "empty-result",
        "wrong",
        ("eye", "median", "kthvalue"),
        "the result is an empty tensor (with tiled resources disabled, an access violation)",
        "make torch.eye on the CPU and move it; sort or topk instead of median(dim) and kthvalue",
        lambda call: call.name != "median" or call.has("dim"),
        message="access violation reading address 0x18",
        falsify=_empty_results,
    ),
    Fault(
        "bool-max",
        "wrong",
        ("max", "min"),
        "the largest of a bool tensor is int32",
        "cast both first, or use any() and all()",
        lambda call: call["self"].dtype is torch.bool and not call.has("dim") and not call.has("other"),
        falsify=lambda call: call.run().to(torch.int32),
    ),
)
