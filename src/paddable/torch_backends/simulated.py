"""A device that is not there: its tensors are computed on the CPU, with a backend's faults or without.

PyTorch takes the tensors for those of a real device: they report ``privateuseone:0``, its composite operators take them
apart as they do there (an LSTM becomes ``aten::_thnn_fused_lstm_cell``), they do not mix with tensors of the CPU, and
they come back only by ``.cpu()``. What an operator then does is what was measured on the real backend. Works without
torch-directml, on every system.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import ModuleType
from typing import Any, NoReturn

import torch
from torch.utils._mode_utils import no_dispatch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map

from paddable.errors import MisuseError
from paddable.torch_backends.calls import Call, is_composite, on_device, take_apart, tensors_in
from paddable.torch_backends.directml import TORCH_DIRECTML
from paddable.torch_backends.directml.recurrent import CELLS
from paddable.torch_backends.faults import Backend, Fault, Settings, views_first
from paddable.torch_backends.functions import FunctionMode
from paddable.torch_backends.indexing import read_index, write_index
from paddable.torch_backends.places import warn_at_call_site
from paddable.torch_backends.views import mark_views

__all__ = ["Seen", "simulated_backend"]

Seen = Callable[[Fault | None, Call], None]
"""Told of each call that a fault strikes (None: of each that the backend takes to the CPU), instead of the fault."""

_STAYS_ON_CPU = {"_pack_padded_sequence": 1}
"""Results, by position, that PyTorch keeps on the CPU on every device."""
_TAKES_CPU_OPERANDS = frozenset(
    {"copy_", "_to_copy", "index", "index_put", "index_put_", "_index_put_impl_"}
    | {"_pack_padded_sequence", "_pad_packed_sequence"}
)


@contextmanager
def simulated_backend(
    backend: Backend = TORCH_DIRECTML,
    *,
    float64: bool = False,
    tiled_resources: bool = True,
    code_page: int | None = None,
    seen: Seen | None = None,
    every: Callable[[Call], None] | None = None,
) -> Iterator[torch.device]:
    """Lend a device that refuses, falsifies and ends the process as the backend was measured to.

    Modules and tensors are moved to it with ``.to(device)``, and results are read with ``.cpu()``, as on a real one.
    Gradients are not simulated: nothing is recorded inside of the ``with``, and ``backward()`` is a MisuseError.

    Args:
        backend: whose faults are simulated.
        float64: whether the GPU computes with doubles.
        tiled_resources: False for the faults after ``torch_directml.disable_tiled_resources(True)``.
        code_page: of a Windows, 1252 or 936. Outside of 1252 the system's texts are raised as UnicodeDecodeErrors.
        seen: makes it an observer: it is told of each call that a fault strikes, and the right answer is given.
        every: is told of each call.

    Raises:
        MisuseError: no such code page; inside of the ``with``, a gradient or a nested tensor is asked for.

    Yields:
        The device, ``privateuseone:0``.
    """
    if code_page not in (None, 1252, *_SYSTEM_TEXT):
        raise MisuseError(f"no texts are known for code page {code_page}", fix="choose 1252 or 936")
    device = torch.device(backend.device_type, 0)
    simulation = _Simulation(backend, device, float64, tiled_resources, code_page, seen, every)
    with ExitStack() as stack:
        stack.enter_context(_device_module(backend.device_type))
        stack.enter_context(_functions_of_torch())
        stack.enter_context(torch.no_grad())
        stack.enter_context(_Functions(simulation))
        stack.enter_context(_Operators(simulation))
        yield device


class SimulatedTensor(torch.Tensor):
    """A tensor that claims to live on the simulated device; its numbers lie in ``data_on_cpu``."""

    data_on_cpu: torch.Tensor
    simulation: _Simulation

    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]

    @staticmethod
    def __new__(cls, data: torch.Tensor, simulation: _Simulation) -> SimulatedTensor:
        made: SimulatedTensor = torch.Tensor._make_wrapper_subclass(
            cls,
            data.size(),
            strides=data.stride(),
            storage_offset=data.storage_offset(),
            dtype=data.dtype,
            layout=data.layout,
            device=simulation.device,
            requires_grad=False,
        )
        made.data_on_cpu, made.simulation = data, simulation
        return made

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]
        cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        simulation = next(t.simulation for t in tensors_in([args, kwargs]) if isinstance(t, SimulatedTensor))
        return simulation.run(func, args, kwargs or {})

    def __repr__(self) -> str:  # type: ignore[override]
        return f"simulated {self.data_on_cpu!r}"

    # To record a gradient, PyTorch asks for the guard too, and ends the process without it: the flag stays here.

    @property
    def requires_grad(self) -> bool:
        return bool(getattr(self, "_wants_gradient", False))

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self._wants_gradient = value

    def requires_grad_(self, requires_grad: bool = True) -> Any:
        self._wants_gradient = requires_grad
        return self

    def backward(self, *arguments: Any, **named: Any) -> NoReturn:
        raise _no_gradients()


def _no_gradients() -> MisuseError:
    return MisuseError(
        "the simulated device computes no gradients",
        why="it stands in for a device on which a model is run, not trained",
        fix="run the backward pass on the CPU, outside of simulated_backend()",
    )


class _Simulation:
    """Runs operators on the tensors' data, and does to them what the backend does."""

    def __init__(
        self,
        backend: Backend,
        device: torch.device,
        float64: bool,
        tiled_resources: bool,
        code_page: int | None,
        seen: Seen | None,
        every: Callable[[Call], None] | None,
    ) -> None:
        self._every = every
        self.backend, self.device, self._code_page, self._seen = backend, device, code_page, seen
        self._settings = {mode: Settings(float64, tiled_resources, inference_mode=mode) for mode in (False, True)}
        self._warned: set[str] = set()

    def run(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """One operator, with the backend's faults."""
        call = Call(func, args, kwargs, read=_data)
        if not self._concerns(call):
            return func(*args, **kwargs)
        if self._every is not None:
            self._every(call)
        inference = torch.is_inference_mode_enabled()
        fault = self.backend.find(call, self._settings[inference])
        if fault is None and self._seen is not None:  # what strikes only once tiled resources are disabled
            fault = self.backend.find(call, Settings(self._settings[False].float64, tiled_resources=False))
        if fault is not None and self._seen is None:
            return self._strike(fault, call)
        on_the_cpu = fault is None and self.backend.runs_on_cpu(call)
        if self._seen is not None and (fault is not None or on_the_cpu):
            self._seen(fault, call)
        elif on_the_cpu:
            self._warn(call)
        return self._taken_apart(call) if is_composite(func) else self._compute(call)

    def _concerns(self, call: Call) -> bool:
        asked = call["device"] if call.has("device") else None
        return (asked is not None and torch.device(asked).type == self.device.type) or on_device(
            call.tensors, self.device.type
        )

    def _taken_apart(self, call: Call) -> Any:
        with _Operators(self):
            return take_apart(call.func, call.args, call.kwargs)

    def _compute(self, call: Call) -> Any:
        """The right answer, by the CPU."""
        if torch.Tag.inplace_view in call.func.tags:
            with no_dispatch():
                call.func(*call.args, **call.kwargs)
        asked = call["device"] if call.has("device") else None
        leaves = asked is not None and torch.device(asked).type != self.device.type
        if not leaves:
            self._refuse_cpu_operands(call)
        args, kwargs = tree_map(_data, call.args), tree_map(_data, call.kwargs)
        if asked is not None:
            call_on_cpu = Call(call.func, args, kwargs)
            results = call_on_cpu.replaced(device=torch.device("cpu"))
            if call.name == "_to_copy" and any(results is given for given in tensors_in(args)):
                results = results.clone()
        elif call.name in CELLS:  # the CPU has no kernel of its own for them
            results = CELLS[call.name](Call(call.func, args, kwargs))
        else:
            results = call.func(*args, **kwargs)
        if leaves:
            return results
        results = self._on_device(call, results)
        if views_first(call.func):
            mark_views(call.func, call.args, call.kwargs, results)
        return results

    def _on_device(self, call: Call, results: Any) -> Any:
        """The results as tensors of the device; a tensor that was written into is the one that was given."""
        given = {id(t.data_on_cpu): t for t in call.tensors if isinstance(t, SimulatedTensor)}
        stays = _STAYS_ON_CPU.get(call.name)

        def wrapped(value: Any) -> Any:
            if not isinstance(value, torch.Tensor):
                return value
            if value.is_nested:
                raise MisuseError(
                    "nested tensors are not simulated",
                    why="what the backend does with them was not measured",
                    fix="build nn.TransformerEncoder with enable_nested_tensor=False",
                )
            return given[id(value)] if id(value) in given else SimulatedTensor(value, self)

        if isinstance(results, (list, tuple)):
            return type(results)(
                value if position == stays else tree_map(wrapped, value) for position, value in enumerate(results)
            )
        return wrapped(results)

    def _refuse_cpu_operands(self, call: Call) -> None:
        """As PyTorch on every device: numbers in tensors of no axis, copies and indices may come from the CPU."""
        if call.name in _TAKES_CPU_OPERANDS:
            return
        for tensor in call.tensors:
            if tensor.device.type == "cpu" and tensor.dim():
                raise RuntimeError(
                    "Expected all tensors to be on the same device, but found at least two devices, "
                    f"{self.device} and cpu!"
                )

    def _strike(self, fault: Fault, call: Call) -> Any:
        if fault.effect == "ends the process" or (
            fault.code == "empty-result" and not self._settings[False].tiled_resources
        ):
            print(fault.message, file=sys.stderr, flush=True)
            os._exit(3)
        if fault.effect == "raises":
            self._raise(fault)
        assert fault.falsify is not None
        inner = Call(call.func, tree_map(_data, call.args), tree_map(_data, call.kwargs))
        if inner.has("device") and inner["device"] is not None:
            inner.kwargs["device"] = torch.device("cpu")
        return self._on_device(call, fault.falsify(inner))

    def _raise(self, fault: Fault) -> NoReturn:
        if self._code_page not in (None, 1252) and fault.message == "Invalid parameter.":
            _SYSTEM_TEXT[self._code_page].encode(f"cp{self._code_page}").decode("utf-8")
        raise fault.exception(fault.message)

    def _warn(self, call: Call) -> None:
        if call.name not in self._warned:
            self._warned.add(call.name)
            warn_at_call_site(
                f"The operator 'aten::{call.name}' is not currently supported on the DML backend and will fall back "
                "to run on the CPU. This may have performance implications."
            )


_SYSTEM_TEXT = {936: "无效参数。"}
"""What a Windows of a code page says for the HRESULT 80070057."""


def _data(value: Any) -> Any:
    return value.data_on_cpu if isinstance(value, SimulatedTensor) else value


class _Operators(TorchDispatchMode):
    """Catches operators without an operand on the device, such as factories and copies to it."""

    def __init__(self, simulation: _Simulation) -> None:
        super().__init__()
        self._simulation = simulation

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func.namespace == "prim":  # questions such as the device of a tensor
            return func(*args, **(kwargs or {}))
        return self._simulation.run(func, args, kwargs or {})


class _Functions(FunctionMode):
    """Functions that ask for a real device's guard, or that a real device takes apart otherwise."""

    def __init__(self, simulation: _Simulation) -> None:
        super().__init__()
        self._simulation = simulation

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        simulated = bool(args) and isinstance(args[0], SimulatedTensor)
        if func in _GRADIENTS:
            raise _no_gradients()
        if func is torch._C._set_grad_enabled:
            return func(False)
        if simulated and func in _GUARDED:
            return _GUARDED[func](*args, **kwargs)
        if func in (torch.tensor, torch.as_tensor):
            device = kwargs.pop("device", None)
            data = args[0] if simulated else tree_map(_number, args[0])
            made = func(data, *args[1:], **kwargs)
            return made if device is None else made.to(device)
        if simulated and func in _IN_INFERENCE_MODE and self._simulation._every is not None:
            call = Call(func, args, kwargs)
            call.name = _IN_INFERENCE_MODE[func]
            self._simulation._every(call)
        if simulated and func in _COMPOSITE:
            return self._composite(_COMPOSITE[func], func, args, kwargs)
        return self.call(func, args, kwargs)

    def _composite(self, name: str, func: Any, args: Any, kwargs: Any) -> Any:
        """A function whose fault was measured as a whole."""
        simulation = self._simulation
        call = Call(func, args, kwargs)
        call.name = name
        fault = simulation.backend.find(call, Settings(), simulation.backend.candidates(name, writes=False))
        if fault is None:
            return func(*args, **kwargs)
        if simulation._seen is None:
            return simulation._strike(fault, call)
        simulation._seen(fault, call)
        return func(*args, **kwargs)


def _number(value: Any) -> Any:
    return value.item() if isinstance(value, SimulatedTensor) else value


def _nonzero(tensor: torch.Tensor, *, as_tuple: bool = False) -> Any:
    found = torch.ops.aten.nonzero(tensor)
    return found.unbind(1) if as_tuple else found


def _new_tensor(tensor: torch.Tensor, data: Any, **kwargs: Any) -> torch.Tensor:
    return torch.tensor(data, dtype=kwargs.get("dtype") or tensor.dtype).to(kwargs.get("device") or tensor.device)


def _numpy(tensor: torch.Tensor, *, force: bool = False) -> Any:
    if force:
        return tensor.cpu().numpy()
    raise TypeError(
        f"can't convert {tensor.device} device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host "
        "memory first."
    )


_GUARDED: dict[Any, Callable[..., Any]] = {
    torch.Tensor.__getitem__: read_index,
    torch.Tensor.__setitem__: write_index,
    torch.Tensor.contiguous: torch.ops.aten.contiguous,
    torch.Tensor.copy_: torch.ops.aten.copy_,
    torch.Tensor.new_tensor: _new_tensor,
    torch.Tensor.nonzero: _nonzero,
    torch.nonzero: _nonzero,
    torch.Tensor.tolist: lambda tensor: tensor.cpu().tolist(),
    torch.Tensor.numpy: _numpy,
    torch.Tensor.__invert__: torch.ops.aten.bitwise_not,
    torch.Tensor.__int__: lambda tensor: int(tensor.item()),
    torch.Tensor.__float__: lambda tensor: float(tensor.item()),
    torch.Tensor.__index__: lambda tensor: int(tensor.item()),
}
"""Functions that ask for the device's guard, which is not there, by operators that do not."""


def _method(function: Any, instead: Callable[..., Any]) -> Callable[..., Any]:
    """A method of a simulated tensor. Modes, also those of others, are asked before it, as everywhere in PyTorch."""

    def method(self: SimulatedTensor, *args: Any, **kwargs: Any) -> Any:
        if torch._C._is_torch_function_mode_enabled():
            return torch.overrides.handle_torch_function(function, (self,), self, *args, **kwargs)
        return instead(self, *args, **kwargs)

    return method


for _function, _instead in _GUARDED.items():
    if _function is not torch.nonzero:
        setattr(SimulatedTensor, _function.__name__, _method(_function, _instead))

_GRADIENTS = frozenset({torch.Tensor.backward, torch.autograd.grad})

_IN_INFERENCE_MODE: dict[Any, str] = {
    torch.nn.functional.linear: "linear",
    torch.nn.functional.scaled_dot_product_attention: "scaled_dot_product_attention",
}
"""Functions that are one operator in inference mode, and several outside of it."""

_COMPOSITE = {
    torch.quantile: "quantile",
    torch.nanquantile: "nanquantile",
    torch.Tensor.quantile: "quantile",
    torch.nn.functional.one_hot: "one_hot",
}


def _refuse_gradients(*arguments: Any, **named: Any) -> NoReturn:
    raise _no_gradients()


@contextmanager
def _functions_of_torch() -> Iterator[None]:
    """Attention takes its fast path here, as on the real backend, though a mode for functions is on; and
    ``torch.autograd.backward``, which no mode sees, is refused."""
    asked, backward = torch.overrides.has_torch_function, torch.autograd.backward
    torch.overrides.has_torch_function = lambda relevant: False  # type: ignore[assignment]
    torch.autograd.backward = _refuse_gradients
    try:
        yield
    finally:
        torch.overrides.has_torch_function, torch.autograd.backward = asked, backward


@contextmanager
def _device_module(name: str) -> Iterator[None]:
    """What ``torch.<device type>`` must be for PyTorch to make tensors there; a real backend brings its own."""
    if hasattr(torch, name):
        yield
        return
    module = ModuleType(f"torch.{name}")
    for question, answer in {
        "_lazy_init": None,
        "is_initialized": True,
        "is_available": True,
        "_is_in_bad_fork": False,
        "current_device": 0,
        "device_count": 1,
        "get_amp_supported_dtype": [torch.float16],
    }.items():
        setattr(module, question, lambda *ignored, answer=answer: answer)
    sys.modules[module.__name__] = module
    setattr(torch, name, module)
    try:
        yield
    finally:
        delattr(torch, name)
        del sys.modules[module.__name__]
