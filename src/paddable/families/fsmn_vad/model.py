"""FSMN-VAD: posteriors of speech and silence every 10 ms.

Linear layers around causal memory blocks: a depthwise convolution over the last 20 steps, added to its own input.
Zhang et al., "Deep-FSMN for large vocabulary continuous speech recognition" (2018), in the form of FunASR's ``FSMN``,
whose parameter names these are.

Legend: B batch, S samples, T features (10 ms), C channels, K classes.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from paddable.families.fsmn_vad.config import FsmnVadConfig

__all__ = ["FsmnVad"]


class FsmnVad(nn.Module):
    """Class posteriors from a waveform, or from features.

    Args:
        config: sizes.
        front_end: waveform to features; None where the model is fed features.
    """

    def __init__(self, config: FsmnVadConfig, front_end: nn.Module | None = None) -> None:
        super().__init__()
        self.config = config
        self.front_end = front_end or nn.Identity()
        self.in_linear1 = nn.Linear(config.input_size, config.affine_size)
        self.in_linear2 = nn.Linear(config.affine_size, config.size)
        self.fsmn = nn.ModuleList(
            MemoryBlock(config.size, config.memory_size, config.order) for _ in range(config.blocks)
        )
        self.out_linear1 = nn.Linear(config.size, config.affine_size)
        self.out_linear2 = nn.Linear(config.affine_size, config.classes)

    def forward(self, sound: Tensor) -> Tensor:
        """Posteriors.

        Args:
            sound: waveform float32 [B, S] in [-1, 1] at 16 kHz, or features float32 [B, T, 400] without a front end.

        Returns:
            float32 [B, T, K]; rows add up to 1.
        """
        x_BTC = torch.relu(self.in_linear2(self.in_linear1(self.front_end(sound))))
        for block in self.fsmn:
            x_BTC = block(x_BTC)
        return torch.softmax(self.out_linear2(self.out_linear1(x_BTC)), dim=-1)


class MemoryBlock(nn.Module):
    """Projection, memory, affine layer, ReLU."""

    def __init__(self, size: int, memory_size: int, order: int) -> None:
        super().__init__()
        self.linear = nn.Linear(size, memory_size, bias=False)
        self.memory = nn.Conv1d(memory_size, memory_size, order, groups=memory_size, bias=False)
        self.affine = nn.Linear(memory_size, size)
        self.look_back = order - 1

    def forward(self, x_BTC: Tensor) -> Tensor:
        x_BCT = self.linear(x_BTC).transpose(1, 2)
        x_BCT = x_BCT + self.memory(functional.pad(x_BCT, (self.look_back, 0)))
        return torch.relu(self.affine(x_BCT.transpose(1, 2)))
