"""Small checkpoint folders with random weights, laid out as the families publish them."""

from __future__ import annotations

import json
import sys
from base64 import b64encode
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
import yaml
from safetensors.numpy import save_file
from torch import nn

from paddable.families.ct_punc.config import CtPuncConfig
from paddable.families.ct_punc.model import CtPunc
from paddable.families.fsmn_vad.config import FsmnVadConfig
from paddable.families.fsmn_vad.model import FsmnVad
from paddable.families.fun_asr_nano.config import AdaptorConfig, FunAsrNanoConfig
from paddable.families.fun_asr_nano.model import FunAsrNano
from paddable.families.paraformer.config import HotwordConfig, ParaformerConfig, PredictorConfig
from paddable.families.paraformer.model import Paraformer
from paddable.families.sense_voice.config import SenseVoiceConfig
from paddable.families.sense_voice.model import SenseVoice

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "codec"), str(TESTS / "qwen3_asr"), str(TESTS / "ctc")]

import codec_graphs  # noqa: E402, F401
import codec_synthetic  # noqa: E402
import ctc_models  # noqa: E402
import qwen3_synthetic  # noqa: E402

torch.set_num_threads(1)

VOCABULARY = 20
ENCODER = {"output_size": 32, "attention_heads": 4, "linear_units": 48, "num_blocks": 2, "tp_blocks": 1}
SIZES = {"size": 32, "heads": 4, "hidden_size": 48, "blocks": 2, "tp_blocks": 1, "vocabulary": VOCABULARY}
PIECES = ["<blank>", *(f"\u2581w{i}" for i in range(1, VOCABULARY))]


def randomised(module: nn.Module, seed: int = 0) -> nn.Module:
    """Fills every parameter, 1-D too: a LayerNorm of ones hides a swapped norm and lets the exporter merge them."""
    generator = torch.Generator().manual_seed(seed)
    for name, parameter in module.named_parameters():
        noise = torch.randn(parameter.shape, generator=generator)
        is_gain = parameter.ndim == 1 and name.endswith("weight")
        fan = parameter[0].numel() if parameter.ndim > 1 else 100
        parameter.data = is_gain + noise * fan**-0.5
    return module.eval()


def sense_voice(folder: Path) -> Path:
    config = {"model": "SenseVoiceSmall", "input_size": 560, "encoder_conf": ENCODER}
    _funasr(folder, randomised(SenseVoice(SenseVoiceConfig(**SIZES))).state_dict(), config, channels=560)
    (folder / "tokens.json").write_text(json.dumps(PIECES), encoding="utf-8")
    return folder


def fun_asr_nano(folder: Path) -> Path:
    adaptor = AdaptorConfig(input_size=32, hidden_size=48, size=24, heads=4, blocks=1)
    ctc_decoder = AdaptorConfig(input_size=32, hidden_size=48, size=32, heads=4, blocks=1)
    model = randomised(FunAsrNano(FunAsrNanoConfig(**{**SIZES, "blocks": 1}, adaptor=adaptor, ctc_decoder=ctc_decoder)))
    conf = {"ffn_dim": 48, "attention_heads": 4, "n_layer": 1}
    config = {
        "model": "FunASRNano",
        "audio_encoder_conf": {**ENCODER, "num_blocks": 1},
        "audio_adaptor": "Transformer",
        "audio_adaptor_conf": conf,
        "ctc_decoder": "Transformer",
        "ctc_decoder_conf": conf,
    }
    _funasr(folder, model.state_dict(), config, channels=560)
    letters = "abcdefghijklmnopqrs"  # the last of the 20 classes, the blank, has no row
    ranks = "".join(f"{b64encode(letter.encode()).decode()} {rank}\n" for rank, letter in enumerate(letters))
    (folder / "multilingual.tiktoken").write_text(ranks, encoding="ascii")
    return folder


PARAFORMER = ParaformerConfig(
    size=32,
    heads=4,
    hidden_size=48,
    blocks=2,
    decoder_hidden_size=48,
    decoder_blocks=2,
    plain_blocks=1,
    vocabulary=VOCABULARY,
)
PLAIN_PARAFORMER = replace(PARAFORMER, predictor=PredictorConfig(upsampling=None))
PARAFORMER_PIECES = [
    "<blank>",
    "<s>",
    "</s>",
    *"一二三四五六七",
    "hel@@",
    "lo",
    "world",
    "a",
    "b",
    "c",
    "d",
    "e",
    "f",
    "<unk>",
]
PARAFORMER_YAML = {
    "model": "BiCifParaformer",
    "encoder": "SANMEncoder",
    "encoder_conf": {"output_size": 32, "attention_heads": 4, "linear_units": 48, "num_blocks": 2, "input_layer": "pe"},
    "decoder": "ParaformerSANMDecoder",
    "decoder_conf": {
        "attention_heads": 4,
        "linear_units": 48,
        "num_blocks": 3,
        "att_layer_num": 2,
        "kernel_size": 11,
        "sanm_shfit": 0,
    },
    "predictor": "CifPredictorV3",
    "predictor_conf": {
        "idim": 32,
        "threshold": 1.0,
        "l_order": 1,
        "r_order": 1,
        "tail_threshold": 0.45,
        "smooth_factor2": 0.25,
        "noise_threshold2": 0.01,
        "upsample_times": 3,
        "use_cif1_cnn": False,
        "upsample_type": "cnn_blstm",
    },
    "frontend": "WavFrontend",
    "frontend_conf": {"fs": 16000, "window": "hamming", "n_mels": 80, "lfr_m": 7, "lfr_n": 6},
}
"""A BiCIF Paraformer as FunASR's config.yaml describes it."""


SEACO = replace(
    PARAFORMER, hotwords=HotwordConfig(heads=4, hidden_size=40, blocks=2, plain_blocks=1, kernel_size=5, nothing=5)
)
SEACO_YAML = PARAFORMER_YAML | {
    "model": "SeacoParaformer",
    "model_conf": {"inner_dim": 32, "bias_encoder_type": "lstm", "bias_encoder_bid": False, "NO_BIAS": 5},
    "seaco_decoder": "ParaformerSANMDecoder",
    "seaco_decoder_conf": {
        "attention_heads": 4,
        "linear_units": 40,
        "num_blocks": 3,
        "att_layer_num": 2,
        "kernel_size": 5,
        "sanm_shfit": 0,
        "use_output_layer": False,
        "wo_input_layer": True,
    },
}
"""The same with hotwords."""


def seaco(folder: Path) -> Path:
    model = randomised(Paraformer(SEACO))
    model.hotword_output_layer.bias.data[5] += 1  # now a hotword, now none
    _funasr(folder, model.state_dict(), SEACO_YAML, channels=560)
    (folder / "tokens.json").write_text(json.dumps(PARAFORMER_PIECES), encoding="utf-8")
    return folder


def paraformer(folder: Path) -> Path:
    state = randomised(Paraformer(PARAFORMER)).state_dict()
    state["decoder.output_layer.bias"][:3] -= 9  # neither the blank nor an end, so that something is written
    _funasr(folder, state, PARAFORMER_YAML, channels=560)
    (folder / "tokens.json").write_text(json.dumps(PARAFORMER_PIECES), encoding="utf-8")
    return folder


CT_PUNC = CtPuncConfig(vocabulary=20, input_size=24, size=32, heads=4, hidden_size=48, blocks=2)
CT_PUNC_PIECES = ["<blank>", "<unk>", *"一二三四五六七八", "hello", "world", "a", "b", "c", "don't", "é", "3", "4", "5"]
CT_PUNC_YAML = {
    "model": "CTTransformer",
    "model_conf": {
        "ignore_id": 0,
        "embed_unit": 24,
        "att_unit": 32,
        "punc_list": list(CT_PUNC.marks),
        "sentence_end_id": 3,
    },
    "encoder": "SANMEncoder",
    "encoder_conf": {
        "input_size": 24,
        "output_size": 32,
        "attention_heads": 4,
        "linear_units": 48,
        "num_blocks": 2,
        "input_layer": "pe",
        "kernel_size": 11,
        "sanm_shfit": 0,
        "selfattention_layer_type": "sanm",
    },
    "tokenizer": "CharTokenizer",
}
"""A CT-Transformer as FunASR's config.yaml describes it."""


def ct_punc(folder: Path) -> Path:
    _funasr(folder, randomised(CtPunc(CT_PUNC)).state_dict(), CT_PUNC_YAML, channels=4)
    (folder / "tokens.json").write_text(json.dumps(CT_PUNC_PIECES), encoding="utf-8")
    return folder


def fsmn_vad(folder: Path) -> Path:
    model = randomised(FsmnVad(FsmnVadConfig(affine_size=20, size=24, memory_size=16, blocks=2, order=5, classes=12)))
    state = {}
    for key, value in model.state_dict().items():  # FunASR's names: wrapped layers, memories in two dimensions
        name, _, part = key.rpartition(".")
        if name.endswith(".memory"):
            state[f"encoder.{name.removesuffix('.memory')}.fsmn_block.conv_left.weight"] = value.unsqueeze(-1)
        else:
            state[f"encoder.{name}.linear.{part}"] = value
    encoder = {"input_dim": 400, "input_affine_dim": 20, "output_affine_dim": 20, "linear_dim": 24, "proj_dim": 16}
    config = {
        "encoder": "FSMN",
        "encoder_conf": {**encoder, "fsmn_layers": 2, "lorder": 5, "output_dim": 12},
        "frontend_conf": {"lfr_m": 5, "lfr_n": 1},
        "model_conf": {"max_end_silence_time": 500, "sil_pdf_ids": [0], "speech_noise_thres": 0.1},
    }
    _funasr(folder, state, config, channels=400)
    return folder


def qwen3_asr(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps({"audio_config": qwen3_synthetic.HF_CONFIG}))
    arrays = {f"thinker.audio_tower.{name}": array for name, array in qwen3_synthetic.tensors().items()}
    save_file(arrays, folder / "model.safetensors")
    return folder


def qwen3_tts_codec(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(codec_synthetic.outer_config(codec_synthetic.TINY)))
    save_file(codec_synthetic.checkpoint(codec_synthetic.TINY), folder / "model.safetensors")
    return folder


def ctc(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    ctc_models.recogniser(folder / "model.onnx")
    ctc_models.tokens(folder / "tokens.txt")
    return folder


def _funasr(folder: Path, state: dict[str, torch.Tensor], config: dict[str, Any], *, channels: int) -> None:
    folder.mkdir(parents=True)
    torch.save(state, folder / "model.pt")
    (folder / "config.yaml").write_text(yaml.safe_dump(config))
    random = np.random.default_rng(1)
    shift, scale = (" ".join(map(str, row)) for row in random.uniform(0.5, 1.5, (2, channels)))
    lines = f"<AddShift> {channels} {channels}\n<LearnRateCoef> 0 [ {shift} ]\n"
    (folder / "am.mvn").write_text(lines + f"<Rescale> {channels} {channels}\n<LearnRateCoef> 0 [ {scale} ]\n")
