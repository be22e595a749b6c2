"""``paddable transcribe`` on a recogniser that is one matrix: every frame says the same word."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import soundfile
from onnx import numpy_helper

import paddable as library
from paddable.api import convert
from paddable.bundle import read_bundle, write_bundle
from paddable.errors import MisuseError, UnreadableError
from paddable.runtime.speech.ctc_decoder import CtcDecoder
from paddable.runtime.speech.pipelines import Recogniser
from paddable.runtime.speech.transcript import Transcript

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


PUNCTUATION = """
<ir_version: 9, opset_import: ["" : 17]>
net (int64[1, N] text) => (float[1, N, 6] scores) { scores = Gather(table, text) }
"""


@pytest.fixture(scope="module")
def marks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Behind every word a comma."""
    model = onnx.parser.parse_model(PUNCTUATION)
    table = np.tile(np.array([0, 0, 9, 0, 0, 0], np.float32), (2, 1))
    model.graph.initializer.append(numpy_helper.from_array(table, "table"))
    folder = tmp_path_factory.mktemp("marks") / "bundle"
    convert(model, ["text:1=N"], containers=[64], out=folder, verify=False)
    (folder / "tokens.json").write_text(json.dumps(["<unk>", "hello"]), encoding="utf-8")
    described = replace(read_bundle(folder), family="ct-punc", labels="tokens.json", settings={"punctuation": {}})
    write_bundle(described, folder)
    return folder


def test_punctuation_is_written_by_another_bundle(paddable: Any, bundle: Path, marks: Path, sound: Path) -> None:
    done = paddable("transcribe", str(sound), "--model", str(bundle), "--punctuation", str(marks))
    assert (done.code, done.out, done.err) == (0, "Hello.\n", "")
    done = paddable("transcribe", str(sound), "--model", str(bundle), "--punctuation", str(marks), "--json")
    (segment,) = json.loads(done.out)["files"][0]["segments"]
    assert [word["text"] for word in segment["words"]] == ["Hello."]
    done = paddable("transcribe", str(sound), "--model", str(bundle), "--punctuation", str(bundle))
    assert done.code == 2 and "has no method punctuate" in done.err and len(done.err.splitlines()) == 1


@pytest.mark.parametrize("said", [{"marks": "x"}, {"sentence_end": 6}, {"sentence_end": -1}, {"mark": []}, 3])
def test_damaged_marks_are_one_line(
    paddable: Any, bundle: Path, marks: Path, sound: Path, tmp_path: Path, said: Any
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(marks, copy)
    write_bundle(replace(read_bundle(marks), settings={"punctuation": said}), copy)
    done = paddable("transcribe", str(sound), "--model", str(bundle), "--punctuation", str(copy))
    assert done.code == 2 and "settings.punctuation" in done.err and len(done.err.splitlines()) == 1


def test_hotwords_are_words_or_the_lines_of_a_file(
    paddable: Any, bundle: Path, sound: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Sequence[str]] = []

    def prompts(self: CtcDecoder, language: str, itn: bool, hotwords: Sequence[str]) -> dict[str, Any]:
        asked.append(list(hotwords))
        return {}

    with monkeypatch.context() as patched:
        patched.setattr(CtcDecoder, "prompts", prompts)
        file = tmp_path / "words.txt"
        file.write_text("two words\n\n 阿里 \n", encoding="utf-8")
        marked = tmp_path / "from Windows.txt"
        marked.write_bytes(b"\xef\xbb\xbftwo words\r\n")
        for given in ("阿里 达摩院", str(file), "", str(marked)):
            assert paddable("transcribe", str(sound), "--model", str(bundle), "--hotwords", given).code == 0
    # Once before the first recording, so that a word that is not taken is told once, and once for each.
    assert asked[::2] == asked[1::2] == [["阿里", "达摩院"], ["two words", "阿里"], [], ["two words"]]
    for given, told in (("阿里", "takes none"), (str(tmp_path / "no.txt"), "the hotwords cannot be read")):
        done = paddable("transcribe", str(sound), str(sound), "--model", str(bundle), "--hotwords", given)
        assert done.code == 2 and told in done.err and len(done.err.splitlines()) == 1


def test_subtitles_go_to_a_directory(paddable: Any, bundle: Path, sound: Path, tmp_path: Path) -> None:
    other = record(tmp_path / "b.flac", 0.5, rate=44_100, channels=2)
    for kind, start in (("srt", "1\n00:00:00,000 --> "), ("vtt", "WEBVTT\n"), ("json", "{"), ("txt", "hello")):
        out = tmp_path / kind
        done = paddable("transcribe", str(sound), str(other), "--model", str(bundle), "--format", kind, "-o", str(out))
        assert done.code == 0 and done.out.split() == [str(out / f"a.{kind}"), str(out / f"b.{kind}")]
        for name in ("a", "b"):
            assert (out / f"{name}.{kind}").read_text(encoding="utf-8").startswith(start)
    assert json.loads((tmp_path / "json/a.json").read_text())["segments"][0]["words"][0]["text"] == "hello"


@pytest.mark.parametrize(
    ("words", "detector"),
    [
        (["--provider", "directml", "--device", "1"], ("directml", {"target": None, "device_id": 1})),
        (["--provider", "directml", "--target", "cpu"], ("directml", {"target": "cpu", "device_id": 0})),
        (["--provider", "directml", "--vad-provider", "cpu"], ("cpu", {})),
        (["--provider", "directml", "--device", "1", "--vad-provider", "directml"],
         ("directml", {"target": None, "device_id": 1})),
    ],
)  # fmt: skip
def test_one_choice_for_both_bundles(
    paddable: Any, sound: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], detector: tuple[str, dict[str, Any]]
) -> None:
    asked: dict[Path, tuple[str, dict[str, Any]]] = {}

    def load(bundle: Path, provider: str, **choice: Any) -> Any:
        asked[bundle] = provider, {name: choice[name] for name in ("target", "device_id") if name in choice}
        if bundle == Path("vad"):
            raise MisuseError("stop here")
        return nullcontext()

    monkeypatch.setattr("paddable.runtime.load", load)
    done = paddable("transcribe", str(sound), "--model", "model", "--vad", "vad", *words)
    assert done.code == 2 and "stop here" in done.err
    assert asked[Path("model")][0] == "directml" and asked[Path("vad")] == detector


def test_a_bad_file_does_not_stop_the_others(paddable: Any, bundle: Path, sound: Path, tmp_path: Path) -> None:
    text = tmp_path / "text.wav"
    text.write_text("not sound")
    long = record(tmp_path / "long.wav", SECONDS + 2)
    files = [str(text), str(long), str(sound), str(tmp_path / "absent.wav")]
    done = paddable("transcribe", *files, "--model", str(bundle))
    assert done.code == 2 and done.out == f"{sound}: hello\n"
    lines = done.err.splitlines()
    assert [line.split(": ")[1] for line in lines] == [str(text), str(long), str(tmp_path / "absent.wav")]
    assert "67 steps (4.02 s) do not fit the largest container, 34 steps (2.04 s); add a --vad that" in lines[1]

    done = paddable("transcribe", *files, "--model", str(bundle), "--json")
    told = json.loads(done.out)
    assert done.code == 2 and not told["ok"]
    assert [entry["ok"] for entry in told["files"]] == [False, False, True, False]
    assert told["files"][2]["text"] == "hello"


NOISE = 0.1 * np.random.default_rng(1).standard_normal(16_000)
KINDS = {
    "10-ms.wav": (NOISE[:160], 16_000, "PCM_16"),
    "silent.wav": (np.zeros(16_000), 16_000, "PCM_16"),
    "phone.wav": (np.stack([NOISE[:8_000]] * 2, 1), 8_000, "PCM_16"),
    "disc.wav": (NOISE, 44_100, "PCM_16"),
    "24-bit.wav": (NOISE, 16_000, "PCM_24"),
    "loud.wav": (30 * NOISE, 16_000, "FLOAT"),
}
SAID = {"10-ms.wav": ""}


def test_every_kind_of_file_has_a_result_or_one_line(paddable: Any, bundle: Path, tmp_path: Path) -> None:
    for name, (samples, rate, subtype) in KINDS.items():
        soundfile.write(tmp_path / name, samples, rate, subtype=subtype)
    soundfile.write(tmp_path / "nan.wav", np.where(np.arange(16_000) == 7, np.nan, NOISE), 16_000, subtype="FLOAT")
    (tmp_path / "header.wav").write_bytes((tmp_path / "silent.wav").read_bytes()[:20])
    (tmp_path / "text.wav").write_text("no sound at all\n" * 40)
    soundfile.write(tmp_path / "beyond-float32.wav", 1e300 * NOISE, 16_000, subtype="DOUBLE")
    (tmp_path / "folder.wav").mkdir()
    soundfile.write(tmp_path / "empty.wav", NOISE[:0], 16_000)
    bad = ["empty.wav", "nan.wav", "header.wav", "text.wav", "beyond-float32.wav", "folder.wav"]
    files = [tmp_path / name for name in [*bad, *KINDS]]
    done = paddable("transcribe", *map(str, files), "--model", str(bundle))
    assert done.code == 2
    assert done.out.splitlines() == [f"{tmp_path / name}: {SAID.get(name, 'hello')}" for name in KINDS]
    lines = done.err.splitlines()
    assert len(lines) == len(bad) and all(str(tmp_path / name) in line for name, line in zip(bad, lines, strict=True))
    assert "sample 0 is NaN or infinite" in lines[4] and lines[5].endswith("it is a directory without recordings")
    assert (
        lines[1]
        == f"error: {files[1]}: sample 7 is NaN or infinite; every frame that holds it would be lost; repair it"
    )


LISTENER = """
<ir_version: 9, opset_import: ["" : 17]>
net (float[1, T, 400] speech) => (float[1, T, 2] posteriors) {
  level = MatMul(speech, w)
  scores = Add(level, b)
  posteriors = Softmax<axis = -1>(scores)
}
"""


@pytest.fixture(scope="module")
def detector(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Speech is what is louder than a whisper: one matrix again."""
    model = onnx.parser.parse_model(LISTENER)
    weights = np.zeros((400, 2), np.float32)
    weights[:, 1] = 1 / 400
    model.graph.initializer.append(numpy_helper.from_array(weights, "w"))
    model.graph.initializer.append(numpy_helper.from_array(np.array([8, 0], np.float32), "b"))
    folder = tmp_path_factory.mktemp("detector") / "bundle"
    convert(model, ["speech:1=T"], containers=[300], out=folder, rate=100, verify=False)
    front_end = {"kind": "kaldi", "in_graph": False, "stack": 5, "stride": 1, "cmvn": None}
    settings = {"vad": {"sil_pdf_ids": [0]}, "context": 2}
    write_bundle(replace(read_bundle(folder), family="fsmn-vad", settings=settings, front_end=front_end), folder)
    return folder


def test_a_recording_of_minutes_is_cut_where_nobody_speaks(
    paddable: Any, bundle: Path, detector: Path, tmp_path: Path
) -> None:
    sound = np.concatenate(
        [np.r_[NOISE, np.zeros(64_000)] for _ in range(24)]
    )  # two minutes, a word every five seconds
    soundfile.write(tmp_path / "long.wav", sound, 16_000)
    words = ("transcribe", str(tmp_path / "long.wav"), "--model", str(bundle), "--vad", str(detector), "--json")
    done = paddable(*words)
    (told,) = json.loads(done.out)["files"]
    starts = [word["start"] for segment in told["segments"] for word in segment["words"]]
    assert done.code == 0 and told["text"].split() == ["hello"] * len(starts) and len(starts) == 24
    # a segment keeps up to 400 ms in front of its word, and the first one has nothing in front
    assert all(5 * number - 0.5 < start <= 5 * number for number, start in enumerate(starts))


def test_less_than_a_frame_is_no_text(paddable: Any, bundle: Path, tmp_path: Path) -> None:
    done = paddable("transcribe", str(record(tmp_path / "short.wav", 0.01)), "--model", str(bundle))
    assert (done.code, done.out) == (0, "\n")


def test_a_file_without_a_sample_is_an_error(paddable: Any, bundle: Path, tmp_path: Path) -> None:
    done = paddable("transcribe", str(record(tmp_path / "short.wav", 0)), "--model", str(bundle))
    assert done.code == 2 and "it holds no sound" in done.err


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
        with pytest.raises(
            MisuseError, match=f"has no method {ability}; it is of the family fun-asr-nano; it has transcribe"
        ):
            call()


def test_a_single_file_names_the_bundle(paddable: Any, bundle: Path, sound: Path) -> None:
    done = paddable("transcribe", str(sound), "--model", str(bundle / "cpu-fp32-17.onnx"))
    assert done.code == 2 and "load the directory that paddable export wrote" in done.err


@pytest.mark.parametrize(
    "ctc", [{"blanc": 0}, {"blank": "0"}, {"tag_rows": None}, {"languages": [1]}, {"lead": "x"}, [], 3]
)
def test_damaged_settings_are_one_line(paddable: Any, bundle: Path, sound: Path, tmp_path: Path, ctc: Any) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(bundle, copy)
    write_bundle(replace(read_bundle(bundle), settings={"ctc": ctc}), copy)
    done = paddable("transcribe", str(sound), "--model", str(copy))
    assert done.code == 2 and "bundle.json" in done.err and len(done.err.splitlines()) == 1


def test_a_damaged_graph_is_one_line_and_no_log(capfd: Any, bundle: Path, sound: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(bundle, copy)
    graph = copy / read_bundle(copy).graphs[0].file
    graph.write_bytes(graph.read_bytes()[:-20])
    with pytest.raises(UnreadableError, match=f"{graph.name}: the file is not the one"):
        library.load(copy)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("command", ["verify", "doctor"])
def test_verify_and_doctor_compare_every_file_with_its_checksum(
    paddable: Any, bundle: Path, tmp_path: Path, command: str
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(bundle, copy)
    files = read_bundle(copy).files
    assert {"tokens.json", "native.onnx", "cpu-fp32-17.onnx"} <= set(files)
    for name in files:
        content = (copy / name).read_bytes()
        (copy / name).write_bytes(content[:-1] + bytes([content[-1] ^ 1]) if content else b"x")
        done = paddable(command, str(copy))
        assert done.code == 2 and not done.out and len(done.err.splitlines()) == 1
        assert f"{name}: the file is not the one that the bundle was written with" in done.err
        (copy / name).write_bytes(content)
    assert paddable("doctor", str(copy)).code == 0


def test_a_text_that_cannot_be_written_does_not_stop_the_others(
    paddable: Any, bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = Transcript.write

    def full(self: Transcript, path: Path, kind: str) -> None:
        if path.stem == "a":
            raise OSError(28, "No space left on device")
        write(self, path, kind)

    monkeypatch.setattr(Transcript, "write", full)
    sounds = [str(record(tmp_path / f"{name}.wav", 1)) for name in "ab"]
    done = paddable("transcribe", *sounds, "--model", str(bundle), "-o", str(tmp_path / "texts"))
    assert done.code == 2 and "a.txt: it cannot be written; No space left" in done.err
    assert [path.name for path in (tmp_path / "texts").iterdir()] == ["b.txt"]


@pytest.fixture
def interrupted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Two recordings; Ctrl-C comes at the second."""
    recognise = Recogniser.transcribe

    def until_b(self: Recogniser, sound: Any, **options: Any) -> Any:
        if Path(sound).stem == "b":
            raise KeyboardInterrupt
        return recognise(self, sound, **options)

    monkeypatch.setattr(Recogniser, "transcribe", until_b)
    return [record(tmp_path / f"{name}.wav", 1) for name in "ab"]


def test_ctrl_c_says_which_files_stay(paddable: Any, bundle: Path, interrupted: list[Path], tmp_path: Path) -> None:
    words = ["transcribe", *map(str, interrupted), "--model", str(bundle)]
    done = paddable(*words, "-o", str(tmp_path / "texts"))
    assert done.code == 130
    assert done.err == f"interrupted: 1 of 2 recordings were done; their files in {tmp_path / 'texts'} stay\n"
    assert [path.name for path in (tmp_path / "texts").iterdir()] == ["a.txt"]
    assert paddable(*words).err == "interrupted: 1 of 2 recordings were done; no file was written\n"


def test_a_directory_stands_for_its_recordings(paddable: Any, bundle: Path, tmp_path: Path) -> None:
    folder = tmp_path / "clips"
    folder.mkdir()
    for name in ("b.WAV", "a.wav"):
        record(folder / name, 1)
    (folder / "notes.txt").write_text("no sound")
    done = paddable("transcribe", str(folder), "--model", str(bundle))
    assert done.code == 0
    assert [line.split(": ")[0] for line in done.out.splitlines()] == [str(folder / "a.wav"), str(folder / "b.WAV")]
    told = paddable("transcribe", str(folder), "--model", str(bundle), "-o", str(tmp_path / "texts"))
    assert told.code == 0 and sorted(path.name for path in (tmp_path / "texts").iterdir()) == ["a.txt", "b.txt"]


def test_a_directory_without_recordings_is_an_error(paddable: Any, bundle: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    done = paddable("transcribe", str(tmp_path / "empty"), "--model", str(bundle))
    assert done.code == 2 and "it is a directory without recordings" in done.err


def test_ctrl_c_prints_the_json_of_what_is_done(paddable: Any, bundle: Path, interrupted: list[Path]) -> None:
    done = paddable("transcribe", *map(str, interrupted), "--model", str(bundle), "--json")
    told = json.loads(done.out)
    assert done.code == 130 and not told["ok"] and told["interrupted"]
    assert [file["file"] for file in told["files"]] == [str(interrupted[0])]
