"""Whisper's log-mel features, as Qwen3-ASR uses them: constants in float64, and the features in numpy.

16 kHz, 400-point DFT every 160 samples, periodic Hann window, frames centred with the signal reflected at both ends,
triangles on Slaney's mel scale from 0 to 8 kHz with unit area, log10 with the floor 1e-10, everything below the maximum
of the clip minus 8 raised to it, (x + 4) / 4. Source: openai-whisper ``audio.py``; librosa's ``filters.mel`` for the
triangles. Unlike Whisper, Qwen3-ASR does not pad a clip to 30 s; it makes clips under half a second half a second long.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "FFT",
    "HOP",
    "LOG_FLOOR",
    "RANGE",
    "SAMPLE_RATE",
    "SHORTEST",
    "frames",
    "log_mel",
    "mel_bank",
    "power",
    "window",
]

SAMPLE_RATE = 16_000
FFT = 400
HOP = 160
LOG_FLOOR = 1e-10
RANGE = 8.0  # decades below the maximum of the clip
SHORTEST = 8_000  # samples; a shorter clip gets zeros at its end
_BLOCK = 4_096  # frames at a time


def frames(samples: int) -> int:
    """Number of log-mel frames of so many samples: one every 10 ms, at least those of half a second."""
    return max(samples, SHORTEST) // HOP


def window() -> NDArray[np.float64]:
    """Periodic Hann window, float64 [FFT]."""
    return 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(FFT) / FFT)


def mel_bank(mels: int, fft: int = FFT) -> NDArray[np.float64]:
    """Triangular filters of unit area, float64 [fft // 2 + 1, mels]; row k belongs to the bin at k * 16000 / fft Hz."""
    edges = _hertz(np.linspace(0.0, _mel(SAMPLE_RATE / 2), mels + 2))
    left, centre, right = edges[:-2], edges[1:-1], edges[2:]
    bins = np.arange(fft // 2 + 1)[:, None] * (SAMPLE_RATE / fft)
    triangles = np.maximum(0.0, np.minimum((bins - left) / (centre - left), (right - bins) / (right - centre)))
    return triangles * (2.0 / (right - left))


def log_mel(audio: NDArray[np.floating], mels: int = 128) -> NDArray[np.float32]:
    """Features of one clip, computed in float64.

    Args:
        audio: [S] in [-1, 1] at 16 kHz, at least one sample.
        mels: number of triangles.

    Returns:
        float32 [mels, F] with F = ``frames(S)``.
    """
    signal = np.asarray(audio, np.float64)
    signal = np.pad(signal, (0, max(SHORTEST - len(signal), 0)))
    framed = np.lib.stride_tricks.sliding_window_view(np.pad(signal, FFT // 2, mode="reflect"), FFT)[::HOP][:-1]
    bank, taper = mel_bank(mels), window()
    blocks = [power(framed[start : start + _BLOCK] * taper) @ bank for start in range(0, len(framed), _BLOCK)]
    decades = np.log10(np.maximum(np.concatenate(blocks), LOG_FLOOR))
    features: NDArray[np.float32] = ((np.maximum(decades, decades.max() - RANGE) + 4.0) / 4.0).T.astype(np.float32)
    return features


def power(frames_: NDArray[np.float64]) -> NDArray[np.float64]:
    """Power spectrum of each row."""
    return np.abs(np.fft.rfft(frames_, axis=1)) ** 2


# Slaney's scale: linear below 1 kHz (15 mels), then 27 mels for every factor of 6.4.
_LINEAR_HZ, _LINEAR_MEL, _STEP = 1_000.0, 15.0, np.log(6.4) / 27.0


def _mel(hertz: float) -> float:
    if hertz < _LINEAR_HZ:
        return hertz * _LINEAR_MEL / _LINEAR_HZ
    return float(_LINEAR_MEL + np.log(hertz / _LINEAR_HZ) / _STEP)


def _hertz(mel: NDArray[np.float64]) -> NDArray[np.float64]:
    curved = _LINEAR_HZ * np.exp(_STEP * (mel - _LINEAR_MEL))
    return np.where(mel < _LINEAR_MEL, mel * _LINEAR_HZ / _LINEAR_MEL, curved)
