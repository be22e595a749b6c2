"""Fourier transforms on DirectML: their bins, and what their rounding leaves of a front end's answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import numpy_helper

import paddable

FRAME, STEP, MELS = 400, 160, 20


def model(text: str, **constants: Any) -> onnx.ModelProto:
    found = onnx.parser.parse_model(f'<ir_version: 9, opset_import: ["" : 17]> {text}')
    found.graph.initializer.extend(numpy_helper.from_array(value, name) for name, value in constants.items())
    return found


def front_end(signal: str, frames: str, onesided: str = "") -> onnx.ModelProto:
    """Logarithm of mel energies, as published exports write it: STFT of 400 points every 160 samples."""
    random = np.random.default_rng(0)
    mels = random.uniform(0, 1, (FRAME // 2 + 1, MELS)) * (random.uniform(0, 1, (FRAME // 2 + 1, MELS)) < 0.02)
    return model(
        f"""front_end (float[1, {signal}] audio) => (float[1, {frames}, {MELS}] y) {{
            signal = Unsqueeze (audio, last)
            parts = STFT {onesided} (signal, step, window, frame)
            squares = Mul (parts, parts)
            power = ReduceSum <keepdims = 0> (squares, last)
            energy = MatMul (power, mels)
            raised = Add (energy, least)
            y = Log (raised)
        }}""",
        last=np.array([-1]),
        step=np.array(STEP),
        frame=np.array(FRAME),
        window=np.hanning(FRAME + 1)[:-1].astype(np.float32),
        mels=mels.astype(np.float32),
        least=np.array(1e-6, np.float32),
    )


def exactly(audio: np.ndarray[Any, Any], graph: onnx.ModelProto) -> np.ndarray[Any, Any]:
    """The front end in double, by NumPy."""
    known = {tensor.name: numpy_helper.to_array(tensor).astype(np.float64) for tensor in graph.graph.initializer}
    frames = np.lib.stride_tricks.sliding_window_view(audio.astype(np.float64), FRAME, -1)[:, ::STEP]
    return np.log(np.abs(np.fft.rfft(frames * known["window"])) ** 2 @ known["mels"] + known["least"])


def answer(graph: Any, audio: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    source = graph.SerializeToString() if isinstance(graph, onnx.ModelProto) else str(graph)
    session = onnxruntime.InferenceSession(source, providers=["CPUExecutionProvider"])
    return np.asarray(session.run(["y"], {"audio": audio})[0])


def tone(samples: int) -> np.ndarray[Any, Any]:
    """Loud in one bin, so that the others hold little, as speech does."""
    noise = np.random.default_rng(1).standard_normal((1, samples)) * 0.03
    return (np.sin(np.arange(samples) * 0.3)[None] + noise).astype(np.float32)


@pytest.mark.parametrize("onesided", ["", "<onesided = 1>"])
def test_the_bins_of_an_stft_are_those_of_its_default(onesided: str) -> None:
    text = f"""m (float[1, 16000, 1] x) => (float[1, 97, 257, 2] y) {{
        z = STFT {onesided} (x, step, window, size)
        y = Mul (z, z)
    }}"""
    constants = {"step": np.array(160), "window": np.ones(512, np.float32), "size": np.array(512)}
    assert [finding.code for finding in paddable.lint(model(text, **constants), target="directml").findings] == []


@pytest.mark.parametrize("onesided", ["", "<onesided = 1>"])
def test_a_size_that_is_no_power_of_two_is_written_as_a_product(onesided: str, tmp_path: Path) -> None:
    graph, audio = front_end("16000", "98", onesided), tone(16_000)
    exact = exactly(audio, graph)
    report = paddable.lint(graph, target="directml", fix=True, out=tmp_path / "fixed.onnx")
    assert "write fourier as product" in report.fixed and not report.left
    assert {node.op_type for node in onnx.load(tmp_path / "fixed.onnx").graph.node}.isdisjoint({"STFT"})
    scale = np.abs(exact).max()
    before, after = (np.abs(answer(g, audio) - exact).max() / scale for g in (graph, tmp_path / "fixed.onnx"))
    assert before > 1e-4 and after < 1e-5


@pytest.mark.parametrize("onesided", ["", "<onesided = 1>"])
def test_ragged_frames_keep_their_lengths(onesided: str, tmp_path: Path) -> None:
    onnx.save(front_end("S", "F", onesided), tmp_path / "native.onnx")
    paddable.convert(
        tmp_path / "native.onnx", ["audio:1=S"], containers=["4000"], gate_lengths=6, target="directml",
        out=tmp_path / "padded.onnx",
    )  # fmt: skip
    assert "STFT" not in {node.op_type for node in onnx.load(tmp_path / "padded.onnx").graph.node}
    padded = paddable.load(tmp_path / "padded.onnx", provider="cpu")
    for samples in (FRAME, FRAME + STEP - 1, FRAME + STEP, 3001, 4000):
        audio = tone(samples)
        got = padded.run({"audio": audio})["y"]
        assert got.shape == (1, (samples - FRAME) // STEP + 1, MELS)
        exact = exactly(audio, front_end("S", "F"))
        assert np.abs(got - exact).max() / np.abs(exact).max() < 1e-5


def test_a_transform_of_rows(tmp_path: Path) -> None:
    graph = model("rows (float[5, 60, 1] audio) => (float[5, 31, 2] y) { y = DFT <axis = 1, onesided = 1> (audio) }")
    report = paddable.lint(graph, target="directml", fix=True, out=tmp_path / "fixed.onnx")
    assert "write fourier as product" in report.fixed
    rows = np.random.default_rng(0).standard_normal((5, 60, 1)).astype(np.float32)
    want = np.fft.rfft(rows[..., 0].astype(np.float64))
    np.testing.assert_allclose(answer(tmp_path / "fixed.onnx", rows), np.stack([want.real, want.imag], -1), atol=1e-5)


def test_what_the_kernel_rounds_is_noise_of_native(tmp_path: Path) -> None:
    """Each bin behind a logarithm: native is farther from exact than a gate allows, and the product is not to blame."""
    bins = model(
        """bins (float[1, S] audio) => (float[1, F, 201] y) {
            signal = Unsqueeze (audio, last)
            parts = STFT (signal, step, window, frame)
            squares = Mul (parts, parts)
            power = ReduceSum <keepdims = 0> (squares, last)
            raised = Add (power, least)
            y = Log (raised)
        }""",
        last=np.array([-1]),
        step=np.array(STEP),
        frame=np.array(FRAME),
        window=np.hanning(FRAME + 1)[:-1].astype(np.float32),
        least=np.array(1e-6, np.float32),
    )
    onnx.save(bins, tmp_path / "native.onnx")
    padded = tmp_path / "padded.onnx"
    paddable.convert(
        tmp_path / "native.onnx", ["audio:1=S"], containers=["4000"], gate_lengths=4, target="directml", out=padded
    )
    assert "STFT" not in {node.op_type for node in onnx.load(padded).graph.node}
    report = paddable.verify(padded, native=tmp_path / "native.onnx")
    assert report.ok and max(row.error for row in report.rows) > 1e-5
    on_cpu = tmp_path / "cpu.onnx"  # where the kernel is the same, nothing is allowed for it
    paddable.convert(tmp_path / "native.onnx", ["audio:1=S"], containers=["4000"], gate_lengths=4, out=on_cpu)
    assert max(row.tolerance for row in paddable.verify(on_cpu, native=tmp_path / "native.onnx").rows) == 1e-5
