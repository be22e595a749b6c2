"""Indexing in Python, by the same operators in the same order as PyTorch 2.4 indexes in C++.

PyTorch's own indexing asks for the guard of the device, which a simulated device does not have.
"""

from __future__ import annotations

from typing import Any

import torch

__all__ = ["read_index", "write_index"]


def read_index(tensor: torch.Tensor, index: Any) -> torch.Tensor:
    """``tensor[index]``."""
    view, indices = _view(tensor, index)
    if indices:
        view = torch.ops.aten.index.Tensor(view, indices)
    elif view is tensor:
        view = torch.ops.aten.alias(view)
    return view


def write_index(tensor: torch.Tensor, index: Any, value: Any) -> None:
    """``tensor[index] = value``."""
    view, indices = _view(tensor, index)
    if not isinstance(value, torch.Tensor):
        if not indices:
            view.fill_(value)
            return
        value = torch.full((), value, dtype=tensor.dtype, device=tensor.device)
    if indices:
        torch.ops.aten.index_put_(view, indices, value.to(tensor.dtype))
        return
    while value.dim() > view.dim() and value.shape[0] == 1:
        value = value.squeeze(0)
    torch.ops.aten.copy_(view, value)


def _view(tensor: torch.Tensor, index: Any) -> tuple[torch.Tensor, list[torch.Tensor | None]]:
    """The view that numbers, slices, None and ... choose, and the tensors that index it by axis."""
    items = list(index) if isinstance(index, tuple) else [index]
    if isinstance(index, list) and any(isinstance(item, (slice, torch.Tensor, list)) or item is None for item in index):
        items = list(index)
    named = sum(_axes_of(item) for item in items)
    view, axis = tensor, 0
    indices: list[torch.Tensor | None] = []
    for item in items:
        if item is ...:
            axis += tensor.dim() - named
        elif item is None:
            view, axis = view.unsqueeze(axis), axis + 1
        elif isinstance(item, slice):
            start, stop, step = item.start or 0, item.stop, item.step or 1
            view = torch.ops.aten.slice(view, axis, int(start), None if stop is None else int(stop), int(step))
            axis += 1
        elif isinstance(item, bool):
            view = view.unsqueeze(axis)
            _put(indices, axis, torch.full((1,), item, dtype=torch.bool, device=tensor.device))
            axis += 1
        elif isinstance(item, torch.Tensor) and (item.dim() or item.dtype in (torch.bool, torch.uint8)):
            _put(indices, axis, item)
            axis += item.dim() if item.dtype in (torch.bool, torch.uint8) else 1
        elif isinstance(item, (list, range)) or (hasattr(item, "__array__") and not isinstance(item, torch.Tensor)):
            chosen = torch.as_tensor(list(item))
            _put(indices, axis, chosen)
            axis += chosen.dim() if chosen.dtype is torch.bool else 1
        else:
            view = view.select(axis, int(item))
    return view, indices


def _axes_of(item: Any) -> int:
    if item is None or item is ... or isinstance(item, bool):
        return 0
    return item.dim() if isinstance(item, torch.Tensor) and item.dtype in (torch.bool, torch.uint8) else 1


def _put(indices: list[torch.Tensor | None], axis: int, item: torch.Tensor) -> None:
    indices.extend([None] * (axis - len(indices)))
    indices.append(item)
