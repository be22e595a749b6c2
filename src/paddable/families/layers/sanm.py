"""SAN-M encoder (self-attention with a memory block): the trunk of SenseVoiceSmall, Fun-ASR-Nano and Paraformer.

Gao et al., "San-m: Memory equipped self-attention for end-to-end speech recognition" (2020), in the form of FunASR's
``SenseVoiceEncoderSmall`` and ``SANMEncoder``. Parameter names are FunASR's.

Legend: B batch, T time (features of 60 ms), C channels, H heads, D channels of a head.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from paddable.families.checkpoints.settings import MOST_LAYERS, Settings

__all__ = [
    "CtcHead",
    "FeedForward",
    "SanmEncoder",
    "SanmSizes",
    "attend",
    "encoder_sizes",
    "plain_encoder_sizes",
    "split_heads",
    "stacking",
]

_FILTER_BANK = {
    "fs": 16_000,
    "window": "hamming",
    "n_mels": 80,
    "frame_length": 25,
    "frame_shift": 10,
    "snip_edges": True,
    "upsacle_samples": True,
}
"""FunASR's defaults for ``frontend_conf``, under its own spelling; what ``paddable.audio.kaldi`` computes."""


@dataclass(frozen=True)
class SanmSizes:
    """Sizes of the encoder; the defaults are those of FunASR's recognisers.

    Attributes:
        input_size: channels of a feature (80 mels, 7 frames); the first block maps them to ``size``.
        size: channels of every block.
        heads: attention heads.
        hidden_size: inner channels of the feed-forward layers.
        blocks: blocks before ``after_norm``, the first one (``encoders0``) included.
        kernel_size: taps of the memory blocks, odd.
    """

    input_size: int = 560
    size: int = 512
    heads: int = 4
    hidden_size: int = 2048
    blocks: int = 50
    kernel_size: int = 11


class SanmEncoder(nn.Module):
    """``blocks`` blocks and a norm; then, in the SenseVoice family, ``tp_blocks`` more blocks and another norm.

    Args:
        sizes: of features and blocks.
        tp_blocks: blocks after the norm; None for Paraformer, which has neither them nor the second norm.
        norm_epsilon: of every norm; FunASR's SenseVoice uses 1e-5, its Paraformer 1e-12.
    """

    def __init__(self, sizes: SanmSizes, tp_blocks: int | None = None, norm_epsilon: float = 1e-5) -> None:
        super().__init__()
        size = sizes.size

        def stack(count: int, in_size: int = size) -> nn.ModuleList:
            return nn.ModuleList(
                SanmBlock(in_size, size, sizes.heads, sizes.hidden_size, sizes.kernel_size, norm_epsilon)
                for _ in range(count)
            )

        self.input_size, self.scale = sizes.input_size, size**0.5
        self.position = SinusoidalPosition(sizes.input_size)
        self.encoders0 = stack(1, sizes.input_size)
        self.encoders = stack(sizes.blocks - 1)
        self.after_norm = nn.LayerNorm(size, eps=norm_epsilon)
        self.tp_encoders = stack(tp_blocks or 0)
        self.tp_norm = nn.Identity() if tp_blocks is None else nn.LayerNorm(size, eps=norm_epsilon)

    def forward(self, x_BTC: Tensor) -> Tensor:
        """Features [B, T, input_size] to [B, T, size]."""
        x_BTC = x_BTC * self.scale + self.position(x_BTC.shape[1])
        for block in [*self.encoders0, *self.encoders]:
            x_BTC = block(x_BTC)
        x_BTC = self.after_norm(x_BTC)
        for block in self.tp_encoders:
            x_BTC = block(x_BTC)
        out_BTC: Tensor = self.tp_norm(x_BTC)
        return out_BTC


class SanmBlock(nn.Module):
    """Attention with memory, then feed-forward, each behind a norm and inside a residual.

    The first block of the encoder changes the number of channels and so has no residual around its attention; its
    feed-forward layer runs like every other.
    """

    def __init__(
        self, in_size: int, size: int, heads: int, hidden_size: int, kernel_size: int, norm_epsilon: float
    ) -> None:
        super().__init__()
        self.same_size = in_size == size
        self.norm1 = nn.LayerNorm(in_size, eps=norm_epsilon)
        self.self_attn = SanmAttention(in_size, size, heads, kernel_size)
        self.norm2 = nn.LayerNorm(size, eps=norm_epsilon)
        self.feed_forward = FeedForward(size, hidden_size)

    def forward(self, x_BTC: Tensor) -> Tensor:
        attended_BTC: Tensor = self.self_attn(self.norm1(x_BTC))
        x_BTC = x_BTC + attended_BTC if self.same_size else attended_BTC
        out_BTC: Tensor = x_BTC + self.feed_forward(self.norm2(x_BTC))
        return out_BTC


class SanmAttention(nn.Module):
    """Multi-head attention plus the FSMN memory: a depthwise convolution over the values, added to its own input."""

    def __init__(self, in_size: int, size: int, heads: int, kernel_size: int) -> None:
        super().__init__()
        self.size, self.heads = size, heads
        self.linear_q_k_v = nn.Linear(in_size, 3 * size)
        self.fsmn_block = nn.Conv1d(size, size, kernel_size, padding=kernel_size // 2, groups=size, bias=False)
        self.linear_out = nn.Linear(size, size)

    def forward(self, x_BTC: Tensor) -> Tensor:
        query_BTC, key_BTC, value_BTC = self.linear_q_k_v(x_BTC).split(self.size, dim=-1)
        memory_BTC = self.fsmn_block(value_BTC.transpose(1, 2)).transpose(1, 2) + value_BTC
        query_BHTD, key_BHTD, value_BHTD = (split_heads(x, self.heads) for x in (query_BTC, key_BTC, value_BTC))
        query_BHTD = query_BHTD * query_BHTD.shape[-1] ** -0.5
        scores_BHTT = query_BHTD @ key_BHTD.transpose(-2, -1)
        out_BTC: Tensor = self.linear_out(attend(scores_BHTT, value_BHTD)) + memory_BTC
        return out_BTC


class FeedForward(nn.Module):
    """Linear, ReLU, linear."""

    def __init__(self, size: int, hidden_size: int) -> None:
        super().__init__()
        self.w_1 = nn.Linear(size, hidden_size)
        self.w_2 = nn.Linear(hidden_size, size)

    def forward(self, x_BTC: Tensor) -> Tensor:
        out_BTC: Tensor = self.w_2(torch.relu(self.w_1(x_BTC)))
        return out_BTC


class SinusoidalPosition(nn.Module):
    """Positions from 1: all sines, then all cosines; the wavelengths grow geometrically to 10000 * 2 pi."""

    rates: Tensor

    def __init__(self, size: int) -> None:
        super().__init__()
        # float32 throughout, as the original computes it: at position 500 float64 would differ by 3e-5
        step = torch.log(torch.tensor([10_000.0])) / (size / 2 - 1)
        self.register_buffer("rates", torch.exp(torch.arange(size / 2) * -step), persistent=False)

    def forward(self, length: int) -> Tensor:
        """Table [1, length, size]."""
        angle_TC = torch.arange(1, length + 1)[:, None].to(torch.float32) * self.rates
        return torch.cat([torch.sin(angle_TC), torch.cos(angle_TC)], dim=-1)[None]


class CtcHead(nn.Module):
    """The linear layer that FunASR keeps under ``ctc.ctc_lo``."""

    def __init__(self, size: int, vocabulary: int) -> None:
        super().__init__()
        self.ctc_lo = nn.Linear(size, vocabulary)

    def forward(self, x_BTC: Tensor) -> Tensor:
        logits_BTV: Tensor = self.ctc_lo(x_BTC)
        return logits_BTV


def split_heads(x_BTC: Tensor, heads: int) -> Tensor:
    """[B, T, H * D] to [B, H, T, D]."""
    x_BTHD: Tensor = x_BTC.unflatten(-1, (heads, x_BTC.shape[-1] // heads))  # type: ignore[no-untyped-call]
    return x_BTHD.transpose(1, 2)


def attend(scores_BHTT: Tensor, value_BHTD: Tensor) -> Tensor:
    """Softmax over keys, weighted sum of values, heads joined: [B, T, H * D]."""
    return (torch.softmax(scores_BHTT, dim=-1) @ value_BHTD).transpose(1, 2).flatten(2)


def encoder_sizes(conf: Settings, default: int) -> dict[str, int]:
    """Arguments of a SAN-M encoder from FunASR's ``encoder_conf``; what it leaves out is left to the caller.

    Args:
        conf: the section.
        default: channels of an encoder whose section gives none.

    Raises:
        UnreadableError: a value that is not a size, or a form of the encoder that no published checkpoint uses.
    """
    conf.demand(["output_size", "num_blocks"], "the size of the encoder would be a guess")
    conf.allow_only({"normalize_before": True, "sanm_shfit": 0, "concat_after": False})
    names = {
        "output_size": "size",
        "attention_heads": "heads",
        "linear_units": "hidden_size",
        "num_blocks": "blocks",
        "tp_blocks": "tp_blocks",
        "kernel_size": "kernel_size",
    }
    blocks = {"num_blocks": {"most": MOST_LAYERS}, "tp_blocks": {"least": 0, "most": MOST_LAYERS}}
    sizes = {ours: conf.size(theirs, **blocks.get(theirs, {})) for theirs, ours in names.items() if theirs in conf}
    if sizes.get("size", default) % sizes.get("heads", 4):
        raise conf.wrong("output_size", f"a multiple of attention_heads, {sizes.get('heads', 4)}")
    if not sizes.get("kernel_size", 11) % 2:
        raise conf.wrong("kernel_size", "an odd number: the memory looks back as far as ahead")
    return sizes


def plain_encoder_sizes(conf: Settings, default: int) -> dict[str, int]:
    """As :func:`encoder_sizes`, of FunASR's ``SANMEncoder``: it has no blocks behind its norm."""
    conf.allow_only({"input_layer": "pe", "selfattention_layer_type": "sanm"})
    sizes = encoder_sizes(conf, default)
    if sizes.pop("tp_blocks", 0):
        raise conf.wrong("tp_blocks", "none: SANMEncoder has no such blocks")
    return sizes


def stacking(config: Settings, *, stack: int, stride: int, mels: int = 80) -> dict[str, int]:
    """``input_size``, ``stack`` and ``stride`` of FunASR's low-frame-rate features.

    Raises:
        UnreadableError: a value that is not a size, sizes that contradict each other, or another front end than ours.
    """
    if config.get("frontend", "WavFrontend") not in ("WavFrontend", "wav_frontend", "WavFrontendOnline"):
        raise config.wrong("frontend", "WavFrontend: nothing else is implemented")
    front_end = config.section("frontend_conf")
    front_end.allow_only(_FILTER_BANK)
    stack, stride = front_end.size("lfr_m", stack), front_end.size("lfr_n", stride)
    if config.size("input_size", stack * mels) != stack * mels:
        raise config.wrong("input_size", f"{stack * mels}: {mels} mels of {stack} frames (frontend_conf.lfr_m)")
    return {"input_size": stack * mels, "stack": stack, "stride": stride}
