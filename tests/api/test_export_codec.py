"""``paddable export qwen3-tts-codec`` and ``paddable decode``, with small random weights."""

from __future__ import annotations

import json
import math
import shutil
from dataclasses import replace
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
from paddable.api import exporting, exporting_streams
from paddable.bundle import read_bundle
from paddable.errors import GateFailedError, MisuseError
from paddable.families.family import Loaded
from paddable.families.qwen3_tts_codec import export as qwen3_tts_codec
from paddable.families.qwen3_tts_codec.weights import decoder_from_checkpoint
from paddable.graph.io.read import read_model
from paddable.graph.io.write import write_model
from paddable.precision import in_precision

ON_LINUX = pytest.mark.skipif(not Path("/proc/self").exists(), reason="a folder in which nobody may write")
SAMPLES = 24  # a frame, at the rates of the small model


@pytest.fixture(scope="module")
def checkpoint(checkpoints: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = checkpoints.qwen3_tts_codec(tmp_path_factory.mktemp("codec") / "checkpoint")
    return folder


@pytest.fixture(scope="module")
def loaded(checkpoint: Path, checkpoints: ModuleType) -> Loaded:
    graphs = checkpoints.codec_graphs  # of the same weights, made once: the exporter takes seconds a graph
    made = qwen3_tts_codec.FAMILY.load(checkpoint, {"chunks": (4, 12)})
    steps = {f"step-{frames}.onnx": (lambda frames=frames: graphs.step(frames).model) for frames in (4, 12)}
    return replace(made, export=lambda: graphs.whole().model_proto, step_graphs=steps)


@pytest.fixture(scope="module")
def step_graphs(loaded: Loaded) -> dict[str, onnx_ir.Model]:
    return {name: trace() for name, trace in loaded.step_graphs.items()}


def give(patched: pytest.MonkeyPatch, loaded: Loaded) -> None:
    """Let ``export`` find what is loaded already."""
    family = replace(qwen3_tts_codec.FAMILY, load=lambda folder, choices: loaded)
    patched.setattr(exporting, "family_of", lambda name: family)


@pytest.fixture(scope="module")
def bundle(checkpoint: Path, loaded: Loaded) -> Path:
    with pytest.MonkeyPatch.context() as patched:
        give(patched, loaded)
        return exporting.export("qwen3-tts-codec", checkpoint, checkpoint.parent / "bundle", containers=[12, 25])


def test_the_step_graphs_of_a_target_are_judged_too(
    checkpoint: Path, loaded: Loaded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    give(monkeypatch, loaded)
    told: list[str] = []
    exporting.export(
        "qwen3-tts-codec",
        checkpoint,
        tmp_path / "b",
        containers=[12],
        target="directml",
        verify=False,
        on_message=told.append,
    )
    assert [line.split(":")[0] for line in told] == ["F=12", "step-4.onnx", "step-12.onnx"]
    assert all(" in 1 fused graphs, 0 DirectML kernels of their own, 0 on the CPU" in line for line in told)


@pytest.fixture(scope="module")
def codes(checkpoints: ModuleType) -> np.ndarray:
    made: np.ndarray = checkpoints.codec_synthetic.codes(checkpoints.codec_synthetic.TINY, 40)
    return made


@pytest.fixture(scope="module")
def wanted(checkpoint: Path, codes: np.ndarray) -> np.ndarray:
    with torch.no_grad():
        return decoder_from_checkpoint(checkpoint)(torch.from_numpy(codes)).numpy()[0]


def close(got: np.ndarray, want: np.ndarray, tolerance: float = 1e-5) -> bool:
    return got.shape == want.shape and float(np.abs(got - want).max()) <= tolerance * float(np.abs(want).max())


def test_the_bundle_streams_and_decodes(bundle: Path, codes: np.ndarray, wanted: np.ndarray) -> None:
    described = read_bundle(bundle, check_below=math.inf)
    assert described.step_graphs == ("step-4.onnx", "step-12.onnx") and described.sample_rate == 24_000
    told = json.loads((bundle / "report.json").read_text())
    assert told["ok"] and told["streams"]["ok"]
    assert [row["chunks"] for row in told["streams"]["rows"]] == ["step-4.onnx", "step-12.onnx", "random"]
    model = library.load(bundle, "cpu", threads=1)
    assert close(model.run({"codes": codes[:, :20]})["wav"][0], wanted[: 20 * SAMPLES])
    one, other = model.stream(), model.stream()
    parts = [one.push(codes[:, i : i + 5]) for i in range(0, 40, 5)]
    other.push(codes[:, 30:])  # streams are independent
    assert close(np.concatenate(parts, 1)[0], wanted)


@pytest.mark.parametrize("words", [("--stream",), ("--stream", "--chunk", "7")])
def test_decode_streams_any_length(
    paddable: Any, bundle: Path, codes: np.ndarray, wanted: np.ndarray, tmp_path: Path, words: tuple[str, ...]
) -> None:
    np.save(tmp_path / "codes.npy", codes[0])
    out = tmp_path / "out.wav"
    done = paddable("decode", tmp_path / "codes.npy", "-o", out, "--model", bundle, "--json", *words)
    told = json.loads(done.out)
    assert done.code == 0 and 0 < told["first_seconds"] <= told["elapsed"]
    assert told["seconds"] == 40 * SAMPLES / 24_000
    samples, rate = soundfile.read(out)
    assert rate == 24_000 and np.abs(wanted).max() < 1
    assert np.abs(samples - wanted).max() <= 0.5 / 32_768 + 1e-5 * np.abs(wanted).max()  # half a step of 16 bits
    assert paddable("decode", tmp_path / "codes.npy", "-o", out, "--model", bundle).code == 2  # it is there already


def test_decode_at_once_needs_a_container(paddable: Any, bundle: Path, codes: np.ndarray, tmp_path: Path) -> None:
    np.save(tmp_path / "short.npy", codes[:, :20])
    np.save(tmp_path / "long.npy", codes)
    out = tmp_path / "out.flac"
    assert paddable("decode", tmp_path / "short.npy", "-o", out, "--model", bundle).code == 0
    assert soundfile.info(out).frames == 20 * SAMPLES
    done = paddable("decode", tmp_path / "long.npy", "-o", tmp_path / "long.wav", "--model", bundle)
    assert done.code == 2 and "40 steps" in done.err and "25 steps" in done.err
    assert not (tmp_path / "long.wav").exists()


def npy(header: str) -> bytes:
    """A .npy file of version 1 with this header."""
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode()


@pytest.mark.parametrize("words", [(), ("--stream",)])
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"1 2 3\n4 5 6\n", "not a readable .npy file; it does not begin as one; numpy.save writes it"),
        (b"", "not a readable .npy file"),
        (np.zeros((4, 5), np.int64), "expected [1, steps, 16]"),
        (np.full((4, 16), 64), "is outside 0 .. 63"),
        (np.zeros((4, 16)), "convert it first"),
        (np.zeros((0, 16), np.int64), "no frame in it"),
        (
            npy("{'descr': '<i8', 'fortran_order': False, 'shape': (4, 16), \n"),
            "not a readable .npy file; its header is damaged",
        ),
        (npy("{'descr': '<i8', (((\n"), "not a readable .npy file; its header is damaged"),
        (npy("{'descr': [1, 'fortran_order': False, 'shape': (4, 16)}\n"), "not a readable .npy file"),
        (npy("{'descr': ('<i8',), 'fortran_order': False, 'shape': (4, 16)}\n"), "not a readable .npy file"),
        (npy("\0" * 40 + "\n"), "not a readable .npy file"),
    ],
)
def test_bad_codes_are_one_line(
    paddable: Any, bundle: Path, tmp_path: Path, content: Any, message: str, words: tuple[str, ...]
) -> None:
    path = tmp_path / "codes.npy"
    path.write_bytes(content) if isinstance(content, bytes) else np.save(path, content)
    done = paddable("decode", path, "-o", tmp_path / "out.wav", "--model", bundle, *words)
    assert done.code == 2 and message in done.err and len(done.err.splitlines()) == 1
    assert {file.name for file in tmp_path.iterdir()} == {"codes.npy"}


@pytest.mark.parametrize(
    ("out", "message"),
    [
        ("out.raw", "a sound file of kind '.raw'"),
        ("out", "a sound file of kind 'out'"),
        ("codes.npy/out.wav", "the parent is not a directory"),
        ("codes.npy/deeper/out.wav", "the parent is not a directory"),
        ("folder.wav", "it is a directory"),
        pytest.param("/proc/nowhere/out.wav", "it cannot be written; ", marks=ON_LINUX),
    ],
)
def test_a_place_that_cannot_be_written_is_one_line(
    paddable: Any, bundle: Path, codes: np.ndarray, tmp_path: Path, out: str, message: str
) -> None:
    np.save(tmp_path / "codes.npy", codes[0, :8])
    (tmp_path / "folder.wav").mkdir()
    done = paddable("decode", tmp_path / "codes.npy", "-o", tmp_path / out, "--model", bundle, "--force")
    assert done.code == 2 and f"{tmp_path / out}: {message}" in done.err and len(done.err.splitlines()) == 1
    assert ".part" not in done.err and "internal error" not in done.err
    assert {file.name for file in tmp_path.iterdir()} == {"codes.npy", "folder.wav"}


def test_nothing_is_put_into_a_bundle(
    paddable: Any, bundle: Path, checkpoint: Path, codes: np.ndarray, tmp_path: Path
) -> None:
    np.save(tmp_path / "codes.npy", codes[0, :8])
    before = sorted(bundle.rglob("*"))
    done = paddable("decode", tmp_path / "codes.npy", "-o", bundle / "deeper/out.wav", "--model", bundle, "--force")
    assert done.code == 2 and "it would lie inside a bundle" in done.err and len(done.err.splitlines()) == 1
    done = paddable("export", "qwen3-tts-codec", checkpoint, "-o", bundle / "inner", "--force")
    assert done.code == 2 and "it would lie inside a bundle" in done.err and len(done.err.splitlines()) == 1
    assert sorted(bundle.rglob("*")) == before


def test_sound_of_nan_is_not_written(
    paddable: Any, bundle: Path, codes: np.ndarray, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    np.save(tmp_path / "codes.npy", codes[0, :8])
    run = library.runtime.Session.answer
    monkeypatch.setattr(library.runtime.Session, "answer", lambda *a: {n: v * np.nan for n, v in run(*a).items()})
    done = paddable("decode", tmp_path / "codes.npy", "-o", tmp_path / "out.wav", "--model", bundle)
    assert done.code and "NaN or infinity in wav" in done.err and len(done.err.splitlines()) == 1
    assert {file.name for file in tmp_path.iterdir()} == {"codes.npy"}


@pytest.mark.parametrize("code", [64, -1])
def test_run_refuses_the_codes_that_a_stream_refuses(bundle: Path, codes: np.ndarray, code: int) -> None:
    model = library.load(bundle, "cpu", threads=1)
    bad = codes[:, :8].copy()
    bad[0, 5:] = code
    with pytest.raises(MisuseError, match=rf"{code} at \[0, 5, 0\] is outside 0 .. 63"):
        model.run({"codes": bad})
    want = model.run({"codes": codes[:, :5]})["wav"]  # behind the length anything may lie
    np.testing.assert_array_equal(model.run({"codes": bad, "ilens": np.array([5])})["wav"], want)


def test_a_write_that_fails_names_what_was_asked_for(
    paddable: Any, bundle: Path, codes: np.ndarray, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    np.save(tmp_path / "codes.npy", codes[0, :8])
    write = soundfile.write
    monkeypatch.setattr(soundfile, "write", lambda file, *a, **k: write(tmp_path / "no" / ".o.part", *a, **k))
    done = paddable("decode", tmp_path / "codes.npy", "-o", tmp_path / "out.wav", "--model", bundle)
    assert done.code == 2 and "out.wav: it cannot be written; System error" in done.err and ".part" not in done.err


@pytest.mark.parametrize("streamed", [[], ["--stream"]])
def test_frames_of_filling_at_the_end_are_left_out(
    paddable: Any, bundle: Path, codes: np.ndarray, tmp_path: Path, streamed: list[str]
) -> None:
    filled = np.pad(codes[:, :8], [(0, 0), (0, 3), (0, 0)], constant_values=-1)  # as qwen-tts fills a batch
    for name, array in (("plain", codes[0, :8]), ("filled", filled)):
        np.save(tmp_path / f"{name}.npy", array)
        words = ["decode", tmp_path / f"{name}.npy", "-o", tmp_path / f"{name}.wav", "--model", bundle, *streamed]
        assert paddable(*words).code == 0
    assert (tmp_path / "plain.wav").read_bytes() == (tmp_path / "filled.wav").read_bytes()
    filled[:, 2] = -1  # not at the end: no frame of a batch looks like that
    np.save(tmp_path / "hole.npy", filled)
    done = paddable("decode", tmp_path / "hole.npy", "-o", tmp_path / "hole.wav", "--model", bundle, *streamed)
    assert done.code == 2 and "-1 at [0, 2, 0] is outside" in done.err


def test_the_folder_above_the_codec_is_taken(paddable: Any, checkpoint: Path, tmp_path: Path) -> None:
    shutil.copytree(checkpoint, tmp_path / "model" / "speech_tokenizer")
    (tmp_path / "model" / "config.json").write_text("{}")
    assert qwen3_tts_codec.FAMILY.load(tmp_path / "model", {"chunks": (4,)}).rate
    assert json.loads(paddable("inspect", tmp_path / "model", "--json").out)["family"] == "qwen3-tts-codec"


def test_a_stream_that_differs_leaves_the_report_and_no_bundle(
    checkpoint: Path,
    loaded: Loaded,
    step_graphs: dict[str, onnx_ir.Model],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other = step_graphs["step-12.onnx"].clone()
    weight = next(node for node in other.graph if node.op_type == "Conv").inputs[1]
    weight.const_value = onnx_ir.Tensor(np.float32(1.01) * weight.const_value.numpy(), name=weight.name)
    native = tmp_path / "judged" / "native.onnx"
    native.parent.mkdir()
    onnx.save(loaded.export(), native)
    graphs = {**step_graphs, "step-12.onnx": other}
    files = {name: write_model(graph, native.parent / name) for name, graph in graphs.items()}
    told = exporting_streams.judge_streams(native, native, files)
    shutil.rmtree(native.parent)
    assert not told["ok"] and {row["chunks"]: row["error"] <= told["tolerance"] for row in told["rows"]} == {
        "step-4.onnx": True,
        "step-12.onnx": False,
        "random": False,
    }
    monkeypatch.setattr(exporting, "judge_streams", lambda *_: told)
    give(monkeypatch, loaded)
    with pytest.raises(GateFailedError, match=r"of scale from the whole.*bundle\.report\.json"):
        exporting.export("qwen3-tts-codec", checkpoint, tmp_path / "bundle", containers=[12])
    assert [path.name for path in tmp_path.iterdir()] == ["bundle.report.json"]
    assert json.loads((tmp_path / "bundle.report.json").read_text())["streams"]["ok"] is False


def test_what_a_codec_does_not_do_is_said(bundle: Path) -> None:
    with pytest.raises(
        MisuseError, match="has no method transcribe; it is of the family qwen3-tts-codec; it has stream and run"
    ):
        library.load(bundle, "cpu").transcribe(np.zeros(16_000, np.float32))


def test_verify_judges_the_streams_too(bundle: Path, tmp_path: Path) -> None:
    report = library.verify(bundle)
    assert report.ok and report.to_json()["streams"]["ok"]
    assert [row["chunks"] for row in report.streams["rows"]] == ["step-4.onnx", "step-12.onnx", "random"]
    other = shutil.copytree(bundle, tmp_path / "other")
    step = onnx.load(other / "step-4.onnx", load_external_data=False)
    gather = next(n for n in step.graph.node if n.output[0] == "next_state_pre_conv" and n.op_type == "Gather")
    gather.input[0] = "state_pre_conv_twice"  # the state stays as it was
    twice = onnx.helper.make_node("Concat", ["state_pre_conv"] * 8, ["state_pre_conv_twice"], axis=2)
    step.graph.node.insert(0, twice)
    onnx.save(step, other / "step-4.onnx")
    native = bundle / "native.onnx"
    files = {name: other / name for name in ("step-4.onnx", "step-12.onnx")}
    streams = exporting_streams.judge_streams(native, native, files)
    assert [row["error"] <= streams["tolerance"] for row in streams["rows"]] == [False, True, False]


@pytest.mark.parametrize("precision", ["fp16", "int8"])
def test_streams_in_another_precision_give_the_whole(
    checkpoint: Path,
    loaded: Loaded,
    codes: np.ndarray,
    tmp_path: Path,
    precision: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    give(monkeypatch, loaded)
    out = exporting.export(
        "qwen3-tts-codec", checkpoint, tmp_path / "b", containers=[40], precision=precision, verify=False
    )
    steps = {name: out / name for name in read_bundle(out).step_graphs}
    native = out / "native.onnx"
    twin = write_model(in_precision(read_model(native), precision), tmp_path / "native.onnx")
    told = exporting_streams.judge_streams(native, twin, steps, precision)
    assert told["ok"] and 0 < told["precision"][precision]["error"] < 0.05
    assert precision == "fp16" or told["tolerance"] < 2e-5
    model = library.load(out, "cpu", threads=1)
    stream = model.stream()
    parts = [stream.push(codes[:, i : i + 7]) for i in range(0, 40, 7)]
    assert {value.dtype for value in stream.save().values()} == {np.dtype("float32"), np.dtype("int64")}
    whole = model.run({"codes": codes})["wav"]
    assert close(np.concatenate(parts, 1)[0], whole[0], told["tolerance"])


def test_inspect_prints_the_dimensions_of_checkpoint_bundle_and_graph(
    paddable: Any, checkpoint: Path, bundle: Path
) -> None:
    told = json.loads(paddable("inspect", checkpoint, "--json").out)
    assert (told["kind"], told["family"]) == ("checkpoint", "qwen3-tts-codec")
    sizes = told["dimensions"]
    assert (sizes["num_attention_heads"], sizes["head_dim"], sizes["samples_per_frame"]) == (2, 8, SAMPLES)
    in_bundle, in_graph = (
        json.loads(paddable("inspect", place, "--json").out) for place in (bundle, bundle / "step-4.onnx")
    )
    assert [graph["file"] for graph in in_bundle["graphs"]][-2:] == ["step-4.onnx", "step-12.onnx"]
    assert in_bundle["inputs"] == [{"name": "codes", "type": "INT64", "shape": [1, "F", 16]}]
    assert told["state"] == in_bundle["state"] == in_graph["state"]
    assert told["state_bytes"] == in_bundle["state_bytes"] == in_graph["state_bytes"]
    key = next(state for state in told["state"] if state["name"].endswith("_key"))
    assert key["shape"] == [1, 2, 5, 8] and key["meaning"].endswith("2 heads of 8")
    assert in_bundle["attention"] == in_graph["attention"] == [{"heads": 2, "head_dim": 8, "layers": 2}]
    done = paddable("inspect", bundle.parent)
    assert done.code == 2 and "neither a bundle nor a checkpoint" in done.err and len(done.err.splitlines()) == 1
