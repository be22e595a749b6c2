"""Sliding-window attention with rotary positions whose cache is exact at any age.

Rotary scores depend on the *distance* of query and key alone. So the cache keeps keys before rotation, and each step
rotates cache and chunk by the same small angles, those of rows 0 .. window - 2 + N, whatever the age of the stream.
Absolute positions in fp32 drift instead: a logit is off by 3e-6 at position 0, by 4e-3 at 45,000.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from paddable.families.layers.streaming.memory import Memory, Slot

__all__ = ["SlidingAttention", "Window"]

# B batch, T steps of this chunk, K keys (cache and chunk), C model width, H heads, D head width


@dataclass(frozen=True)
class Window:
    """What every attention layer of one call shares.

    Attributes:
        visible_TK: bool, key k is visible to query t.
        cos_KD, sin_KD: angles of the keys; the queries are the last T of them. The sign of the rotation is in ``sin``.
    """

    visible_TK: Tensor
    cos_KD: Tensor
    sin_KD: Tensor

    @staticmethod
    def make(x_BTC: Tensor, memory: Memory, size: int, head_dim: int, theta: float) -> Window:
        """The window of a chunk: query t sees itself and the ``size - 1`` steps before it, as far as they exist.

        With a cache of W = size - 1 rows the key of query t is row W + t, and row k holds a key from count on:
        visible(t, k) = (t <= k <= W + t) and (k >= W - count). Own keys are always visible: no row is empty.
        """
        T, device = x_BTC.shape[1], x_BTC.device
        cached = 0 if memory.count is None else size - 1
        query_T, key_K = torch.arange(T, device=device), torch.arange(cached + T, device=device)
        age_TK = query_T[:, None] + cached - key_K[None, :]
        visible_TK = (age_TK >= 0) & (age_TK < size)
        if memory.count is not None:
            visible_TK = visible_TK & (key_K + memory.count >= cached)
        cos_KD, sin_KD = _angles(key_K, head_dim, theta, x_BTC.dtype)
        return Window(visible_TK, cos_KD, sin_KD)


def _angles(position_K: Tensor, head_dim: int, theta: float, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    # Rounded to fp32 as the original does, and exact from there on in the model's own type.
    exponent = np.arange(0, head_dim, 2, dtype=np.float32) / np.float32(head_dim)
    frequency = torch.from_numpy((1.0 / np.float32(theta) ** exponent).astype(np.float32)).to(position_K.device)
    angle_KD = position_K[:, None].to(dtype) * frequency.to(dtype)
    cos_KD, sin_KD = angle_KD.cos(), angle_KD.sin()
    return torch.cat([cos_KD, cos_KD], -1), torch.cat([-sin_KD, sin_KD], -1)


class SlidingAttention(nn.Module):
    """Multi-head attention over the last ``window`` steps.

    Args:
        width: model width C.
        heads, head_dim: H and D; H * D need not be C.
        window: keys that a query sees, its own included; ``window - 1`` are cached.
        bias: of the four projections.
        rate: steps of this layer per step of the stream.
    """

    swap: Tensor

    def __init__(self, width: int, heads: int, head_dim: int, window: int, *, bias: bool, rate: int) -> None:
        super().__init__()
        self.heads, self.head_dim = heads, head_dim
        self.q_proj = nn.Linear(width, heads * head_dim, bias)
        self.k_proj = nn.Linear(width, heads * head_dim, bias)
        self.v_proj = nn.Linear(width, heads * head_dim, bias)
        self.o_proj = nn.Linear(heads * head_dim, width, bias)
        # q . swap(k) exchanges the halves of a head; a Gather in the graph in place of two slices and a concat
        self.register_buffer("swap", torch.arange(head_dim).roll(head_dim // 2), persistent=False)
        shape = (1, heads, window - 1, head_dim)
        self.slots = {
            "key": Slot(shape, 2, rate, "empty", f"keys before rotation, newest last, {heads} heads of {head_dim}"),
            "value": Slot(shape, 2, rate, "empty", f"values, newest last, {heads} heads of {head_dim}"),
        }

    def forward(self, x_BTC: Tensor, window: Window, memory: Memory) -> Tensor:
        """[B, T, C] to [B, T, C]."""
        T = x_BTC.shape[1]
        q_BHTD = self._split(self.q_proj(x_BTC))
        k_BHKD = memory.recall(self.slots["key"], self._split(self.k_proj(x_BTC)))
        v_BHKD = memory.recall(self.slots["value"], self._split(self.v_proj(x_BTC)))
        q_BHTD = self._rotate(q_BHTD, window.cos_KD[-T:], window.sin_KD[-T:])
        k_BHKD = self._rotate(k_BHKD, window.cos_KD, window.sin_KD)
        score_BHTK = q_BHTD @ k_BHKD.transpose(2, 3) * self.head_dim**-0.5
        weight_BHTK = torch.where(window.visible_TK, score_BHTK, -torch.inf).softmax(-1)
        out_BTC: Tensor = self.o_proj((weight_BHTK @ v_BHKD).transpose(1, 2).flatten(2))
        return out_BTC

    def _split(self, x_BTC: Tensor) -> Tensor:
        return x_BTC.view(*x_BTC.shape[:2], self.heads, self.head_dim).transpose(1, 2)

    def _rotate(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        return x * cos + x.index_select(-1, self.swap) * sin
