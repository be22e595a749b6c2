"""The last valid steps of a transposed convolution and of an output are compared like all the others."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest

import paddable
from paddable.cli import main
from paddable.testing import assert_padding_invariant

HEAD = '<ir_version: 9, opset_import: ["" : 18]> g '
UP = "e = ConvTranspose <kernel_shape = [{kernel}], strides = [2], pads = [{pad}, {pad}]> (d, u, ub)"
FRONT = "m = MatMul (x, a) p = Add (m, ab) c = Relu (p) "
DOWN = (
    "t = Transpose <perm = [0, 2, 1]> (c) "
    "d = Conv <kernel_shape = [3], strides = [{stride}], pads = [1, 1]> (t, k, kb) "
)
LAST = " y = Transpose <perm = [0, 2, 1]> (e) }"
LINEAR = " f = Transpose <perm = [0, 2, 1]> (e) n = MatMul (f, b) h = Add (n, bb) y = Tanh (h) }"
TRANSPOSED = [(3, 0), (4, 1), (5, 2)]


def both(folder: Path, kernel: int, pad: int, *, linear: bool, stride: int = 1) -> tuple[Path, Path]:
    """A native model with a transposed convolution, and its padded form without the mask in front of that."""
    rng = np.random.default_rng(0)
    body = FRONT + DOWN.format(stride=stride) + UP.format(kernel=kernel, pad=pad) + (LINEAR if linear else LAST)
    model = onnx.parser.parse_model(HEAD + "(float[1, T, 4] x) => (float[1, S, 4] y) { " + body)
    shapes = {"a": (4, 4), "ab": (4,), "k": (4, 4, 3), "kb": (4,), "u": (4, 4, kernel), "ub": (4,)}
    if linear:
        shapes |= {"b": (4, 4), "bb": (4,)}
    for name, shape in shapes.items():
        array = 0.5 * rng.standard_normal(shape).astype(np.float32)
        model.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    for index, node in enumerate(model.graph.node):
        node.name = f"{node.op_type}_{index}"
    native, padded = folder / "native.onnx", folder / "padded.onnx"
    onnx.save(model, native)
    paddable.convert(native, ["x:1=T"], containers=["40"], out=padded, verify=False)
    return native, padded


def without_mask(padded: Path) -> Path:
    """The padded model with the zeroing in front of its transposed convolution left out."""
    model = onnx.load(padded)
    up = next(node for node in model.graph.node if node.op_type == "ConvTranspose")
    mask = next(node for node in model.graph.node if node.output[0] == up.input[0])
    assert mask.op_type == "Where" and mask.name.startswith("paddable/")
    up.input[0] = mask.input[1]
    onnx.save(model, padded.with_name("bad.onnx"))
    return padded.with_name("bad.onnx")


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("linear", [False, True])
@pytest.mark.parametrize(("kernel", "pad"), TRANSPOSED)
def test_a_missing_mask_is_found_at_the_transposed_convolution(
    kernel: int, pad: int, linear: bool, stride: int, tmp_path: Path
) -> None:
    native, padded = both(tmp_path, kernel, pad, linear=linear, stride=stride)
    bad = without_mask(padded)
    for steps in (20, 21):
        assert paddable.probe(padded, native, at=steps).ok
        report = paddable.probe(bad, native, at=steps)
        assert report.fork is not None and report.fork.op == "ConvTranspose", report.verdict
        assert (report.fork.cause.kind, report.fork.cause.code) == ("padding", "PAD102")
        assert report.outputs["y"] > report.tolerance


def test_the_case_shows_it_and_the_exit_code_tells(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    native, padded = both(tmp_path, 4, 1, linear=False, stride=2)
    bad, case = without_mask(padded), tmp_path / "case"
    args = ["probe", str(bad), "--against", str(native), "--at", "21", "--isolate", str(case), "--json"]
    assert main(args) == 1
    assert json.loads(capsys.readouterr().out)["fork"]["op"] == "ConvTranspose"
    ran = subprocess.run([sys.executable, "run.py"], cwd=case, capture_output=True, text=True)
    assert ran.returncode == 1, ran.stdout + ran.stderr


def test_the_assertion_names_the_transposed_convolution(tmp_path: Path) -> None:
    native, padded = both(tmp_path, 4, 1, linear=False, stride=2)
    with pytest.raises(AssertionError, match="the runs part at ConvTranspose"):
        assert_padding_invariant(without_mask(padded), native, report=tmp_path / "page.html")


@pytest.mark.parametrize("linear", [False, True])
def test_padding_without_a_remedy_parts_there_too(linear: bool, tmp_path: Path) -> None:
    native, _ = both(tmp_path, 4, 1, linear=linear)
    report = paddable.probe(native, native, ["x:1=T"], container=40, at=21)
    assert report.fork is not None and report.fork.op in ("Conv", "ConvTranspose")


def test_without_native_an_output_is_compared_to_its_last_step(tmp_path: Path) -> None:
    """Its length, one more than the input's here, is the container's at the container's: the size does not tell."""
    _, padded = both(tmp_path, 4, 1, linear=False, stride=2)
    report = paddable.probe(without_mask(padded), padded, at=21)
    assert not report.ok and report.outputs["y"] > report.tolerance
    assert report.fork is not None and report.fork.error > report.tolerance
    assert "in steps that were compared in no inner value" in report.verdict


def test_what_is_wrong_behind_the_last_pair_is_not_the_optimisers(tmp_path: Path) -> None:
    native, padded = both(tmp_path, 4, 1, linear=False)
    model = onnx.load(padded)
    place, cut = next((i, node) for i, node in enumerate(model.graph.node) if node.output[0] == "y")
    model.graph.node.insert(place, onnx.helper.make_node("Neg", [cut.input[1]], ["turned"], name="turn"))
    model.graph.node[place + 1].input[1] = "turned"
    onnx.save(model, tmp_path / "turned.onnx")
    case = tmp_path / "case"
    report = paddable.probe(tmp_path / "turned.onnx", native, at=21, isolate=case)
    assert report.fork is not None and "turn" in report.fork.nodes, report.verdict
    ran = subprocess.run([sys.executable, "run.py"], cwd=case, capture_output=True, text=True)
    assert ran.returncode == 1, ran.stdout + ran.stderr


@pytest.mark.parametrize("turned", [False, True])
def test_an_output_with_fewer_steps_is_no_agreement(turned: bool, tmp_path: Path) -> None:
    native, _ = both(tmp_path, 4, 1, linear=False)
    model = onnx.load(native)
    for name, value in (("start", 0), ("end", -1), ("axis", 1)):
        model.graph.initializer.append(onnx.numpy_helper.from_array(np.array([value]), name))
    model.graph.node[-1].output[0] = "whole"
    model.graph.node.append(onnx.helper.make_node("Slice", ["whole", "start", "end", "axis"], ["y"], name="shorten"))
    onnx.save(model, tmp_path / "short.onnx")
    pair = (tmp_path / "short.onnx", native)
    report = paddable.probe(*(pair[::-1] if turned else pair), ["x:1=T"], at=21)
    assert not report.ok and "utput y could not be compared: it is float32 [1, 4" in report.verdict
