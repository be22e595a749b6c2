"""Checkpoints of both layouts, in one file and in shards, in bfloat16."""

from __future__ import annotations

import json
import re

import pytest
import qwen3_synthetic as synthetic
import torch
from safetensors.torch import save_file

from paddable.errors import UnreadableError
from paddable.families.qwen3_asr.config import PRESETS, Qwen3AsrConfig
from paddable.families.qwen3_asr.weights import qwen3_asr_from_folder

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
    prefix = r"thinker\.audio_tower\."
    named = rf"1 missing: {prefix}layers\.1\.fc1\.bias; 1 unexpected: {prefix}extra\.weight;"
    with pytest.raises(UnreadableError, match=named):
        qwen3_asr_from_folder(write(tmp_path, ORIGINAL, tensors))


@pytest.mark.parametrize("prefix", ["", "model."])
@pytest.mark.parametrize("key", ["audio_tower.conv_out.weight", "multi_modal_projector.linear_2.bias"])
def test_a_missing_key_is_spelled_as_the_file_would(tmp_path, prefix, key):
    tensors = stored("hf", prefix)
    del tensors[prefix + key]
    with pytest.raises(UnreadableError, match=f"1 missing: {re.escape(prefix + key)};"):
        qwen3_asr_from_folder(write(tmp_path, HF, tensors))


@pytest.mark.parametrize(
    ("value", "named"),
    [
        (torch.zeros(128).to(torch.float8_e5m2), "16 bits or more: .*layers.1.fc1.bias is float8_e5m2"),
        (torch.zeros(128, dtype=torch.int8), "not floats of 16 bits or more: .*layers.1.fc1.bias is int8"),
        (torch.full((128,), torch.inf), "NaN or infinity in .*layers.1.fc1.bias"),
        (torch.full((128,), torch.nan).bfloat16(), "NaN or infinity in .*layers.1.fc1.bias"),
        (torch.full((128,), 1e300, dtype=torch.float64), "NaN or infinity in .*layers.1.fc1.bias"),
    ],
)
def test_weights_that_are_no_finite_floats_are_named(tmp_path, value, named):
    tensors = stored("original") | {"thinker.audio_tower.layers.1.fc1.bias": value}
    with pytest.raises(UnreadableError, match=named):
        qwen3_asr_from_folder(write(tmp_path, ORIGINAL, tensors))


def test_two_keys_for_one_weight_are_refused(tmp_path):
    tensors = stored("hf") | {"model.audio_tower.conv_out.weight": torch.zeros(64, 384)}
    with pytest.raises(UnreadableError, match=r"audio_tower\.conv_out\.weight and .*are the same weight"):
        qwen3_asr_from_folder(write(tmp_path, HF, tensors))


@pytest.mark.parametrize("name", ["../{}", "{folder}/{}", "sub/{}", "..\\{}", "C:{}", ".."])
def test_an_index_names_files_beside_it_only(tmp_path, name):
    inside = tmp_path / "checkpoint"
    inside.mkdir()
    write(inside, ORIGINAL, stored("original"), shards=2)
    shard = "model-00001-of-00002.safetensors"
    outside = name.format(shard, folder=tmp_path)
    (inside / shard).rename(tmp_path / shard)
    index = inside / "model.safetensors.index.json"
    places = json.loads(index.read_text())["weight_map"]
    index.write_text(json.dumps({"weight_map": {k: outside if v == shard else v for k, v in places.items()}}))
    with pytest.raises(UnreadableError, match=r"index\.json: it names .*a shard lies beside its index"):
        qwen3_asr_from_folder(inside)


def test_a_key_in_two_shards_is_refused(tmp_path):
    tensors = stored("original")
    write(tmp_path, ORIGINAL, tensors, shards=2)
    key = "thinker.audio_tower.conv_out.weight"
    save_file({**tensors, key: torch.zeros(64, 384)}, tmp_path / "model-00002-of-00002.safetensors")
    with pytest.raises(UnreadableError, match=r"is in model-00001-of-00002\.safetensors and in model-00002"):
        qwen3_asr_from_folder(tmp_path)


def test_weights_that_are_not_there_are_said(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(ORIGINAL))
    with pytest.raises(UnreadableError, match=r"neither model\.safetensors nor model\.safetensors\.index\.json in it"):
        qwen3_asr_from_folder(tmp_path)
    with pytest.raises(UnreadableError, match=r"config\.json: no such file") as caught:
        qwen3_asr_from_folder(tmp_path / "absent")
    assert str(caught.value).count("config.json") == 1


def test_a_missing_shard_is_named(tmp_path):
    write(tmp_path, ORIGINAL, stored("original"), shards=2)
    (tmp_path / "model-00002-of-00002.safetensors").unlink()
    with pytest.raises(UnreadableError, match=r"it names 'model-00002-of-00002\.safetensors', which is not there"):
        qwen3_asr_from_folder(tmp_path)


def test_a_shard_name_that_is_too_long_for_the_system_is_not_there(tmp_path):
    write(tmp_path, ORIGINAL, stored("original"), shards=2)
    index = tmp_path / "model.safetensors.index.json"
    places = json.loads(index.read_text())["weight_map"]
    index.write_text(json.dumps({"weight_map": places | {"thinker.audio_tower.conv_out.weight": "m" * 5000}}))
    with pytest.raises(UnreadableError, match=r"it names 'm+\.\.\., which is not there") as caught:
        qwen3_asr_from_folder(tmp_path)
    assert len(str(caught.value)) < 500


FIRST, SECOND = (f"model-{i:05}-of-00002.safetensors" for i in (1, 2))
KEY = "thinker.audio_tower.conv_out.weight"


@pytest.mark.parametrize(
    "change, told",
    [
        (lambda held, places: held.pop(KEY), "{key} is not in {file}"),
        (
            lambda held, places: places.update({KEY: SECOND if places[KEY] == FIRST else FIRST}),
            "{key} is in {file}, not",
        ),
        (lambda held, places: places.pop(KEY), "{key} of {file} is not in the index"),
    ],
)
def test_an_index_that_contradicts_its_shards_is_refused(tmp_path, change, told):
    write(tmp_path, ORIGINAL, stored("original"), shards=2)
    index = tmp_path / "model.safetensors.index.json"
    places = json.loads(index.read_text())["weight_map"]
    file = places[KEY]
    held = {key: tensor for key, tensor in stored("original").items() if places[key] == file}
    change(held, places)
    save_file(held, tmp_path / file)
    index.write_text(json.dumps({"weight_map": places}))
    with pytest.raises(UnreadableError, match=re.escape(told.format(key=KEY, file=file))):
        qwen3_asr_from_folder(tmp_path)


def test_a_slip_in_a_size_does_not_fill_the_memory(tmp_path):
    config = {"audio_config": synthetic.HF_CONFIG | {"d_model": 1 << 20}}
    with pytest.raises(UnreadableError, match=r"wrongly shaped: .* instead of \[.*1048576"):
        qwen3_asr_from_folder(write(tmp_path, config, stored("hf")))


@pytest.mark.parametrize("change", [{"n_window": 100}, {"n_window_infer": 450}, {"activation_function": "relu"}])
def test_unknown_forms_are_refused(change):
    with pytest.raises(UnreadableError, match=next(iter(change))):
        Qwen3AsrConfig.from_json({"audio_config": synthetic.HF_CONFIG | change})


@pytest.mark.parametrize("layout", [HF, ORIGINAL], ids=["hf", "original"])
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("encoder_attention_heads", 0),
        ("encoder_layers", "two"),
        ("encoder_layers", -1),
        ("encoder_layers", 10**9),
        ("d_model", 64.0),
        ("d_model", 10**30),
        ("encoder_ffn_dim", None),
        ("output_dim", True),
        ("n_window_infer", [800]),
    ],
)
def test_a_value_that_is_no_size_is_named(layout, key, value):
    config = json.loads(json.dumps(layout))
    outer = config.get("thinker_config", config)
    outer["audio_config"][key] = value
    path = re.escape("thinker_config." if outer is not config else "") + f"audio_config\\.{key} is "
    with pytest.raises(UnreadableError, match=rf"^config\.json: {path}.*, expected a whole number from"):
        Qwen3AsrConfig.from_json(config)


@pytest.mark.parametrize(
    "change",
    [{"d_model": 62, "encoder_attention_heads": 4}, {"num_mel_bins": 80}],
)
def test_sizes_that_contradict_each_other_are_refused(change):
    with pytest.raises(UnreadableError, match=next(iter(change))):
        Qwen3AsrConfig.from_json({"audio_config": synthetic.HF_CONFIG | change})


@pytest.mark.parametrize("config", [{"audio_config": 3}, {"thinker_config": "x"}, {"thinker_config": {}}])
def test_a_section_that_is_none_is_named(config):
    with pytest.raises(UnreadableError, match=r"config\.json: .*_config"):
        Qwen3AsrConfig.from_json(config)


def test_left_out_keys_have_the_defaults_of_the_layout():
    assert Qwen3AsrConfig.from_json({"audio_config": {"output_dim": 2048}}) == PRESETS["1.7b"]
    with pytest.raises(UnreadableError, match="n_window 100"):  # the default of the original class
        Qwen3AsrConfig.from_json({"thinker_config": {"audio_config": {}}})


def test_another_model_of_the_same_keys_is_refused():
    with pytest.raises(UnreadableError, match="model_type is 'qwen2_5_omni', not qwen3_asr"):
        Qwen3AsrConfig.from_json(ORIGINAL | {"model_type": "qwen2_5_omni"})


def test_another_model_is_refused():
    with pytest.raises(UnreadableError, match="whisper"):
        Qwen3AsrConfig.from_json({"model_type": "whisper"})
