"""Qwen3-TTS 12 Hz codec decoder, one file from codes to samples.

Follows ``Qwen3TTSTokenizerV2Decoder`` of qwen-tts 0.1.1. Strictly causal: F frames give exactly 1920 F samples, and a
sample depends on its own frame and the 580 before it. Module paths are the checkpoint's, so its tensors load by name.
Layers take a memory (``paddable.families.layers.streaming``): the same code runs whole utterances and chunks.

Legend: B batch, F frames (12.5 a second), Q codebooks, C channels, T time at the layer's rate.
"""

from __future__ import annotations

from itertools import accumulate
from operator import mul

import torch
from torch import Tensor, nn

from paddable.families.layers.streaming import CausalConv, CausalUpsample, Memory, SlidingAttention, WholeMemory, Window
from paddable.families.qwen3_tts_codec.config import CodecConfig

__all__ = ["Decoder"]


class Quantizer(nn.Module):
    """Residual vector quantiser: looks up Q codes a frame; the first codebook is semantic and has its own projection.

    ``table`` stacks the codebooks, so that one lookup serves all: row ``q * codebook_size + code``.
    """

    first_row: Tensor

    def __init__(self, config: CodecConfig) -> None:
        super().__init__()
        books, size, width = config.num_quantizers, config.codebook_size, config.codebook_dim // 2
        self.size = size
        self.table = nn.Parameter(torch.zeros(books * size, width))
        self.register_buffer("first_row", torch.arange(books) * size, persistent=False)
        self.semantic = nn.Conv1d(width, config.codebook_dim, 1, bias=False)
        self.acoustic = nn.Conv1d(width, config.codebook_dim, 1, bias=False)

    def forward(self, codes_BFQ: Tensor) -> Tensor:
        """Codes to [B, codebook_dim, F]. Out-of-range codes (junk beyond the valid frames) are clipped."""
        row_BFQ = codes_BFQ.clamp(0, self.size - 1) + self.first_row
        entry_BFQC = nn.functional.embedding(row_BFQ, self.table)
        semantic_BFC, acoustic_BFC = entry_BFQC[:, :, 0], entry_BFQC[:, :, 1:].sum(2)
        sum_BCF: Tensor = self.semantic(semantic_BFC.transpose(1, 2)) + self.acoustic(acoustic_BFC.transpose(1, 2))
        return sum_BCF


class RMSNorm(nn.Module):
    """x / sqrt(mean(x^2) + eps) * weight, over the last axis."""

    def __init__(self, width: int, eps: float) -> None:
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(width)), eps

    def forward(self, x: Tensor) -> Tensor:
        return self.weight * (x * torch.rsqrt((x * x).mean(-1, keepdim=True) + self.eps))


class LayerScale(nn.Module):
    """One learnt factor a channel on a residual branch."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        return self.scale * x


class GatedMlp(nn.Module):
    """down(silu(gate(x)) * up(x))."""

    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(width, inner, bias=False)
        self.up_proj = nn.Linear(width, inner, bias=False)
        self.down_proj = nn.Linear(inner, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.down_proj(nn.functional.silu(self.gate_proj(x)) * self.up_proj(x))
        return y


class TransformerLayer(nn.Module):
    """Pre-norm attention and MLP, each scaled on its branch."""

    def __init__(self, config: CodecConfig) -> None:
        super().__init__()
        width = config.hidden_size
        self.input_layernorm = RMSNorm(width, config.rms_norm_eps)
        self.self_attn = SlidingAttention(
            width,
            config.num_attention_heads,
            config.head_dim,
            config.sliding_window,
            bias=config.attention_bias,
            rate=1,
        )
        self.self_attn_layer_scale = LayerScale(width)
        self.post_attention_layernorm = RMSNorm(width, config.rms_norm_eps)
        self.mlp = GatedMlp(width, config.intermediate_size)
        self.mlp_layer_scale = LayerScale(width)

    def forward(self, x_BFC: Tensor, window: Window, memory: Memory) -> Tensor:
        x_BFC = x_BFC + self.self_attn_layer_scale(self.self_attn(self.input_layernorm(x_BFC), window, memory))
        x_BFC = x_BFC + self.mlp_layer_scale(self.mlp(self.post_attention_layernorm(x_BFC)))
        return x_BFC


class Transformer(nn.Module):
    """Sliding-window transformer at the frame rate."""

    def __init__(self, config: CodecConfig) -> None:
        super().__init__()
        self.config = config
        self.input_proj = nn.Linear(config.latent_dim, config.hidden_size)
        self.layers = nn.ModuleList([TransformerLayer(config) for _ in range(config.num_hidden_layers)])
        self.norm = RMSNorm(config.hidden_size, config.rms_norm_eps)
        self.output_proj = nn.Linear(config.hidden_size, config.latent_dim)

    def forward(self, x_BFC: Tensor, memory: Memory) -> Tensor:
        config = self.config
        window = Window.make(x_BFC, memory, config.sliding_window, config.head_dim, config.rope_theta)
        x_BFC = self.input_proj(x_BFC)
        for layer in self.layers:
            x_BFC = layer(x_BFC, window, memory)
        y_BFC: Tensor = self.output_proj(self.norm(x_BFC))
        return y_BFC


class ConvNeXt(nn.Module):
    """Depthwise causal convolution, then a pointwise MLP, on a scaled branch."""

    def __init__(self, width: int, *, rate: int) -> None:
        super().__init__()
        self.dwconv = CausalConv(width, width, 7, groups=width, rate=rate)
        self.norm = nn.LayerNorm(width, eps=1e-6)
        self.pwconv1 = nn.Linear(width, 4 * width)
        self.pwconv2 = nn.Linear(4 * width, width)
        self.gamma = nn.Parameter(torch.ones(width))

    def forward(self, x_BCT: Tensor, memory: Memory) -> Tensor:
        y_BTC: Tensor = self.norm(self.dwconv(x_BCT, memory).transpose(1, 2))
        y_BTC = self.gamma * self.pwconv2(nn.functional.gelu(self.pwconv1(y_BTC)))
        return x_BCT + y_BTC.transpose(1, 2)


class LatentUpsample(nn.ModuleList):
    """Upsampling by ``ratio``, then ConvNeXt."""

    def __init__(self, width: int, ratio: int, *, rate: int) -> None:
        upsample = CausalUpsample(width, width, ratio, ratio, rate=rate)
        super().__init__([upsample, ConvNeXt(width, rate=rate * ratio)])

    def forward(self, x_BCT: Tensor, memory: Memory) -> Tensor:
        for layer in self:
            x_BCT = layer(x_BCT, memory)
        return x_BCT


class SnakeBeta(nn.Module):
    """x + sin(a x)^2 / b, with a = exp(alpha), b = exp(beta) per channel. Zero at zero."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.alpha, self.beta = nn.Parameter(torch.zeros(channels)), nn.Parameter(torch.zeros(channels))

    def forward(self, x_BCT: Tensor) -> Tensor:
        wave_BCT = torch.sin(x_BCT * self.alpha.exp()[:, None])
        return x_BCT + 1.0 / (self.beta.exp() + 1e-9)[:, None] * (wave_BCT * wave_BCT)


class ResidualUnit(nn.Module):
    """Snake, dilated convolution, Snake, pointwise convolution; residual."""

    def __init__(self, channels: int, dilation: int, *, rate: int) -> None:
        super().__init__()
        self.act1 = SnakeBeta(channels)
        self.conv1 = CausalConv(channels, channels, 7, dilation=dilation, rate=rate)
        self.act2 = SnakeBeta(channels)
        self.conv2 = CausalConv(channels, channels, 1, rate=rate)

    def forward(self, x_BCT: Tensor, memory: Memory) -> Tensor:
        y_BCT: Tensor = self.conv1(self.act1(x_BCT), memory)
        y_BCT = self.conv2(self.act2(y_BCT), memory)
        return x_BCT + y_BCT


class DecoderBlock(nn.Module):
    """Snake, upsampling by ``factor``, three residual units of growing dilation."""

    def __init__(self, inputs: int, outputs: int, factor: int, *, rate: int) -> None:
        super().__init__()
        units = [ResidualUnit(outputs, dilation, rate=rate * factor) for dilation in (1, 3, 9)]
        upsample = CausalUpsample(inputs, outputs, 2 * factor, factor, rate=rate)
        self.block = nn.ModuleList([SnakeBeta(inputs), upsample, *units])

    def forward(self, x_BCT: Tensor, memory: Memory) -> Tensor:
        snake, *layers = self.block
        x_BCT = snake(x_BCT)
        for layer in layers:
            x_BCT = layer(x_BCT, memory)
        return x_BCT


class Decoder(nn.Module):
    """Codes to samples in [-1, 1]."""

    def __init__(self, config: CodecConfig) -> None:
        super().__init__()
        self.config = config
        self.quantizer = Quantizer(config)
        self.pre_conv = CausalConv(config.codebook_dim, config.latent_dim, 3, rate=1)
        self.pre_transformer = Transformer(config)

        latent_rates = list(accumulate(config.upsampling_ratios, mul, initial=1))
        self.upsample = nn.ModuleList()
        for ratio, rate in zip(config.upsampling_ratios, latent_rates, strict=False):
            self.upsample.append(LatentUpsample(config.latent_dim, ratio, rate=rate))

        rates = list(accumulate(config.upsample_rates, mul, initial=latent_rates[-1]))
        channels = [config.decoder_dim // 2**i for i in range(len(rates))]
        self.decoder = nn.ModuleList([CausalConv(config.latent_dim, channels[0], 7, rate=rates[0])])
        for i, factor in enumerate(config.upsample_rates):
            self.decoder.append(DecoderBlock(channels[i], channels[i + 1], factor, rate=rates[i]))
        self.decoder.append(SnakeBeta(channels[-1]))
        self.decoder.append(CausalConv(channels[-1], 1, 7, rate=rates[-1]))

    def forward(self, codes_BFQ: Tensor, memory: Memory | None = None) -> Tensor:
        """int64 [B, F, Q] to [B, 1920 F]; without a memory the frames are the whole utterance."""
        memory = memory or WholeMemory()
        x_BCT: Tensor = self.pre_conv(self.quantizer(codes_BFQ), memory)
        x_BCT = self.pre_transformer(x_BCT.transpose(1, 2), memory).transpose(1, 2)
        for upsample in self.upsample:
            x_BCT = upsample(x_BCT, memory)
        *blocks, snake, last = self.decoder
        for block in blocks:
            x_BCT = block(x_BCT, memory)
        wave_BCT: Tensor = last(snake(x_BCT), memory)
        return wave_BCT.clamp(-1, 1).squeeze(1)
