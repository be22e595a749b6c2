"""Audio side of Fun-ASR-Nano against FunASR's classes and against the transformers port, and its export."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import torch
import yaml
from torch import nn

from paddable.errors import UnreadableError
from paddable.families.fun_asr_nano.config import AdaptorConfig, FunAsrNanoConfig
from paddable.families.fun_asr_nano.export import export_fun_asr_nano
from paddable.families.fun_asr_nano.model import FunAsrNano, speech_tokens
from paddable.families.fun_asr_nano.weights import fun_asr_nano_from_folder

CONFIG = FunAsrNanoConfig(
    size=32,
    heads=4,
    hidden_size=48,
    blocks=3,
    tp_blocks=2,
    adaptor=AdaptorConfig(input_size=32, hidden_size=40, size=64, heads=8, blocks=2),
    ctc_decoder=AdaptorConfig(input_size=32, hidden_size=40, size=32, heads=8, blocks=3),
    vocabulary=21,
)
LENGTHS = [1, 2, 5, 17, 50]


@pytest.fixture(scope="module")
def model(randomise: Callable[[nn.Module], nn.Module]) -> nn.Module:
    return randomise(FunAsrNano(CONFIG))


def speech(length: int) -> torch.Tensor:
    return torch.randn(1, length, 560, generator=torch.Generator().manual_seed(length))


@pytest.mark.original
@torch.no_grad()
def test_equal_to_funasr(model: nn.Module) -> None:
    pytest.importorskip("funasr")
    from funasr.models.fun_asr_nano.ctc import CTC
    from funasr.models.llm_asr.adaptor import Transformer
    from funasr.models.sense_voice.model import SenseVoiceEncoderSmall

    adaptor = {"downsample_rate": 1, "encoder_dim": 32, "ffn_dim": 40, "attention_heads": 8}
    theirs = nn.ModuleDict(
        {
            "audio_encoder": SenseVoiceEncoderSmall(
                560, output_size=32, attention_heads=4, linear_units=48, num_blocks=3, tp_blocks=2, kernel_size=11
            ),
            "audio_adaptor": Transformer(llm_dim=64, n_layer=2, **adaptor),
            "ctc_decoder": Transformer(llm_dim=32, n_layer=3, **adaptor),
            "ctc": CTC(odim=21, encoder_output_size=32, blank_id=20),
        }
    ).eval()
    theirs.load_state_dict(model.state_dict())  # strict: no key missing, none left over
    for length in LENGTHS:
        lengths = torch.tensor([length])
        encoded, _ = theirs["audio_encoder"](speech(length), lengths)
        wanted = (
            encoded,
            theirs["audio_adaptor"](encoded, lengths)[0],
            theirs["ctc"].ctc_lo(theirs["ctc_decoder"](encoded, lengths)[0]),
        )
        for ours, original in zip(model(speech(length)), wanted, strict=True):
            assert (ours - original).abs().max() <= 1e-6 * original.abs().max()


def test_the_language_model_reads_as_many_rows_as_funasr_counts() -> None:
    assert [speech_tokens(features) for features in (17, 84, 334, 501, 1001)] == [3, 11, 42, 63, 126]
    for features in range(1, 400):
        once = 1 + (features - 3 + 2) // 2
        twice = 1 + (once - 3 + 2) // 2
        assert speech_tokens(features) == (twice - 1) // 2 + 1


@pytest.fixture
def port(tmp_path: Path, randomise: Callable[[nn.Module], nn.Module]) -> tuple[nn.Module, Path]:
    """The transformers port with random weights, and the folder it saves."""
    transformers = pytest.importorskip("transformers")
    config = transformers.FunAsrNanoConfig(
        audio_config={
            "model_type": "fun_asr_nano_encoder",
            "hidden_size": 32,
            "num_attention_heads": 4,
            "intermediate_size": 48,
            "num_hidden_layers": 5,
            "num_timestamp_prediction_layers": 2,
        },
        adaptor_config={
            "hidden_size": 64,
            "num_attention_heads": 8,
            "intermediate_size": 16,
            "projector_hidden_size": 40,
        },
        text_config={
            "model_type": "qwen3",
            "hidden_size": 64,
            "intermediate_size": 32,
            "num_hidden_layers": 1,
            "num_attention_heads": 2,
            "num_key_value_heads": 1,
            "vocab_size": 11,
        },
        audio_token_id=3,
    )
    theirs = randomise(transformers.FunAsrNanoForConditionalGeneration(config))
    theirs.save_pretrained(tmp_path)
    return theirs, tmp_path


@pytest.mark.original
@torch.no_grad()
def test_transformers_folder_loads_and_agrees(port: tuple[nn.Module, Path]) -> None:
    theirs, folder = port
    ours = fun_asr_nano_from_folder(folder, "none")
    assert ours.ctc is None
    for length in LENGTHS:
        mask = torch.ones(1, length, dtype=torch.long)
        wanted = theirs.model.get_audio_features(speech(length), mask, return_dict=True)
        encoded, adapted = ours(speech(length))
        # the port computes its position table in float64 and FunASR in float32
        for result, original in ((encoded[0], wanted.last_hidden_state[0]), (adapted[0], wanted.pooler_output)):
            assert (result - original).abs().max() <= 2e-5 * original.abs().max()


@pytest.mark.original
def test_transformers_folder_with_a_stray_norm_is_refused(port: tuple[nn.Module, Path]) -> None:
    _, folder = port
    config = json.loads((folder / "config.json").read_text())
    config["audio_config"]["num_timestamp_prediction_layers"] = 1
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(UnreadableError, match=r"unexpected: .*final_layernorm"):
        fun_asr_nano_from_folder(folder, "none")


@pytest.fixture
def folder(tmp_path: Path, model: nn.Module) -> Path:
    """A FunASR folder, with a language model among the weights."""
    adaptor = {"downsample_rate": 1, "ffn_dim": 40, "attention_heads": 8}
    config = {
        "model": "FunASRNano",
        "input_size": 560,
        "audio_encoder_conf": {
            "output_size": 32,
            "attention_heads": 4,
            "linear_units": 48,
            "num_blocks": 3,
            "tp_blocks": 2,
        },
        "audio_adaptor": "Transformer",
        "audio_adaptor_conf": {**adaptor, "n_layer": 2},
        "ctc_decoder": "Transformer",
        "ctc_decoder_conf": {**adaptor, "n_layer": 3},
        "ctc_vocab_size": 21,
    }
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(config))
    save(tmp_path, {**model.state_dict(), "llm.lm_head.weight": torch.zeros(2)})
    return tmp_path


def save(folder: Path, state: dict[str, torch.Tensor]) -> None:
    torch.save({"state_dict": {f"module.{key}": value for key, value in state.items()}}, folder / "model.pt")


@torch.no_grad()
def test_funasr_folder(folder: Path, model: nn.Module) -> None:
    loaded = fun_asr_nano_from_folder(folder, "none")
    for ours, wanted in zip(loaded(speech(9)), model(speech(9)), strict=True):
        assert torch.equal(ours, wanted)


@torch.no_grad()
def test_without_ctc_branch_there_are_no_logits(folder: Path, model: nn.Module) -> None:
    save(folder, {key: value for key, value in model.state_dict().items() if not key.startswith("ctc")})
    assert len(fun_asr_nano_from_folder(folder, "none")(speech(9))) == 2


@pytest.mark.parametrize("lost", ["ctc.ctc_lo.bias", "ctc_decoder.blocks.1.norm1.weight"])
def test_half_a_ctc_branch_is_refused(folder: Path, model: nn.Module, lost: str) -> None:
    save(folder, {key: value for key, value in model.state_dict().items() if key != lost})
    with pytest.raises(UnreadableError, match="1 missing"):
        fun_asr_nano_from_folder(folder, "none")


@torch.no_grad()
def test_export(model: nn.Module) -> None:
    graph = export_fun_asr_nano(model)
    runner = onnxruntime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])
    names = ["enc_output", "adaptor_output", "ctc_logits"]
    assert [value.name for value in runner.get_outputs()] == names
    for length in LENGTHS:
        for ours, wanted in zip(
            runner.run(names, {"speech": speech(length).numpy()}), model(speech(length)), strict=True
        ):
            assert np.abs(ours - wanted.numpy()).max() <= 1e-5 * np.abs(ours).max()
