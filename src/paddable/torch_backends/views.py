"""Which tensors are views, of what, and by which last step: what a backend needs to be told of a write."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from paddable.torch_backends.calls import Call, tensors_in

__all__ = ["View", "mark_views", "view_of"]

_MARK = "_paddable_view"


@dataclass(frozen=True)
class View:
    """How a view came about.

    Attributes:
        base: the tensor that owns the memory.
        lossy: it starts inside of ``base``, and its last step added nothing to the start (or was no slice). Writes into
            such a view are lost on torch-directml.
    """

    base: torch.Tensor
    lossy: bool


def mark_views(call: Call, results: Any) -> None:
    """Remember, on the results of a view operator, what they are views of."""
    source = call.args[0]
    if not isinstance(source, torch.Tensor):
        return
    seen = view_of(source)
    base = seen.base if seen else source
    for result in tensors_in(results):
        if result is not source:
            setattr(result, _MARK, View(base, result.storage_offset() != 0 and not _starts_by_itself(call)))


def view_of(tensor: torch.Tensor) -> View | None:
    """What a tensor is a view of, None when it is none."""
    mark = getattr(tensor, _MARK, None)
    return mark if isinstance(mark, View) else None


def _starts_by_itself(call: Call) -> bool:
    """Whether the step adds to the start: a slice or a row that does not begin at 0."""
    if call.name in {"unbind", "as_strided"}:
        return True
    if call.name == "select":
        return bool(call["index"] % call.args[0].shape[call["dim"]])
    if call.name == "slice":
        start = call["start"] or 0
        return bool(start + call.args[0].shape[call["dim"]] > 0 if start < 0 else start)
    return False
