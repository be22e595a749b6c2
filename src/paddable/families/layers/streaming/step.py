"""The step form: one chunk of fixed size, explicit states in and out."""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor, nn

from paddable.bundle.state import StateTable
from paddable.errors import MisuseError
from paddable.families.layers.streaming.memory import Memory, StepMemory, declare_states

__all__ = ["StepForm", "Streamable"]


class Streamable(Protocol):
    """A model whose forward takes its input and a memory, and whose output has ``rate`` entries a step."""

    def __call__(self, x: Tensor, memory: Memory) -> Tensor: ...


class StepForm(nn.Module):
    """Runs ``model`` on a chunk of which ``ilens`` steps are valid.

    Args:
        model: maps (x, memory) to an output that is ragged on its last axis.
        output_rate: output entries per step.
        axis: of the steps in x.
    """

    def __init__(self, model: nn.Module, output_rate: int, *, axis: int) -> None:
        super().__init__()
        self.model, self.output_rate, self.axis = model, output_rate, axis
        self.states: StateTable = declare_states(model, next(model.parameters()).dtype)

    def initial(self) -> list[Tensor]:
        """The states at the start of a stream, in the order of ``states``."""
        return [torch.from_numpy(spec.initial()) for spec in self.states]

    def forward(self, x: Tensor, ilens: Tensor, *states: Tensor) -> tuple[Tensor, ...]:
        """One chunk.

        Args:
            x: N steps along ``axis``.
            ilens: int64[1], clamped to 0 .. N; steps from there on may hold anything that is finite.
            states: in the order of ``self.states``.

        Returns:
            The output, exactly 0 from its length on; its length, int64[1]; the next states.
        """
        if len(states) != len(self.states):
            raise MisuseError(f"{len(states)} states given, {len(self.states)} declared", where="StepForm")
        valid = torch.clamp(ilens, 0, x.shape[self.axis])  # a negative count would take rows that do not exist
        memory = StepMemory(dict(zip((spec.name for spec in self.states), states, strict=True)), valid)
        y = self.model(x, memory)
        length = valid * self.output_rate
        y = torch.where(torch.arange(y.shape[-1], device=y.device) < length, y, 0.0)
        self.states.check_names(memory.next)
        return y, length, *(memory.next[spec.name] for spec in self.states)
