"""One call of an ATen operator, as a dispatch mode sees it: its name, its arguments by name, and its text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import torch

__all__ = ["Call", "describe", "is_composite", "on_device", "operator_name", "take_apart", "tensors_in"]


def describe(value: Any) -> str:
    """A value as the reports write it: ``float32[2, 10, 8]`` for a tensor, with its device where that is the CPU."""
    if isinstance(value, torch.Tensor):
        return f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}"
    if isinstance(value, (list, tuple)) and any(isinstance(item, torch.Tensor) for item in value):
        return f"[{', '.join(map(describe, value))}]"
    return str(value).removeprefix("torch.")


def tensors_in(value: Any) -> Iterator[torch.Tensor]:
    """Every tensor in arguments or results, in order."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors_in(item)
    elif isinstance(value, dict):
        yield from tensors_in(list(value.values()))


def on_device(value: Any, kind: str) -> bool:
    """Whether a tensor among the values lives on a device of this kind."""
    return any(tensor.device.type == kind for tensor in tensors_in(value))


def read_by_copying(tensor: torch.Tensor) -> torch.Tensor:
    """The numbers of a tensor, on the CPU."""
    return tensor.detach().cpu()


class Call:
    """An operator with its arguments.

    Args:
        func: the overload that is called, such as ``torch.ops.aten.mul.Tensor``.
        args: positional arguments.
        kwargs: arguments by name.
        read: gives the numbers of a tensor on the device as a tensor on the CPU; rules that depend on values use it.
    """

    __slots__ = ("args", "func", "kwargs", "name", "read")

    def __init__(
        self,
        func: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        read: Callable[[torch.Tensor], torch.Tensor] = read_by_copying,
    ) -> None:
        self.func, self.args, self.kwargs, self.read = func, args, kwargs, read
        self.name: str = operator_name(func)

    def __getitem__(self, name: str) -> Any:
        """An argument by the name that the operator's schema gives it; its default, or None, where it is left out."""
        position, default = _arguments(self.func).get(name, (len(self.args), None))
        return self.args[position] if position < len(self.args) else self.kwargs.get(name, default)

    def has(self, name: str) -> bool:
        """Whether the schema knows an argument of this name."""
        return name in _arguments(self.func)

    def first(self, *names: str) -> Any:
        """The first argument that the schema knows under one of these names."""
        return next((self[name] for name in names if self.has(name)), None)

    @property
    def tensors(self) -> list[torch.Tensor]:
        """Every tensor among the arguments."""
        found: list[torch.Tensor] = []
        for value in (*self.args, *self.kwargs.values()):
            if isinstance(value, torch.Tensor):
                found.append(value)
            elif isinstance(value, (list, tuple)):
                found.extend(tensors_in(value))
        return found

    def replaced(self, /, **values: Any) -> Any:
        """Run the operator with some of its arguments changed."""
        args, kwargs = list(self.args), dict(self.kwargs)
        for name, value in values.items():
            position = _arguments(self.func)[name][0]
            if position < len(args):
                args[position] = value
            else:
                kwargs[name] = value
        return self.func(*args, **kwargs)

    def run(self) -> Any:
        """Run the operator as it was called."""
        return self.func(*self.args, **self.kwargs)

    def __str__(self) -> str:
        told = [describe(value) for value in self.args if value is not None]
        told += [f"{name}={describe(value)}" for name, value in self.kwargs.items() if value is not None]
        return f"{self.func}({', '.join(told)})"


@cache
def is_composite(func: Any) -> bool:
    """Whether PyTorch takes the operator apart into others. In inference mode it does so below a dispatch mode."""
    name = func.name()  # TorchScript has overloads of its own, such as that of aten::add for two numbers of Python
    known = torch._C._dispatch_has_kernel(name)
    return bool(known and torch._C._dispatch_has_kernel_for_dispatch_key(name, _COMPOSITE))


def take_apart(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Run a composite operator as the operators it consists of, by PyTorch's own kernel for that.

    Not by ``func.decompose``, which prefers decompositions in Python: those know an LSTM without its fused cell.
    """
    return func._op_dk(_COMPOSITE, *args, **kwargs)


_COMPOSITE = torch._C.DispatchKey.CompositeImplicitAutograd


@cache
def operator_name(func: Any) -> str:
    """``mul_`` of ``aten::mul_.Tensor``; a function's own name for one of Python."""
    schema = getattr(func, "_schema", None)
    return str(schema.name).partition("::")[2] if schema is not None else str(getattr(func, "__name__", func))


@cache
def _arguments(func: Any) -> dict[str, tuple[int, Any]]:
    schema = getattr(func, "_schema", None)
    if schema is None:  # a function of Python, called with its own names
        return {}
    return {
        argument.name: (
            10_000 if argument.kwarg_only else position,
            argument.default_value if argument.has_default_value() else None,
        )
        for position, argument in enumerate(schema.arguments)
    }
