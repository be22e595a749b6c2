"""``paddable export``, from a folder of random weights to text, segments and embeddings; sizes are small."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import onnx
import onnx_ir
import pytest
import soundfile
import torch

import paddable as library
from paddable.api import export
from paddable.audio import FrontEnd, read_am_mvn
from paddable.bundle import read_bundle
from paddable.errors import GateFailedError, MisuseError, UnreadableError
from paddable.families.family import Described, Family, Loaded
from paddable.families.fsmn_vad.spec import VadOptions
from paddable.families.fsmn_vad.weights import fsmn_vad_from_folder
from paddable.families.fun_asr_nano.weights import fun_asr_nano_from_folder
from paddable.families.qwen3_asr.front_end import WhisperFrontEnd
from paddable.families.qwen3_asr.weights import qwen3_asr_from_folder
from paddable.families.registry import FAMILIES
from paddable.families.sense_voice.config import LANGUAGES, TEXT_NORMS
from paddable.families.sense_voice.weights import sense_voice_from_folder
from paddable.families.spec import FamilySpec
from paddable.padding.analysis import Analysis
from paddable.padding.rewrite.rewrite import rewrite
from paddable.runtime.speech.vad import frame_decibels, silence_share, speech_segments

RANDOM = np.random.default_rng(0)
SOUND = (0.1 * RANDOM.standard_normal(32_000) * (np.arange(32_000) // 4_000 % 3 > 0)).astype(np.float32)
LENGTHS = (400, 4_800, 8_000, 8_001, 16_000)


def close(got: np.ndarray, want: np.ndarray) -> bool:
    return got.shape == want.shape and float(np.abs(got - want).max()) <= 1e-5 * float(np.abs(want).max())


def best_path(logits: np.ndarray, blank: int) -> list[int]:
    best = logits.argmax(1)
    return [int(token) for i, token in enumerate(best) if token != blank and (i == 0 or token != best[i - 1])]


@pytest.fixture(autouse=True)
def few_lengths(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight lengths a container: what the gates see at more of them is asked in tests/gates."""
    monkeypatch.setattr("paddable.gates.lengths.LIMIT", 8)


def test_the_bundle_holds_everything(sense_voice: tuple[Path, Path]) -> None:
    _, folder = sense_voice
    bundle = read_bundle(folder, check_below=math.inf)
    assert {path.name for path in folder.iterdir()} == {
        "bundle.json", "native.onnx", "cpu-fp32-8000.onnx", "cpu-fp32-16000.onnx", "fp32.data", "report.json",
        "tokens.json",
    }  # fmt: skip
    assert (bundle.family, bundle.labels, bundle.sample_rate) == ("sense-voice", "tokens.json", 16_000)
    assert bundle.front_end == {"kind": "kaldi", "in_graph": True}
    assert bundle.settings["ctc"]["languages"] == LANGUAGES and bundle.settings["ctc"]["tag_rows"] == 4
    frames = dict.fromkeys(["enc_output_length", "ctc_logits_length"], "frames of 60 ms")
    assert bundle.units == {**frames, "S": "samples at 16000 Hz"}
    assert bundle.metadata.symbols["S"].min == 400 and bundle.metadata.symbols["S"].rate == 16_000
    assert json.loads((folder / "report.json").read_text())["ok"] is True


def test_inspect_tells_the_lengths_as_the_manifest_does(sense_voice: tuple[Path, Path]) -> None:
    _, folder = sense_voice
    lengths = read_bundle(folder).metadata.lengths
    told = {output["name"]: output["shape"] for output in library.inspect(folder).outputs}
    assert set(lengths) <= set(told) and all(told[name][1] == axes[1] for name, axes in lengths.items())


def test_weights_lie_on_disk_once(sense_voice: tuple[Path, Path]) -> None:
    checkpoint, folder = sense_voice
    places: dict[str, set[str]] = {}
    for path in folder.glob("*.onnx"):
        for tensor in onnx.load(path, load_external_data=False).graph.initializer:
            assert tensor.external_data or onnx.numpy_helper.to_array(tensor).nbytes < 1024
            for entry in tensor.external_data:
                if entry.key == "offset":
                    places.setdefault(tensor.name, set()).add(entry.value)
    names = set(torch.load(checkpoint / "model.pt", weights_only=True))
    weights = {name: found for name, found in places.items() if name.removesuffix(".T") in names}
    assert len(weights) > 15 and all(len(found) == 1 for found in weights.values())


@torch.no_grad()
def test_sense_voice_answers_as_the_checkpoint_does(sense_voice: tuple[Path, Path]) -> None:
    checkpoint, folder = sense_voice
    model, native = library.load(folder, "cpu", threads=1), sense_voice_from_folder(checkpoint)
    prompt = {"language": np.array([LANGUAGES["ko"]]), "textnorm": np.array([TEXT_NORMS["woitn"]])}
    for length in LENGTHS:
        audio = SOUND[None, :length]
        encoded, logits = native(torch.from_numpy(audio), *(torch.from_numpy(row) for row in prompt.values()))
        result = model.run({"audio": audio, **prompt})
        assert close(result["ctc_logits"], logits.numpy()) and close(result["enc_output"], encoded.numpy())
        wanted = " ".join(f"w{token}" for token in best_path(logits[0, 4:].numpy(), 0))
        said = model.transcribe(SOUND[:length], language="ko", itn=False, timestamps=True)
        assert said.text == wanted and " ".join(word.text for word in said.words) == wanted
    with pytest.raises(
        MisuseError, match=r"16001 steps \(1\.0001 s\) do not fit the largest container, 16000 steps \(1\.0000 s\)"
    ):
        model.transcribe(np.zeros(16_001, np.float32))


def test_from_the_command_line(paddable: Any, sense_voice: tuple[Path, Path], tmp_path: Path) -> None:
    soundfile.write(tmp_path / "a.wav", SOUND[:16_000], 16_000)
    done = paddable("transcribe", tmp_path / "a.wav", "--model", sense_voice[1])
    assert (
        done.code == 0 and done.out.strip() == library.load(sense_voice[1], "cpu").transcribe(tmp_path / "a.wav").text
    )


@torch.no_grad()
def test_features_in_numpy_are_normalised_as_the_checkpoint_says(
    paddable: Any, checkpoints: ModuleType, tmp_path: Path
) -> None:
    checkpoint = checkpoints.fun_asr_nano(tmp_path / "checkpoint")
    words = ("-o", tmp_path / "bundle", "--containers", "2s", "--front-end", "numpy", "--json")
    done = paddable("export", "fun-asr-nano", checkpoint, *words)
    told = json.loads(done.out)
    assert done.code == 0 and [graph["container"] for graph in told["graphs"]] == [{"T": 34}]
    native = fun_asr_nano_from_folder(checkpoint, "none")
    features = FrontEnd(7, 6, read_am_mvn(checkpoint / "am.mvn"))(SOUND)[None]
    _, embeddings, logits = (output.numpy() for output in native(torch.from_numpy(features)))
    model = library.load(tmp_path / "bundle", "cpu", threads=1)
    result = model.run({"speech": features})
    assert close(result["ctc_logits"], logits) and close(result["adaptor_output"], embeddings)
    letters = "abcdefghijklmnopqrs"  # the last of 20 classes is the blank
    assert model.transcribe(SOUND).text == "".join(letters[token] for token in best_path(logits[0], 19))
    in_graph = fun_asr_nano_from_folder(checkpoint)(torch.from_numpy(SOUND[None]))[2].numpy()
    assert best_path(in_graph[0], 19) == best_path(result["ctc_logits"][0], 19)


@torch.no_grad()
def test_fsmn_vad_finds_the_segments_of_the_checkpoint(checkpoints: ModuleType, tmp_path: Path) -> None:
    checkpoint = checkpoints.fsmn_vad(tmp_path / "checkpoint")
    folder = export("fsmn-vad", checkpoint, tmp_path / "bundle", containers=["0.5s", "1s"], front_end="numpy")
    assert read_bundle(folder).settings["context"] == 2 * 4 + 2
    model = library.load(folder, "cpu", threads=1)
    sound = np.tile(SOUND, 4)  # eight times the largest container
    native = fsmn_vad_from_folder(checkpoint)(torch.from_numpy(sound[None]))[0].numpy()
    options = VadOptions.from_funasr({"max_end_silence_time": 500, "sil_pdf_ids": [0], "speech_noise_thres": 0.1})
    found = speech_segments(silence_share(native, options), frame_decibels(sound), options)
    wanted = [(begin / 1000, end / 1000) for begin, end in found]
    assert wanted and model.speech_segments(sound) == wanted
    assert model.speech_segments(np.zeros(399, np.float32)) == []


@torch.no_grad()
def test_a_missing_key_of_fsmn_vad_is_spelled_as_funasr_would(checkpoints: ModuleType, tmp_path: Path) -> None:
    checkpoint = checkpoints.fsmn_vad(tmp_path / "checkpoint")
    state = torch.load(checkpoint / "model.pt")
    missing = ["encoder.fsmn.1.fsmn_block.conv_left.weight", "encoder.out_linear2.linear.bias"]
    torch.save({key: value for key, value in state.items() if key not in missing}, checkpoint / "model.pt")
    with pytest.raises(UnreadableError, match="2 missing") as caught:
        fsmn_vad_from_folder(checkpoint)
    assert all(key in str(caught.value) for key in missing) and "unexpected" not in str(caught.value)


def test_qwen3_asr_encodes_as_the_checkpoint_does(checkpoints: ModuleType, tmp_path: Path) -> None:
    checkpoint = checkpoints.qwen3_asr(tmp_path / "checkpoint")
    folder = export("qwen3-asr", checkpoint, tmp_path / "bundle", containers=["2s"])
    model, native = (
        library.load(folder, "cpu", threads=1),
        qwen3_asr_from_folder(checkpoint, front_end=WhisperFrontEnd()),
    )
    for length in (1, 7_999, 16_000, 16_001, 32_000):
        _, wanted = native(torch.from_numpy(SOUND[None, :length]))
        assert close(model.encode(SOUND[:length]), wanted[0].numpy())
    with pytest.raises(MisuseError, match="one row of finite samples"):
        model.encode(SOUND[:0])


def test_recordings_are_examples_of_qwen3_asr_with_its_front_end_in_numpy(
    checkpoints: ModuleType, tmp_path: Path
) -> None:
    checkpoint, told = checkpoints.qwen3_asr(tmp_path / "checkpoint"), list[str]()
    soundfile.write(tmp_path / "clip.wav", SOUND, 16_000)
    folder = export("qwen3-asr", checkpoint, tmp_path / "bundle", containers=["2s"], front_end="numpy", gate_lengths=2,
                    precision="fp16", examples=tmp_path / "clip.wav", on_message=told.append)  # fmt: skip
    report = json.loads((folder / "report.json").read_text())
    assert {row["example"].split(" repeated")[0] for row in report["examples"]["fp16"]} == {"clip.wav"}
    assert not any("random" in line for line in told)
    model = library.load(folder)
    assert np.isfinite(model.encode(SOUND)).all()


def stand_in(monkeypatch: pytest.MonkeyPatch, network: onnx.ModelProto) -> None:
    """A family without a checkpoint: one convolution."""
    spec = FamilySpec("stand-in", "one convolution", "", (), {"": "x:2=T"}, ())
    monkeypatch.setitem(FAMILIES, "stand-in", spec)  # type: ignore[arg-type]
    family = Family(spec, lambda folder, choices: Loaded(lambda: network, 10, {}), lambda folder: Described({}))
    monkeypatch.setattr("paddable.api.exporting.family_of", lambda name: family)


def test_a_failing_gate_leaves_the_report_and_no_bundle(
    network: onnx.ModelProto, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def leaky(analysis: Analysis, container: Mapping[str, int] | None) -> onnx_ir.Model:
        return rewrite(analysis, container, leave_out=[r for site in analysis.sites for r in site.remedies])

    stand_in(monkeypatch, network)
    monkeypatch.setattr("paddable.api.building.rewrite", leaky)
    with pytest.raises(GateFailedError, match=r"bundle\.report\.json"):
        export("stand-in", tmp_path, tmp_path / "bundle", containers=["1s"])
    assert [path.name for path in tmp_path.iterdir()] == ["bundle.report.json"]


def test_a_bundle_for_a_target_says_so(
    network: onnx.ModelProto, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(monkeypatch, network)
    told: list[str] = []
    folder = export(
        "stand-in", tmp_path, tmp_path / "bundle", containers=["1s"], target="directml", on_message=told.append
    )
    assert len(told) == 1 and told[0].startswith("T=10: on directml: ") and "1 fused graphs" in told[0]
    (graph,) = read_bundle(folder).graphs
    assert (graph.file, graph.target, graph.container) == ("directml-fp32-10.onnx", "directml", {"T": 10})
    with pytest.raises(MisuseError, match="no graph for 'cpu'; it was made for directml"):
        library.load(folder, "cpu")
    assert library.load(folder, "cpu", target="directml").run({"x": np.ones((1, 4, 7), np.float32)})["y"].shape == (
        1,
        4,
        7,
    )


def test_nothing_is_overwritten_and_nothing_is_loaded_in_vain(tmp_path: Path) -> None:
    (tmp_path / "bundle").mkdir()
    (tmp_path / "bundle" / "mine").write_text("mine")
    with pytest.raises(MisuseError, match="it exists already"):
        export("sense-voice", tmp_path / "absent", tmp_path / "bundle")
    assert (tmp_path / "bundle" / "mine").read_text() == "mine"


@pytest.mark.parametrize(
    ("family", "options", "message"),
    [
        ("sensevoice", {}, "no family is called 'sensevoice'; choose sense-voice"),
        ("sense-voice", {"front_end": "numpyy"}, "choose in-graph, numpy, early"),
        ("sense-voice", {"chunks": [4]}, "sense-voice has no choice of --chunks"),
        ("qwen3-tts-codec", {"chunks": [0]}, "whole numbers of at least 1"),
        ("qwen3-asr", {"attention": "full"}, "choose windowed, global"),
        ("fsmn-vad", {"target": "vulkan"}, "vulkan"),
        ("qwen3-asr", {"containers": ["0s"]}, "S would be 0 steps"),
        ("qwen3-asr", {"containers": ["0s"], "front_end": "numpy"}, "T would be 0 steps"),
        ("qwen3-tts-codec", {"containers": ["0s"]}, "F would be 0 steps"),
        ("sense-voice", {"containers": ["5 minutes"]}, "give steps, such as 24000, or seconds, such as 30s"),
    ],
)
def test_misuse_names_what_there_is(tmp_path: Path, family: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(MisuseError, match=message):
        export(family, tmp_path, tmp_path / "bundle", **options)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_folder_that_is_no_checkpoint_is_one_line(paddable: Any, tmp_path: Path, family: str) -> None:
    done = paddable("export", family, tmp_path / "absent", "-o", tmp_path / "bundle")
    stage, error = done.err.splitlines()
    assert done.code == 2 and "absent" in error and stage.startswith("export 1/4")
    assert not list(tmp_path.iterdir())
