"""The runtime and its commands answer as on Linux, where nothing but the extras ``cpu`` and ``audio`` is installed."""

from __future__ import annotations

import gc
import json
import locale
import os
import shutil
import subprocess
import sys
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import numpy as np
import pytest
import soundfile

import paddable
from paddable.bundle import new_directory
from paddable.errors import MisuseError

JFK = Path(paddable.__file__).parent / "assets/jfk.wav"


def run(*words: object, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """The command line in a process of its own, redirected to files: Wine loses the end of a pipe at times."""
    command = [sys.executable, "-m", "paddable", *map(str, words)]
    with TemporaryFile() as out, TemporaryFile() as err:
        streams: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": out, "stderr": err}
        done = subprocess.run(command, **streams, env={**os.environ, **environment}, check=False, timeout=200)
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(command, done.returncode, out.read(), err.read())


@pytest.mark.skipif(os.name != "nt", reason="on Linux it is installed, to make the bundles")
def test_nothing_heavy_is_installed() -> None:
    assert not [name for name in ("torch", "onnx", "onnx_ir", "onnxscript") if find_spec(name)]


@pytest.mark.skipif(os.name != "nt", reason="Linux has no code page")
def test_the_code_page_is_the_one_that_is_asked_for() -> None:
    assert locale.getpreferredencoding(False) == os.environ["PADDABLE_WINDOWS_PAGE"]


def test_doctor_finds_the_runtime() -> None:
    done = run("doctor", "--json")
    told = json.loads(done.stdout)
    assert (done.returncode, told["problem"], told["onnxruntime"]) == (0, None, "onnxruntime")
    assert next(row for row in told["providers"] if row["provider"] == "cpu")["here"]
    assert run("doctor").returncode == 0


def test_transcribe(made: Path, expected: dict[str, Any]) -> None:
    done = run("transcribe", JFK, "--model", made / "sense-voice", "--json")
    assert done.returncode == 0, done.stderr.decode()
    (told,) = json.loads(done.stdout)["files"]
    assert told["text"] == expected["transcript"]["text"] and len(told["text"]) > 20
    assert told["segments"] == expected["transcript"]["segments"]


def test_text_in_a_pipe(made: Path, expected: dict[str, Any]) -> None:
    done = run("transcribe", JFK, "--model", made / "sense-voice")
    assert (done.returncode, done.stdout.decode("utf-8").strip()) == (0, expected["transcript"]["text"])


@pytest.mark.parametrize("encoding", ["cp936", "utf-16-le"])
def test_the_encoding_that_is_asked_for(made: Path, expected: dict[str, Any], encoding: str) -> None:
    done = run("transcribe", JFK, "--model", made / "sense-voice", PYTHONIOENCODING=encoding)
    assert (done.returncode, done.stdout.decode(encoding).strip()) == (0, expected["transcript"]["text"])


def test_a_text_that_an_encoding_lacks(made: Path) -> None:
    done = run("transcribe", JFK, "--model", made / "sense-voice", PYTHONIOENCODING="cp1252")
    assert done.returncode == 2 and b"stdout cannot hold" in done.stderr and b"Traceback" not in done.stderr


def test_a_chinese_place_for_everything(made: Path, expected: dict[str, Any], tmp_path: Path) -> None:
    folder = tmp_path / "语音"
    shutil.copytree(made / "sense-voice", folder / "模型")
    shutil.copy(JFK, folder / "录音.wav")
    done = run("transcribe", folder / "录音.wav", "--model", folder / "模型", "-o", folder / "文字")
    assert done.returncode == 0, done.stderr.decode()
    place = folder / "文字/录音.txt"
    assert done.stdout.decode("utf-8").strip() == str(place)
    assert place.read_text(encoding="utf-8").strip() == expected["transcript"]["text"]


@pytest.mark.parametrize("weights", ["fp32.data", "权重.db"])
def test_a_chinese_file_name(made: Path, tmp_path: Path, weights: str) -> None:
    known, model = made / "codec/cpu-fp32-12.onnx", tmp_path / "模型.onnx"
    graph = known.read_bytes()
    assert graph.count(b"fp32.data") > 1 and len(weights.encode()) == len("fp32.data")
    model.write_bytes(graph.replace(b"fp32.data", weights.encode()))
    shutil.copy(made / "codec/fp32.data", tmp_path / weights)
    codes = {"codes": np.load(made / "codes.npy")[:, :12]}
    np.testing.assert_array_equal(
        paddable.load(model, "cpu").run(codes)["wav"], paddable.load(known, "cpu").run(codes)["wav"]
    )


def test_voice_activity(made: Path, expected: dict[str, Any]) -> None:
    assert [list(pair) for pair in paddable.load(made / "fsmn-vad", "cpu").speech_segments(JFK)] == expected["segments"]


def test_a_detector_cuts_a_recording(made: Path) -> None:
    done = run("transcribe", JFK, "--model", made / "sense-voice", "--vad", made / "fsmn-vad")
    assert done.returncode == 0 and done.stdout.decode("utf-8").strip()


@pytest.mark.parametrize("words", [(), ("--stream",), ("--stream", "--chunk", "5")])
def test_decode(made: Path, tmp_path: Path, words: tuple[str, ...]) -> None:
    out = tmp_path / "声音.wav"
    done = run("decode", made / "codes.npy", "-o", out, "--model", made / "codec", *words)
    assert done.returncode == 0, done.stderr.decode()
    sound, rate = soundfile.read(out, dtype="float32")
    assert rate == 24_000 and np.abs(sound - np.load(made / "expected.npy")[0].clip(-1, 1)).max() < 1e-4


def test_a_stream_from_python(made: Path) -> None:
    stream = paddable.load(made / "codec", "cpu").stream()
    stream.warm_up()
    codes = np.load(made / "codes.npy")
    sound = np.concatenate([stream.push(codes[:, i : i + 3]) for i in range(0, codes.shape[1], 3)], 1)
    np.testing.assert_allclose(sound, np.load(made / "expected.npy"), atol=1e-5)


def test_a_bundle_that_is_open_is_replaced_or_left_and_nothing_stays_beside_it(made: Path, tmp_path: Path) -> None:
    place, codes = tmp_path / "bundle", {"codes": np.load(made / "codes.npy")[:, :12]}
    shutil.copytree(made / "codec", place)

    def replace() -> None:
        with new_directory(place, force=True) as folder:
            shutil.copytree(made / "codec", folder, dirs_exist_ok=True)

    model = paddable.load(place, "cpu")
    sound = model.run(codes)["wav"]
    with suppress(MisuseError):  # Windows refuses to move what is open
        replace()
    with paddable.load(place, "cpu") as other:
        np.testing.assert_array_equal(other.run(codes)["wav"], sound)
    model.close()
    gc.collect()
    replace()
    assert [path.name for path in tmp_path.iterdir()] == ["bundle"]
