"""Causal convolutions. Their history follows from kernel, stride and dilation; none is guessed.

A history holds the *input* of the convolution, so that a start from zeros is exactly the left padding.
"""

from __future__ import annotations

from torch import Tensor, nn

from paddable.errors import MisuseError
from paddable.families.layers.streaming.memory import Memory, Slot

__all__ = ["CausalConv", "CausalUpsample"]


class CausalConv(nn.Module):
    """Convolution over time that sees the present and the past: y[t] = b + sum_j w[j] x[t - (k - 1 - j) d].

    Args:
        inputs, outputs: channels.
        kernel: k. ``(k - 1) * dilation`` steps of history.
        rate: steps of this layer per step of the stream.
        dilation, groups: as in ``Conv1d``.
    """

    def __init__(
        self, inputs: int, outputs: int, kernel: int, *, rate: int, dilation: int = 1, groups: int = 1
    ) -> None:
        super().__init__()
        self.conv = nn.Conv1d(inputs, outputs, kernel, dilation=dilation, groups=groups)
        history = (kernel - 1) * dilation
        meaning = f"input of the convolution (kernel {kernel}, dilation {dilation}), {rate} steps a frame"
        self.slots = {"": Slot((1, inputs, history), 2, rate, "zeros", meaning)}

    def forward(self, x_BCT: Tensor, memory: Memory) -> Tensor:
        """[B, inputs, T] to [B, outputs, T]."""
        y: Tensor = self.conv(memory.recall(self.slots[""], x_BCT))
        return y


class CausalUpsample(nn.Module):
    """Transposed convolution by ``stride`` whose right overhang is cut: T steps give exactly ``stride * T``.

    An output reads ``kernel / stride`` inputs, so one step less than that is history. With h history steps in front,
    ``padding = h * stride`` drops their own outputs on the left and the overhang on the right; no slice is needed.

    Args:
        inputs, outputs: channels.
        kernel: a multiple of ``stride``.
        stride: output steps per input step.
        rate: input steps of this layer per step of the stream.
    """

    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int, *, rate: int) -> None:
        super().__init__()
        if kernel % stride:
            raise MisuseError(f"kernel {kernel} is not a multiple of stride {stride}", where="CausalUpsample")
        history = kernel // stride - 1
        self.conv = nn.ConvTranspose1d(inputs, outputs, kernel, stride, padding=history * stride)
        meaning = f"input of the transposed convolution (kernel {kernel}, stride {stride}), {rate} steps a frame"
        self.slots = {"": Slot((1, inputs, history), 2, rate, "zeros", meaning)}

    def forward(self, x_BCT: Tensor, memory: Memory) -> Tensor:
        """[B, inputs, T] to [B, outputs, stride * T]."""
        y: Tensor = self.conv(memory.recall(self.slots[""], x_BCT))
        return y
