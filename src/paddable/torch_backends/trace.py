"""Every operator that runs, in order: what it was given, where, how long it took, and what became of it."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.weak import WeakIdKeyDictionary

from paddable.errors import MisuseError
from paddable.findings import Source
from paddable.torch_backends.backends import backend_of
from paddable.torch_backends.calls import Call, describe, tensors_in
from paddable.torch_backends.checks import Checks
from paddable.torch_backends.errors import BackendError
from paddable.torch_backends.explain import explained
from paddable.torch_backends.places import Modules, call_site
from paddable.torch_backends.text import columns

__all__ = ["OperatorCall", "OperatorTrace", "trace_ops"]


@dataclass(frozen=True)
class OperatorCall:
    """One operator that ran.

    Attributes:
        order: 0 for the first.
        op: the overload, such as ``aten.mul.Tensor``.
        inputs: dtype and shape of each tensor that it was given, such as ``float32[2, 10, 8]``.
        devices: of those and of the results, each once.
        outputs: dtype and shape of each result.
        module: dotted path of the module that was running, empty outside of every module.
        source: the user's line.
        seconds: until the call came back. A GPU may still be busy then.
        error: what was raised, empty if nothing.
    """

    order: int
    op: str
    inputs: tuple[str, ...]
    devices: tuple[str, ...]
    outputs: tuple[str, ...]
    module: str
    source: Source | None
    seconds: float
    error: str = ""

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "order": self.order,
            "op": self.op,
            "inputs": list(self.inputs),
            "outputs": list(self.outputs),
            "devices": list(self.devices),
            "module": self.module,
            "source": str(self.source) if self.source else None,
            "seconds": self.seconds,
            "error": self.error or None,
        }


@dataclass
class OperatorTrace:
    """What `trace_ops` saw.

    Attributes:
        calls: in the order in which they ran.
    """

    calls: list[OperatorCall] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """Plain data: ``{"operators": [...]}`` in order."""
        return {"operators": [call.to_json() for call in self.calls]}

    def json(self) -> str:
        """The same as text."""
        return json.dumps(self.to_json(), indent=1)

    def table(self, rows: int = 20) -> str:
        """A line for each operator with its inputs: failing ones first, then by the time they took together.

        Args:
            rows: how many lines to show; the rest is told in a last line.
        """
        groups: dict[tuple[str, tuple[str, ...]], list[OperatorCall]] = {}
        for call in self.calls:
            groups.setdefault((call.op, call.inputs), []).append(call)
        ordered = sorted(groups.values(), key=lambda group: (not any(c.error for c in group), -_seconds(group)))
        shown = [("operator", "inputs", "devices", "calls", "ms", "module", "line", "error")]
        for group in ordered[:rows]:
            told = next((call for call in group if call.error), group[0])
            devices = ", ".join(told.devices)
            place = str(told.source) if told.source else ""
            time_told = f"{1000 * _seconds(group):.2f}"
            inputs = ", ".join(told.inputs)
            shown.append((told.op, inputs, devices, str(len(group)), time_told, told.module, place, told.error))
        rest = len(ordered) - rows
        return columns(shown) + (f"\nand {rest} more" if rest > 0 else "")

    def __str__(self) -> str:
        return self.table()


class trace_ops(TorchDispatchMode):
    """Record every operator that runs inside of a ``with``; its target is an `OperatorTrace`.

    An operator that fails is recorded, and raised again as a `BackendError` that names the operator, the dtypes and
    shapes, the module and the line, with the real text behind a UnicodeDecodeError. Where a bool tensor that a product
    of a number and a bool made is what the operator does not take, that product is named.

    Args:
        module: the module from which module paths are counted; the outermost one that is called when None.

    Raises:
        MisuseError: it is no module.
    """

    def __init__(self, module: torch.nn.Module | None = None) -> None:
        super().__init__()
        if module is not None and not isinstance(module, torch.nn.Module):
            raise MisuseError(f"{type(module).__name__} is no torch.nn.Module", fix="give the module that will run")
        self.trace = OperatorTrace()
        self._modules = Modules(module)
        self._products: Any = WeakIdKeyDictionary()
        self._checks = Checks(self._told)

    def __enter__(self) -> OperatorTrace:
        self._checks.__enter__()
        super().__enter__()
        return self.trace

    def __exit__(self, *raised: Any) -> None:
        super().__exit__(*raised)
        self._checks.__exit__(*raised)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        call = Call(func, args, kwargs or {})
        if func.namespace == "prim":  # a question, such as the device of a tensor
            return call.run()
        source, started = call_site(), time.perf_counter()
        inputs = tuple(describe(tensor) for tensor in call.tensors)
        try:
            results = call.run()
        except Exception as error:
            if isinstance(error, Warning):
                raise
            told = self._told(call, error)
            self._record(call, inputs, (), source, started, told.what)
            raise told from error
        self._record(call, inputs, results, source, started)
        self._follow_bools(call, results, source)
        return results

    def _record(
        self, call: Call, inputs: tuple[str, ...], results: Any, source: Source | None, started: float, error: str = ""
    ) -> None:
        seconds = time.perf_counter() - started
        devices = dict.fromkeys(str(t.device) for t in [*call.tensors, *tensors_in(results)])
        outputs = tuple(describe(tensor) for tensor in tensors_in(results))
        order, module = len(self.trace.calls), self._modules.path
        self.trace.calls.append(
            OperatorCall(order, str(call.func), inputs, tuple(devices), outputs, module, source, seconds, error)
        )

    def _told(self, call: Call, error: Exception) -> BackendError:
        kinds = {tensor.device.type for tensor in call.tensors} - {"cpu", "meta"}
        backend = backend_of(kinds.pop()) if kinds else None
        product = next((self._products[t] for t in call.tensors if t in self._products), "")
        return explained(error, call, backend, module=self._modules.path, source=call_site(), product=product)

    def _follow_bools(self, call: Call, results: Any, source: Source | None) -> None:
        """Remember which product a bool tensor came from, through views, padding and the like."""
        bools = [t for t in tensors_in(results) if t.dtype is torch.bool]
        if not bools:
            return
        origin = next((self._products[t] for t in call.tensors if t in self._products), "")
        if not origin and call.name in {"mul", "mul_"} and _has_number(call["self"], call["other"]):
            module = f" in {self._modules.path}" if self._modules.path else ""
            origin = f"{call}{f' at {source}' if source else ''}{module}"
        for tensor in bools if origin else ():
            self._products[tensor] = origin


def _has_number(*operands: Any) -> bool:
    return not all(o.dtype is torch.bool if isinstance(o, torch.Tensor) else isinstance(o, bool) for o in operands)


def _seconds(calls: Iterable[OperatorCall]) -> float:
    return sum(call.seconds for call in calls)
