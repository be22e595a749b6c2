"""FSMN-VAD with its real weights: three forms of one model, and FunASR's own segments."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
import torch
from torch import nn

from paddable.audio import FrontEnd, read_am_mvn, read_audio
from paddable.families.checkpoints.folder import CheckpointFolder
from paddable.families.fsmn_vad.export import export_fsmn_vad
from paddable.families.fsmn_vad.spec import VadOptions
from paddable.families.fsmn_vad.weights import fsmn_vad_from_folder
from paddable.runtime.speech.detection import Detector

pytestmark = pytest.mark.weights
CPU = ["CPUExecutionProvider"]


class TorchSession:
    """A module in the place of a converted model."""

    def __init__(self, module: nn.Module) -> None:
        self.module = module

    @torch.no_grad()
    def run(self, inputs: dict[str, Any]) -> dict[str, np.ndarray]:
        (sound,) = inputs.values()
        return {"posteriors": self.module(torch.from_numpy(sound)).numpy()}


@pytest.fixture(scope="module")
def model(vad_folder: Path) -> nn.Module:
    return fsmn_vad_from_folder(vad_folder)


@pytest.fixture(scope="module")
def options(vad_folder: Path) -> VadOptions:
    return VadOptions.from_funasr(CheckpointFolder.open(vad_folder).config["model_conf"])


@torch.no_grad()
def test_torch_our_onnx_and_the_shipped_onnx_agree(vad_folder: Path, model: nn.Module) -> None:
    ours = onnxruntime.InferenceSession(export_fsmn_vad(model).SerializeToString(), providers=CPU)
    shipped = onnxruntime.InferenceSession(vad_folder / "model.onnx", providers=CPU)
    caches = {f"in_cache{i}": np.zeros((1, 128, 19, 1), np.float32) for i in range(4)}
    for samples in (400, 700, 16_000, 48_000):
        audio = (0.1 * np.random.default_rng(samples).standard_normal((1, samples))).astype(np.float32)
        features = model.front_end(torch.from_numpy(audio))
        wanted = shipped.run(None, {"speech": features.numpy(), **caches})[0]
        assert np.abs(model(torch.from_numpy(audio)).numpy() - wanted).max() <= 1e-5
        assert np.abs(ours.run(["posteriors"], {"audio": audio})[0] - wanted).max() <= 1e-5


def test_windows_give_the_same_posteriors_as_one_run(model: nn.Module) -> None:
    audio = (0.1 * np.random.default_rng(0).standard_normal(100_000)).astype(np.float32)
    whole = Detector(TorchSession(model)).posteriors(audio)
    windows = Detector(TorchSession(model), window_seconds=1.5).posteriors(audio)
    assert whole.shape == windows.shape and np.abs(whole - windows).max() <= 1e-5


def test_features_in_numpy_give_the_same_posteriors(vad_folder: Path, model: nn.Module) -> None:
    audio = (0.1 * np.random.default_rng(0).standard_normal(20_000)).astype(np.float32)
    front_end = FrontEnd(5, 1, read_am_mvn(vad_folder / "am.mvn"))
    apart = Detector(TorchSession(fsmn_vad_from_folder(vad_folder, features=True)), front_end=front_end)
    whole = Detector(TorchSession(model)).posteriors(audio)
    assert np.abs(apart.posteriors(audio) - whole).max() <= 1e-4


@pytest.mark.parametrize("samples", [0, 1, 399])
def test_too_short_for_one_frame(model: nn.Module, samples: int) -> None:
    assert Detector(TorchSession(model)).segments(np.ones(samples, np.float32)) == []


def recordings(shared: Path) -> dict[str, np.ndarray]:
    """The clips, and minutes of them with pauses of all lengths between."""
    clips = {path.name: read_audio(path).samples for path in sorted((shared / "audio").glob("*/*.wav"))}
    everything = list(clips.values())
    for seed, pause in enumerate([(0.1, 3.0), (0.0, 1.2), (0.0, 0.01)]):
        random, parts = np.random.default_rng(seed), []
        for _ in range(20):
            silence = 1e-4 * random.standard_normal(int(random.uniform(*pause) * 16_000))
            parts += [everything[random.integers(len(everything))], silence.astype(np.float32)]
        clips[f"joined with pauses of {pause}"] = np.concatenate(parts)
    clips["one minute exactly"] = clips["joined with pauses of (0.0, 1.2)"][: 60 * 16_000]
    clips["zeros"] = np.zeros(48_000, np.float32)
    return clips


@pytest.mark.shared
@pytest.mark.original
def test_segments_are_funasrs(shared: Path, vad_folder: Path, model: nn.Module, options: VadOptions) -> None:
    funasr = pytest.importorskip("funasr")
    theirs = funasr.AutoModel(model=str(vad_folder), disable_update=True, disable_pbar=True, device="cpu")
    asked = {
        "default": ({}, options),
        "800 ms": ({"max_end_silence_time": 800}, replace(options, schedule=None)),
        "300 ms": ({"max_end_silence_time": 300}, replace(options, schedule=None, max_end_silence=300)),
    }
    found = 0
    for name, audio in recordings(shared).items():
        for setting, (keywords, ours) in asked.items():
            wanted = [tuple(segment) for segment in theirs.generate(input=audio, **keywords)[0]["value"]]
            segments = Detector(TorchSession(model), ours).segments(audio)
            assert [(round(1000 * a), round(1000 * b)) for a, b in segments] == wanted, (name, setting)
            found += len(wanted)
    assert found > 100
