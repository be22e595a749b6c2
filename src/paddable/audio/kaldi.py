"""Kaldi's filter bank (``compute-fbank-feats``): constants in float64, and log-mel in numpy.

As FunASR configures it: 16 kHz, frames of 25 ms every 10 ms without padding (``snip_edges``), mean of each frame
removed, pre-emphasis 0.97 inside the frame (the first sample is its own predecessor), symmetric Hamming window,
512-point DFT without the Nyquist bin, 80 triangles that are straight lines on the mel axis from 20 Hz to 8 kHz, natural
logarithm with the floor FLT_EPSILON. ``DIALECTS`` tells how others differ. Source: Kaldi ``feature-window.cc``,
``mel-computations.cc``; the judge in the tests is kaldi-native-fbank.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "DIALECTS",
    "FFT",
    "FRAME",
    "HIGH_HZ",
    "LOG_FLOOR",
    "LOW_HZ",
    "MELS",
    "PREEMPHASIS",
    "SAMPLE_RATE",
    "SCALE",
    "SHIFT",
    "Dialect",
    "frames",
    "log_mel",
    "mel_bank",
    "window",
]

SAMPLE_RATE = 16_000
FRAME = 400
SHIFT = 160
FFT = 512
MELS = 80
LOW_HZ, HIGH_HZ = 20.0, 8_000.0
PREEMPHASIS = 0.97
SCALE = 32_768.0  # Kaldi works on 16-bit integers
LOG_FLOOR = float(np.finfo(np.float32).eps)
_BLOCK = 4_096  # frames at a time, so that an hour of audio needs no more memory than 41 s


@dataclass(frozen=True)
class Dialect:
    """How a project configures the filter bank.

    Attributes:
        povey: Kaldi's own window, a Hann window to the power 0.85, in place of Hamming's.
        scale: what samples in [-1, 1] are multiplied by.
        snip_edges: only frames that lie wholly in the sound; otherwise one every 10 ms, the sound mirrored at its ends.
        high_hz: where the last triangle ends.
    """

    povey: bool = False
    scale: float = SCALE
    snip_edges: bool = True
    high_hz: float = HIGH_HZ


DIALECTS: Mapping[str, Dialect] = {
    "funasr": Dialect(),
    "wenet": Dialect(povey=True),
    "k2": Dialect(povey=True, scale=1.0, snip_edges=False, high_hz=7_600.0),
}
"""By project. ``wenet``: ``wenet/dataset/processor.py``. ``k2`` is icefall's, as lhotse's ``Fbank`` and sherpa-onnx's
``features.cc`` have it."""


def frames(samples: int, dialect: Dialect = DIALECTS["funasr"]) -> int:
    """Number of frames of so many samples; 0 below 400."""
    if samples < FRAME:
        return 0
    return (samples - FRAME) // SHIFT + 1 if dialect.snip_edges else (samples + SHIFT // 2) // SHIFT


def window(*, povey: bool = False) -> NDArray[np.float64]:
    """Symmetric Hamming window, or Kaldi's own; float64 [FRAME]."""
    turn = np.cos(2 * np.pi * np.arange(FRAME) / (FRAME - 1))
    window_: NDArray[np.float64] = (0.5 - 0.5 * turn) ** 0.85 if povey else 0.54 - 0.46 * turn
    return window_


def mel_bank(mels: int = MELS, high_hz: float = HIGH_HZ) -> NDArray[np.float64]:
    """Triangular filters, float64 [FFT // 2, mels]; row k belongs to the bin at k * 31.25 Hz."""
    edges = np.linspace(_mel(LOW_HZ), _mel(high_hz), mels + 2)
    left, centre, right = edges[:-2], edges[1:-1], edges[2:]
    bins = _mel(np.arange(FFT // 2) * SAMPLE_RATE / FFT)[:, None]
    return np.maximum(0.0, np.minimum((bins - left) / (centre - left), (right - bins) / (right - centre)))


def log_mel(audio: NDArray[np.float32], dialect: Dialect = DIALECTS["funasr"], mels: int = MELS) -> NDArray[np.float32]:
    """Log-mel energies of a waveform, computed in float64.

    Args:
        audio: float32 [S] in [-1, 1] at 16 kHz.
        dialect: how they are computed.
        mels: number of triangles.

    Returns:
        float32 [F, mels] with F = ``frames(S)``.
    """
    count = frames(len(audio), dialect)
    if count == 0:
        return np.zeros((0, mels), np.float32)
    if not dialect.snip_edges:  # the middle of frame i is at 160 i + 80
        before = (FRAME - SHIFT) // 2
        behind = (count - 1) * SHIFT + FRAME - before - len(audio)
        audio = np.pad(audio, (before, max(behind, 0)), mode="symmetric")
    framed = np.lib.stride_tricks.sliding_window_view(audio, FRAME)[::SHIFT][:count]
    bank, taper = mel_bank(mels, dialect.high_hz), window(povey=dialect.povey) * dialect.scale
    return np.concatenate([_block(framed[i : i + _BLOCK], bank, taper) for i in range(0, count, _BLOCK)])


def _block(frames: NDArray[np.float32], bank: NDArray[np.float64], taper: NDArray[np.float64]) -> NDArray[np.float32]:
    x = frames.astype(np.float64)
    x -= x.mean(axis=1, keepdims=True)
    previous = np.concatenate([x[:, :1], x[:, :-1]], axis=1)
    spectrum = np.fft.rfft((x - PREEMPHASIS * previous) * taper, FFT)[:, : FFT // 2]
    return np.log(np.maximum(np.abs(spectrum) ** 2 @ bank, LOG_FLOOR)).astype(np.float32)


def _mel(hertz: NDArray[np.float64] | float) -> NDArray[np.float64]:
    return 1127.0 * np.log1p(np.asarray(hertz, np.float64) / 700.0)
