"""Front ends as part of the graph: waveform in, low-frame-rate features out.

Legend: B batch, S samples, F log-mel frames (10 ms), T features (60 ms at stride 6), N samples of a frame, K DFT
bins, M mels.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from paddable.audio import kaldi
from paddable.audio.cmvn import Cmvn
from paddable.errors import MisuseError

__all__ = ["EarlyFrontEnd", "FrontEndKind", "KaldiFrontEnd", "build_front_end"]

FrontEndKind = Literal["kaldi", "early", "none"]

_TAPS = 25  # samples in one partial sum of the DFT


class LowFrameRate(nn.Module):
    """Joins ``stack`` frames every ``stride`` frames; past the ends the first and the last frame repeat."""

    def __init__(self, stack: int, stride: int) -> None:
        super().__init__()
        self.stack, self.stride = stack, stride

    def forward(self, mel_BFM: Tensor) -> Tensor:
        frames = mel_BFM.shape[1]
        features = (frames + self.stride - 1) // self.stride
        offsets = torch.arange(self.stack) - (self.stack - 1) // 2
        index = torch.arange(features)[:, None] * self.stride + offsets
        index = torch.clamp(torch.clamp(index, min=0), max=frames - 1)
        return torch.index_select(mel_BFM, 1, index.flatten()).reshape(-1, features, self.stack * mel_BFM.shape[2])


class KaldiFrontEnd(nn.Module):
    """FunASR's WavFrontend (dither 0): Kaldi log-mel, low frame rate, CMVN.

    Pre-emphasis, window and DFT are one matrix, as in ``paddable.audio.kaldi``. The mean of each frame is removed
    first and the matrix itself maps constants to 0, so a DC offset of any size costs no digits. The product is summed
    in short pieces and the matrix has a second float32 term: in float32 one sum over 400 samples is the larger part of
    the error beside loud low frequencies. Measured against float64 in docs/models/sense_voice.md. TF32 and half
    precision are out of the question here: keep them off, or compute the features in numpy.

    Args:
        stack: frames in one feature.
        stride: frames between two features.
        cmvn: normalisation, or None.

    Attributes:
        shortest: samples of the shortest waveform, one frame.
    """

    shortest = kaldi.FRAME

    frames: Tensor
    spectrum: Tensor
    spectrum_rest: Tensor
    mel_bank: Tensor
    cmvn_shift: Tensor
    cmvn_scale: Tensor

    def __init__(self, stack: int = 7, stride: int = 6, cmvn: Cmvn | None = None) -> None:
        super().__init__()
        matrix = _frame_to_spectrum()
        self._constant("frames", np.eye(kaldi.FRAME)[:, None, :])
        self._constant("spectrum", matrix)
        self._constant("spectrum_rest", matrix - matrix.astype(np.float32))
        self._constant("mel_bank", kaldi.mel_bank())
        self.low_frame_rate = LowFrameRate(stack, stride)
        self.normalised = cmvn is not None
        if cmvn is not None:
            self._constant("cmvn_shift", cmvn.shift)
            self._constant("cmvn_scale", cmvn.scale)

    def forward(self, audio_BS: Tensor) -> Tensor:
        """Waveform float32 [B, S] in [-1, 1], S >= 400, to features float32 [B, T, stack * 80]."""
        # a convolution with the identity cuts frames exactly and needs no index tensor
        frames_BFN = functional.conv1d(audio_BS[:, None], self.frames, stride=kaldi.SHIFT).transpose(1, 2)
        frames_BFN = frames_BFN - frames_BFN.mean(dim=-1, keepdim=True)
        spectrum_BFK = frames_BFN @ self.spectrum_rest
        pieces = zip(torch.split(frames_BFN, _TAPS, -1), torch.split(self.spectrum, _TAPS), strict=True)
        for piece_BFN, taps_NK in pieces:
            spectrum_BFK = spectrum_BFK + piece_BFN @ taps_NK
        real_BFK, imaginary_BFK = spectrum_BFK.chunk(2, dim=-1)
        energy_BFM = (real_BFK * real_BFK + imaginary_BFK * imaginary_BFK) @ self.mel_bank
        feature_BTC: Tensor = self.low_frame_rate(torch.log(torch.clamp(energy_BFM, min=kaldi.LOG_FLOOR)))
        return (feature_BTC + self.cmvn_shift) * self.cmvn_scale if self.normalised else feature_BTC

    def _constant(self, name: str, value: NDArray[np.floating]) -> None:
        _register_constant(self, name, value)


class EarlyFrontEnd(nn.Module):
    """The front end of the first public exports of Fun-ASR-Nano (early 2026), kept so that their users can compare.

    Mean of the whole signal removed, then pre-emphasis over the whole signal (first sample kept), 400-point DFT with a
    periodic Hamming window, frames centred by 200 zeros on both sides, 80 HTK mel triangles 20 Hz to 8 kHz, ln(mel +
    1e-7), low frame rate 7/6. No scaling to 16 bits and no CMVN.
    """

    spectrum: Tensor
    mel_bank: Tensor

    def __init__(self) -> None:
        super().__init__()
        time = np.arange(kaldi.FRAME)
        taper = 0.54 - 0.46 * np.cos(2 * np.pi * time / kaldi.FRAME)
        angle = 2 * np.pi * (np.arange(kaldi.FRAME // 2 + 1)[:, None] * time % kaldi.FRAME) / kaldi.FRAME
        _register_constant(self, "spectrum", (np.concatenate([np.cos(angle), -np.sin(angle)]) * taper)[:, None, :])
        _register_constant(self, "mel_bank", _htk_mel_bank(kaldi.FRAME))
        self.low_frame_rate = LowFrameRate(7, 6)

    def forward(self, audio_BS: Tensor) -> Tensor:
        """Waveform float32 [B, S] in [-1, 1] to features float32 [B, (S // 160 + 6) // 6, 560]."""
        audio_BS = audio_BS - audio_BS.mean(dim=1, keepdim=True)
        audio_BS = torch.cat([audio_BS[:, :1], audio_BS[:, 1:] - kaldi.PREEMPHASIS * audio_BS[:, :-1]], dim=1)
        padded_BS = functional.pad(audio_BS, (kaldi.FRAME // 2, kaldi.FRAME // 2))
        spectrum_BKF = functional.conv1d(padded_BS[:, None], self.spectrum, stride=kaldi.SHIFT)
        real_BKF, imaginary_BKF = spectrum_BKF.chunk(2, dim=1)
        power_BFK = (real_BKF * real_BKF + imaginary_BKF * imaginary_BKF).transpose(1, 2)
        feature_BTC: Tensor = self.low_frame_rate(torch.log(power_BFK @ self.mel_bank + 1e-7))
        return feature_BTC


def build_front_end(kind: FrontEndKind, stack: int, stride: int, cmvn: Cmvn | None) -> nn.Module | None:
    """The front end of that name, None for "none"."""
    if kind == "kaldi":
        return KaldiFrontEnd(stack, stride, cmvn)
    if kind == "early":
        return EarlyFrontEnd()
    if kind == "none":
        return None
    raise MisuseError(f"front end {kind!r}", fix="choose kaldi, early or none")


def _frame_to_spectrum() -> NDArray[np.float64]:
    """Matrix [N, 2K] from a raw frame to real and imaginary parts of its pre-emphasised, windowed 512-point DFT."""
    time = np.arange(kaldi.FRAME)
    angle = 2 * np.pi * (time[:, None] * np.arange(kaldi.FFT // 2) % kaldi.FFT) / kaldi.FFT
    dft = np.concatenate([np.cos(angle), -np.sin(angle)], axis=1) * (kaldi.SCALE * kaldi.window())[:, None]
    pre_emphasis = np.eye(kaldi.FRAME) - kaldi.PREEMPHASIS * np.eye(kaldi.FRAME, k=-1)
    pre_emphasis[0, 0] -= kaldi.PREEMPHASIS
    remove_mean = np.eye(kaldi.FRAME) - 1 / kaldi.FRAME
    return (pre_emphasis @ remove_mean).T @ dft


def _htk_mel_bank(fft: int) -> NDArray[np.float64]:
    """HTK mel triangles, straight lines on the axis in Hz, peak 1; float64 [fft // 2 + 1, MELS]."""

    def mel(hertz: float) -> float:
        return float(2595.0 * np.log10(1.0 + hertz / 700.0))

    edges = 700.0 * (10.0 ** (np.linspace(mel(kaldi.LOW_HZ), mel(kaldi.HIGH_HZ), kaldi.MELS + 2) / 2595.0) - 1.0)
    left, centre, right = edges[:-2], edges[1:-1], edges[2:]
    bins = (np.arange(fft // 2 + 1) * kaldi.SAMPLE_RATE / fft)[:, None]
    return np.maximum(0.0, np.minimum((bins - left) / (centre - left), (right - bins) / (right - centre)))


def _register_constant(module: nn.Module, name: str, value: NDArray[np.floating]) -> None:
    # not persistent: a checkpoint holds no front end
    module.register_buffer(name, torch.tensor(value, dtype=torch.float32), persistent=False)
