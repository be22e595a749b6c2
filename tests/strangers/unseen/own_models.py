"""Architectures from the literature, written here as their papers have them, small and with random weights."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from tests.strangers.unseen.own_attention import (
    MEL,
    AlibiTransformer,
    Branchformer,
    CausalTransformer,
    Conformer,
    GruSeq,
    LinearAttention,
    LocalAttention,
    RetNet,
    ShawAttention,
    Squeezeformer,
    Zipformer,
)
from torch import Tensor, nn
from torch.nn import functional as F

Case = tuple[nn.Module, Tensor, int]
"""A module, an example of its input, and the axis of that input which is time. Axis 0 counts rows."""


class QuartzNet(nn.Module):
    """Separable convolutions with residuals (Kriman 2020)."""

    def __init__(self) -> None:
        super().__init__()
        self.depth = nn.ModuleList(nn.Conv1d(MEL, MEL, 11, padding=5, groups=MEL) for _ in range(3))
        self.point = nn.ModuleList(nn.Sequential(nn.Conv1d(MEL, MEL, 1), nn.BatchNorm1d(MEL)) for _ in range(3))

    def forward(self, x: Tensor) -> Tensor:
        for depth, point in zip(self.depth, self.point, strict=True):
            x = torch.relu(x + point(depth(x)))
        return x


class Citrinet(nn.Module):
    """Squeeze and excitation over all of time, and a stride (Majumdar 2021)."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv1d(MEL, 24, 5, stride=2, padding=2)
        self.squeeze = nn.Sequential(nn.Linear(24, 6), nn.ReLU(), nn.Linear(6, 24), nn.Sigmoid())

    def forward(self, x: Tensor) -> Tensor:
        x = self.conv(x)
        return x * self.squeeze(x.mean(2))[:, :, None]


class ContextNet(nn.Module):
    """Squeeze by adaptive pooling to one (Han 2020)."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.pool = nn.Conv1d(MEL, 24, 5, padding=2), nn.AdaptiveAvgPool1d(1)
        self.gate = nn.Conv1d(24, 24, 1)

    def forward(self, x: Tensor) -> Tensor:
        x = F.silu(self.conv(x))
        return x * torch.sigmoid(self.gate(self.pool(x)))


class EcapaTdnn(nn.Module):
    """Attentive statistics over time: one vector a recording (Desplanques 2020)."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv1d(MEL, 24, 5, padding=2)
        self.parts = nn.ModuleList(nn.Conv1d(6, 6, 3, padding=2, dilation=2) for _ in range(3))
        self.score = nn.Sequential(nn.Conv1d(72, 12, 1), nn.Tanh(), nn.Conv1d(12, 24, 1))
        self.out = nn.Linear(48, 16)

    def forward(self, x: Tensor) -> Tensor:
        x = torch.relu(self.first(x))
        pieces = list(torch.chunk(x, 4, 1))
        for i, conv in enumerate(self.parts):
            pieces[i + 1] = torch.relu(conv(pieces[i + 1] + (pieces[i] if i else 0)))
        x = torch.cat(pieces, 1)
        mean, std = x.mean(2, keepdim=True), x.var(2, keepdim=True).clamp(min=1e-5).sqrt()
        context = torch.cat([x, mean.expand_as(x), std.expand_as(x)], 1)
        weight = torch.softmax(self.score(context), 2)
        mu = (weight * x).sum(2)
        sigma = ((weight * x * x).sum(2) - mu * mu).clamp(min=1e-5).sqrt()
        return self.out(torch.cat([mu, sigma], 1))


class XVector(nn.Module):
    """Frames by dilated TDNN without padding, then mean and deviation (Snyder 2018)."""

    def __init__(self) -> None:
        super().__init__()
        self.tdnn = nn.Sequential(
            nn.Conv1d(MEL, 24, 5),
            nn.ReLU(),
            nn.Conv1d(24, 24, 3, dilation=2),
            nn.ReLU(),
            nn.Conv1d(24, 24, 3, dilation=3),
        )
        self.out = nn.Linear(48, 16)

    def forward(self, x: Tensor) -> Tensor:
        x = self.tdnn(x)
        return self.out(torch.cat([x.mean(2), x.std(2)], 1))


class ConvTasNet(nn.Module):
    """Masks on a learned basis, global layer norm, and the waveform again by a transposed convolution (Luo 2019)."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder, self.decoder = nn.Conv1d(1, 24, 16, 8), nn.ConvTranspose1d(24, 1, 16, 8)
        self.norm = nn.GroupNorm(1, 24)
        self.blocks = nn.ModuleList(
            nn.Sequential(
                nn.Conv1d(24, 24, 1), nn.PReLU(), nn.GroupNorm(1, 24),
                nn.Conv1d(24, 24, 3, padding=2**k, dilation=2**k, groups=24), nn.PReLU(), nn.GroupNorm(1, 24),
            )
            for k in range(3)
        )  # fmt: skip

    def forward(self, x: Tensor) -> Tensor:
        basis = torch.relu(self.encoder(x[:, None]))
        y = self.norm(basis)
        for block in self.blocks:
            y = y + block(y)
        return self.decoder(basis * torch.sigmoid(y))[:, 0]


class Demucs(nn.Module):
    """A U-Net on the waveform with an LSTM at its bottom (Defossez 2019)."""

    def __init__(self) -> None:
        super().__init__()
        self.down = nn.ModuleList([nn.Conv1d(1, 8, 8, 4, padding=2), nn.Conv1d(8, 16, 8, 4, padding=2)])
        self.up = nn.ModuleList([nn.ConvTranspose1d(16, 8, 8, 4, padding=2), nn.ConvTranspose1d(8, 1, 8, 4, padding=2)])
        self.lstm = nn.LSTM(16, 8, bidirectional=True, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        first = F.gelu(self.down[0](x[:, None]))
        y = F.gelu(self.down[1](first))
        y = y + self.lstm(y.transpose(1, 2))[0].transpose(1, 2)
        y = F.gelu(self.up[0](y))
        y = self.up[1](y + first[:, :, : y.shape[2]])
        return y[:, 0]


class DeepSpeech2(nn.Module):
    """Two-dimensional convolutions, then two-way GRUs (Amodei 2016)."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Sequential(nn.Conv2d(1, 4, (5, 5), (2, 2), (2, 2)), nn.BatchNorm2d(4), nn.Hardtanh(0, 20))
        self.gru = nn.GRU(4 * 10, 16, 2, bidirectional=True, batch_first=True)
        self.out = nn.Linear(32, 12)

    def forward(self, x: Tensor) -> Tensor:
        x = self.conv(x.transpose(1, 2)[:, None]).flatten(1, 2).transpose(1, 2)
        return torch.log_softmax(self.out(self.gru(x)[0]), -1)


class Crnn(nn.Module):
    """Convolutions with pooling of frequency alone, an LSTM, and its last step (sound events)."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.MaxPool2d((1, 5)))
        self.lstm, self.out = nn.LSTM(16, 12, batch_first=True), nn.Linear(12, 5)

    def forward(self, x: Tensor) -> Tensor:
        x = self.conv(x[:, None]).transpose(1, 2).flatten(2)
        return self.out(self.lstm(x)[0][:, -1])


class Wavenet(nn.Module):
    """Gated causal convolutions with skips (van den Oord 2016)."""

    def __init__(self) -> None:
        super().__init__()
        self.gates = nn.ModuleList(nn.Conv1d(16, 32, 2, dilation=2**k) for k in range(4))
        self.skips = nn.ModuleList(nn.Conv1d(16, 16, 1) for _ in range(4))
        self.first, self.last = nn.Conv1d(MEL, 16, 1), nn.Conv1d(16, 10, 1)

    def forward(self, x: Tensor) -> Tensor:
        x, total = self.first(x), torch.zeros(1)
        for k, (gate, skip) in enumerate(zip(self.gates, self.skips, strict=True)):
            a, b = gate(F.pad(x, (2**k, 0))).chunk(2, 1)
            y = skip(torch.tanh(a) * torch.sigmoid(b))
            x, total = x + y, total + y
        return self.last(torch.relu(total))


class Dprnn(nn.Module):
    """Frames cut to chunks of half overlap, an LSTM within and one across, and the overlap added again (Luo 2020)."""

    def __init__(self, size: int = 8) -> None:
        super().__init__()
        self.size = size
        self.inp = nn.Conv1d(MEL, 12, 1)
        self.within, self.across = (
            nn.LSTM(12, 6, bidirectional=True, batch_first=True),
            nn.LSTM(12, 6, bidirectional=True, batch_first=True),
        )

    def forward(self, x: Tensor) -> Tensor:
        x = self.inp(x)
        half, steps = self.size // 2, x.shape[2]
        rest = self.size - (half + steps % self.size) % self.size
        y = F.pad(x, (half, rest + half))
        pieces = y.unfold(2, self.size, half)  # [B, C, S, K]
        batch, channels, count, size = pieces.shape
        z = pieces.permute(0, 2, 3, 1).reshape(batch * count, size, channels)
        z = (
            (z + self.within(z)[0])
            .reshape(batch, count, size, channels)
            .transpose(1, 2)
            .reshape(batch * size, count, channels)
        )
        z = (z + self.across(z)[0]).reshape(batch, size, count, channels)
        return z.mean(1)


class BcResNet(nn.Module):
    """Frequency pooled and broadcast again over time (Kim 2021)."""

    def __init__(self) -> None:
        super().__init__()
        self.f = nn.Conv2d(8, 8, (3, 1), padding=(1, 0), groups=8)
        self.t = nn.Conv2d(8, 8, (1, 3), padding=(0, 1), groups=8)
        self.first, self.point = nn.Conv2d(1, 8, 5, (2, 1), 2), nn.Conv2d(8, 8, 1)

    def forward(self, x: Tensor) -> Tensor:
        x = self.f(self.first(x[:, None]))
        y = self.point(F.silu(self.t(x.mean(2, keepdim=True))))
        return torch.relu(x + y).mean((2, 3))


class SincNet(nn.Module):
    """Band-pass filters made from their two edges, then max pooling (Ravanelli 2018)."""

    def __init__(self) -> None:
        super().__init__()
        self.low, self.band = nn.Parameter(torch.rand(8) * 0.1), nn.Parameter(torch.rand(8) * 0.2)
        self.register_buffer("n", torch.arange(-25.0, 26.0))
        self.norm = nn.InstanceNorm1d(8, affine=True)

    def forward(self, x: Tensor) -> Tensor:
        n = self.n + 1e-3
        high = self.low.abs() + self.band.abs()
        filters = (
            torch.sin(2 * math.pi * high[:, None] * n) - torch.sin(2 * math.pi * self.low.abs()[:, None] * n)
        ) / (math.pi * n)
        y = F.conv1d(x[:, None], filters[:, None] * torch.hamming_window(51), stride=5)
        return F.leaky_relu(self.norm(F.max_pool1d(y.abs(), 3)))


class PyramidBlstm(nn.Module):
    """Pairs of steps joined between layers: an odd last step is dropped (Chan 2016)."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = (
            nn.LSTM(MEL, 8, bidirectional=True, batch_first=True),
            nn.LSTM(32, 8, bidirectional=True, batch_first=True),
        )

    def forward(self, x: Tensor) -> Tensor:
        y = self.first(x)[0]
        half = y.shape[1] // 2
        return self.second(y[:, : half * 2].reshape(y.shape[0], half, 32))[0]


class MelGan(nn.Module):
    """Reflected edges and transposed convolutions to the waveform (Kumar 2019)."""

    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(
            nn.ReflectionPad1d(3), nn.Conv1d(MEL, 16, 7), nn.LeakyReLU(0.2), nn.ConvTranspose1d(16, 8, 8, 4, padding=2),
            nn.LeakyReLU(0.2), nn.ReflectionPad1d(1), nn.Conv1d(8, 8, 3), nn.LeakyReLU(0.2),
            nn.Conv1d(8, 1, 1), nn.Tanh(),
        )  # fmt: skip

    def forward(self, x: Tensor) -> Tensor:
        return self.net(x)[:, 0]


class WaveGlow(nn.Module):
    """Samples grouped by eight, one affine coupling and a mixing of channels (Prenger 2019)."""

    def __init__(self) -> None:
        super().__init__()
        self.net, self.mix = nn.Conv1d(4, 8, 3, padding=1), nn.Parameter(torch.linalg.qr(torch.randn(8, 8))[0])

    def forward(self, x: Tensor) -> Tensor:
        x = x.unflatten(1, (-1, 8)).transpose(1, 2)
        a, b = torch.matmul(self.mix, x).chunk(2, 1)
        s, t = self.net(a).chunk(2, 1)
        return torch.cat([a, b * torch.exp(torch.tanh(s)) + t], 1).transpose(1, 2).flatten(1)


class LogMel(nn.Module):
    """Frames by a convolution with a Fourier basis, mel filters, log, and the mean of each band taken off."""

    def __init__(self) -> None:
        super().__init__()
        n = torch.arange(64.0)
        angle = 2 * math.pi * torch.arange(33.0)[:, None] * n / 64
        self.register_buffer("basis", (torch.cat([angle.cos(), -angle.sin()]) * torch.hann_window(64))[:, None])
        self.register_buffer("mel", torch.rand(MEL, 33))

    def forward(self, x: Tensor) -> Tensor:
        y = F.conv1d(F.pad(x[:, None], (32, 32), mode="reflect"), self.basis, stride=16)
        power = y[:, :33] ** 2 + y[:, 33:] ** 2
        logs = torch.log(torch.matmul(self.mel, power) + 1e-6)
        return logs - logs.mean(2, keepdim=True)


class WhisperFeatures(nn.Module):
    """Log-mel with the ceiling taken from the loudest frame (Radford 2022)."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mel", torch.rand(MEL, 33))

    def forward(self, x: Tensor) -> Tensor:
        logs = torch.clamp(torch.matmul(self.mel, x * x), min=1e-10).log10()
        logs = torch.maximum(logs, logs.amax((1, 2), keepdim=True) - 8)
        return (logs + 4) / 4


class Vocos(nn.Module):
    """ConvNeXt blocks at the frame rate, and frames by an inverse Fourier basis (Siuzdak 2023)."""

    def __init__(self) -> None:
        super().__init__()
        self.depth, self.norm = nn.Conv1d(MEL, MEL, 7, padding=3, groups=MEL), nn.LayerNorm(MEL)
        self.wide, self.narrow, self.head = nn.Linear(MEL, 40), nn.Linear(40, MEL), nn.Linear(MEL, 34)
        self.back = nn.ConvTranspose1d(34, 1, 32, 8, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        y = self.narrow(F.gelu(self.wide(self.norm(self.depth(x).transpose(1, 2)))))
        m, p = self.head(x.transpose(1, 2) + y).chunk(2, -1)
        size = torch.exp(m).clamp(max=100)
        return self.back(torch.cat([size * p.cos(), size * p.sin()], -1).transpose(1, 2))[:, 0]


class DurationPredictor(nn.Module):
    """Convolutions with layer norm in between, one number a token, and their running total (FastSpeech)."""

    def __init__(self) -> None:
        super().__init__()
        self.table, self.conv = nn.Embedding(50, 16), nn.Conv1d(16, 16, 3, padding=1)
        self.norm, self.out = nn.LayerNorm(16), nn.Linear(16, 1)

    def forward(self, x: Tensor) -> Tensor:
        y = self.norm(torch.relu(self.conv(self.table(x).transpose(1, 2))).transpose(1, 2))
        return torch.cumsum(F.softplus(self.out(y)[..., 0]), 1)


class MultiScale(nn.Module):
    """Pools of three sizes brought back to the full rate by nearest neighbours (U-Net of separation)."""

    def __init__(self) -> None:
        super().__init__()
        self.pools, self.mix = nn.ModuleList(nn.AvgPool1d(2**k, 2**k) for k in (1, 2)), nn.Conv1d(3 * MEL, MEL, 1)

    def forward(self, x: Tensor) -> Tensor:
        full = x.shape[2] // 4 * 4
        x = x[:, :, :full]
        parts = [x, *(F.interpolate(pool(x), scale_factor=float(2 ** (k + 1))) for k, pool in enumerate(self.pools))]
        return self.mix(torch.cat(parts, 1))


def _mel(steps: int = 48, rows: int = 2) -> Tensor:
    return torch.randn(rows, MEL, steps)


def _frames(steps: int = 48) -> Tensor:
    return torch.randn(2, steps, MEL)


def _wave(steps: int = 1600) -> Tensor:
    return 0.1 * torch.randn(2, steps)


OWN: dict[str, Callable[[], Case]] = {
    "quartznet": lambda: (QuartzNet(), _mel(), 2),
    "citrinet": lambda: (Citrinet(), _mel(), 2),
    "contextnet": lambda: (ContextNet(), _mel(), 2),
    "ecapa_tdnn": lambda: (EcapaTdnn(), _mel(), 2),
    "x_vector": lambda: (XVector(), _mel(), 2),
    "conv_tasnet": lambda: (ConvTasNet(), _wave(), 1),
    "demucs": lambda: (Demucs(), _wave(), 1),
    "deepspeech2": lambda: (DeepSpeech2(), _frames(), 1),
    "crnn": lambda: (Crnn(), _frames(), 1),
    "wavenet": lambda: (Wavenet(), _mel(), 2),
    "conformer": lambda: (Conformer(), _frames(), 1),
    "squeezeformer": lambda: (Squeezeformer(), _frames(), 1),
    "branchformer": lambda: (Branchformer(), _frames(), 1),
    "dprnn": lambda: (Dprnn(), _mel(), 2),
    "bc_resnet": lambda: (BcResNet(), _mel(), 2),
    "sincnet": lambda: (SincNet(), _wave(), 1),
    "alibi": lambda: (AlibiTransformer(), _frames(), 1),
    "shaw": lambda: (ShawAttention(), _frames(), 1),
    "linear_attention": lambda: (LinearAttention(), _frames(), 1),
    "retnet": lambda: (RetNet(), _frames(), 1),
    "gru_attention_pool": lambda: (GruSeq(), _frames(), 1),
    "pyramid_blstm": lambda: (PyramidBlstm(), _frames(), 1),
    "melgan": lambda: (MelGan(), _mel(), 2),
    "waveglow": lambda: (WaveGlow(), _wave(), 1),
    "log_mel": lambda: (LogMel(), _wave(), 1),
    "whisper_features": lambda: (WhisperFeatures(), torch.randn(2, 33, 48), 2),
    "vocos": lambda: (Vocos(), _mel(), 2),
    "duration_predictor": lambda: (DurationPredictor(), torch.randint(0, 50, (2, 24)), 1),
    "local_attention": lambda: (LocalAttention(), _frames(), 1),
    "zipformer": lambda: (Zipformer(), _frames(), 1),
    "multi_scale": lambda: (MultiScale(), _mel(), 2),
    "causal_gqa": lambda: (CausalTransformer(), _frames(), 1),
}
