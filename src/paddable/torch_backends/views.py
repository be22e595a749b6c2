"""Which tensors are views, of what, and by which last step: what a backend needs to be told of a write."""

from __future__ import annotations

from typing import Any

import torch

from paddable.torch_backends.calls import Call

__all__ = ["View", "mark_views", "view_of"]

_MARK = "_paddable_view"


class View:
    """How a view came about.

    Attributes:
        base: the tensor that owns the memory.
        lossy: it starts inside of ``base``, and its last step added nothing to the start (or was no slice). Writes into
            such a view are lost on torch-directml.
    """

    __slots__ = ("base", "lossy")

    def __init__(self, base: torch.Tensor, lossy: bool) -> None:
        self.base, self.lossy = base, lossy


def mark_views(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], results: Any) -> None:
    """Remember, on the results of a view operator, what they are views of."""
    source = args[0]
    if not isinstance(source, torch.Tensor):
        return
    seen = view_of(source)
    base = seen.base if seen else source
    for result in (results,) if isinstance(results, torch.Tensor) else results:
        if result is not source:
            inside = result.storage_offset() != 0
            setattr(result, _MARK, View(base, inside and not _starts_by_itself(Call(func, args, kwargs))))


def view_of(tensor: torch.Tensor) -> View | None:
    """What a tensor is a view of, None when it is none."""
    mark: View | None = getattr(tensor, _MARK, None)
    return mark


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
