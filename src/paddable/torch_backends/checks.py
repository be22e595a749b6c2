"""Errors that PyTorch raises before any operator runs, such as that of a bool input for a convolution with a bias."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

import torch

from paddable.torch_backends.calls import Call
from paddable.torch_backends.errors import BackendError
from paddable.torch_backends.functions import FunctionMode

__all__ = ["Checks", "operator_of"]


class Checks(FunctionMode):
    """Tells such an error as that of the operator that was asked for.

    Args:
        told: gives the error to raise for a call; None where the one that was raised says enough.
    """

    def __init__(self, told: Callable[[Call, Exception], BackendError | None]) -> None:
        super().__init__()
        self._told = told

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return self.checked(func, args, kwargs or {})

    def checked(self, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        """Run a function that the handler was asked about."""
        try:
            return self.call(func, args, kwargs)
        except RuntimeError as error:
            told = self.told(func, args, kwargs, error)
            raise told from told.__cause__

    def told(self, func: Any, args: Any, kwargs: dict[str, Any], error: RuntimeError) -> RuntimeError:
        """The error to raise for one that a function raised."""
        operator = None if isinstance(error, BackendError) else operator_of(func)
        told = self._told(Call(operator, args, kwargs), error) if operator is not None else None
        if told is None:
            return error
        told.__cause__ = error
        return told


def operator_of(func: Any) -> Any:
    """The overload that a function or method of PyTorch's, written in C++, calls by default; None if there is none."""
    if isinstance(func, FunctionType):
        return None
    packet = getattr(torch.ops.aten, getattr(func, "__name__", ""), None)
    return getattr(packet, "default", None)
