"""Sizes of the Qwen3-ASR audio encoder, the published ones and those of a config.json.

The original layout (Qwen/Qwen3-ASR-*) nests them under ``thinker_config.audio_config``, the ``-hf`` layout under
``audio_config``. A key that a file leaves out has the default of the class that wrote the file, and those differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from paddable.errors import UnreadableError
from paddable.families.checkpoints.settings import MOST_LAYERS, Settings

__all__ = ["CHUNK", "PRESETS", "TOKENS", "Qwen3AsrConfig", "token_count"]

CHUNK = 100  # mel frames that the convolutions see at a time (1 s)
TOKENS = 13  # tokens of a whole chunk
MELS = 128  # what the log-mel front ends compute

_ORIGINAL_DEFAULTS = {
    "num_mel_bins": MELS,
    "encoder_layers": 32,
    "encoder_attention_heads": 20,
    "encoder_ffn_dim": 5120,
    "d_model": 1280,
    "downsample_hidden_size": 480,
    "output_dim": 3584,
    "n_window": 100,
    "n_window_infer": 400,
}
_HF_DEFAULTS = _ORIGINAL_DEFAULTS | {
    "encoder_layers": 24,
    "encoder_attention_heads": 16,
    "encoder_ffn_dim": 4096,
    "d_model": 1024,
    "n_window": 50,
    "n_window_infer": 800,
}


@dataclass(frozen=True)
class Qwen3AsrConfig:
    """Sizes of the encoder; the defaults are those of Qwen3-ASR-0.6B.

    Attributes:
        size: channels of the transformer (d_model).
        layers: transformer layers.
        heads: attention heads.
        hidden_size: channels of the feed-forward layers.
        output_size: channels that the language model takes.
        conv_channels: channels of the three convolutions.
        mels: mel bins.
        window_frames: mel frames of one attention window, a multiple of ``CHUNK``.
    """

    size: int = 896
    layers: int = 18
    heads: int = 14
    hidden_size: int = 3584
    output_size: int = 1024
    conv_channels: int = 480
    mels: int = MELS
    window_frames: int = 800

    @property
    def window_tokens(self) -> int:
        """Tokens of one attention window; windows begin where chunks begin."""
        return self.window_frames // CHUNK * TOKENS

    @classmethod
    def from_json(cls, config: Mapping[str, Any], *, where: str = "config.json") -> Qwen3AsrConfig:
        """Reads a parsed config.json of either layout.

        Raises:
            UnreadableError: a value that is not a size, another model, or an encoder that this package does not know.
        """
        file = Settings(config, where)
        original = "thinker_config" in file
        outer = file.section("thinker_config") if original else file
        kind = file.get("model_type")
        if "audio_config" not in outer:
            raise UnreadableError("no audio_config in it", where=where, why=f"model_type is {kind!r}, not qwen3_asr")
        if kind not in (None, "qwen3_asr"):  # others have an encoder of the same keys
            raise UnreadableError(f"model_type is {kind!r}, not qwen3_asr", where=where)
        audio, defaults = outer.section("audio_config"), _ORIGINAL_DEFAULTS if original else _HF_DEFAULTS

        def size(key: str, **limits: int) -> int:
            return audio.size(key, defaults[key], **limits)

        unknown = [
            f"{key} {got!r} instead of {wanted!r}"
            for key, wanted, got in (
                ("n_window", CHUNK // 2, size("n_window")),
                ("num_mel_bins", MELS, size("num_mel_bins")),
                ("activation_function", "gelu", audio.get("activation_function", "gelu")),
            )
            if got != wanted
        ]
        window = size("n_window_infer")
        if window % CHUNK:
            unknown.append(f"n_window_infer {window} is not a multiple of {CHUNK}")
        channels, heads = size("d_model", least=4), size("encoder_attention_heads")  # 4: positions of 2 wavelengths
        if channels % (2 * heads):
            unknown.append(f"d_model {channels} does not split into {heads} heads of even width")
        if unknown:
            raise UnreadableError("an encoder of an unknown form: " + "; ".join(unknown), where=where)
        return cls(
            size=channels,
            layers=size("encoder_layers", most=MOST_LAYERS),
            heads=heads,
            hidden_size=size("encoder_ffn_dim"),
            output_size=size("output_dim"),
            conv_channels=size("downsample_hidden_size"),
            mels=MELS,
            window_frames=window,
        )


def token_count(frames: int) -> int:
    """Tokens of so many mel frames: 13 a chunk, ceil(r / 8) for a rest of r (three convolutions of stride 2)."""
    return frames // CHUNK * TOKENS + (frames % CHUNK + 7) // 8


PRESETS = {
    "0.6b": Qwen3AsrConfig(),
    "1.7b": Qwen3AsrConfig(size=1024, layers=24, heads=16, hidden_size=4096, output_size=2048),
    "forced-aligner-0.6b": Qwen3AsrConfig(size=1024, layers=24, heads=16, hidden_size=4096, output_size=1024),
}
