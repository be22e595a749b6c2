"""Sizes of the audio side of Fun-ASR-Nano: encoder, adaptor, CTC branch. The language model is not part of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from paddable.errors import UnreadableError
from paddable.families.checkpoints.settings import MOST_LAYERS, Settings
from paddable.families.layers.sanm import SanmSizes, encoder_sizes, stacking

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
class FunAsrNanoConfig(SanmSizes):
    """Sizes, those of the encoder first; the defaults are Fun-ASR-Nano-2512's.

    Attributes:
        tp_blocks: encoder blocks after the norm.
        adaptor: encoder output to the space of the language model.
        ctc_decoder: in front of the CTC head; None where the checkpoint has no CTC branch.
        vocabulary: CTC classes; the blank is the last one.
        stack: log-mel frames in one feature.
        stride: log-mel frames between two features.
    """

    tp_blocks: int = 20
    adaptor: AdaptorConfig = AdaptorConfig()
    ctc_decoder: AdaptorConfig | None = AdaptorConfig(size=512, blocks=5)
    vocabulary: int = 60515
    stack: int = 7
    stride: int = 6

    @classmethod
    def from_funasr(
        cls, config: Mapping[str, Any], *, adaptor_size: int, vocabulary: int | None, where: str = "config.yaml"
    ) -> FunAsrNanoConfig:
        """Reads FunASR's config.yaml.

        Args:
            config: the parsed file.
            adaptor_size: channels of the adaptor's output; config.yaml leaves it to the language model, the weights
                say.
            vocabulary: CTC classes, None where the weights hold no CTC branch (MLT-Nano).
            where: the file.

        Raises:
            UnreadableError: the file describes another model, or holds a value that is not a size.
        """
        file = Settings(config, where)
        file.one_of("model", "FunASRNano")
        sizes = encoder_sizes(file.section("audio_encoder_conf"), cls.size)
        size = sizes.get("size", cls.size)
        return cls(
            **sizes,
            **stacking(file, stack=cls.stack, stride=cls.stride),
            adaptor=_adaptor(file, "audio_adaptor", size, adaptor_size),
            ctc_decoder=_adaptor(file, "ctc_decoder", size, size) if vocabulary else None,
            vocabulary=vocabulary or 0,
        )

    @classmethod
    def from_transformers(cls, config: Mapping[str, Any], *, where: str = "config.json") -> FunAsrNanoConfig:
        """Reads config.json of the transformers port, which has no CTC branch; errors as in ``from_funasr``."""
        file = Settings(config, where)
        file.one_of("model_type", "fun_asr_nano")
        audio, adaptor = file.section("audio_config"), file.section("adaptor_config")
        layers = audio.size("num_hidden_layers", 70, most=MOST_LAYERS)
        tp_blocks = audio.size("num_timestamp_prediction_layers", 20, least=0, most=layers - 1)
        size, heads = audio.size("hidden_size", 512), audio.size("num_attention_heads", 4)
        stack, kernel = audio.size("num_stacked_frames", 7), audio.size("fsmn_kernel_size", 11)
        if size % heads:
            raise audio.wrong("hidden_size", f"a multiple of num_attention_heads, {heads}", size)
        if not kernel % 2:
            raise audio.wrong("fsmn_kernel_size", "an odd number")
        if audio.size("num_mel_bins", 80) != 80:
            raise audio.wrong("num_mel_bins", "80")
        return cls(
            input_size=80 * stack,
            size=size,
            heads=heads,
            hidden_size=audio.size("intermediate_size", 2048),
            blocks=layers - tp_blocks,
            tp_blocks=tp_blocks,
            kernel_size=kernel,
            adaptor=AdaptorConfig(
                input_size=size,
                hidden_size=adaptor.size("projector_hidden_size", 2048),
                size=adaptor.size("hidden_size", 1024),
                heads=adaptor.divisor("num_attention_heads", 8, of=adaptor.size("hidden_size", 1024)),
                blocks=adaptor.size("num_hidden_layers", 2, least=0, most=MOST_LAYERS),
                norm_epsilon=adaptor.number("layer_norm_eps", 1e-5),
            ),
            ctc_decoder=None,
            vocabulary=0,
            stack=stack,
        )


def _adaptor(config: Settings, name: str, input_size: int, size: int) -> AdaptorConfig:
    kind, conf = config.get(name), config.section(f"{name}_conf")
    rate = conf.get("downsample_rate", 1)
    if kind != "Transformer" or rate != 1:
        raise UnreadableError(
            f"{name} is {kind!r} with downsample_rate {rate}; only Transformer at rate 1 is implemented",
            where=config.where,
        )
    return AdaptorConfig(
        input_size=input_size,
        hidden_size=conf.size("ffn_dim", 2048),
        size=size,
        heads=conf.divisor("attention_heads", 8, of=size),
        blocks=conf.size("n_layer", 2, least=0, most=MOST_LAYERS),
    )
