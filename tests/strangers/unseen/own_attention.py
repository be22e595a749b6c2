"""Attention as the literature has it, written here, small and with random weights; each takes [rows, steps, mel]."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

MEL = 20


class Conformer(nn.Module):
    """One block with Transformer-XL positions (Gulati 2020)."""

    def __init__(self, dim: int = 24, heads: int = 4) -> None:
        super().__init__()
        self.heads, self.size = heads, dim // heads
        self.inp = nn.Linear(MEL, dim)
        self.qkv, self.pos, self.out = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim, bias=False), nn.Linear(dim, dim)
        self.u, self.v = nn.Parameter(torch.randn(heads, self.size)), nn.Parameter(torch.randn(heads, self.size))
        self.norm, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.wide, self.depth, self.narrow = (
            nn.Conv1d(dim, 2 * dim, 1),
            nn.Conv1d(dim, dim, 7, padding=3, groups=dim),
            nn.Conv1d(dim, dim, 1),
        )
        self.bn = nn.BatchNorm1d(dim)

    def positions(self, x: Tensor, dim: int) -> Tensor:
        place = torch.arange(x.shape[1] - 1, -x.shape[1], -1, dtype=torch.float32)
        angle = place[:, None] * torch.exp(torch.arange(0, dim, 2) * (-math.log(1e4) / dim))
        return torch.stack([angle.sin(), angle.cos()], -1).flatten(1)

    def forward(self, x: Tensor) -> Tensor:
        x = self.inp(x)
        batch, steps, dim = x.shape
        q, k, v = self.qkv(self.norm(x)).reshape(batch, steps, 3, self.heads, self.size).unbind(2)
        p = self.pos(self.positions(x, dim)).reshape(1, -1, self.heads, self.size)
        content = torch.einsum("bihd,bjhd->bhij", q + self.u, k)
        place = torch.einsum("bihd,bjhd->bhij", q + self.v, p.expand(batch, -1, -1, -1))
        place = (
            F.pad(place, (1, 0)).reshape(batch, self.heads, -1, steps)[:, :, 1:].reshape(batch, self.heads, steps, -1)
        )
        weight = torch.softmax((content + place[..., :steps]) / self.size**0.5, -1)
        x = x + self.out(torch.einsum("bhij,bjhd->bihd", weight, v).reshape(batch, steps, dim))
        y = F.glu(self.wide(self.norm2(x).transpose(1, 2)), 1)
        return x + self.narrow(F.silu(self.bn(self.depth(y)))).transpose(1, 2)


class Squeezeformer(nn.Module):
    """A stride in the middle and the full rate again at the end, with the skip (Kim 2022)."""

    def __init__(self) -> None:
        super().__init__()
        self.inp, self.down, self.mid = nn.Linear(MEL, 24), nn.Conv1d(24, 24, 3, 2, 1), nn.Linear(24, 24)

    def forward(self, x: Tensor) -> Tensor:
        x = self.inp(x)
        y = torch.relu(self.mid(self.down(x.transpose(1, 2)).transpose(1, 2)))
        return x + y.repeat_interleave(2, 1)[:, : x.shape[1]]


class Branchformer(nn.Module):
    """Attention beside a convolutional gating unit (Peng 2022)."""

    def __init__(self) -> None:
        super().__init__()
        self.inp, self.attention = nn.Linear(MEL, 24), nn.MultiheadAttention(24, 4, batch_first=True)
        self.wide, self.norm = nn.Linear(24, 48), nn.LayerNorm(24)
        self.gate, self.merge = nn.Conv1d(24, 24, 5, padding=2, groups=24), nn.Linear(48, 24)

    def forward(self, x: Tensor) -> Tensor:
        x = self.inp(x)
        a = self.attention(x, x, x, need_weights=False)[0]
        u, v = F.gelu(self.wide(x)).chunk(2, -1)
        c = u * self.gate(self.norm(v).transpose(1, 2)).transpose(1, 2)
        return x + self.merge(torch.cat([a, c], -1))


class AlibiTransformer(nn.Module):
    """Biases that fall with the distance, both ways (Press 2022)."""

    def __init__(self) -> None:
        super().__init__()
        self.inp, self.qkv = nn.Linear(MEL, 24), nn.Linear(24, 72)
        self.register_buffer("slope", 2.0 ** -torch.arange(1.0, 5.0))

    def forward(self, x: Tensor) -> Tensor:
        x = self.inp(x)
        q, k, v = (part.unflatten(-1, (4, 6)).transpose(1, 2) for part in self.qkv(x).chunk(3, -1))
        place = torch.arange(x.shape[1])
        bias = -(place[None] - place[:, None]).abs() * self.slope[:, None, None]
        return x + F.scaled_dot_product_attention(
            q, k, v, attn_mask=bias[None].expand(x.shape[0], -1, -1, -1)
        ).transpose(1, 2).flatten(2)


class ShawAttention(nn.Module):
    """A learned vector for each clipped distance (Shaw 2018)."""

    def __init__(self, far: int = 6) -> None:
        super().__init__()
        self.far, self.inp, self.qkv = far, nn.Linear(MEL, 16), nn.Linear(16, 48)
        self.table = nn.Embedding(2 * far + 1, 16)

    def forward(self, x: Tensor) -> Tensor:
        x = self.inp(x)
        q, k, v = self.qkv(x).chunk(3, -1)
        place = torch.arange(x.shape[1])
        relative = self.table((place[None] - place[:, None]).clamp(-self.far, self.far) + self.far)
        scores = torch.matmul(q, k.transpose(1, 2)) + torch.einsum("bid,ijd->bij", q, relative)
        return torch.matmul(torch.softmax(scores / 4, -1), v)


class LinearAttention(nn.Module):
    """Keys and values summed over time before a query sees them (Katharopoulos 2020)."""

    def __init__(self) -> None:
        super().__init__()
        self.inp, self.qkv = nn.Linear(MEL, 16), nn.Linear(16, 48)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.qkv(self.inp(x)).chunk(3, -1)
        q, k = F.elu(q) + 1, F.elu(k) + 1
        memory = torch.einsum("bnd,bne->bde", k, v)
        return torch.einsum("bnd,bde->bne", q, memory) / torch.einsum("bnd,bd->bn", q, k.sum(1))[..., None]


class RetNet(nn.Module):
    """Decay to the past in parallel form, the score rescaled by its row (Sun 2023)."""

    def __init__(self) -> None:
        super().__init__()
        self.inp, self.qkv, self.norm = nn.Linear(MEL, 16), nn.Linear(16, 48), nn.LayerNorm(16)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.qkv(self.inp(x)).chunk(3, -1)
        place = torch.arange(x.shape[1])
        distance = place[:, None] - place[None]
        decay = torch.where(distance >= 0, torch.exp(-0.1 * distance.float()), 0.0)
        return self.norm(torch.matmul(torch.matmul(q, k.transpose(1, 2)) * decay, v))


class GruSeq(nn.Module):
    """An embedding, a GRU, attention pooling by a learned query (speaker verification, GE2E with attention)."""

    def __init__(self) -> None:
        super().__init__()
        self.gru, self.key, self.query = (
            nn.GRU(MEL, 16, batch_first=True),
            nn.Linear(16, 16),
            nn.Parameter(torch.randn(16)),
        )

    def forward(self, x: Tensor) -> Tensor:
        y = self.gru(x)[0]
        weight = torch.softmax(torch.tanh(self.key(y)) @ self.query, 1)
        return F.normalize((weight[..., None] * y).sum(1), dim=1)


class LocalAttention(nn.Module):
    """Each query sees four steps to either side, by a band mask."""

    def __init__(self) -> None:
        super().__init__()
        self.inp, self.qkv = nn.Linear(MEL, 16), nn.Linear(16, 48)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.qkv(self.inp(x)).chunk(3, -1)
        place = torch.arange(x.shape[1])
        near = (place[None] - place[:, None]).abs() <= 4
        scores = (torch.matmul(q, k.transpose(1, 2)) / 4).masked_fill(~near, float("-inf"))
        return torch.matmul(torch.softmax(scores, -1), v)


class Zipformer(nn.Module):
    """Averages of pairs with a learned weight, and the full rate again (Yao 2024); the last frame is repeated."""

    def __init__(self) -> None:
        super().__init__()
        self.inp, self.weight, self.mid = nn.Linear(MEL, 16), nn.Parameter(torch.randn(2)), nn.Linear(16, 16)

    def forward(self, x: Tensor) -> Tensor:
        x = self.inp(x)
        steps = x.shape[1]
        pairs = (steps + 1) // 2
        tail = x[:, -1:].expand(-1, pairs * 2 - steps, -1)
        y = torch.cat([x, tail], 1).reshape(x.shape[0], pairs, 2, 16)
        y = torch.relu(self.mid((y * torch.softmax(self.weight, 0)[:, None]).sum(2)))
        return x + y.unsqueeze(2).expand(-1, -1, 2, -1).reshape(x.shape[0], pairs * 2, 16)[:, :steps]


class CausalTransformer(nn.Module):
    """A decoder with rotary positions and grouped keys (GQA)."""

    def __init__(self) -> None:
        super().__init__()
        self.inp, self.q, self.kv = nn.Linear(MEL, 32), nn.Linear(32, 32), nn.Linear(32, 32)
        self.register_buffer("rate", 1e4 ** (-torch.arange(0, 8, 2) / 8))

    def turned(self, x: Tensor) -> Tensor:
        angle = torch.arange(x.shape[2])[:, None] * self.rate
        cos, sin = torch.cat([angle.cos()] * 2, -1), torch.cat([angle.sin()] * 2, -1)
        a, b = x.chunk(2, -1)
        return x * cos + torch.cat([-b, a], -1) * sin

    def forward(self, x: Tensor) -> Tensor:
        x = self.inp(x)
        q = self.q(x).unflatten(-1, (4, 8)).transpose(1, 2)
        k, v = (part.unflatten(-1, (2, 8)).transpose(1, 2).repeat_interleave(2, 1) for part in self.kv(x).chunk(2, -1))
        return x + F.scaled_dot_product_attention(self.turned(q), self.turned(k), v, is_causal=True).transpose(
            1, 2
        ).flatten(2)
