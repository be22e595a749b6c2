"""Writes that never arrive: into views of views, and by masks into any view."""

from __future__ import annotations

from typing import Any

import torch

from paddable.torch_backends.calls import Call
from paddable.torch_backends.faults import WRITE, Fault
from paddable.torch_backends.views import view_of

__all__ = ["FAULTS"]


def _into_lossy_view(call: Call) -> bool:
    view = view_of(call.args[0])
    return view is not None and view.lossy


def _into_view(call: Call) -> bool:
    return view_of(call.args[0]) is not None


def _write_by_stride(call: Call) -> Any:
    """Compute the new contents beside, and write them through one view that is made of the owner's memory at once."""
    target = call.args[0]
    view = view_of(target)
    assert view is not None
    contents = call.func(target.clone(), *call.args[1:], **call.kwargs)
    whole = view.base.as_strided(target.size(), target.stride(), target.storage_offset())
    torch.ops.aten.copy_(whole, contents)
    return target


def _lost(call: Call) -> Any:
    call.func(call.args[0].clone(), *call.args[1:], **call.kwargs)
    return call.args[0]


FAULTS = (
    Fault(
        "masked-fill-of-view",
        "wrong",
        ("masked_fill_",),
        "masked_fill_ on a view is lost",
        "y[1:3].copy_(y[1:3].masked_fill(mask, 0.))",
        _into_view,
        repair=_write_by_stride,
        falsify=_lost,
    ),
    Fault(
        "write-into-view-of-view",
        "wrong",
        (WRITE,),
        "the write is lost: y[1, :n] = x leaves y as it was, so pad_list and pad_sequence fill only item 0",
        "build whole rows and torch.stack them, y[i] = row, or write through as_strided",
        _into_lossy_view,
        repair=_write_by_stride,
        falsify=_lost,
    ),
)
