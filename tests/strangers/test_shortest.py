"""A graph that is defined from some steps on, whose operators a runtime answers below (AECMOS: pools of pools)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from click.testing import CliRunner, Result

from paddable.cli.main import paddable as command

TEXT = """<ir_version: 9, opset_import: ["" : 17]> g (float[B, 2, T] x) => (float[B, 2] y) {
  a = MaxPool<kernel_shape = [4], strides = [4]>(x)
  b = MaxPool<kernel_shape = [4], strides = [4]>(a)
  y = ReduceMax<axes = [2], keepdims = 0>(b) }"""
REASON = "MaxPool needs an input of at least one window, T//16 must be positive"


@pytest.fixture
def native(tmp_path: Path) -> Path:
    onnx.save(onnx.parser.parse_model(TEXT), tmp_path / "native.onnx")
    return tmp_path / "native.onnx"


def _paddable(*words: str) -> Result:
    return CliRunner().invoke(command, list(words), standalone_mode=True)


def _convert(native: Path, rows: int, *more: str) -> Result:
    words = ["-o", str(native.with_name("padded.onnx")), "--container", "40", "--batch-size", str(rows), *more]
    return _paddable("convert", str(native), "--length", "x:2=T", *words)


def test_check_tells_the_shortest_and_why(native: Path) -> None:
    done = _paddable("check", str(native), "--length", "x:2=T")
    assert f"the shortest accepted length is 16: {REASON}" in done.output


def test_without_it_nothing_is_written_and_the_option_is_named(native: Path) -> None:
    done = _convert(native, 1)
    assert done.exit_code == 1 and "add `shortest=['T=16']`" in str(done.exception)
    assert not native.with_name("padded.onnx").exists()


@pytest.mark.parametrize("rows", [1, 2])
def test_with_it_the_file_answers_as_native_from_there_on(native: Path, rows: int) -> None:
    done = _convert(native, rows, "--shortest", "T=16")
    assert done.exit_code == 0, done.exception
    assert "the shortest accepted length is 16: a shortest T of 16 was asked for" in done.output
    before, after = (ort.InferenceSession(native.with_name(f"{name}.onnx")) for name in ("native", "padded"))
    for counts in ([16, 31], [32, 40], [40, 16]) if rows == 2 else ([16], [31], [40]):
        box = np.full((rows, 2, 40), 9, "f4")
        x = np.random.default_rng(0).standard_normal((rows, 2, 40), dtype="f4")
        for row, count in enumerate(counts):
            box[row, :, :count] = x[row, :, :count]
        (found,) = after.run(["y"], {"x": box, "ilens": np.array(counts)})
        for row, count in enumerate(counts):
            np.testing.assert_array_equal(found[row], before.run(["y"], {"x": x[row : row + 1, :, :count]})[0][0])
