"""A run of a PyTorch module, caught as it goes: what enters and leaves each module, and the constants it computes with.

A constant is what parameters and buffers alone make, in the layout in which an operator reads it beside what is
computed: exporters store a weight so, transposed or looked up in its table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from paddable.errors import MisuseError
from paddable.gates.engine import Array

__all__ = ["Run", "Use", "run_module", "tensors"]


@dataclass(frozen=True)
class Use:
    """A constant as an operator of the module reads it.

    Attributes:
        path: of the module whose forward reads it; empty for the root.
        array: its numbers.
        origins: names of the parameters and buffers that it is made of.
        whole: it is one of them as it is, or a view of all of it; nothing is computed of it.
        operator: what reads it, such as ``mul``.
    """

    path: str
    array: Array
    origins: tuple[str, ...]
    whole: bool
    operator: str


@dataclass(frozen=True)
class Run:
    """What was caught.

    Attributes:
        calls: output by path of the modules that are called once, in the order in which they end.
        entered: positional arguments and keywords by path of a module, as PyTorch has them.
        results: of the module.
        uses: of constants, in the order in which they are read.
        inner: of those that operators read that make constants only.
        order: the path of every call of a module, in the order in which they end.
    """

    calls: Mapping[str, Array]
    entered: Mapping[str, tuple[Any, Any]]
    results: Sequence[Array]
    uses: Sequence[Use]
    inner: Sequence[Use]
    order: Sequence[str]


def run_module(module: Any, sample: Any) -> Run:
    """Run a module on its sample.

    Args:
        module: the module.
        sample: its positional arguments, or a mapping of keywords.

    Raises:
        MisuseError: the module raises on it.
    """
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_leaves

    ended: list[tuple[str, Array]] = []
    order: list[str] = []
    entered: dict[str, tuple[Any, Any]] = {}
    inside = [""]
    states = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    known: dict[int, tuple[Any, tuple[str, ...]]] = {id(each): (each, (name,)) for name, each in states.items()}
    uses: dict[tuple[Any, ...], list[tuple[int, Use]]] = {}
    inner: dict[tuple[Any, ...], list[tuple[int, Use]]] = {}

    def note(found: dict[tuple[Any, ...], list[tuple[int, Use]]], each: Any, reader: Any) -> None:
        """A constant once, however often it is made of the same and read there."""
        origins = known[id(each)][1] if id(each) in known else ()
        if not origins:
            return
        place, array = each.data_ptr(), each.detach().cpu().numpy()
        same = found.setdefault((inside[-1], origins, each.shape, each.stride()), [])
        if not any(place == where or np.array_equal(array, use.array) for where, use in same):
            whole = any(place == states[name].data_ptr() and array.size == states[name].numel() for name in origins)
            same.append((place, Use(inside[-1], array, origins, whole, reader.overloadpacket.__name__)))

    class Constants(TorchDispatchMode):  # type: ignore[no-untyped-call]  # PyTorch's class hook has no types
        """Follows what parameters and buffers alone make."""

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            result = func(*args, **(kwargs or {}))
            read = [each for each in tree_leaves((args, kwargs)) if isinstance(each, torch.Tensor)]
            if func is torch.ops.aten.lift_fresh.default:  # numbers that the code writes down, such as a prompt's
                read = []
            made = [each for each in tree_leaves(result) if isinstance(each, torch.Tensor)]
            if all(id(each) in known for each in read):
                origins = tuple(dict.fromkeys(name for each in read for name in known[id(each)][1]))
                for each in read:
                    note(inner, each, func)
                known.update({id(each): (each, origins) for each in made})
                return result
            for each in read:
                note(uses, each, func)
            for each in made:
                known.pop(id(each), None)  # it was written into
            return result

    def enter(path: str) -> Any:
        def catch(_: Any, *given: Any) -> None:
            inside.append(path)
            entered[path] = given[0], given[1]

        return catch

    def leave(path: str) -> Any:
        def catch(_: Any, __: Any, output: Any) -> None:
            inside.pop()
            order.append(path)
            found = tensors(output)
            if found:
                ended.append((path, found[0]))

        return catch

    parts = [(path, part) for path, part in module.named_modules() if path]
    held = [part.register_forward_pre_hook(enter(path), with_kwargs=True) for path, part in parts]
    held += [part.register_forward_hook(leave(path)) for path, part in parts]
    fast = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)  # no exporter takes it, and it reads weights in a layout of its own
    try:
        with torch.no_grad(), Constants():  # type: ignore[no-untyped-call]
            if isinstance(sample, Mapping):
                result = module(**sample)
            else:
                result = module(*(sample if isinstance(sample, tuple) else (sample,)))
    except Exception as error:  # whatever the module's own code raises
        raise _raised(module, inside[-1], error) from error
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)
        for handle in held:
            handle.remove()
    times = Counter(order)
    calls = {path: array for path, array in ended if times[path] == 1}
    read, within = ([use for group in found.values() for _, use in group] for found in (uses, inner))
    return Run(calls, entered, tensors(result), read, within, order)


def _raised(module: Any, path: str, error: Exception) -> MisuseError:
    """That a module raises on its sample, and which of its parts does."""
    part = module.get_submodule(path)
    text = " ".join(str(error).split())
    return MisuseError(
        "the module raises on its sample",
        where=f"{path or 'the root'} ({type(part).__name__})",
        why=f"{type(error).__name__}: {text}" if text else type(error).__name__,
        fix="return a sample that the module takes, or mend its forward",
    )


def tensors(output: Any) -> list[Array]:
    """The arrays in what a module takes or gives, however nested."""
    import torch

    if isinstance(output, torch.Tensor):
        return [output.detach().cpu().numpy()]
    if isinstance(output, Mapping):
        output = tuple(output.values())
    return [array for part in output for array in tensors(part)] if isinstance(output, tuple | list) else []
