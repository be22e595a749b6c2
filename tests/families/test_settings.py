"""A configuration that describes no model is one line that names file and key, in every family of FunASR."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from paddable.errors import UnreadableError
from paddable.families.fsmn_vad.config import FsmnVadConfig
from paddable.families.fun_asr_nano.config import FunAsrNanoConfig
from paddable.families.sense_voice.config import SenseVoiceConfig

VAD = {
    "encoder": "FSMN",
    "encoder_conf": {
        "input_dim": 400,
        "input_affine_dim": 140,
        "output_affine_dim": 140,
        "linear_dim": 250,
        "proj_dim": 128,
        "fsmn_layers": 4,
        "lorder": 20,
        "output_dim": 248,
    },
    "frontend_conf": {"lfr_m": 5, "lfr_n": 1},
}
ENCODER = {"output_size": 512, "num_blocks": 50}
NANO = {
    "model": "FunASRNano",
    "audio_encoder_conf": ENCODER,
    "audio_adaptor": "Transformer",
    "ctc_decoder": "Transformer",
    "audio_adaptor_conf": {},
}
READERS = {
    "sense-voice": (
        {"model": "SenseVoiceSmall", "encoder_conf": ENCODER},
        lambda c: SenseVoiceConfig.from_funasr(c, vocabulary=9, where="f.yaml"),
    ),
    "nano": (NANO, lambda c: FunAsrNanoConfig.from_funasr(c, adaptor_size=1024, vocabulary=9, where="f.yaml")),
    "port": ({"model_type": "fun_asr_nano"}, lambda c: FunAsrNanoConfig.from_transformers(c, where="f.yaml")),
    "vad": (VAD, lambda c: FsmnVadConfig.from_funasr(c, where="f.yaml")),
}


def changed(config: dict[str, Any], section: str, key: str, value: object) -> dict[str, Any]:
    config = copy.deepcopy(config)
    (config.setdefault(section, {}) if section else config)[key] = value
    return config


@pytest.mark.parametrize("family", READERS)
def test_the_published_settings_are_read(family: str) -> None:
    config, read = READERS[family]
    default = type(read(config))()
    assert (read(config).size, read(config).stack) == (default.size, default.stack)


@pytest.mark.parametrize(
    ("family", "section", "key", "value"),
    [
        ("sense-voice", "encoder_conf", "attention_heads", 0),
        ("sense-voice", "encoder_conf", "attention_heads", True),
        ("sense-voice", "encoder_conf", "num_blocks", "fifty"),
        ("sense-voice", "encoder_conf", "num_blocks", 10**9),
        ("sense-voice", "encoder_conf", "output_size", 510),
        ("sense-voice", "encoder_conf", "kernel_size", 10),
        ("sense-voice", "frontend_conf", "lfr_n", 0),
        ("sense-voice", "", "encoder_conf", [1]),
        ("sense-voice", "", "input_size", 80),
        ("nano", "audio_adaptor_conf", "attention_heads", 7),
        ("nano", "audio_adaptor_conf", "n_layer", -1),
        ("nano", "audio_encoder_conf", "linear_units", 2.5),
        ("port", "audio_config", "num_attention_heads", 0),
        ("port", "audio_config", "num_timestamp_prediction_layers", 70),
        ("port", "adaptor_config", "layer_norm_eps", "small"),
        ("vad", "encoder_conf", "lorder", None),
        ("vad", "encoder_conf", "input_dim", 80),
        ("vad", "", "frontend_conf", "lfr"),
        ("sense-voice", "", "frontend", "WhisperFrontend"),
        ("sense-voice", "frontend_conf", "fs", 8_000),
        ("sense-voice", "frontend_conf", "window", "hanning"),
        ("sense-voice", "frontend_conf", "frame_length", 32),
        ("nano", "frontend_conf", "n_mels", 128),
        ("nano", "frontend_conf", "snip_edges", False),
        ("nano", "frontend_conf", "upsacle_samples", False),
        ("vad", "frontend_conf", "frame_shift", 20),
        ("vad", "frontend_conf", "lfr_n", 2),
    ],
)
def test_a_value_that_is_no_size_is_named(family: str, section: str, key: str, value: object) -> None:
    config, read = READERS[family]
    with pytest.raises(
        UnreadableError, match=rf"^f\.yaml: {section + '.' if section else ''}{key} is .*, expected "
    ) as caught:
        read(changed(config, section, key, value))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("value", [None, {}, {"attention_heads": 4}])
def test_an_encoder_without_sizes_is_no_full_size_one(value: object) -> None:
    config, read = READERS["sense-voice"]
    with pytest.raises(UnreadableError, match=r"missing: encoder_conf\.output_size, encoder_conf\.num_blocks"):
        read(changed(config, "", "encoder_conf", value))


def test_the_front_end_as_it_is_published() -> None:
    said = {"fs": 16_000, "window": "hamming", "n_mels": 80, "frame_length": 25, "frame_shift": 10, "dither": 0.0}
    for family, name in (("sense-voice", "WavFrontend"), ("vad", "WavFrontendOnline")):
        config, read = READERS[family]
        published = {**config, "frontend": name, "frontend_conf": {**config.get("frontend_conf", {}), **said}}
        assert read(published) == read(config)
