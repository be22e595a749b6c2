"""What came before: the one difference between running a stream whole and running it chunk by chunk.

A causal layer never knows which of the two it does. It asks its :class:`Memory` for the input with its past in front
(``recall``) and computes. In the whole form the past is what the layer starts from; in the step form it is a state
tensor, and the memory notes what the next chunk needs:

    whole    [ 0 0 | x0 x1 x2 x3 x4 x5 ]
    step 1   [ 0 0 | x0 x1 x2 -- ]            valid = 3, "--" is junk
    step 2         [ x1 x2 | x3 x4 x5 -- ]    next = the last 2 before the junk
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from paddable.bundle.state import StateSpec, StateTable
from paddable.errors import MisuseError

__all__ = ["COUNT", "Memory", "Slot", "StepMemory", "WholeMemory", "declare_states"]

COUNT = "count"


@dataclass
class Slot:
    """The past that one layer needs.

    Attributes:
        shape: of the state tensor; ``shape[axis]`` is the number of remembered steps, 0 if the layer needs none.
        axis: time axis.
        rate: steps of this layer per step of the stream.
        start: ``zeros``: the stream begins after zeros (left padding of a convolution); ``empty``: it begins after
            nothing (attention keys), and unused rows are masked by the memory's count.
        meaning: one line for the documentation.
        name: set by :func:`declare_states` from the layer's path.
    """

    shape: tuple[int, ...]
    axis: int
    rate: int
    start: Literal["zeros", "empty"]
    meaning: str
    name: str = ""

    @property
    def steps(self) -> int:
        return self.shape[self.axis]


class Memory(Protocol):
    """Gives a layer its past."""

    @property
    def count(self) -> Tensor | None:
        """int64[1]: valid rows at the end of every ``empty`` slot, or None when those slots hold nothing."""

    def recall(self, slot: Slot, x: Tensor) -> Tensor:
        """``x`` with its past in front, along ``slot.axis``."""


class WholeMemory:
    """The stream begins here and is given at once; nothing is kept."""

    count = None

    def recall(self, slot: Slot, x: Tensor) -> Tensor:
        if slot.start == "empty" or not slot.steps:
            return x
        behind = [0, 0] * (x.ndim - 1 - slot.axis)
        return F.pad(x, [*behind, slot.steps, 0])


class StepMemory:
    """The past is in ``states``; what the next chunk needs is left in ``next``.

    Args:
        states: state name to tensor, ``count`` (int64[1]) included if any slot starts empty.
        valid: int64[1], valid steps of this chunk; later ones change neither states nor valid outputs.
    """

    def __init__(self, states: Mapping[str, Tensor], valid: Tensor) -> None:
        self._states, self._valid = states, valid
        self._rows: dict[tuple[int, int], Tensor] = {}
        self.next: dict[str, Tensor] = {}

    @property
    def count(self) -> Tensor | None:
        return self._states.get(COUNT)

    def recall(self, slot: Slot, x: Tensor) -> Tensor:
        if not slot.steps:
            return x
        extended = torch.cat([self._states[slot.name], x], slot.axis)
        kept = self._kept_rows(slot)
        self.next[slot.name] = torch.index_select(extended, slot.axis, kept)
        if slot.start == "empty" and COUNT not in self.next:
            # The first kept row is as many rows on as are new. Adding the valid steps themselves would share no
            # computed value with the rest of the graph, and DirectML would run it as a fused graph of its own.
            self.next[COUNT] = torch.clamp(self._states[COUNT] + kept[:1], max=slot.steps)
        return extended

    def _kept_rows(self, slot: Slot) -> Tensor:
        """The ``steps`` rows before the junk. A Gather: also right when the chunk is shorter than the history."""
        key = slot.steps, slot.rate
        if key not in self._rows:
            self._rows[key] = torch.arange(slot.steps, device=self._valid.device) + self._valid * slot.rate
        return self._rows[key]


def declare_states(model: nn.Module, dtype: torch.dtype = torch.float32) -> StateTable:
    """Name every slot of ``model`` after its layer's path and list the states, the count last.

    A layer offers its slots in an attribute ``slots`` (part of its name to :class:`Slot`).

    Raises:
        MisuseError: caches of different sizes, which one count cannot describe.
    """
    found = [
        ("_".join(filter(None, [path.replace(".", "_"), part])) or "history", slot)
        for path, module in model.named_modules()
        for part, slot in getattr(module, "slots", {}).items()
        if slot.steps
    ]
    for name, slot in found:
        slot.name = name
    element = str(dtype).removeprefix("torch.")
    specs = [StateSpec(slot.name, slot.shape, element, slot.meaning) for _, slot in found]
    if capacity := _cache_capacity(slot for _, slot in found):
        meaning = f"valid rows at the end of every cache, 0 to {capacity}"
        specs.append(StateSpec(COUNT, (1,), "int64", meaning, low=0, high=capacity))
    return StateTable(tuple(specs))


def _cache_capacity(slots: Iterable[Slot]) -> int | None:
    sizes = {(slot.steps, slot.rate) for slot in slots if slot.start == "empty"}
    if len(sizes) > 1:
        raise MisuseError(f"caches of several sizes (steps, rate): {sorted(sizes)}", fix="give all layers one window")
    return sizes.pop()[0] if sizes else None
