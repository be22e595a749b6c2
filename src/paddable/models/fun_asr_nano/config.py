"""Sizes of the audio side of Fun-ASR-Nano: encoder, adaptor, CTC branch. The language model is not part of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from paddable.errors import Unreadable
from paddable.models.sanm import encoder_sizes

__all__ = ["AdaptorConfig", "FunAsrNanoConfig"]


@dataclass(frozen=True)
class AdaptorConfig:
    """Two linear layers and some transformer blocks.

    Attributes:
        input_size: channels in.
        hidden_size: channels between the linear layers.
        size: channels out, and of the blocks.
        heads: attention heads.
        blocks: transformer blocks; their feed-forward layers have size // 4 inner channels.
        norm_epsilon: FunASR's blocks use 1e-12, the transformers port 1e-5.
    """

    input_size: int = 512
    hidden_size: int = 2048
    size: int = 1024
    heads: int = 8
    blocks: int = 2
    norm_epsilon: float = 1e-12


@dataclass(frozen=True)
class FunAsrNanoConfig:
    """Sizes; the defaults are Fun-ASR-Nano-2512's.

    Attributes:
        input_size: channels of a feature (80 mels, 7 frames).
        size: channels of the encoder.
        heads: attention heads of the encoder.
        hidden_size: inner channels of its feed-forward layers.
        blocks: encoder blocks before the middle norm.
        tp_blocks: encoder blocks after it.
        kernel_size: taps of the memory blocks.
        adaptor: encoder output to the space of the language model.
        ctc_decoder: in front of the CTC head; None where the checkpoint has no CTC branch.
        vocabulary: CTC classes; the blank is the last one.
        stack: log-mel frames in one feature.
        stride: log-mel frames between two features.
    """

    input_size: int = 560
    size: int = 512
    heads: int = 4
    hidden_size: int = 2048
    blocks: int = 50
    tp_blocks: int = 20
    kernel_size: int = 11
    adaptor: AdaptorConfig = AdaptorConfig()
    ctc_decoder: AdaptorConfig | None = AdaptorConfig(size=512, blocks=5)
    vocabulary: int = 60515
    stack: int = 7
    stride: int = 6

    @classmethod
    def from_funasr(cls, config: Mapping[str, Any], *, adaptor_size: int, vocabulary: int | None) -> FunAsrNanoConfig:
        """Reads FunASR's config.yaml.

        Args:
            config: the parsed file.
            adaptor_size: channels of the adaptor's output; config.yaml leaves it to the language model, the weights
                say.
            vocabulary: CTC classes, None where the weights hold no CTC branch (MLT-Nano).

        Raises:
            Unreadable: the file describes another model.
        """
        if config.get("model") != "FunASRNano":
            raise Unreadable(f"model is {config.get('model')!r}, not FunASRNano", where="config.yaml")
        front_end = config.get("frontend_conf") or {}
        sizes = encoder_sizes(config.get("audio_encoder_conf") or {})
        size = sizes.get("size", cls.size)
        return cls(
            **sizes,
            input_size=int(config.get("input_size", 560)),
            adaptor=_adaptor(config, "audio_adaptor", size, adaptor_size),
            ctc_decoder=_adaptor(config, "ctc_decoder", size, size) if vocabulary else None,
            vocabulary=vocabulary or 0,
            stack=int(front_end.get("lfr_m", 7)),
            stride=int(front_end.get("lfr_n", 6)),
        )

    @classmethod
    def from_transformers(cls, config: Mapping[str, Any]) -> FunAsrNanoConfig:
        """Reads config.json of the transformers port, which has no CTC branch."""
        if config.get("model_type") != "fun_asr_nano":
            raise Unreadable(f"model_type is {config.get('model_type')!r}, not 'fun_asr_nano'", where="config.json")
        audio, adaptor = config.get("audio_config") or {}, config.get("adaptor_config") or {}
        tp_blocks = int(audio.get("num_timestamp_prediction_layers", 20))
        size = int(audio.get("hidden_size", 512))
        stack = int(audio.get("num_stacked_frames", 7))
        return cls(
            input_size=int(audio.get("num_mel_bins", 80)) * stack,
            size=size,
            heads=int(audio.get("num_attention_heads", 4)),
            hidden_size=int(audio.get("intermediate_size", 2048)),
            blocks=int(audio.get("num_hidden_layers", 70)) - tp_blocks,
            tp_blocks=tp_blocks,
            kernel_size=int(audio.get("fsmn_kernel_size", 11)),
            adaptor=AdaptorConfig(
                input_size=size,
                hidden_size=int(adaptor.get("projector_hidden_size", 2048)),
                size=int(adaptor.get("hidden_size", 1024)),
                heads=int(adaptor.get("num_attention_heads", 8)),
                blocks=int(adaptor.get("num_hidden_layers", 2)),
                norm_epsilon=float(adaptor.get("layer_norm_eps", 1e-5)),
            ),
            ctc_decoder=None,
            vocabulary=0,
            stack=stack,
        )


def _adaptor(config: Mapping[str, Any], name: str, input_size: int, size: int) -> AdaptorConfig:
    kind, conf = config.get(name), config.get(f"{name}_conf") or {}
    rate = conf.get("downsample_rate", 1)
    if kind != "Transformer" or rate != 1:
        raise Unreadable(
            f"{name} is {kind!r} with downsample_rate {rate}; only Transformer at rate 1 is implemented",
            where="config.yaml",
        )
    return AdaptorConfig(
        input_size=input_size,
        hidden_size=int(conf.get("ffn_dim", 2048)),
        size=size,
        heads=int(conf.get("attention_heads", 8)),
        blocks=int(conf.get("n_layer", 2)),
    )
