"""Full-size checkpoint folders of SenseVoiceSmall and Fun-ASR-Nano as they are published, with random weights."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
import yaml
from torch import nn

from paddable.families.fun_asr_nano.config import FunAsrNanoConfig
from paddable.families.fun_asr_nano.model import FunAsrNano
from paddable.families.sense_voice.config import SenseVoiceConfig
from paddable.families.sense_voice.model import SenseVoice

__all__ = ["fun_asr_nano", "sense_voice"]

ENCODER = {
    "output_size": 512,
    "attention_heads": 4,
    "linear_units": 2048,
    "num_blocks": 50,
    "tp_blocks": 20,
    "dropout_rate": 0.1,
    "input_layer": "pe",
    "pos_enc_class": "SinusoidalPositionEncoder",
    "normalize_before": True,
    "kernel_size": 11,
    "sanm_shfit": 0,
    "selfattention_layer_type": "sanm",
}
FRONT_END = {"fs": 16000, "window": "hamming", "n_mels": 80, "frame_length": 25, "frame_shift": 10, "lfr_m": 7}


def sense_voice(folder: Path) -> Path:
    """model.pt 936 MB, config.yaml, configuration.json, am.mvn, tokens.json."""
    config = {
        "encoder": "SenseVoiceEncoderSmall",
        "encoder_conf": ENCODER,
        "model": "SenseVoiceSmall",
        "model_conf": {"length_normalized_loss": True, "sos": 1, "eos": 2, "ignore_id": -1},
        "frontend": "WavFrontend",
        "frontend_conf": {**FRONT_END, "lfr_n": 6},
    }
    _write(folder, SenseVoice(SenseVoiceConfig()), config)
    pieces = ["<unk>", "<s>", "</s>", *(f"\u2581w{number}" for number in range(3, SenseVoiceConfig.vocabulary))]
    (folder / "tokens.json").write_text(json.dumps(pieces), encoding="utf-8")
    return folder


def fun_asr_nano(folder: Path) -> Path:
    """The audio side: encoder, adaptor (2 blocks, 1024), CTC decoder (5 blocks); multilingual.tiktoken."""
    transformer = {"downsample_rate": 1, "encoder_dim": 512, "ffn_dim": 2048, "attention_heads": 8}
    config = {
        "model": "FunASRNano",
        "audio_encoder": "SenseVoiceEncoderSmall",
        "audio_encoder_conf": ENCODER,
        "audio_adaptor": "Transformer",
        "audio_adaptor_conf": {**transformer, "llm_dim": 1024, "n_layer": 2},
        "ctc_decoder": "Transformer",
        "ctc_decoder_conf": {**transformer, "llm_dim": 512, "n_layer": 5},
        "frontend": "WavFrontend",
        "frontend_conf": {**FRONT_END, "lfr_n": 6},
    }
    _write(folder, FunAsrNano(FunAsrNanoConfig()), config)
    # 1 679 of the 60 515 classes are special tokens, times and the blank
    ranks = "".join(f"{_base64(number)} {number}\n" for number in range(58_836))
    (folder / "multilingual.tiktoken").write_text(ranks, encoding="ascii")
    return folder


def _base64(number: int) -> str:
    from base64 import b64encode

    return b64encode(number.to_bytes(2, "big") if number > 255 else bytes([number])).decode("ascii")


def _write(folder: Path, model: nn.Module, config: dict[str, Any]) -> None:
    folder.mkdir(parents=True)
    torch.manual_seed(0)
    for parameter in model.parameters():
        if parameter.ndim == 1:  # the library's own start leaves gains at 1 and biases at 0, which would hide them
            parameter.data += 0.1 * torch.randn_like(parameter)
    torch.save(model.state_dict(), folder / "model.pt")
    (folder / "config.yaml").write_text(yaml.safe_dump(config))
    files = {"init_param": "model.pt", "config": "config.yaml", "frontend_conf": {"cmvn_file": "am.mvn"}}
    (folder / "configuration.json").write_text(json.dumps({"framework": "pytorch", "file_path_metas": files}))
    shift, scale = np.linspace(-8, -14, 560), np.linspace(0.35, 0.22, 560)
    rows = "\n".join(
        f"{tag} 560 560\n<LearnRateCoef> 0 [ {' '.join(map(str, row))} ]"
        for tag, row in (("<AddShift>", shift), ("<Rescale>", scale))
    )
    (folder / "am.mvn").write_text(f"<Nnet>\n<Splice> 560 560\n[ 0 ]\n{rows}\n</Nnet>\n")
