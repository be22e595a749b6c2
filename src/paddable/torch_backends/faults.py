"""What a backend does wrong: one entry a fault, with the operators it strikes and the way round that was verified."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import torch

from paddable.torch_backends.calls import Call, tensors_in

__all__ = ["ANY", "WRITE", "Backend", "Effect", "Fault", "Settings", "views_first", "writes_first", "written"]

Effect = Literal["wrong", "raises", "ends the process"]

WRITE = "(any write)"
"""Stands among a fault's operators for every one that writes into its first argument."""
ANY = "(any)"
"""Stands among a fault's operators for every one."""


@dataclass(frozen=True)
class Settings:
    """What differs between machines that run the same backend.

    Attributes:
        float64: whether the device computes with doubles.
        tiled_resources: False after ``torch_directml.disable_tiled_resources(True)``.
        inference_mode: whether ``torch.inference_mode()`` is on.
    """

    float64: bool = False
    tiled_resources: bool = True
    inference_mode: bool = False


@dataclass(frozen=True)
class Fault:
    """One thing that a backend does wrong.

    Attributes:
        code: a stable name.
        effect: what the user meets.
        ops: the operators concerned, as ATen names them without overload; `WRITE` and `ANY` stand for many.
        what: what comes out instead of the answer, one sentence.
        way_round: what to write instead, as it was verified.
        applies: whether a call of one of the operators is struck.
        message: the text of the exception, or what is printed before the process ends.
        exception: the class of the exception.
        repair: gives the right answer on the device, by other operators; None: it is computed on the CPU.
        falsify: gives what the backend gives, for the simulation.
        setting: whether it is met under given settings.
        when: the same in words, empty if always.
        parks: whether the right answer cannot live on the device, and stays on the CPU until it can.
        hint: a pattern in an exception's text that tells this fault where no operator of the device was called.
    """

    code: str
    effect: Effect
    ops: tuple[str, ...]
    what: str
    way_round: str
    applies: Callable[[Call], bool] = lambda call: True
    message: str = "Invalid parameter."
    exception: type[Exception] = RuntimeError
    repair: Callable[[Call], Any] | None = None
    falsify: Callable[[Call], Any] | None = None
    setting: Callable[[Settings], bool] = lambda settings: True
    when: str = ""
    parks: bool = False
    hint: str = ""


@dataclass(frozen=True)
class Backend:
    """The faults of one backend.

    Attributes:
        name: as ``missing_ops(..., backend=name)`` takes it.
        device_type: of its tensors.
        faults: in the order in which they are looked for.
        table: the file that `compile_table` made of the measured cases.
    """

    name: str
    device_type: str
    faults: tuple[Fault, ...]
    table: Path

    @cached_property
    def measured(self) -> dict[str, Any]:
        """The table: where it was measured, what each fault rests on, and the operators that run on the CPU."""
        return dict(json.loads(self.table.read_text(encoding="utf-8")))

    @cached_property
    def cpu_operators(self) -> frozenset[str]:
        """Names, with overloads, of the operators that the backend itself takes to the CPU, with right numbers."""
        return frozenset(self.measured["on_the_cpu"])

    def runs_on_cpu(self, call: Call) -> bool:
        """Whether the backend takes this operator to the CPU by itself."""
        return call.name in self._cpu_names

    @cached_property
    def _cpu_names(self) -> frozenset[str]:
        plain = {name.removeprefix("aten::").partition(".")[0] for name in self.cpu_operators}
        wrong = {op for fault in self.faults for op in fault.ops}
        return frozenset(plain | {f"{name}_" for name in plain}) - wrong - _PARTLY

    @cached_property
    def _by_operator(self) -> dict[str, tuple[Fault, ...]]:
        found: dict[str, list[Fault]] = {}
        for fault in self.faults:
            for op in fault.ops:
                found.setdefault(op, []).append(fault)
        return {op: tuple(faults) for op, faults in found.items()}

    def candidates(self, name: str, *, writes: bool) -> tuple[Fault, ...]:
        """The faults that may strike an operator; those of `ANY` are not among them.

        Args:
            name: of the operator, without overload.
            writes: whether it writes into its first argument.
        """
        return self._by_operator.get(name, ()) + (self._by_operator.get(WRITE, ()) if writes else ())

    @cached_property
    def of_any_operator(self) -> tuple[Fault, ...]:
        """The faults that may strike every operator."""
        return self._by_operator.get(ANY, ())

    def find(self, call: Call, settings: Settings, candidates: Iterable[Fault] | None = None) -> Fault | None:
        """The fault that strikes a call on this backend's device, if one does."""
        if candidates is None:
            candidates = self.of_any_operator + self.candidates(call.name, writes=writes_first(call.func))
        return next((fault for fault in candidates if fault.setting(settings) and fault.applies(call)), None)

    def evidence(self, fault: Fault) -> str:
        """On how many measured cases a fault rests."""
        cases = self.measured["faults"].get(fault.code, {}).get("cases", 0)
        return f"{cases} measured case{'' if cases == 1 else 's'}"


_PARTLY = frozenset({"clamp", "clamp_", "linalg_inv_ex", "_linalg_svd"})
"""Operators of which only one form goes to the CPU; which one, their name does not tell."""


def writes_first(func: Any) -> bool:
    """Whether an operator writes into the memory of its first argument. One that changes its shape alone does not."""
    schema = getattr(func, "_schema", None)
    if schema is None or not schema.arguments or torch.Tag.inplace_view in func.tags:
        return False
    alias = schema.arguments[0].alias_info
    return alias is not None and bool(alias.is_write)


def written(call: Call) -> list[torch.Tensor]:
    """The tensors that an operator writes into: its first one, those of ``out``, running means, or lists of them."""
    schema = getattr(call.func, "_schema", None)
    if schema is None:
        return []
    names = [a.name for a in schema.arguments if a.alias_info is not None and a.alias_info.is_write]
    if not names and call.has("running_mean") and call.first("training", "train", "use_input_stats"):
        names = ["running_mean", "running_var"]  # which the schema does not tell
    return list(tensors_in([call[name] for name in names]))


def views_first(func: Any) -> bool:
    """Whether an operator returns views of its first argument."""
    schema = getattr(func, "_schema", None)
    return schema is not None and any(
        value.alias_info is not None and not value.alias_info.is_write for value in schema.returns
    )
