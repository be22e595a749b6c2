"""Configuration of the codec decoder, read from the checkpoint's file and never from class defaults.

The defaults of the original configuration class (hidden 1024, intermediate 3072) are not those of the released
checkpoint (512, 1024), and ``codebook_dim`` has none; so every field must be in the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import prod
from pathlib import Path
from typing import Any

from paddable.errors import RefusedError, UnreadableError
from paddable.families.checkpoints.settings import MOST_LAYERS, Settings, read_json, shown

__all__ = ["CodecConfig"]

_KIND = "qwen3_tts_tokenizer_12hz"
_PLACE = "point to the `speech_tokenizer` folder of a Qwen3-TTS checkpoint"


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
            UnreadableError: the file is absent, is not JSON, lacks a field or holds one that is not a size.
            RefusedError: it asks for something that this decoder does not have.
        """
        outer = Settings(read_json(path, fix=_PLACE), str(path))
        if "decoder_config" not in outer:
            raise UnreadableError(
                f"no decoder_config in it; model_type is {outer.get('model_type')!r}",
                where=str(path),
                why="this is not a codec",
                fix=_PLACE,
            )
        if (kind := outer.get("model_type")) not in (None, _KIND):
            raise UnreadableError(f"model_type is {shown(kind)}, not {_KIND}", where=str(path), fix=_PLACE)
        config = cls._read(outer.section("decoder_config"), outer.size("output_sample_rate"))
        declared = outer.size("decode_upsample_rate")
        if declared != config.samples_per_frame:
            raise UnreadableError(
                f"decode_upsample_rate {declared} is not the product of the rates, {config.samples_per_frame}",
                where=str(path),
            )
        return config

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], *, where: str = "decoder_config") -> CodecConfig:
        """Take the fields from ``values``; others are ignored, but a missing or unsupported one is an error."""
        settings = Settings(values, where)
        return cls._read(settings, settings.size("sample_rate"))

    @classmethod
    def _read(cls, settings: Settings, sample_rate: int) -> CodecConfig:
        names = [field.name for field in fields(cls) if field.name != "sample_rate"]
        settings.demand(names, why="the original class's defaults are not the model's")
        config = cls(
            codebook_size=settings.size("codebook_size"),
            codebook_dim=settings.size("codebook_dim"),
            num_quantizers=settings.size("num_quantizers", least=2, most=MOST_LAYERS),  # one semantic, others acoustic
            latent_dim=settings.size("latent_dim"),
            hidden_size=settings.size("hidden_size"),
            intermediate_size=settings.size("intermediate_size"),
            num_hidden_layers=settings.size("num_hidden_layers", most=MOST_LAYERS),
            num_attention_heads=settings.size("num_attention_heads"),
            head_dim=settings.size("head_dim"),
            sliding_window=settings.size("sliding_window"),
            rms_norm_eps=settings.number("rms_norm_eps"),
            rope_theta=settings.number("rope_theta"),
            attention_bias=settings.flag("attention_bias"),
            upsampling_ratios=settings.sizes("upsampling_ratios"),
            upsample_rates=settings.sizes("upsample_rates"),
            decoder_dim=settings.size("decoder_dim"),
            sample_rate=sample_rate,
        )
        halved = 2 ** len(config.upsample_rates)
        for name, divisor, why in (
            ("codebook_dim", 2, "the codebooks are half as wide"),
            ("head_dim", 2, "positions rotate pairs of channels"),
            ("decoder_dim", halved, f"{len(config.upsample_rates)} blocks halve it"),
        ):
            if getattr(config, name) % divisor:
                raise settings.wrong(name, f"a multiple of {divisor} ({why})")
        _refuse_other_architectures(config, settings)
        return config


def _refuse_other_architectures(config: CodecConfig, settings: Settings) -> None:
    supported = {
        "hidden_act": "silu",
        "num_key_value_heads": config.num_attention_heads,
        "num_semantic_quantizers": 1,
        "rope_scaling": None,
    }
    for name, expected in supported.items():
        default = None if name == "num_key_value_heads" else expected
        if (got := settings.get(name, default)) != expected:
            raise RefusedError(f"{name} is {got!r}; only {expected!r} is implemented", where=settings.where)
