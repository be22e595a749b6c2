"""What a module would meet on a backend, found without it: it runs once on a simulated device that looks on."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.nn.utils.rnn import PackedSequence
from torch.utils._pytree import tree_map

from paddable.errors import MisuseError
from paddable.findings import Source
from paddable.torch_backends.backends import backend_named
from paddable.torch_backends.calls import Call
from paddable.torch_backends.errors import real_text
from paddable.torch_backends.faults import Backend, Fault
from paddable.torch_backends.places import Modules, call_site, call_site_of
from paddable.torch_backends.simulated import simulated_backend

__all__ = ["MissingOperators", "Struck", "missing_ops"]

ON_THE_CPU = "goes to the CPU"
_INFERENCE = "inference-mode"
_CHOSEN = (_INFERENCE, "empty-slice")
"""Faults that are met only in a mode, or with a setting, that the user has chosen."""


@dataclass
class Struck:
    """One fault, where it strikes the module.

    Attributes:
        effect: ``raises``, ``wrong``, ``ends the process``, or ``goes to the CPU``.
        fault: its code, empty for what goes to the CPU.
        ops: the operators, each with its number of calls.
        example: the first call.
        modules: dotted paths of the modules that call it.
        source: the user's line of the first call.
        what: what comes out.
        way_round: what to write instead.
        when: the machines or modes on which it is met, empty for all.
        evidence: what it rests on.
    """

    effect: str
    fault: str
    example: str
    source: Source | None
    what: str = ""
    way_round: str = ""
    when: str = ""
    evidence: str = ""
    ops: dict[str, int] = field(default_factory=dict)
    modules: list[str] = field(default_factory=list)

    @property
    def calls(self) -> int:
        """How often it strikes."""
        return sum(self.ops.values())

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {**vars(self), "source": str(self.source) if self.source else None, "calls": self.calls}


@dataclass(frozen=True)
class MissingOperators:
    """What `missing_ops` found.

    Attributes:
        backend: its name.
        measured_on: the software that the table was measured on.
        operators: how many operators ran.
        struck: the faults: what ends the process first, then what is wrong, what raises, what goes to the CPU.
    """

    backend: str
    measured_on: str
    operators: int
    struck: tuple[Struck, ...]

    @property
    def ok(self) -> bool:
        """Whether the module runs rightly under ``torch.no_grad()`` on every machine, with tiled resources."""
        return not any(entry.effect != ON_THE_CPU and entry.fault not in _CHOSEN for entry in self.struck)

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "ok": self.ok,
            "backend": self.backend,
            "measured_on": self.measured_on,
            "operators": self.operators,
            "findings": [entry.to_json() for entry in self.struck],
        }

    def __str__(self) -> str:
        head = f"{self.backend}: {self.operators} operators ran; measured on {self.measured_on}"
        return "\n".join([head, *(line for entry in self.struck for line in _lines(entry)), self._verdict()])

    def _verdict(self) -> str:
        if self.ok:
            return "Nothing fails or is wrong under torch.no_grad()."
        return "Each is replaced inside of paddable.torch_backends.fallback(device)."


_WIDTH = 110


def _lines(entry: Struck) -> list[str]:
    """What, where, and what to do instead: a line each."""
    ops = ", ".join(f"{name} x{count}" for name, count in entry.ops.items())
    if entry.effect == ON_THE_CPU:
        return _wrapped(f"{entry.effect} (slow, but right): {ops}")
    when = f", {entry.when}" if entry.when else ""
    lines = [*_wrapped(f"{entry.effect}{when}: {entry.what} ({entry.evidence})"), f"    {ops}"]
    if entry.fault != _INFERENCE:
        lines.append(f"    first: {entry.example}")
        lines.append(f"      at {entry.source or 'an unknown line'}{_in(entry.modules)}")
    lines += _wrapped(f"    instead: {entry.way_round}")
    return [line if len(line) <= _WIDTH else f"{line[: _WIDTH - 3]}..." for line in lines]


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, subsequent_indent="      " if text.startswith(" ") else "    ")


def _in(modules: Sequence[str]) -> str:
    named = [name for name in modules if name]
    return f" in {named[0]}{f' and {len(named) - 1} more' if len(named) > 1 else ''}" if named else ""


def missing_ops(module: torch.nn.Module, sample: Any, backend: str = "torch-directml") -> MissingOperators:
    """Say what a module would meet on a backend: what raises, is silently wrong, ends the process, or goes to the CPU.

    The module runs once, on the CPU, as PyTorch runs it on that backend. Its parameters stay where and what they are.

    Args:
        module: in the state in which it will run, usually ``eval()``.
        sample: what it is called with: a tensor, a tuple or list of positional arguments, or a dict of those by name.
            What depends on values or sizes is judged on this sample alone.
        backend: name of the backend.

    Raises:
        MisuseError: no such backend, or the module does not run with this sample.
    """
    known = backend_named(backend)
    if not isinstance(module, torch.nn.Module) or isinstance(module, torch.jit.ScriptModule):
        raise MisuseError(
            f"{type(module).__name__} is no torch.nn.Module in Python",
            why="a compiled module tells nothing of the operators it calls",
            fix="give the module itself, before torch.jit",
        )
    seen = _Observer(known, module)
    with torch.no_grad(), simulated_backend(known, seen=seen.see, every=seen.count) as device:
        state = {name: value.to(device) for name, value in _state(module).items()}
        args, kwargs = _arguments(sample)
        args, kwargs = (
            tree_map(lambda v: v.to(device) if _is_moved(v) else v, part, is_leaf=_is_moved) for part in (args, kwargs)
        )
        seen.start()
        try:
            torch.func.functional_call(module, state, args, kwargs)
        except (Exception, SystemExit) as error:
            place = f"{call_site_of(error) or ''}{_in([seen.modules.path_of(error)])}".strip() or type(module).__name__
            raise MisuseError(
                f"the module does not run: {type(error).__name__}: {real_text(error)}",
                where=place,
                why="only what runs can be examined",
                fix="give a sample that the module runs with on the CPU, with every tensor it needs on the same device",
            ) from error
    return MissingOperators(known.name, _software(known), seen.operators, seen.ordered())


def _software(backend: Backend) -> str:
    return ", ".join(str(backend.measured["source"]).split(", ")[:2])


def _state(module: torch.nn.Module) -> Mapping[str, torch.Tensor]:
    return {**dict(module.named_parameters()), **dict(module.named_buffers())}


def _arguments(sample: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if isinstance(sample, Mapping):
        return (), dict(sample)
    several = isinstance(sample, (tuple, list)) and not isinstance(sample, PackedSequence)
    return (tuple(sample), {}) if several else ((sample,), {})


def _is_moved(value: Any) -> bool:
    return isinstance(value, _MOVED)


_MOVED = (torch.Tensor, PackedSequence)
"""What is moved to the device as a whole; a packed sequence keeps its lengths on the CPU."""


class _Observer:
    """Collects the faults that the simulated device tells of."""

    def __init__(self, backend: Backend, module: torch.nn.Module) -> None:
        self.backend, self.modules, self.operators = backend, Modules(module), 0
        self._running = False
        self._found: dict[str, Struck] = {}
        self._inference = next(f for f in backend.faults if f.code == _INFERENCE)

    def start(self) -> None:
        """From here on, it is the module that runs."""
        self._running = True

    def count(self, call: Call) -> None:
        """One more operator; one that fails in inference mode is remembered, though that mode is off."""
        if not self._running:
            return
        self.operators += hasattr(call.func, "_schema")  # a function is made of operators that are counted
        if call.name in self._inference.ops and self._inference.applies(call):
            self.see(self._inference, call)

    def see(self, fault: Fault | None, call: Call) -> None:
        """A fault strikes, or the backend takes the call to the CPU."""
        if not self._running:
            return
        code = fault.code if fault else ""
        entry = self._found.get(code)
        if entry is None:
            entry = self._found[code] = Struck(ON_THE_CPU, code, str(call), call_site())
            if fault:
                entry.effect, entry.what, entry.way_round, entry.when = (
                    fault.effect,
                    fault.what,
                    fault.way_round,
                    fault.when,
                )
                entry.evidence = self.backend.evidence(fault)
        name = f"aten::{call.name}"
        entry.ops[name] = entry.ops.get(name, 0) + 1
        if self.modules.path not in entry.modules:
            entry.modules.append(self.modules.path)

    def ordered(self) -> tuple[Struck, ...]:
        """The worst first."""
        order = ["ends the process", "wrong", "raises", ON_THE_CPU]
        found = self._found.values()
        return tuple(sorted(found, key=lambda e: (order.index(e.effect), e.fault == _INFERENCE, e.when)))
