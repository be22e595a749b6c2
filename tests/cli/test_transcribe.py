"""``paddable transcribe`` on a recogniser that is one matrix: every frame says the same word."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import soundfile
from onnx import numpy_helper

import paddable as library
from paddable.build import convert
from paddable.bundle import read_bundle, write_bundle
from paddable.errors import Misuse

TEXT = """
<ir_version: 9, opset_import: ["" : 17]>
net (float[1, T, 560] speech) => (float[1, T, 3] ctc_logits) {
  scores = MatMul(speech, w)
  ctc_logits = Add(scores, b)
}
"""
SECONDS = 2


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    model = onnx.parser.parse_model(TEXT)
    model.graph.initializer.append(numpy_helper.from_array(np.zeros((560, 3), np.float32), "w"))
    model.graph.initializer.append(numpy_helper.from_array(np.array([0, 9, 0], np.float32), "b"))
    folder = tmp_path_factory.mktemp("bundle") / "bundle"
    convert(model, ["speech:1=T"], containers=[17, 34], out=folder, rate=16.666666, verify=False)
    (folder / "tokens.json").write_text(json.dumps(["<blank>", "\u2581hello", "x"]), encoding="utf-8")
    front_end = {"kind": "kaldi", "in_graph": False, "stack": 7, "stride": 6, "cmvn": None}
    described = replace(
        read_bundle(folder), family="fun-asr-nano", labels="tokens.json", settings={"ctc": {}}, front_end=front_end
    )
    write_bundle(described, folder)
    return folder


@pytest.fixture
def sound(tmp_path: Path) -> Path:
    return record(tmp_path / "a.wav", 1)


def record(path: Path, seconds: float, rate: int = 16_000, channels: int = 1) -> Path:
    path.parent.mkdir(exist_ok=True)
    soundfile.write(path, 0.1 * np.random.default_rng(0).standard_normal((int(seconds * rate), channels)), rate)
    return path


def test_text_goes_to_stdout(paddable: Any, bundle: Path, sound: Path) -> None:
    done = paddable("transcribe", str(sound), "--model", str(bundle))
    assert (done.code, done.out, done.err) == (0, "hello\n", "")


def test_subtitles_go_to_a_directory(paddable: Any, bundle: Path, sound: Path, tmp_path: Path) -> None:
    other = record(tmp_path / "b.flac", 0.5, rate=44_100, channels=2)
    for kind, start in (("srt", "1\n00:00:00,000 --> "), ("vtt", "WEBVTT\n"), ("json", "{"), ("txt", "hello")):
        out = tmp_path / kind
        done = paddable("transcribe", str(sound), str(other), "--model", str(bundle), "--format", kind, "-o", str(out))
        assert done.code == 0 and done.out.split() == [str(out / f"a.{kind}"), str(out / f"b.{kind}")]
        for name in ("a", "b"):
            assert (out / f"{name}.{kind}").read_text(encoding="utf-8").startswith(start)
    assert json.loads((tmp_path / "json/a.json").read_text())["segments"][0]["words"][0]["text"] == "hello"


def test_a_bad_file_does_not_stop_the_others(paddable: Any, bundle: Path, sound: Path, tmp_path: Path) -> None:
    text = tmp_path / "text.wav"
    text.write_text("not sound")
    long = record(tmp_path / "long.wav", SECONDS + 2)
    files = [str(text), str(long), str(sound), str(tmp_path / "absent.wav")]
    done = paddable("transcribe", *files, "--model", str(bundle))
    assert done.code == 2 and done.out == f"{sound}: hello\n"
    lines = done.err.splitlines()
    assert [line.split(": ")[1] for line in lines] == [str(text), str(long), str(tmp_path / "absent.wav")]
    assert "67 steps (4.02 s) do not fit the largest container, 34 steps (2.04 s)" in lines[1]

    done = paddable("transcribe", *files, "--model", str(bundle), "--json")
    told = json.loads(done.out)
    assert done.code == 2 and not told["ok"]
    assert [entry["ok"] for entry in told["files"]] == [False, False, True, False]
    assert told["files"][2]["text"] == "hello"


@pytest.mark.parametrize("seconds", [0, 0.01])
def test_no_sound_is_no_text(paddable: Any, bundle: Path, tmp_path: Path, seconds: float) -> None:
    done = paddable("transcribe", str(record(tmp_path / "short.wav", seconds)), "--model", str(bundle))
    assert (done.code, done.out) == (0, "\n")


def test_nothing_is_overwritten(paddable: Any, bundle: Path, sound: Path, tmp_path: Path) -> None:
    words = ("transcribe", str(sound), "--model", str(bundle), "-o", str(tmp_path))
    (tmp_path / "a.txt").write_text("mine")
    done = paddable(*words)
    assert done.code == 2 and "it exists already" in done.err and (tmp_path / "a.txt").read_text() == "mine"
    assert paddable(*words, "--force").code == 0 and (tmp_path / "a.txt").read_text() == "hello\n"


def test_two_recordings_never_share_a_file(paddable: Any, bundle: Path, sound: Path, tmp_path: Path) -> None:
    twin = record(tmp_path / "other" / "a.wav", 1)
    done = paddable("transcribe", str(sound), str(twin), "--model", str(bundle), "-o", str(tmp_path / "out"))
    assert done.code == 2 and "the same" in done.err and not (tmp_path / "out").exists()
    done = paddable("transcribe", str(sound), str(twin), "--model", str(bundle), "--format", "srt")
    assert done.code == 2 and "-o DIRECTORY/" in done.err


def test_what_the_family_does_not_do_is_said(bundle: Path) -> None:
    model = library.load(bundle)
    for ability, call in (
        ("speech_segments", lambda: model.speech_segments(np.zeros(16_000, np.float32))),
        ("encode", lambda: model.encode(np.zeros(16_000, np.float32))),
        ("stream", lambda: model.stream()),
    ):
        with pytest.raises(Misuse, match=f"does not {ability}; it is of the family fun-asr-nano; it has transcribe"):
            call()


def test_a_single_file_names_the_bundle(paddable: Any, bundle: Path, sound: Path) -> None:
    done = paddable("transcribe", str(sound), "--model", str(bundle / "cpu-fp32-17.onnx"))
    assert done.code == 2 and "load the directory that paddable export wrote" in done.err


def test_damaged_settings_are_one_line(paddable: Any, bundle: Path, sound: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(bundle, copy)
    write_bundle(replace(read_bundle(bundle), settings={"ctc": {"blanc": 0}}), copy)
    done = paddable("transcribe", str(sound), "--model", str(copy))
    assert done.code == 2 and "bundle.json" in done.err and len(done.err.splitlines()) == 1
