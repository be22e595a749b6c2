"""A wav2vec2 recogniser of random weights, exported as a stranger would, against transformers' own decoding."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import (
    Wav2Vec2Config,
    Wav2Vec2CTCTokenizer,
    Wav2Vec2FeatureExtractor,
    Wav2Vec2ForCTC,
    Wav2Vec2Processor,
)

import paddable
from paddable.runtime import Model

VOCABULARY = {"<pad>": 0, "<s>": 1, "</s>": 2, "<unk>": 3, "|": 4, **{c: i for i, c in enumerate("ETAONIHS'", 5)}}
SOUND = np.random.default_rng(0).normal(0.05, 0.2, 32_000).astype(np.float32)


class Logits(torch.nn.Module):
    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, input_values: torch.Tensor) -> torch.Tensor:
        return self.model(input_values).logits


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Wav2Vec2ForCTC, Wav2Vec2Processor]:
    """A folder as optimum leaves one: the graph, vocab.json and the settings of tokenizer and feature extractor."""
    folder = tmp_path_factory.mktemp("wav2vec2")
    torch.manual_seed(0)
    model = Wav2Vec2ForCTC(
        Wav2Vec2Config(
            vocab_size=len(VOCABULARY), hidden_size=32, num_hidden_layers=1, num_attention_heads=4,
            intermediate_size=48, conv_dim=(16, 16, 16), conv_stride=(5, 8, 8), conv_kernel=(10, 8, 8),
            num_conv_pos_embeddings=16, num_conv_pos_embedding_groups=4, attn_implementation="eager",
        )
    ).eval()  # fmt: skip
    torch.nn.init.normal_(model.lm_head.weight, std=1.0)
    with torch.no_grad():  # every class wins somewhere
        model.lm_head.bias -= model(torch.from_numpy(SOUND[None])).logits.mean((0, 1))
    (folder / "vocab.json").write_text(json.dumps(VOCABULARY))
    tokenizer = Wav2Vec2CTCTokenizer(str(folder / "vocab.json"))
    processor = Wav2Vec2Processor(Wav2Vec2FeatureExtractor(do_normalize=True), tokenizer)
    processor.feature_extractor.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    torch.onnx.export(
        Logits(model).eval(), (torch.zeros(1, 4_000),), str(folder / "model.onnx"), dynamo=True, external_data=False,
        input_names=["input_values"], output_names=["logits"], dynamic_shapes=({1: torch.export.Dim.DYNAMIC},),
        verbose=False,
    )  # fmt: skip
    return folder, model, processor


@pytest.fixture(scope="module")
def recogniser(published: tuple[Path, Wav2Vec2ForCTC, Wav2Vec2Processor]) -> Model:
    folder, *_ = published
    made = paddable.export(
        "ctc", folder, folder / "bundle", labels=folder / "vocab.json", containers=["1s", "2s"], gate_lengths=4
    )
    return paddable.load(made, "cpu")


@pytest.mark.parametrize("length", [4_000, 12_321, 16_000, 32_000])
def test_it_is_decoded_as_transformers_does(
    published: tuple[Path, Wav2Vec2ForCTC, Wav2Vec2Processor], recogniser: Model, length: int
) -> None:
    _, model, processor = published
    inputs = processor(SOUND[:length], sampling_rate=16_000, return_tensors="pt")
    with torch.no_grad():
        classes = model(inputs.input_values).logits.argmax(-1)
    (wanted,) = processor.batch_decode(classes)
    assert recogniser.transcribe(SOUND[:length]).text == wanted
    if length == 32_000:  # what has to be told apart: groups, delimiters, unknown letters
        found = classes[0].tolist()
        assert set(range(5)) <= set(found) and "<unk>" in wanted and " " in wanted
        assert any(a == b != 0 for a, b in pairwise(found))


def test_words_have_the_times_that_transformers_gives(
    published: tuple[Path, Wav2Vec2ForCTC, Wav2Vec2Processor], recogniser: Model
) -> None:
    _, model, processor = published
    inputs = processor(SOUND, sampling_rate=16_000, return_tensors="pt")
    with torch.no_grad():
        classes = model(inputs.input_values).logits.argmax(-1)[0]
    wanted = processor.decode(classes, output_word_offsets=True)["word_offsets"]
    said = recogniser.transcribe(SOUND, timestamps=True).words
    assert [(word.text, round(word.start / 0.02), round(word.end / 0.02)) for word in said] == [
        (word["word"], word["start_offset"], word["end_offset"]) for word in wanted
    ]
