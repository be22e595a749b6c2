"""Sizes of a Paraformer: encoder, predictor, decoder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from paddable.families.checkpoints.settings import MOST_LAYERS, Settings
from paddable.families.layers.sanm import SanmSizes, plain_encoder_sizes, stacking

__all__ = ["MODELS", "HotwordConfig", "ParaformerConfig", "PredictorConfig", "UpsamplingConfig"]

MODELS = ("Paraformer", "BiCifParaformer", "SeacoParaformer")
"""The classes of FunASR that hold this encoder, predictor and decoder."""


@dataclass(frozen=True)
class UpsamplingConfig:
    """The second predictor of BiCIF, whose fires are the time stamps.

    Attributes:
        times: steps that one feature becomes.
        recurrent: whether a bidirectional LSTM follows the upsampling.
        behind_convolution: whether it reads the output of the first predictor's convolution, not the encoder's.
        smooth_factor: weight = relu(sigmoid * smooth_factor - noise_threshold).
        noise_threshold: see above.
    """

    times: int = 3
    recurrent: bool = True
    behind_convolution: bool = False
    smooth_factor: float = 0.25
    noise_threshold: float = 0.01


@dataclass(frozen=True)
class PredictorConfig:
    """The predictor of tokens.

    Attributes:
        left, right: steps of the past and of the future that its convolution sees.
        smooth_factor: weight = relu(sigmoid * smooth_factor - noise_threshold), at most 1.
        noise_threshold: see above.
        tail_threshold: added to the sum of the weights before the tokens are counted.
        upsampling: of BiCIF; None for a plain Paraformer.
    """

    left: int = 1
    right: int = 1
    smooth_factor: float = 1.0
    noise_threshold: float = 0.0
    tail_threshold: float = 0.45
    upsampling: UpsamplingConfig | None = UpsamplingConfig()


@dataclass(frozen=True)
class HotwordConfig:
    """SeACo: a second decoder, which looks at hotwords in place of the encoder.

    Attributes:
        most: hotwords that the graph takes, the one that stands for none included. FunASR filters above 50.
        longest: tokens of a hotword.
        heads, hidden_size, blocks, plain_blocks, kernel_size, shift: of the second decoder, as those of the first.
        nothing: class by which it says that no hotword was said.
    """

    most: int = 50
    longest: int = 10
    heads: int = 4
    hidden_size: int = 1024
    blocks: int = 6
    plain_blocks: int = 0
    kernel_size: int = 21
    shift: int = 0
    nothing: int = 8377


@dataclass(frozen=True)
class ParaformerConfig(SanmSizes):
    """Sizes, those of the encoder first; the defaults are those of FunASR's paraformer-zh.

    Attributes:
        decoder_heads: attention heads of the decoder.
        decoder_hidden_size: inner channels of the decoder's feed-forward layers.
        decoder_blocks: decoder blocks that look at the encoder.
        plain_blocks: decoder blocks after them that do not.
        decoder_kernel_size: taps of the decoder's memory blocks.
        decoder_shift: steps by which the memories of the first kind look back further than ahead.
        predictor: what counts and places the tokens.
        hotwords: of SeACo; None for the others.
        vocabulary: classes.
        stack: log-mel frames in one feature.
        stride: log-mel frames between two features.
    """

    decoder_heads: int = 4
    decoder_hidden_size: int = 2048
    decoder_blocks: int = 16
    plain_blocks: int = 0
    decoder_kernel_size: int = 11
    decoder_shift: int = 0
    predictor: PredictorConfig = PredictorConfig()
    hotwords: HotwordConfig | None = None
    vocabulary: int = 8404
    stack: int = 7
    stride: int = 6

    @classmethod
    def from_funasr(cls, config: Mapping[str, Any], *, vocabulary: int, where: str = "config.yaml") -> ParaformerConfig:
        """Reads FunASR's config.yaml.

        Args:
            config: the parsed file.
            vocabulary: classes; the weights say how many.
            where: the file.

        Raises:
            UnreadableError: the file describes another model, or holds a value that is not a size.
        """
        file = Settings(config, where)
        file.one_of("model", *MODELS)
        file.allow_only({"encoder": "SANMEncoder", "decoder": "ParaformerSANMDecoder"})
        sizes = plain_encoder_sizes(file.section("encoder_conf"), cls.size)
        return cls(
            **sizes,
            **stacking(file, stack=cls.stack, stride=cls.stride),
            **_decoder(file.section("decoder_conf"), sizes["size"]),
            predictor=_predictor(file, sizes["size"]),
            hotwords=_hotwords(config, where, sizes["size"], vocabulary) if config.get("seaco_decoder") else None,
            vocabulary=vocabulary,
        )


def _decoder(conf: Settings, size: int, *, output: bool = True) -> dict[str, int]:
    conf.allow_only({"normalize_before": True, "concat_after": False, "use_output_layer": output})
    looking = conf.size("att_layer_num", 6, most=MOST_LAYERS)
    blocks = conf.size("num_blocks", 6, most=MOST_LAYERS)
    kernel = conf.size("kernel_size", 21)
    shift = conf.size("sanm_shfit", 0, least=0, most=(kernel - 1) // 2)
    return {
        "decoder_heads": conf.divisor("attention_heads", 4, of=size),
        "decoder_hidden_size": conf.size("linear_units", 2048),
        "decoder_blocks": looking,
        "plain_blocks": max(0, blocks - looking),
        "decoder_kernel_size": kernel,
        "decoder_shift": shift,
    }


def _hotwords(config: Mapping[str, Any], where: str, size: int, vocabulary: int) -> HotwordConfig:
    more = config.get("model_conf")
    file = Settings({**(more if isinstance(more, Mapping) else {}), **config}, where)  # FunASR gives the class both
    file.allow_only(
        {
            "seaco_decoder": "ParaformerSANMDecoder",
            "bias_encoder_type": "lstm",
            "bias_encoder_bid": False,
            "inner_dim": size,
        }
    )
    sizes = _decoder(file.section("seaco_decoder_conf"), size, output=False)
    return HotwordConfig(
        **{key.removeprefix("decoder_"): value for key, value in sizes.items()},
        nothing=file.size("NO_BIAS", 8377, least=0, most=vocabulary - 1),
    )


def _predictor(file: Settings, size: int) -> PredictorConfig:
    kind, conf = file.get("predictor"), file.section("predictor_conf")
    if kind not in ("CifPredictorV2", "CifPredictorV3"):
        raise file.wrong("predictor", "CifPredictorV2 or CifPredictorV3: nothing else is implemented")
    conf.allow_only({"idim": size, "threshold": 1.0})
    smooth, noise = conf.number("smooth_factor", 1.0), _noise(conf, "noise_threshold")
    if smooth - noise > 1:
        raise conf.wrong("smooth_factor", f"at most {1 + noise:g}: no step may hold more than one token", smooth)
    tail = conf.number("tail_threshold")
    if tail >= 1:
        raise conf.wrong("tail_threshold", "a number below 1: the end of the sound may end one token, not more", tail)
    return PredictorConfig(
        left=conf.size("l_order", least=0),
        right=conf.size("r_order", least=0),
        smooth_factor=smooth,
        noise_threshold=noise,
        tail_threshold=tail,
        upsampling=_upsampling(conf) if kind == "CifPredictorV3" else None,
    )


def _upsampling(conf: Settings) -> UpsamplingConfig:
    kind = conf.get("upsample_type", "cnn")
    if kind not in ("cnn", "cnn_blstm"):
        raise conf.wrong("upsample_type", "cnn or cnn_blstm: nothing else is implemented", kind)
    return UpsamplingConfig(
        times=conf.size("upsample_times", 5, most=100),
        recurrent=kind == "cnn_blstm",
        behind_convolution=conf.get("use_cif1_cnn", True) is True,
        smooth_factor=conf.number("smooth_factor2", 1.0),
        noise_threshold=_noise(conf, "noise_threshold2"),
    )


def _noise(conf: Settings, key: str) -> float:
    """A number of 0 and more; ``Settings.number`` demands one above 0."""
    return conf.number(key) if conf.get(key, 0) else 0.0
