"""Configuration of the codec decoder, read from the checkpoint's file and never from class defaults.

The defaults of the original configuration class (hidden 1024, intermediate 3072) are not those of the released
checkpoint (512, 1024), and ``codebook_dim`` has none; so every field must be in the file.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from math import prod
from pathlib import Path
from typing import Any

from paddable.errors import Refused, Unreadable

__all__ = ["CodecConfig"]


@dataclass(frozen=True)
class CodecConfig:
    """Sizes of the decoder; names are those of ``decoder_config`` in ``config.json``.

    Attributes:
        codebook_size: entries of each codebook.
        codebook_dim: width after the quantiser's output projection; the codebooks are half as wide.
        num_quantizers: codebooks per frame, the first of them semantic.
        latent_dim: width between transformer and convolutions.
        hidden_size, intermediate_size, num_hidden_layers, num_attention_heads, head_dim: the transformer.
        sliding_window: keys that a query sees, its own included.
        rms_norm_eps, rope_theta, attention_bias: as in Llama.
        upsampling_ratios: frame to latent rate, a ConvNeXt block after each.
        upsample_rates: latent rate to samples, a decoder block each.
        decoder_dim: channels before the first decoder block; each block halves them.
        sample_rate: hertz of the audio (from the outer configuration).
    """

    codebook_size: int
    codebook_dim: int
    num_quantizers: int
    latent_dim: int
    hidden_size: int
    intermediate_size: int
    num_hidden_layers: int
    num_attention_heads: int
    head_dim: int
    sliding_window: int
    rms_norm_eps: float
    rope_theta: float
    attention_bias: bool
    upsampling_ratios: tuple[int, ...]
    upsample_rates: tuple[int, ...]
    decoder_dim: int
    sample_rate: int

    @property
    def samples_per_frame(self) -> int:
        return prod(self.upsampling_ratios) * prod(self.upsample_rates)

    @classmethod
    def from_file(cls, path: Path) -> CodecConfig:
        """Read ``config.json`` of a ``speech_tokenizer/`` folder.

        Raises:
            Unreadable: the file is absent, is not JSON or lacks a field.
            Refused: it asks for something that this decoder does not have.
        """
        try:
            outer = json.loads(path.read_text(encoding="utf-8"))
            inner = outer["decoder_config"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise Unreadable(
                f"cannot read the codec's configuration ({type(error).__name__}: {error})",
                where=str(path),
                fix="point to the `speech_tokenizer` folder of a Qwen3-TTS checkpoint",
            ) from None
        config = cls.from_dict(inner | {"sample_rate": outer.get("output_sample_rate")}, where=str(path))
        declared = outer.get("decode_upsample_rate")
        if declared != config.samples_per_frame:
            raise Unreadable(
                f"decode_upsample_rate {declared} is not the product of the rates, {config.samples_per_frame}",
                where=str(path),
            )
        return config

    @classmethod
    def from_dict(cls, values: dict[str, Any], *, where: str = "decoder_config") -> CodecConfig:
        """Take the fields from ``values``; others are ignored, but a missing or unsupported one is an error."""
        missing = [field.name for field in fields(cls) if values.get(field.name) is None]
        if missing:
            raise Unreadable(
                f"missing: {', '.join(missing)}", where=where, why="the original class's defaults are not the model's"
            )
        config = cls(**{f.name: _plain(values[f.name]) for f in fields(cls)})
        _refuse_other_architectures(config, values, where)
        return config


def _plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _refuse_other_architectures(config: CodecConfig, values: dict[str, Any], where: str) -> None:
    supported = {
        "hidden_act": ("silu", values.get("hidden_act", "silu")),
        "num_key_value_heads": (config.num_attention_heads, values.get("num_key_value_heads")),
        "rope_scaling": (None, values.get("rope_scaling")),
    }
    for name, (expected, got) in supported.items():
        if got != expected:
            raise Refused(f"{name} is {got!r}; only {expected!r} is implemented", where=where)
