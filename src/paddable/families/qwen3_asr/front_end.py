"""Waveform to log-mel inside the graph: ``paddable.audio.whisper`` as one convolution, a matrix and pointwise steps.

Legend: B batch, S samples, K DFT bins, M mels, T mel frames (10 ms).
"""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from paddable.audio import whisper

__all__ = ["WhisperFrontEnd"]


class WhisperFrontEnd(nn.Module):
    """Log-mel features of one clip; the maximum that the range hangs on is the clip's own, so the batch must be 1.

    Args:
        mels: number of triangles.
    """

    spectrum: Tensor
    mel_bank: Tensor

    def __init__(self, mels: int = 128) -> None:
        super().__init__()
        angles = 2 * np.pi * np.outer(np.arange(whisper.FFT // 2 + 1), np.arange(whisper.FFT)) / whisper.FFT
        waves = np.concatenate([np.cos(angles), -np.sin(angles)]) * whisper.window()
        self.register_buffer("spectrum", torch.from_numpy(waves[:, None, :]).float(), persistent=False)
        self.register_buffer("mel_bank", torch.from_numpy(whisper.mel_bank(mels).T.copy()).float(), persistent=False)

    def forward(self, audio_BS: Tensor) -> Tensor:
        """Waveform float32 [1, S] in [-1, 1], S >= 1, to features float32 [1, M, T] with T = max(S, 8000) // 160."""
        samples = audio_BS.shape[1]
        missing = torch.sym_max(whisper.SHORTEST - samples, 0)  # type: ignore[no-untyped-call]
        audio_BS = functional.pad(audio_BS, (0, missing))
        # 200 on the right would give one frame more, which the original computes and drops.
        around = (whisper.FFT // 2, whisper.FFT // 2 - whisper.HOP)
        waves_B2KT = functional.conv1d(
            functional.pad(audio_BS[:, None], around, mode="reflect"), self.spectrum, stride=whisper.HOP
        )
        real_BKT, imaginary_BKT = waves_B2KT.chunk(2, dim=1)
        power_BMT = self.mel_bank @ (real_BKT * real_BKT + imaginary_BKT * imaginary_BKT)
        decades_BMT = torch.log(torch.clamp(power_BMT, min=whisper.LOG_FLOOR)) * (1 / math.log(10))
        floor_B11 = decades_BMT.amax(dim=(1, 2), keepdim=True) - whisper.RANGE
        return (torch.maximum(decades_BMT, floor_B11) + 4.0) / 4.0
