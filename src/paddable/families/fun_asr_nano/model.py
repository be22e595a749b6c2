"""Audio side of Fun-ASR-Nano: SAN-M encoder, adaptor to the language model, CTC branch for timestamps.

After FunASR's ``FunASRNano`` (``audio_encoder``, ``audio_adaptor``, ``ctc_decoder``, ``ctc``), whose parameter names
these are. The adaptor gives one row a feature; the language model reads only the first ``speech_tokens(T)`` of them.

Legend: B batch, S samples, T features (60 ms), C channels of the encoder, L of the language model, H heads, D channels
of a head, V vocabulary.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from paddable.families.fun_asr_nano.config import AdaptorConfig, FunAsrNanoConfig
from paddable.families.layers.sanm import CtcHead, FeedForward, SanmEncoder, attend, split_heads

__all__ = ["FunAsrNano", "speech_tokens"]


class FunAsrNano(nn.Module):
    """Encoder, adaptor and CTC branch, from a waveform or from features.

    Args:
        config: sizes.
        front_end: waveform to features; None where the model is fed features.
    """

    def __init__(self, config: FunAsrNanoConfig, front_end: nn.Module | None = None) -> None:
        super().__init__()
        self.config = config
        self.front_end = front_end or nn.Identity()
        self.audio_encoder = SanmEncoder(config, config.tp_blocks)
        self.audio_adaptor = Adaptor(config.adaptor)
        self.ctc_decoder = Adaptor(config.ctc_decoder) if config.ctc_decoder else None
        self.ctc = CtcHead(config.ctc_decoder.size, config.vocabulary) if config.ctc_decoder else None

    def forward(self, sound: Tensor) -> tuple[Tensor, ...]:
        """Encoder output, adaptor output, CTC logits.

        Args:
            sound: waveform float32 [B, S] in [-1, 1] at 16 kHz, or features float32 [B, T, 560] without a front end.

        Returns:
            float32 [B, T, C], [B, T, L] and, where the checkpoint has a CTC branch, [B, T, V].
        """
        encoded_BTC = self.audio_encoder(self.front_end(sound))
        adapted_BTL = self.audio_adaptor(encoded_BTC)
        if self.ctc_decoder is None or self.ctc is None:
            return encoded_BTC, adapted_BTL
        return encoded_BTC, adapted_BTL, self.ctc(self.ctc_decoder(encoded_BTC))


def speech_tokens(features: int) -> int:
    """Adaptor rows that the language model reads: two strided convolutions and a halving, as FunASR counts them."""
    for _ in range(3):
        features = (features + 1) // 2
    return features


class Adaptor(nn.Module):
    """Linear, ReLU, linear, then transformer blocks over the whole utterance."""

    def __init__(self, config: AdaptorConfig) -> None:
        super().__init__()
        self.linear1 = nn.Linear(config.input_size, config.hidden_size)
        self.linear2 = nn.Linear(config.hidden_size, config.size)
        self.blocks = nn.ModuleList(
            AdaptorBlock(config.size, config.heads, config.norm_epsilon) for _ in range(config.blocks)
        )

    def forward(self, x_BTC: Tensor) -> Tensor:
        x_BTC = self.linear2(torch.relu(self.linear1(x_BTC)))
        for block in self.blocks:
            x_BTC = block(x_BTC)
        return x_BTC


class AdaptorBlock(nn.Module):
    """Pre-norm transformer block."""

    def __init__(self, size: int, heads: int, norm_epsilon: float) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(size, eps=norm_epsilon)
        self.self_attn = Attention(size, heads)
        self.norm2 = nn.LayerNorm(size, eps=norm_epsilon)
        self.feed_forward = FeedForward(size, size // 4)

    def forward(self, x_BTC: Tensor) -> Tensor:
        x_BTC = x_BTC + self.self_attn(self.norm1(x_BTC))
        out_BTC: Tensor = x_BTC + self.feed_forward(self.norm2(x_BTC))
        return out_BTC


class Attention(nn.Module):
    """Multi-head self-attention."""

    def __init__(self, size: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.linear_q = nn.Linear(size, size)
        self.linear_k = nn.Linear(size, size)
        self.linear_v = nn.Linear(size, size)
        self.linear_out = nn.Linear(size, size)

    def forward(self, x_BTC: Tensor) -> Tensor:
        query_BHTD = split_heads(self.linear_q(x_BTC), self.heads)
        key_BHTD = split_heads(self.linear_k(x_BTC), self.heads)
        value_BHTD = split_heads(self.linear_v(x_BTC), self.heads)
        scores_BHTT = query_BHTD @ key_BHTD.transpose(-2, -1) / math.sqrt(query_BHTD.shape[-1])
        out_BTC: Tensor = self.linear_out(attend(scores_BHTT, value_BHTD))
        return out_BTC
