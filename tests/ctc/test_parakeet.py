"""NeMo's features in front of its encoder: transformers' Parakeet of random weights, found out from its own files."""

from __future__ import annotations

import warnings
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import ParakeetCTCConfig, ParakeetFeatureExtractor, ParakeetForCTC

import paddable

from .ctc_models import tokens

LETTERS = "abcdefghijk"
LABELS = [*(f"\u2581{letter}" if letter in "adgj" else letter for letter in LETTERS), "<blk>"]
SOUND = np.random.default_rng(0).normal(0, 0.2, 48_000).astype(np.float32)


class Logits(torch.nn.Module):
    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, input_features: torch.Tensor) -> torch.Tensor:
        return self.model(input_features=input_features).logits


@pytest.fixture(scope="module")
def model() -> ParakeetForCTC:
    torch.manual_seed(0)
    sizes = {"hidden_size": 32, "num_attention_heads": 4, "intermediate_size": 48, "subsampling_conv_channels": 8}
    config = ParakeetCTCConfig(
        vocab_size=len(LABELS), pad_token_id=11, encoder_config={**sizes, "num_hidden_layers": 1, "num_mel_bins": 80}
    )
    config.encoder_config._attn_implementation = "eager"
    model = ParakeetForCTC(config).eval()
    torch.nn.init.normal_(model.ctc_head.weight, std=1.0)
    with torch.no_grad():  # every class wins somewhere
        model.ctc_head.bias -= model(input_features=features(SOUND)).logits.mean((0, 1))
    return model


def features(sound: np.ndarray) -> torch.Tensor:
    found = ParakeetFeatureExtractor()(sound, sampling_rate=16_000, return_tensors="pt")
    return found["input_features"][:, : int(found["attention_mask"].sum())]


def test_it_writes_what_transformers_says(model: ParakeetForCTC, tmp_path: Path) -> None:
    with warnings.catch_warnings(action="ignore"):
        torch.onnx.export(
            Logits(model).eval(), (features(SOUND[:32_000]),), str(tmp_path / "model.onnx"),
            dynamo=False, opset_version=17, input_names=["input_features"], output_names=["logits"],
            dynamic_axes={"input_features": {0: "B", 1: "T"}, "logits": {0: "B", 1: "U"}},
        )  # fmt: skip
    ParakeetFeatureExtractor().save_pretrained(tmp_path)
    tokens(tmp_path / "tokens.txt", LABELS)
    told: list[str] = []
    made = paddable.export(
        "ctc", tmp_path, tmp_path / "bundle", containers=["3s"], verify=False, on_message=told.append
    )
    assert "front end: nemo, as preprocessor_config.json says ParakeetFeatureExtractor" in told
    recogniser = paddable.load(made)
    for length in (16_000, 30_001, 48_000):
        with torch.no_grad():
            best = model(input_features=features(SOUND[:length])).logits[0].argmax(-1).tolist()
        wanted = "".join(LABELS[k] for k, _ in groupby(best) if k != 11).replace("\u2581", " ").strip()
        heard = recogniser.transcribe(SOUND[:length], timestamps=True)
        assert len(wanted) > 5 and heard.text == wanted
        assert " ".join(word.text for word in heard.words) == wanted and heard.words[-1].end <= length / 16_000
