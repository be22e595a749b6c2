"""A mode that sees every function of PyTorch that a model calls, also those that PyTorch's own Python calls."""

from __future__ import annotations

from functools import cache
from types import FunctionType
from typing import Any

from torch.overrides import TorchFunctionMode

__all__ = ["FunctionMode"]


class FunctionMode(TorchFunctionMode):
    """A TorchFunctionMode that stays on inside of functions such as ``F.multi_head_attention_forward``.

    PyTorch takes a mode off while its handler runs, so a handler that ends in ``func(*args)`` is blind for what
    ``func`` calls. It cannot just be put on again: the function would ask first whether a mode is on, and end in the
    handler.
    """

    def __init__(self) -> None:
        super().__init__()
        self._running: set[FunctionType] = set()

    def call(self, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        """Run a function that a handler was asked about."""
        body = _body(func) if isinstance(func, FunctionType) else None
        if body is None or func in self._running:  # a method calls that of its base, which PyTorch gives the same name
            return func(*args, **kwargs)
        self._running.add(func)
        try:
            with self:
                return body(*args, **kwargs)
        finally:
            self._running.remove(func)


@cache
def _body(func: FunctionType) -> FunctionType | None:
    """The function without its question whether a mode is on; None if it does not ask in the usual way."""
    asks = [name for name in func.__code__.co_names if name.startswith("has_torch_function")]
    if not asks or not all(name in func.__globals__ for name in asks):
        return None
    names = {**func.__globals__, **dict.fromkeys(asks, _none_is_on)}
    body = FunctionType(func.__code__, names, func.__name__, func.__defaults__, func.__closure__)
    body.__kwdefaults__ = func.__kwdefaults__
    return body


def _none_is_on(*arguments: Any) -> bool:
    return False
