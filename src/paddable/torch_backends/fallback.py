"""Run a module on a backend that lacks operators: what fails or is wrong there is replaced, one operator at a time.

Nothing is moved and no parameter is changed. An operator that the table of the backend calls wrong is replaced before
it runs, by others that are right on the device where there are some, else on the CPU: its operands are copied there
and its results back. One that fails is computed on the CPU, and stays there for the same dtypes and numbers of axes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map

from paddable.errors import MisuseError, PaddableError
from paddable.findings import Source
from paddable.torch_backends.backends import backend_named, backend_of
from paddable.torch_backends.calls import Call, describe, is_composite, on_device, operator_name, take_apart, tensors_in
from paddable.torch_backends.checks import Checks, operator_of
from paddable.torch_backends.errors import BackendError
from paddable.torch_backends.explain import explained, explained_text
from paddable.torch_backends.faults import Fault, Settings, views_first, writes_first, written
from paddable.torch_backends.places import Modules, call_site
from paddable.torch_backends.text import columns
from paddable.torch_backends.views import mark_views, view_of

__all__ = ["FallbackReport", "Replaced", "fallback"]

_HOME = "_paddable_home"
"""Set on a tensor that waits on the CPU because its dtype cannot live on the device: the device it belongs to."""
_SOURCE = "_paddable_source"
"""Set on a tensor of the device that is a copy of a view of one that waits: that view. What is written into one goes
into the other too."""


@dataclass
class Replaced:
    """One operator that was replaced, for one reason.

    Attributes:
        op: the operator, as ``aten.mul``.
        reason: the code of the fault, ``failed`` or ``asked for``.
        how: ``on the device``, by other operators; ``on the CPU``; or ``kept on the CPU``, where its operands were.
        example: the first call.
        error: what the device said, empty if it was not tried.
        module: dotted path of the module of the first call.
        source: line of the first call.
        times: how often.
        copies: how many tensors were copied between the device and the CPU for it.
        copied_bytes: their size together.
    """

    op: str
    reason: str
    how: str
    example: str
    error: str
    module: str
    source: Source | None
    times: int = 0
    copies: int = 0
    copied_bytes: int = 0

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {**vars(self), "source": str(self.source) if self.source else None}


class FallbackReport:
    """What a `fallback` replaced.

    Attributes:
        replaced: one entry for each operator and reason, in the order in which they were met.
        inference_mode_left: how many operators were called inside of ``torch.inference_mode()`` and taken out of it.
        indices_read: how many tensors of indices were copied to the CPU to see whether the device would get them wrong.
    """

    def __init__(self) -> None:
        self._entries: dict[tuple[str, str, str], Replaced] = {}
        self.inference_mode_left = 0
        self.indices_read = 0

    @property
    def replaced(self) -> list[Replaced]:
        """One entry for each operator and reason, in the order in which they were met."""
        return list(self._entries.values())

    @property
    def copies(self) -> int:
        """How many tensors were copied between the device and the CPU, those of ``indices_read`` among them."""
        return sum(entry.copies for entry in self._entries.values()) + self.indices_read

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "replaced": [entry.to_json() for entry in self.replaced],
            "copies": self.copies,
            "inference_mode_left": self.inference_mode_left,
            "indices_read": self.indices_read,
        }

    def __str__(self) -> str:
        lines = []
        if self._entries:
            rows = [("operator", "because of", "ran", "times", "copies", "KiB", "first in", "line")]
            for e in self.replaced:
                size = f"{e.copied_bytes / 1024:.1f}" if e.copies else ""
                counts = (str(e.times), str(e.copies), size)
                rows.append((e.op, e.reason, e.how, *counts, e.module, str(e.source or "")))
            lines.append(columns(rows))
        else:
            lines.append("no operator was replaced")
        if self.inference_mode_left:
            lines.append(f"{self.inference_mode_left} operators were taken out of inference_mode")
        if self.indices_read:
            lines.append(f"{self.indices_read} tensors of indices were read on the CPU to check them")
        return "\n".join(lines)

    def entry(self, op: str, reason: str, how: str, make: Callable[[], Replaced]) -> Replaced:
        """The entry to count in, made where it is the first of its kind."""
        key = (op, reason, how)
        if key not in self._entries:
            self._entries[key] = make()
        return self._entries[key]


@dataclass(frozen=True)
class _Plan:
    """What is known of an operator before it is called: which faults may strike it, and whether it makes views."""

    faults: tuple[Fault, ...]
    asked_for: bool
    views: bool


class fallback(TorchDispatchMode):
    """Replace the operators that a backend lacks or gets wrong, inside of a ``with`` that gives a `FallbackReport`.

    Args:
        device: the backend's device, as a ``torch.device`` or its name.
        ops: more operators to run on the CPU, such as ``"aten::roll"`` or ``"roll"``.
        backend: name of the backend whose table is used; by default that of the device's type, or none.
        float64: whether the GPU computes with doubles; by default what torch_directml says, else no.

    Raises:
        MisuseError: no such device or backend, no such operator, or one that gives a view, which a copy is not.
        BackendError: inside of the ``with``, for an operator that fails on the device and on the CPU.
    """

    def __init__(
        self,
        device: torch.device | str,
        ops: Iterable[str] = (),
        *,
        backend: str | None = None,
        float64: bool | None = None,
    ) -> None:
        super().__init__()
        if isinstance(ops, str) or not isinstance(ops, Iterable):
            raise MisuseError(f"ops={ops!r} is no list", fix=f"give the names in a list: ops=[{ops!r}]")
        self.device = _device(device)
        self.backend = backend_named(backend) if backend else backend_of(self.device.type)
        self.report = FallbackReport()
        doubles = _has_float64() if float64 is None else float64
        # Whether tiled resources are on cannot be asked; an empty tensor made anew is right in both cases.
        self._settings = Settings(float64=doubles, tiled_resources=False)
        self._asked_for = frozenset(map(_known_operator, ops))
        self._plans: dict[Any, _Plan] = {}
        self._any_operator = self.backend.of_any_operator if self.backend else ()
        self._failing: set[Any] = set()
        self._parked = False
        self._has_sources = False
        self._computing = False
        self._modules = Modules()
        self._functions = _Functions(self)

    def __enter__(self) -> FallbackReport:
        self._functions.__enter__()
        super().__enter__()
        return self.report

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        super().__exit__(kind, error, trace)
        self._functions.__exit__(kind, error, trace)
        told = explained_text(error, self.backend) if isinstance(error, Exception) and self.backend else None
        if told is not None:
            raise told from error

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if self._computing:  # a part of what is computed on the CPU
            return func(*args, **kwargs)
        if torch.is_inference_mode_enabled():
            return self._outside_of_inference_mode(func, args, kwargs)
        plan = self._plans.get(func)
        if plan is None:
            plan = self._plans[func] = self._plan(func)
        unusual = self._is_unusual(args, kwargs)
        if unusual or plan.faults or plan.asked_for or self._failing or self._has_sources:
            call = Call(func, args, kwargs)
            results = self._carefully(plan, call, unusual)
            if self._has_sources:
                self._write_through(call)
            return results
        try:
            results = func(*args, **kwargs)
        except Exception as error:
            return self._after_failure(plan, Call(func, args, kwargs), error)
        if plan.views:
            mark_views(func, args, kwargs, results)
        return results

    def _plan(self, func: Any) -> _Plan:
        name = operator_name(func)
        known = self.backend.candidates(name, writes=writes_first(func)) if self.backend else ()
        faults = tuple(fault for fault in known if fault.setting(self._settings))
        if self._any_operator and (name in _ALWAYS_CAREFUL or name.startswith("_fft")):
            faults += self._any_operator
        return _Plan(faults, name in self._asked_for or name.rstrip("_") in self._asked_for, views_first(func))

    def _is_unusual(self, args: Any, kwargs: dict[str, Any]) -> bool:
        """Whether a dtype is asked for or held that the device may lack."""
        if kwargs and kwargs.get("dtype") in _UNUSUAL:
            return True
        for value in args:
            if isinstance(value, torch.Tensor):
                if value.dtype in _UNUSUAL:
                    return True
            elif isinstance(value, (list, tuple)) and any(
                isinstance(item, torch.Tensor) and item.dtype in _UNUSUAL for item in value
            ):
                return True
        return self._parked and any(hasattr(tensor, _HOME) for tensor in tensors_in([args, kwargs]))

    def _outside_of_inference_mode(self, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        self.report.inference_mode_left += 1
        with torch.inference_mode(False), torch.no_grad(), self._again():
            return take_apart(func, args, kwargs) if is_composite(func) else func(*args, **kwargs)

    def _again(self) -> Any:
        """This mode once more: what a replacement calls may itself have to be replaced."""
        return _Again(self)

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """PyTorch would wrap every call in a switch of its compiler, which costs more than what is done here."""
        return False

    def _carefully(self, plan: _Plan, call: Call, unusual: bool) -> Any:
        """An operator that may have to be replaced."""
        if call.func.namespace == "prim" or not self._concerns(call):
            return call.run()
        call.read = self._counted_read()
        if self._parked and any(hasattr(tensor, _HOME) for tensor in call.tensors):
            return self._on_cpu(call, "parked", None)
        if plan.asked_for:
            return self._on_cpu(call, "asked for", None)
        faults = (*self._any_operator, *plan.faults) if unusual else plan.faults
        fault = self.backend.find(call, self._settings, faults) if self.backend else None
        if fault is not None:
            return self._replace(call, fault)
        if self._failing and _signature(call) in self._failing:
            return self._on_cpu(call, "failed", None)
        try:
            results = call.run()
        except Exception as error:
            return self._after_failure(plan, call, error)
        if plan.views:
            mark_views(call.func, call.args, call.kwargs, results)
        return results

    def _concerns(self, call: Call) -> bool:
        first = call.args[0] if call.args else None
        if isinstance(first, torch.Tensor) and first.device.type == self.device.type:
            return True
        asked = call["device"] if call.has("device") else None
        if asked is not None and torch.device(asked).type == self.device.type:
            return True
        return any(t.device.type == self.device.type or (self._parked and hasattr(t, _HOME)) for t in call.tensors)

    def _replace(self, call: Call, fault: Fault) -> Any:
        if fault.repair is None:
            try:
                return self._on_cpu(call, fault.code, None)
            except Exception as error:  # the CPU refuses it too
                if fault.effect == "wrong":  # what the user would see on the CPU
                    raise
                raise self._told(call, error) from error
        entry = self._entry(call, fault.code, "on the device", "")
        entry.times += 1
        with self._again():
            results = fault.repair(call)
            for target in written(call):
                if results is not target:  # other operators gave what this one writes
                    results = _filled(target, results)
        return results

    def _after_failure(self, plan: _Plan, call: Call, error: Exception) -> Any:
        # A warning is one only where the user's filters make it an error: the operator itself is right.
        # What Paddable says, says enough, and a view fails with an IndexError only where the index is wrong.
        as_it_is = (Warning, MemoryError, torch.OutOfMemoryError, PaddableError, *((IndexError,) if plan.views else ()))
        if not self._concerns(call) or isinstance(error, as_it_is):
            raise error
        told = self._told(call, error)
        if plan.views:  # a copy would not be a view
            raise told from error
        try:
            results = self._on_cpu(call, "failed", told.what)
        except RuntimeError:
            raise told from error
        except Exception as refused:  # what the user would see on the CPU, such as an IndexError
            raise refused from error
        self._failing.add(_signature(call))
        return results

    def _told(self, call: Call, error: Exception) -> BackendError:
        return explained(error, call, self.backend, module=self._modules.path, source=call_site())

    def _told_by_check(self, call: Call, error: Exception) -> BackendError | None:
        concerned = self._concerns(call) and not isinstance(error, torch.OutOfMemoryError)
        return self._told(call, error) if concerned else None

    def _whole(self, call: Call, reason: str) -> Any:
        """A function that is replaced before PyTorch takes it apart."""
        if not torch.is_inference_mode_enabled():
            return self._on_cpu(call, reason, None)
        self.report.inference_mode_left += 1
        with torch.inference_mode(False), torch.no_grad():
            return self._on_cpu(call, reason, None)

    def _on_cpu(self, call: Call, reason: str, error: str | None) -> Any:
        """Compute on copies, write back what the operator writes into, and bring the results to the device."""
        copies: dict[int, torch.Tensor] = {}
        moved: list[torch.Tensor] = []

        def to_cpu(value: Any) -> Any:
            if not isinstance(value, torch.Tensor) or value.device.type == "cpu":
                return value
            if id(value) not in copies:
                copies[id(value)] = value.cpu()
                moved.append(value)
            return copies[id(value)]

        asked = call["device"] if call.has("device") else None
        outer, self._computing = self._computing, True
        try:
            inner = Call(call.func, tree_map(to_cpu, call.args), tree_map(to_cpu, call.kwargs))
            results = inner.replaced(device=torch.device("cpu")) if asked is not None else inner.run()
        finally:
            self._computing = outer
        self._write_back(call, copies, moved)
        if asked is None or torch.device(asked).type == self.device.type:
            given = {id(copies[id(tensor)]): tensor for tensor in call.tensors if id(tensor) in copies}
            is_view = views_first(call.func)
            results = tree_map(
                lambda value: given[id(value)] if id(value) in given else self._home(value, moved, is_view), results
            )
        how = "on the CPU" if moved or reason != "parked" else "kept on the CPU"
        entry = self._entry(call, reason, how, error or "")
        entry.times += 1
        entry.copies += len(moved)
        entry.copied_bytes += sum(tensor.numel() * tensor.element_size() for tensor in moved)
        return results

    def _write_back(self, call: Call, copies: dict[int, torch.Tensor], moved: list[torch.Tensor]) -> None:
        """Give the device's tensors what the operator wrote into their copies; such a write may be one that is lost."""
        with self._again():
            for tensor in written(call):
                copy = copies.get(id(tensor))
                if copy is None:
                    continue
                _filled(tensor, copy)
                moved.append(tensor)

    def _write_through(self, call: Call) -> None:
        """Give a tensor that waits on the CPU what was written into the device's copy of a view of it."""
        for tensor in written(call):
            view = view_of(tensor)
            owner = view.base if view else tensor
            source = getattr(owner, _SOURCE, None)
            if source is not None:
                source.copy_(owner.cpu())

    def _home(self, value: Any, moved: list[torch.Tensor], is_view: bool) -> Any:
        """A result on the device; one that cannot live there is marked, and goes there when its dtype allows."""
        if not isinstance(value, torch.Tensor) or value.device.type != "cpu":
            return value
        if value.dtype in _NEVER or (value.dtype is torch.float64 and not self._settings.float64):
            setattr(value, _HOME, self.device)
            self._parked = True
            return value
        there = value.to(self.device)
        moved.append(there)
        if is_view:
            setattr(there, _SOURCE, value)
            self._has_sources = True
        return there

    def _counted_read(self) -> Callable[[torch.Tensor], torch.Tensor]:
        def read(tensor: torch.Tensor) -> torch.Tensor:
            self.report.indices_read += tensor.device.type != "cpu"
            return tensor.detach().cpu()

        return read

    def _entry(self, call: Call, reason: str, how: str, error: str) -> Replaced:
        op = f"aten.{call.name}"

        def make() -> Replaced:
            return Replaced(op, reason, how, str(call), error, self._modules.path, call_site())

        return self.report.entry(op, reason, how, make)


class _Again(TorchDispatchMode):
    """A mode that hands every operator to another one."""

    def __init__(self, mode: fallback) -> None:
        super().__init__()
        self._mode = mode

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return self._mode.__torch_dispatch__(func, types, args, kwargs)


class _Functions(Checks):
    """Functions that have to be replaced as a whole: PyTorch takes them apart before an operator is seen."""

    def __init__(self, mode: fallback) -> None:
        super().__init__(mode._told_by_check)
        self._mode = mode

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func in _WHOLE and self._mode.backend and on_device([args, kwargs], self._mode.device.type):
            call = Call(func, args, kwargs)
            call.name, reason = _WHOLE[func]
            return self._mode._whole(call, reason)
        if self._mode._asked_for:
            operator = operator_of(func)
            asked = operator and operator_name(operator) in self._mode._asked_for and is_composite(operator)
            if asked and on_device([args, kwargs], self._mode.device.type):
                return self._mode._whole(Call(operator, args, kwargs), "asked for")
            return self.checked(func, args, kwargs)
        try:  # to stay on inside of functions costs more than the rest of this mode
            return func(*args, **kwargs)
        except RuntimeError as error:
            told = self.told(func, args, kwargs, error)
            raise told from told.__cause__


_WHOLE: dict[Any, tuple[str, str]] = {
    torch.quantile: ("quantile", "quantile"),
    torch.nanquantile: ("nanquantile", "quantile"),
    torch.Tensor.quantile: ("quantile", "quantile"),
    torch.Tensor.nanquantile: ("nanquantile", "quantile"),
    torch.nn.functional.one_hot: ("one_hot", "scatter-in-part"),
    torch.istft: ("istft", "complex"),  # its spectrum waits on the CPU, its window does not
    torch.Tensor.istft: ("istft", "complex"),
}
"""By function: the name of the operator, and the fault."""
_NEVER = frozenset({torch.complex32, torch.complex64, torch.complex128, torch.bfloat16})
_UNUSUAL = _NEVER | {torch.float64}
_ALWAYS_CAREFUL = frozenset({"complex", "polar", "view_as_complex", "stft", "istft"})


def _signature(call: Call) -> tuple[Any, ...]:
    return (call.func, *((describe(t.dtype), t.dim(), t.numel() == 0) for t in call.tensors))


def _filled(target: torch.Tensor, contents: torch.Tensor) -> torch.Tensor:
    """A tensor with other contents; that of ``out=`` takes their shape."""
    if target.shape != contents.shape:
        torch.ops.aten.resize_(target, contents.shape)
    return target.copy_(contents)


def _has_float64() -> bool:
    try:
        import torch_directml
    except ImportError:
        return False
    return bool(torch_directml.has_float64_support())


def _device(device: Any) -> torch.device:
    try:
        return torch.device(device)
    except (RuntimeError, TypeError) as error:
        fix = "give torch_directml.device(), or the name of a device, such as privateuseone:0"
        raise MisuseError(f"{device!r} is no device of PyTorch", fix=fix) from error


def _known_operator(name: str) -> str:
    """An operator's name without namespace and overload."""
    if not isinstance(name, str):
        raise MisuseError(f"{name!r} is no name of an operator", where="ops", fix="name it as in ops=['aten::roll']")
    plain = name.removeprefix("aten::").removeprefix("aten.").partition(".")[0]
    known = _operators()
    if plain in known:
        packet = getattr(torch.ops.aten, plain)
        overloads = [getattr(packet, overload) for overload in packet.overloads()]
        if any(views_first(each) or torch.Tag.inplace_view in each.tags for each in overloads):
            raise MisuseError(
                f"{name!r} gives a view, and a copy that was made on the CPU would not be one",
                where="ops",
                fix="name the operators that read the view",
            )
        return plain
    near = get_close_matches(plain, known, 3)
    fix = f"did you mean {' or '.join(near)}?" if near else "name it as trace_ops() does, such as aten::roll"
    raise MisuseError(f"no operator is called {name!r}", where="ops", fix=fix)


@cache
def _operators() -> frozenset[str]:
    every = (name.partition("::") for name in torch._C._dispatch_get_all_op_names())
    return frozenset(name.partition(".")[0] for space, _, name in every if space == "aten")
