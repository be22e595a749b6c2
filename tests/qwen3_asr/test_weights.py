"""Checkpoints of both layouts, in one file and in shards, in bfloat16."""

from __future__ import annotations

import json

import pytest
import qwen3_synthetic as synthetic
import torch
from safetensors.torch import save_file

from paddable.errors import Unreadable
from paddable.models.qwen3_asr import PRESETS, Qwen3AsrConfig, qwen3_asr_from_folder

ORIGINAL = {"model_type": "qwen3_asr", "thinker_config": {"audio_config": synthetic.HF_CONFIG}}
HF = {"model_type": "qwen3_asr", "audio_config": synthetic.HF_CONFIG}


def stored(layout, prefix=""):
    tensors = {name: torch.from_numpy(array).bfloat16() for name, array in synthetic.tensors().items()}
    if layout == "original":
        named = {f"thinker.audio_tower.{name}": tensor for name, tensor in tensors.items()}
        return named | {"thinker.lm_head.weight": torch.zeros(2, 2), "thinker.model.norm.weight": torch.zeros(2)}
    places = {"proj1": "multi_modal_projector.linear_1", "proj2": "multi_modal_projector.linear_2"}
    named = {}
    for name, tensor in tensors.items():
        layer, _, rest = name.partition(".")
        named[prefix + (f"{places[layer]}.{rest}" if layer in places else f"audio_tower.{name}")] = tensor
    return named | {f"{prefix}language_model.norm.weight": torch.zeros(2)}


def write(folder, config, tensors, shards=1):
    (folder / "config.json").write_text(json.dumps(config))
    if shards == 1:
        save_file(tensors, folder / "model.safetensors")
        return folder
    places = {key: f"model-{i % shards + 1:05}-of-{shards:05}.safetensors" for i, key in enumerate(tensors)}
    for file in set(places.values()):
        save_file({key: tensors[key] for key in tensors if places[key] == file}, folder / file)
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": places}))
    return folder


@pytest.mark.parametrize(
    "config, tensors, shards",
    [
        (ORIGINAL, stored("original"), 1),
        (ORIGINAL, stored("original"), 2),
        (HF, stored("hf", "model."), 1),
        (HF, stored("hf"), 3),
    ],
    ids=["original", "original-shards", "hf", "hf-shards-bare"],
)
def test_every_layout_gives_the_same_model(tmp_path, make_encoder, run_model, config, tensors, shards):
    loaded = qwen3_asr_from_folder(write(tmp_path, config, tensors, shards))
    expected = make_encoder()
    expected.load_state_dict({k: v.bfloat16().float() for k, v in expected.state_dict().items()})
    assert all(p.dtype == torch.float32 for p in loaded.parameters())
    for got, want in zip(*(run_model(m, synthetic.mel(150)) for m in (loaded, expected)), strict=True):
        assert (got == want).all()


def test_missing_and_unexpected_keys_are_named(tmp_path):
    tensors = stored("original")
    del tensors["thinker.audio_tower.layers.1.fc1.bias"]
    tensors["thinker.audio_tower.extra.weight"] = torch.zeros(2)
    with pytest.raises(Unreadable, match=r"1 missing: .*layers\.1\.fc1\.bias.*1 unexpected: .*extra\.weight"):
        qwen3_asr_from_folder(write(tmp_path, ORIGINAL, tensors))


def test_a_missing_shard_is_named(tmp_path):
    write(tmp_path, ORIGINAL, stored("original"), shards=2)
    (tmp_path / "model-00002-of-00002.safetensors").unlink()
    with pytest.raises(Unreadable, match="model-00002-of-00002"):
        qwen3_asr_from_folder(tmp_path)


@pytest.mark.parametrize("change", [{"n_window": 100}, {"n_window_infer": 450}, {"activation_function": "relu"}])
def test_unknown_forms_are_refused(change):
    with pytest.raises(Unreadable, match=next(iter(change))):
        Qwen3AsrConfig.from_json({"audio_config": synthetic.HF_CONFIG | change})


def test_left_out_keys_have_the_defaults_of_the_layout():
    assert Qwen3AsrConfig.from_json({"audio_config": {"output_dim": 2048}}) == PRESETS["1.7b"]
    with pytest.raises(Unreadable, match="n_window 100"):  # the default of the original class
        Qwen3AsrConfig.from_json({"thinker_config": {"audio_config": {}}})


def test_another_model_is_refused():
    with pytest.raises(Unreadable, match="whisper"):
        Qwen3AsrConfig.from_json({"model_type": "whisper"})
