"""Real weights: hama's phoneme recogniser says as a bundle what it says alone, on every clip."""

from __future__ import annotations

import json
from itertools import groupby
from pathlib import Path

import numpy as np
import onnxruntime as ort
import pytest

import paddable
from paddable.audio import read_audio
from paddable.runtime import Model

ASSETS = Path(pytest.importorskip("hama").__file__).parent / "assets"
MODEL = ASSETS / "asr_waveform_fp16.onnx"
LABELS = [*json.loads((ASSETS / "g2p_vocab.json").read_text(encoding="utf-8"))["decoder"], "<wb>", "<blank>"]


@pytest.fixture(scope="module")
def recogniser(tmp_path_factory: pytest.TempPathFactory) -> Model:
    folder = tmp_path_factory.mktemp("hama")
    labels = folder / "tokens.json"
    labels.write_text(json.dumps(LABELS), encoding="utf-8")
    made = paddable.export(
        "ctc",
        MODEL,
        folder / "bundle",
        labels=labels,
        sample_rate=16_000,
        containers=["6s", "15s"],
        verify=False,  # its gates take minutes; the answers below are the judge
    )
    return paddable.load(made, "cpu")


def alone(native: ort.InferenceSession, sound: np.ndarray) -> str:
    """What the published model says of a clip without any padding, decoded as plainly as can be."""
    feeds = {"waveform": sound[None], "waveform_lengths": np.array([len(sound)])}
    best = native.run(["log_probs"], feeds)[0][0].argmax(-1)
    kept = [LABELS[k] for k, _ in groupby(best) if LABELS[k] != "<blank>"]
    return "".join(" " if label == "<wb>" else label for label in kept).strip()


@pytest.mark.shared
@pytest.mark.weights
def test_the_phonemes_are_those_of_the_clip_alone(recogniser: Model, shared: Path) -> None:
    clips = sorted((shared / "audio").rglob("*.wav"))
    assert len(clips) == 11
    native = ort.InferenceSession(MODEL, providers=["CPUExecutionProvider"])
    for clip in clips:
        heard = recogniser.transcribe(clip, timestamps=True)
        assert heard.text == alone(native, read_audio(clip).samples), clip.name
        assert " ".join(word.text for word in heard.words) == heard.text
        times = [time for word in heard.words for time in (word.start, word.end)]
        assert times == sorted(times) and 0 < times[0] < times[-1] <= heard.seconds


@pytest.mark.shared
@pytest.mark.weights
def test_go_forward_ten_metres(recogniser: Model, shared: Path) -> None:
    heard = recogniser.transcribe(shared / "audio/en/ps_goforward.wav", timestamps=True)
    assert heard.text == "ɡo fɔɹwɝd tɛn mitɝz"
    assert [word.text for word in heard.words] == ["ɡo", "fɔɹwɝd", "tɛn", "mitɝz"]
