"""Qwen3-ASR's audio encoder: log-mel frames in, embeddings for a language model out.

Chunks of one second go through three convolutions, each chunk by itself and with its own positions; the tokens go
through a transformer whose attention sees windows of eight seconds. After Qwen's ``Qwen3ASRAudioEncoder``, whose
parameter names these are, behind ``tokens.`` (up to the transformer) and ``transformer.`` (from there on).

Legend: B batch (1), M mels, T mel frames (10 ms), C chunks of 100 frames, L tokens, W windows of Q tokens, H heads,
D channels, E channels of the language model.
"""

from __future__ import annotations

import math
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from paddable.families.qwen3_asr.config import CHUNK, TOKENS, Qwen3AsrConfig, token_count

__all__ = ["Attention", "ChunkTokens", "Qwen3AsrEncoder", "ShortClips", "TokenTransformer"]

Attention = Literal["windowed", "global"]
ShortClips = Literal["own", "padded"]


class ChunkTokens(nn.Module):
    """Log-mel frames to tokens: 13 tokens a chunk of 100 frames.

    Args:
        config: sizes.
        short_clips: what a clip under 100 frames is. "own": a chunk of its own width, so each convolution meets its
            zero padding at the clip's end (qwen-asr). "padded": a chunk filled up with zeros like any last chunk, so
            the second and third convolution meet the bias of the one before (transformers 5.24).
    """

    positions: Tensor

    def __init__(self, config: Qwen3AsrConfig, short_clips: ShortClips = "own") -> None:
        super().__init__()
        channels = config.conv_channels
        self.short_clips = short_clips
        self.conv2d1 = nn.Conv2d(1, channels, 3, stride=2, padding=1)
        self.conv2d2 = nn.Conv2d(channels, channels, 3, stride=2, padding=1)
        self.conv2d3 = nn.Conv2d(channels, channels, 3, stride=2, padding=1)
        self.conv_out = nn.Linear(channels * ((config.mels + 7) // 8), config.size, bias=False)
        self.register_buffer("positions", sinusoids(TOKENS, config.size), persistent=False)

    def forward(self, mel_BMT: Tensor) -> Tensor:
        """Features float32 [1, M, T], T >= 1, to tokens float32 [1, L, D] with L = ``token_count(T)``."""
        frames, mels = mel_BMT.shape[2], mel_BMT.shape[1]
        chunks = (frames + CHUNK - 1) // CHUNK
        padded = functional.pad(mel_BMT, (0, chunks * CHUNK - frames))
        x = padded.reshape(mels, chunks, CHUNK).permute(1, 0, 2).unsqueeze(1)

        # Of the first chunk; less than CHUNK only in a clip that has no other.
        width = torch.sym_min(frames, CHUNK)  # type: ignore[no-untyped-call]
        for conv in (self.conv2d1, self.conv2d2):
            x, width = functional.gelu(conv(x)), (width + 1) // 2
            if self.short_clips == "own":
                x = torch.where(torch.arange(x.shape[3]) < width, x, 0.0)
        x = functional.gelu(self.conv2d3(x))

        token_CLD = self.conv_out(x.permute(0, 3, 1, 2).flatten(2)) + self.positions
        token_BLD: Tensor = token_CLD.reshape(1, chunks * TOKENS, -1)[:, : token_count(frames)]
        return token_BLD


class TokenTransformer(nn.Module):
    """Tokens to hidden states and embeddings.

    Args:
        config: sizes.
        attention: "windowed" as trained (and as FlashAttention and vLLM run it), or "global" as the eager and SDPA
            paths of qwen-asr run it; equal up to one window.
    """

    def __init__(self, config: Qwen3AsrConfig, attention: Attention = "windowed") -> None:
        super().__init__()
        self.attention = attention
        self.window = config.window_tokens
        self.layers = nn.ModuleList([EncoderLayer(config) for _ in range(config.layers)])
        self.ln_post = nn.LayerNorm(config.size)
        self.proj1 = nn.Linear(config.size, config.size)
        self.proj2 = nn.Linear(config.size, config.output_size)

    def forward(self, token_BLD: Tensor) -> tuple[Tensor, Tensor]:
        """Tokens float32 [1, L, D] to hidden states float32 [1, L, D] and embeddings float32 [1, L, E]."""
        tokens, x, key = token_BLD.shape[1], token_BLD, None
        if self.attention == "windowed":
            windows = (tokens + self.window - 1) // self.window
            room = windows * self.window
            x = functional.pad(token_BLD, (0, 0, 0, room - tokens)).reshape(windows, self.window, -1)
            # The original cuts the last window short; here its keys end where the clip ends.
            key = (torch.arange(room) < tokens).reshape(windows, 1, 1, self.window)
        for layer in self.layers:
            x = layer(x, key)
        if self.attention == "windowed":
            x = x.reshape(1, room, -1)[:, :tokens]
        hidden_BLD = self.ln_post(x)
        return hidden_BLD, self.proj2(functional.gelu(self.proj1(hidden_BLD)))


class EncoderLayer(nn.Module):
    """Pre-norm transformer layer."""

    def __init__(self, config: Qwen3AsrConfig) -> None:
        super().__init__()
        self.self_attn = SelfAttention(config.size, config.heads)
        self.self_attn_layer_norm = nn.LayerNorm(config.size)
        self.fc1 = nn.Linear(config.size, config.hidden_size)
        self.fc2 = nn.Linear(config.hidden_size, config.size)
        self.final_layer_norm = nn.LayerNorm(config.size)

    def forward(self, x_WQD: Tensor, key: Tensor | None) -> Tensor:
        x_WQD = x_WQD + self.self_attn(self.self_attn_layer_norm(x_WQD), key)
        inner = functional.gelu(self.fc1(self.final_layer_norm(x_WQD)))
        output: Tensor = x_WQD + self.fc2(inner)
        return output


class SelfAttention(nn.Module):
    """Attention within each row; ``key`` (bool [W, 1, 1, Q]) says which keys exist."""

    def __init__(self, size: int, heads: int) -> None:
        super().__init__()
        self.heads, self.scale = heads, (size // heads) ** -0.5
        self.q_proj = nn.Linear(size, size)
        self.k_proj = nn.Linear(size, size)
        self.v_proj = nn.Linear(size, size)
        self.out_proj = nn.Linear(size, size)

    def forward(self, x_WQD: Tensor, key: Tensor | None) -> Tensor:
        query, keys, value = (
            projection(x_WQD).unflatten(2, (self.heads, -1)).transpose(1, 2)
            for projection in (self.q_proj, self.k_proj, self.v_proj)
        )
        score_WHQQ = query @ keys.transpose(2, 3) * self.scale
        if key is not None:
            score_WHQQ = torch.where(key, score_WHQQ, -math.inf)
        mixed = torch.softmax(score_WHQQ, dim=-1) @ value
        output: Tensor = self.out_proj(mixed.transpose(1, 2).flatten(2))
        return output


class Qwen3AsrEncoder(nn.Module):
    """The whole encoder, from log-mel features or from a waveform.

    Args:
        config: sizes.
        attention: see ``TokenTransformer``.
        short_clips: see ``ChunkTokens``.
        front_end: waveform to features; None where the model is fed features.
    """

    def __init__(
        self,
        config: Qwen3AsrConfig,
        attention: Attention = "windowed",
        short_clips: ShortClips = "own",
        front_end: nn.Module | None = None,
    ) -> None:
        super().__init__()
        self.config = config
        self.front_end = front_end or nn.Identity()
        self.tokens = ChunkTokens(config, short_clips)
        self.transformer = TokenTransformer(config, attention)

    def forward(self, sound: Tensor) -> tuple[Tensor, Tensor]:
        """Hidden states and embeddings.

        Args:
            sound: features float32 [1, M, T], or a waveform float32 [1, S] where there is a front end.

        Returns:
            float32 [1, L, D] after the last norm, and float32 [1, L, E] for the language model.
        """
        hidden_BLD, embedding_BLE = self.transformer(self.tokens(self.front_end(sound)))
        return hidden_BLD, embedding_BLE


def sinusoids(length: int, channels: int, longest: float = 10_000.0) -> Tensor:
    """Sines in the first half of the channels, cosines in the second: float32 [length, channels]."""
    # float32 step by step, as the original computes them
    step = math.log(longest) / (channels // 2 - 1)
    angle = torch.arange(length)[:, None] * torch.exp(-step * torch.arange(channels // 2).float())[None]
    return torch.cat([angle.sin(), angle.cos()], dim=1)
