"""Runs the step form chunk by chunk, with junk wherever a frame is not valid."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import torch
from torch import Tensor

from paddable.families.layers.streaming import StepForm

States = list[Tensor]


def random_sizes(total: int, largest: int, rng: np.random.Generator) -> list[int]:
    """Chunk sizes 0 .. ``largest`` that add up to ``total``."""
    sizes: list[int] = []
    while (left := total - sum(sizes)) > 0:
        sizes.append(min(int(rng.integers(0, largest + 1)), left))
    return sizes


def run_chunks(
    form: StepForm,
    codes: Tensor,
    sizes: Iterable[int],
    frames: int,
    tamper: Callable[[States], States] = lambda states: states,
) -> Tensor:
    """The audio [1, samples] of ``codes`` in chunks of ``sizes``; ``tamper`` changes the states between chunks."""
    rng, states, done, parts = np.random.default_rng(5), form.initial(), 0, []
    for size in sizes:
        chunk = torch.from_numpy(rng.integers(-9, 9999, (1, frames, codes.shape[2])))
        chunk[:, :size] = codes[:, done : done + size]
        wav, length, *states = form(chunk, torch.tensor([size]), *states)
        states = tamper(states)
        parts.append(wav[:, : int(length)])
        done += size
    return torch.cat(parts, 1)
