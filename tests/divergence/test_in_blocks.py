"""A bundle in int4 keeps its matrices in blocks of 4 bits: what they round is precision, and another weight is told."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

import paddable

from .test_verdicts import save

WIDTH = 64
RNG = np.random.default_rng(0)
W, V, U = (RNG.standard_normal((WIDTH, WIDTH)).astype(np.float32) / 8 for _ in range(3))
BODY = "a = MatMul (x, w) b = Tanh (a) c = MatMul (b, v) d = Relu (c) y = MatMul (d, u)"


def _native(place: Path, body: str = BODY, **changed: np.ndarray) -> Path:
    held = {name: array for name, array in {"w": W, "v": V, "u": U, **changed}.items() if f", {name})" in body}
    return save(place, f"(float[1, T, {WIDTH}] x) => (float[1, T, {WIDTH}] y) {{ {body} }}", **held)


def _in_4_bits(native: Path) -> Path:
    out = native.with_suffix(".int4.onnx")
    paddable.convert(native, ["x:1=T"], containers=[60], out=out, verify=False, precision="int4")
    return out


@pytest.fixture
def native(tmp_path: Path) -> Path:
    return _native(tmp_path / "native.onnx")


def test_what_4_bits_round_away_is_precision(native: Path) -> None:
    padded = _in_4_bits(native)
    for files in ((padded, native), (native, padded)):
        report = paddable.probe(*files, at=50)
        assert report.fork is not None and report.fork.cause.kind == "precision", report.verdict
        assert "int4 rounds away what fp32 keeps, at MatMulNBits node" in report.verdict and not report.changed


@pytest.mark.parametrize("first", [True, False])
def test_another_weight_behind_4_bits_is_told(native: Path, tmp_path: Path, first: bool) -> None:
    changed = V.copy()
    changed[3, 4] += 2
    wrong = _in_4_bits(_native(tmp_path / "wrong.onnx", v=changed))
    report = paddable.probe(*((wrong, native) if first else (native, wrong)), at=50)
    assert "v_int4" in report.verdict and "in 1 of 4096 numbers by more than a step, most at [3, 4]" in report.verdict


def test_another_operator_behind_4_bits_is_told(native: Path, tmp_path: Path) -> None:
    wrong = _in_4_bits(_native(tmp_path / "wrong.onnx", BODY.replace("Tanh", "Sigmoid")))
    fork = paddable.probe(wrong, native, at=50).fork
    assert fork is not None and fork.cause.kind == "structure" and "Tanh" in fork.cause.text, fork


@pytest.mark.parametrize(("zero", "differs"), [(8, False), (10, True)])
def test_zero_points_of_another_quantiser(native: Path, tmp_path: Path, zero: int, differs: bool) -> None:
    model = onnx.load(_in_4_bits(native))
    node = next(node for node in model.graph.node if node.op_type == "MatMulNBits")
    node.input.append("zeros")
    zeros = np.full(WIDTH * WIDTH // 64, zero * 17, np.uint8)
    model.graph.initializer.append(onnx.numpy_helper.from_array(zeros, "zeros"))
    onnx.save(model, tmp_path / "zeros.onnx")
    verdict = paddable.probe(tmp_path / "zeros.onnx", native, at=50).verdict
    assert differs == ("w_int4 differs from the second graph's w" in verdict), verdict
