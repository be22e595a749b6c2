"""The second judge: transformers' qwen3_asr, which is windowed and pads every clip to whole chunks."""

from __future__ import annotations

import numpy as np
import pytest
import qwen3_synthetic as synthetic
import torch

from paddable.audio import whisper
from paddable.families.qwen3_asr.config import token_count
from paddable.families.qwen3_asr.front_end import WhisperFrontEnd

pytestmark = pytest.mark.original
pytest.importorskip("transformers.models.qwen3_asr", reason="needs transformers 5.24")

PROJECTIONS = {"proj1": "linear_1", "proj2": "linear_2"}


def hf_config():
    from transformers import Qwen3ASRConfig

    text = {"vocab_size": 40, "hidden_size": synthetic.OUTPUT, "intermediate_size": 32, "num_hidden_layers": 1}
    text |= {"num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 8, "tie_word_embeddings": True}
    return Qwen3ASRConfig(
        audio_config={"model_type": "qwen3_asr_encoder", **synthetic.HF_CONFIG},
        text_config={"model_type": "qwen3", **text},
        audio_token_id=39,
        pad_token_id=0,
        eos_token_id=1,
    )


@pytest.fixture(scope="module")
def original():
    from transformers import Qwen3ASRForConditionalGeneration

    torch.manual_seed(0)
    model = Qwen3ASRForConditionalGeneration(hf_config()).eval().requires_grad_(False)
    state = model.state_dict()
    for name, array in synthetic.tensors().items():
        layer, _, rest = name.partition(".")
        place = f"multi_modal_projector.{PROJECTIONS[layer]}.{rest}" if layer in PROJECTIONS else f"audio_tower.{name}"
        state[f"model.{place}"].copy_(torch.from_numpy(array))
    return model


def run_original(model, mel):
    frames = mel.shape[2]
    padded = np.pad(mel, ((0, 0), (0, 0), (0, -frames % 100)))
    mask = (torch.arange(padded.shape[2]) < frames).long()[None]
    found = model.model.get_audio_features(torch.from_numpy(padded), mask)
    return found.last_hidden_state.numpy(), found.pooler_output.numpy()


@pytest.mark.parametrize("frames", (1, 7, 8, 9, *synthetic.JUDGED))
def test_padded_short_clips_equal_it_at_every_length(make_encoder, run_model, original, error, frames):
    mel = synthetic.mel(frames)
    for got, want in zip(run_model(make_encoder(short_clips="padded"), mel), run_original(original, mel), strict=True):
        assert error(got, want) < 1e-5


@pytest.mark.parametrize("frames", [99, 100, 101, 800, 801, 1500])
def test_the_default_equals_it_from_99_frames_on(make_encoder, run_model, original, error, frames):
    mel = synthetic.mel(frames)
    assert error(run_model(make_encoder(), mel)[1], run_original(original, mel)[1]) < 1e-5


@pytest.mark.parametrize("samples", [1, 3_000, 7_999, 8_000, 8_001, 16_000, 16_001, 128_159, 240_000])
def test_features_equal_its_extractor(samples):
    from transformers import Qwen3ASRFeatureExtractor

    time = np.arange(samples) / 16_000
    noise = np.random.default_rng(1).standard_normal(samples)
    audio = (0.1 * noise * (1.1 + np.sin(7 * time)) + 0.2 * np.sin(2_000 * time)).astype(np.float32)
    found = Qwen3ASRFeatureExtractor()(audio, sampling_rate=16_000, padding="longest", return_attention_mask=True)
    frames = int(found["attention_mask"].sum())
    want = found["input_features"][0].numpy()[:, :frames]
    assert frames == whisper.frames(samples)
    exact = whisper.log_mel(audio)  # float64 inside; the other two round as float32 does
    in_graph = WhisperFrontEnd()(torch.from_numpy(audio)[None])[0].numpy()
    for got in (want, in_graph):
        assert got.shape == exact.shape
        assert np.abs(got - exact).max() < 5e-5
        assert np.quantile(np.abs(got - exact), 0.999) < 1e-5


def test_embeddings_take_the_place_of_its_audio_features(make_encoder, run_model, original):
    mel = synthetic.mel(230)
    _, embeddings = run_model(make_encoder(short_clips="padded"), mel)
    assert len(embeddings) == token_count(230)
    prompt = torch.tensor([[3, 4, *[39] * len(embeddings), 5, 6]])
    mask = (torch.arange(300) < 230).long()[None]
    want = original(
        input_ids=prompt,
        input_features=torch.from_numpy(np.pad(mel, ((0, 0), (0, 0), (0, 70)))),
        input_features_mask=mask,
        attention_mask=torch.ones_like(prompt),
    ).logits
    words = original.get_input_embeddings()(prompt)
    words[prompt == 39] = torch.from_numpy(embeddings)
    got = original(inputs_embeds=words, attention_mask=torch.ones_like(prompt)).logits
    assert torch.abs(got - want).max() < 1e-5 * torch.abs(want).max()
