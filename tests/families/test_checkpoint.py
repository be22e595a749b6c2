"""Every layout of a checkpoint, and every way in which one can be incomplete."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml
from safetensors.torch import save_file
from torch import nn

from paddable.errors import UnreadableError
from paddable.families.checkpoints.folder import CheckpointFolder, read_tensors
from paddable.families.checkpoints.key_report import summarise_keys
from paddable.families.checkpoints.settings import Settings
from paddable.families.checkpoints.sound import about_sound
from paddable.families.checkpoints.weights import load_weights, rows_of
from paddable.families.sense_voice.config import SenseVoiceConfig
from paddable.families.sense_voice.model import SenseVoice
from paddable.families.sense_voice.weights import sense_voice_from_folder

CONFIG = {
    "model": "SenseVoiceSmall",
    "encoder_conf": {
        "output_size": 16,
        "attention_heads": 2,
        "linear_units": 24,
        "num_blocks": 3,
        "tp_blocks": 2,
        "kernel_size": 11,
        "sanm_shfit": 0,
        "normalize_before": True,
    },
    "frontend_conf": {"lfr_m": 7, "lfr_n": 6, "cmvn_file": None},
}
SIZES = SenseVoiceConfig(size=16, heads=2, hidden_size=24, blocks=3, tp_blocks=2, vocabulary=11)


@pytest.fixture
def model(randomise: Callable[[nn.Module], nn.Module]) -> nn.Module:
    return randomise(SenseVoice(SIZES))


@pytest.fixture
def folder(tmp_path: Path, model: nn.Module) -> Path:
    """A FunASR folder as it is published: am.mvn is named by configuration.json, config.yaml says null."""
    numbers = " ".join("0.5" for _ in range(560))
    layer = f"<LearnRateCoef> 0 [ {numbers} ]\n"
    (tmp_path / "am.mvn").write_text(f"<Nnet>\n<AddShift> 560 560\n{layer}<Rescale> 560 560\n{layer}</Nnet>\n")
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(CONFIG))
    metas = {"init_param": "model.pt", "config": "config.yaml", "frontend_conf": {"cmvn_file": "am.mvn"}}
    (tmp_path / "configuration.json").write_text(json.dumps({"file_path_metas": metas}))
    torch.save(model.state_dict(), tmp_path / "model.pt")
    return tmp_path


LAYOUTS: dict[str, Callable[[dict], dict]] = {
    "plain": lambda state: state,
    "state_dict": lambda state: {"state_dict": state, "epoch": 3},
    "model_state_dict": lambda state: {"model_state_dict": state},
    "model": lambda state: {"model": state},
    "nested": lambda state: {"model": {"state_dict": state}},
    "parallel twice": lambda state: {"state_dict": {"model": {f"module.module.{k}": v for k, v in state.items()}}},
    "module.": lambda state: {f"module.{key}": value for key, value in state.items()},
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(folder: Path, model: nn.Module, layout: str) -> None:
    torch.save(LAYOUTS[layout](model.state_dict()), folder / "model.pt")
    loaded = sense_voice_from_folder(folder)
    assert not loaded.training and loaded.front_end.normalised
    for name, value in model.state_dict().items():
        assert torch.equal(loaded.state_dict()[name], value), name


def test_bfloat16_becomes_float32_exactly(folder: Path, model: nn.Module) -> None:
    half = {key: value.bfloat16() for key, value in model.state_dict().items()}
    torch.save(half, folder / "model.pt")
    loaded = sense_voice_from_folder(folder, "none").state_dict()
    assert all(loaded[key].dtype == torch.float32 and torch.equal(loaded[key], half[key].float()) for key in half)


def test_safetensors_in_one_file_and_in_two(tmp_path: Path, model: nn.Module) -> None:
    state = {key: value.contiguous() for key, value in model.state_dict().items()}
    save_file(state, tmp_path / "model.safetensors")
    names = sorted(state)
    shards = {"a.safetensors": names[::2], "b.safetensors": names[1::2]}
    for shard, keys in shards.items():
        save_file({key: state[key] for key in keys}, tmp_path / shard)
    index = {"weight_map": {key: shard for shard, keys in shards.items() for key in keys}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    for path in ("model.safetensors", "model.safetensors.index.json"):
        read = read_tensors(tmp_path / path)
        assert read.keys() == state.keys() and all(torch.equal(read[key], state[key]) for key in state)


def test_every_misfit_is_listed_in_one_error(folder: Path, model: nn.Module) -> None:
    state = model.state_dict()
    del state["encoder.after_norm.weight"], state["embed.weight"]
    for block in range(2):
        state[f"encoder.spare.{block}.weight"] = torch.zeros(1)
    state["encoder.tp_encoders.1.norm1.bias"] = torch.zeros(7)
    torch.save(state, folder / "model.pt")
    with pytest.raises(UnreadableError) as caught:
        sense_voice_from_folder(folder)
    text = str(caught.value)
    assert "2 missing: embed.weight, encoder.after_norm.weight" in text
    assert "2 unexpected: encoder.spare.{0-1}.weight" in text
    assert "1 wrongly shaped: encoder.tp_encoders.1.norm1.bias [7] instead of [16]" in text
    assert str(folder) in text and "\n" not in text


def test_nothing_is_built_when_something_is_missing() -> None:
    devices = []

    def build() -> nn.Module:
        devices.append(torch.empty(0).device.type)
        return nn.Linear(2, 2)

    with pytest.raises(UnreadableError, match="1 missing: bias"):
        load_weights(build, {"weight": torch.ones(2, 2)}, where="here")
    assert devices == ["meta"]
    built = load_weights(build, {"weight": torch.ones(2, 2), "bias": torch.ones(2)}, where="here")
    assert devices == ["meta", "meta", "cpu"] and torch.equal(built.weight, torch.ones(2, 2))


def test_a_slip_in_a_size_does_not_fill_the_memory(folder: Path) -> None:
    other = {**CONFIG, "encoder_conf": {**CONFIG["encoder_conf"], "output_size": 1 << 20}}
    (folder / "config.yaml").write_text(yaml.safe_dump(other))
    with pytest.raises(UnreadableError, match=r"wrongly shaped: .* instead of \[.*1048576"):
        sense_voice_from_folder(folder)


def test_ignored_prefixes_are_the_only_keys_left_out() -> None:
    state = {"weight": torch.ones(2, 2), "bias": torch.ones(2), "llm.weight": torch.ones(1)}
    load_weights(lambda: nn.Linear(2, 2), state, where="here", ignore=["llm."])
    with pytest.raises(UnreadableError, match=r"1 unexpected: llm\.weight"):
        load_weights(lambda: nn.Linear(2, 2), state, where="here")


@pytest.mark.parametrize("ending", ["pt", "safetensors"])
def test_floats_of_eight_bits_are_not_weights(folder: Path, model: nn.Module, ending: str) -> None:
    state = {key: value.clone() for key, value in model.state_dict().items()}
    state["encoder.after_norm.weight"] = torch.ones(16).to(torch.float8_e4m3fn)
    torch.save(state, folder / "model.pt") if ending == "pt" else save_file(state, folder / "model.safetensors")
    said = json.loads((folder / "configuration.json").read_text())
    said["file_path_metas"]["init_param"] = f"model.{ending}"
    (folder / "configuration.json").write_text(json.dumps(said))
    with pytest.raises(
        UnreadableError, match=r"not floats of 16 bits or more: encoder\.after_norm\.weight is float8_e4m3fn"
    ):
        sense_voice_from_folder(folder)


def test_a_name_that_is_too_long_for_the_system_is_not_there(folder: Path) -> None:
    (folder / "configuration.json").write_text(json.dumps({"file_path_metas": {"init_param": "m" * 5000}}))
    with pytest.raises(UnreadableError, match=r"init_param names 'm+\.\.\., which is not there") as caught:
        sense_voice_from_folder(folder)
    assert len(str(caught.value)) < 500


def test_what_is_no_tensor_is_named(tmp_path: Path) -> None:
    torch.save({"weight": torch.ones(1), "epoch": 3}, tmp_path / "model.pt")
    with pytest.raises(UnreadableError, match=r"model\.pt: not all of its 2 entries are tensors: epoch is of type int"):
        read_tensors(tmp_path / "model.pt")


def test_no_code_is_run_from_a_checkpoint(tmp_path: Path) -> None:
    torch.save({"weight": nn.Linear(1, 1)}, tmp_path / "model.pt")
    with pytest.raises(UnreadableError, match=r"it holds code \(torch\.nn\.modules\.linear\.Linear\)"):
        read_tensors(tmp_path / "model.pt")


class Bomb:
    """Runs a command when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, ("false",)


def test_a_file_with_code_is_refused_in_our_words(tmp_path: Path) -> None:
    torch.save({"weight": torch.ones(2), "more": Bomb()}, tmp_path / "model.pt")
    with pytest.raises(UnreadableError, match=r"holds code \(\w+\.system\).*would run that code") as caught:
        read_tensors(tmp_path / "model.pt")
    assert "weights_only" not in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"hello", b"\x80\x02}q\x00.", b"\x80\x02\x8c", bytes(range(256))])
def test_a_damaged_file_gets_no_advice_to_run_code(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "model.pt").write_bytes(content)
    with pytest.raises(UnreadableError) as caught:
        read_tensors(tmp_path / "model.pt")
    assert "weights_only" not in str(caught.value) and "trust" not in str(caught.value)


@pytest.mark.parametrize("name", ["model.pt", "model.safetensors"])
def test_a_pointer_of_git_lfs_is_told_as_one(tmp_path: Path, name: str) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0123\nsize 936291369\n"
    (tmp_path / name).write_text(pointer)
    with pytest.raises(UnreadableError, match=r"a Git LFS pointer, not the weights.*git lfs pull"):
        read_tensors(tmp_path / name)


@pytest.mark.parametrize("keep", [0, 100, 0.5, 0.999])
def test_a_file_that_is_cut_off_is_told_as_one(tmp_path: Path, keep: float) -> None:
    file = tmp_path / "model.pt"
    torch.save({"weight": torch.zeros(4096)}, file)
    whole = file.read_bytes()
    file.write_bytes(whole[: int(keep * len(whole)) if keep < 1 else int(keep)])
    with pytest.raises(UnreadableError, match=r"bytes are cut off, damaged.*download it again"):
        read_tensors(file)


@pytest.mark.parametrize("name", ["../secret.yaml", "/etc/passwd", "a/../../b", "C:\\x.yaml", "\\\\host\\x", "C:x"])
@pytest.mark.parametrize("key", ["config", "init_param", "cmvn_file"])
def test_configuration_json_names_nothing_outside(folder: Path, key: str, name: str) -> None:
    metas = {"frontend_conf": {key: name}} if key == "cmvn_file" else {key: name}
    (folder / "configuration.json").write_text(json.dumps({"file_path_metas": metas}))
    with pytest.raises(UnreadableError, match="outside the folder"):
        sense_voice_from_folder(folder)


def test_configuration_json_overrides_config_yaml(folder: Path) -> None:
    assert CheckpointFolder.open(folder).file("frontend_conf", "cmvn_file", default="none") == folder / "am.mvn"
    (folder / "configuration.json").unlink()
    assert CheckpointFolder.open(folder).file("frontend_conf", "cmvn_file", default="none") is None
    assert CheckpointFolder.open(folder).file("frontend_conf", "cmvn_file", default="am.mvn") == folder / "am.mvn"


def without(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


def overwrite(name: str, text: str) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_text(text)


@pytest.mark.parametrize(
    ("damage", "named"),
    [
        (without("model.pt"), "init_param names 'model.pt'"),
        (without("config.yaml"), "no config.yaml"),
        (without("am.mvn"), "frontend_conf.cmvn_file names 'am.mvn'"),
        (overwrite("model.pt", "no tensors"), "model.pt"),
        (overwrite("config.yaml", "a: [1"), "config.yaml"),
        (overwrite("config.yaml", "model: Paraformer"), "not SenseVoiceSmall"),
        (overwrite("configuration.json", "{"), "configuration.json"),
        (overwrite("configuration.json", "[" * 100_000), "configuration.json: cannot be parsed"),
        (overwrite("config.yaml", "[" * 1_500), "config.yaml: cannot be parsed"),
        (overwrite("am.mvn", "nothing"), "am.mvn"),
    ],
)
def test_damaged_folders(folder: Path, damage: Callable[[Path], object], named: str) -> None:
    damage(folder)
    with pytest.raises(UnreadableError) as caught:
        sense_voice_from_folder(folder)
    assert named in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("tensors", "told"),
    [
        ({"other.bias": torch.zeros(3)}, "no head.bias among the weights"),
        ({"head.bias": torch.tensor(3.0)}, "head.bias is a single number"),
    ],
)
def test_the_weight_that_counts_the_classes(tensors: dict[str, torch.Tensor], told: str) -> None:
    assert rows_of("head.bias", {"head.bias": torch.zeros(11, 2)}, model="Hum", where="hum/") == 11
    with pytest.raises(UnreadableError, match=f"^hum/: {told}; this is no Hum checkpoint"):
        rows_of("head.bias", tensors, model="Hum", where="hum/")


def test_a_class_that_is_unknown_is_named_beside_those_that_are_not() -> None:
    settings = Settings({"model": "Drum"}, "config.yaml")
    for known, told in ((("Hum",), "not Hum"), (("Hum", "Hiss"), "not one of Hum, Hiss")):
        with pytest.raises(UnreadableError, match=f"model is 'Drum', {told}"):
            settings.one_of("model", *known)
    assert settings.one_of("model", "Hum", "Drum") == "Drum"


def test_no_folder(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match="no such folder"):
        sense_voice_from_folder(tmp_path / "absent")


def test_forms_of_the_encoder_that_are_not_implemented(folder: Path) -> None:
    other = {**CONFIG, "encoder_conf": {**CONFIG["encoder_conf"], "sanm_shfit": 5}}
    (folder / "config.yaml").write_text(yaml.safe_dump(other))
    with pytest.raises(UnreadableError, match="sanm_shfit is 5"):
        sense_voice_from_folder(folder)


def test_weights_that_are_no_finite_floats_are_named(folder: Path, model: nn.Module) -> None:
    state = model.state_dict()
    state["encoder.after_norm.weight"] = torch.ones(16, dtype=torch.int64)
    state["encoder.tp_norm.bias"][3] = torch.nan
    torch.save(state, folder / "model.pt")
    with pytest.raises(
        UnreadableError,
        match=r"not floats of 16 bits or more: encoder\.after_norm\.weight is int64; NaN or .*tp_norm\.bias",
    ):
        sense_voice_from_folder(folder)


def test_a_size_that_is_none_is_named_with_its_file(folder: Path) -> None:
    other = {**CONFIG, "encoder_conf": {**CONFIG["encoder_conf"], "num_blocks": "three"}}
    (folder / "config.yaml").write_text(yaml.safe_dump(other))
    with pytest.raises(
        UnreadableError, match=re.escape(f"{folder / 'config.yaml'}: encoder_conf.num_blocks is 'three'")
    ):
        sense_voice_from_folder(folder)


def test_key_summary() -> None:
    keys = ["b.0.w", "b.1.w", "b.3.w", "b.0.v", "plain", "c.7.w"]
    assert summarise_keys(keys) == "b.{0-1,3}.w, b.0.v, c.7.w, plain"


def test_the_sound_of_a_folder_of_another_layout(tmp_path: Path) -> None:
    (tmp_path / "sizes.json").write_text("{}")
    said = about_sound(tmp_path, "numpy", ["ctc_logits"], stack=1, stride=1, subsampling=4)
    assert said["units"] == {"T": "frames of 10 ms", "ctc_logits_length": "frames of 40 ms"}
    assert said["front_end"]["cmvn"] is None
