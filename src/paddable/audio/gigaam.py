"""GigaAM's log-mel features in numpy: torchaudio's ``MelSpectrogram`` with 64 mels, and a logarithm.

16 kHz, a frame every 160 samples under a periodic Hann window, HTK's triangles from 0 to 8 kHz whose peaks are 1,
ln of the energy clipped to 1e-9 .. 1e9. Versions 1 and 2 take frames of 400 samples, centred with the signal reflected
at both ends; version 3 takes frames of 320 samples that lie wholly in the signal. Source: salute-developers/GigaAM
``gigaam/preprocess.py``; torchaudio ``melscale_fbanks``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from paddable.audio import kaldi, whisper

__all__ = ["MELS", "frames", "log_mel"]

MELS = 64
_BLOCK = 4_096  # frames at a time


def _frame(version: int) -> int:
    return 320 if version == 3 else 400


def frames(samples: int, version: int = 2) -> int:
    """Number of frames of so many samples; 0 where the signal is shorter than one."""
    if samples < kaldi.FRAME:
        return 0
    return (samples - _frame(version)) // kaldi.SHIFT + 1 if version == 3 else samples // kaldi.SHIFT + 1


def mel_bank(fft: int) -> NDArray[np.float64]:
    """Triangular filters, float64 [fft // 2 + 1, MELS], straight lines in Hz."""
    scale = np.linspace(0.0, 2595.0 * np.log10(1.0 + 8_000.0 / 700.0), MELS + 2)
    edges = 700.0 * (10.0 ** (scale / 2595.0) - 1.0)
    left, centre, right = edges[:-2], edges[1:-1], edges[2:]
    bins = np.arange(fft // 2 + 1)[:, None] * (kaldi.SAMPLE_RATE / fft)
    return np.maximum(0.0, np.minimum((bins - left) / (centre - left), (right - bins) / (right - centre)))


def log_mel(audio: NDArray[np.floating], version: int = 2) -> NDArray[np.float32]:
    """Features of one clip, computed in float64.

    Args:
        audio: [S] in [-1, 1] at 16 kHz.
        version: of GigaAM: 1, 2 or 3.

    Returns:
        float32 [F, MELS] with F = ``frames(S, version)``.
    """
    count, size = frames(len(audio), version), _frame(version)
    if count == 0:
        return np.zeros((0, MELS), np.float32)
    signal = np.asarray(audio, np.float64)
    if version != 3:
        signal = np.pad(signal, size // 2, mode="reflect")
    framed = np.lib.stride_tricks.sliding_window_view(signal, size)[:: kaldi.SHIFT][:count]
    taper, bank = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(size) / size), mel_bank(size)
    blocks = [whisper.power(framed[i : i + _BLOCK] * taper) @ bank for i in range(0, count, _BLOCK)]
    features: NDArray[np.float32] = np.log(np.clip(np.concatenate(blocks), 1e-9, 1e9)).astype(np.float32)
    return features
