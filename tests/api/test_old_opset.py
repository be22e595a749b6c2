"""Opsets older than the rules: brought up, told, recorded, and judged against the model as it was."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

import paddable
from paddable.api import convert, lint, verify
from paddable.bundle import read_metadata
from paddable.errors import GateFailedError, RefusedError
from paddable.graph.prepare import raise_opset

TEXT = """<ir_version: 4, opset_import: ["" : 9]>
net (float[1, 4, T] x) => (float[1, 4, U] y) {
  c = Conv<kernel_shape = [3], pads = [1, 1], strides = [2]>(x, w)
  t = Transpose<perm = [0, 2, 1]>(c) s = Softmax<axis = 2>(t) y = Transpose<perm = [0, 2, 1]>(s)
}"""


def old() -> onnx.ModelProto:
    model = onnx.parser.parse_model(TEXT)
    weight = np.random.default_rng(0).standard_normal((4, 4, 3), dtype="f4")
    model.graph.initializer.append(onnx.numpy_helper.from_array(weight, "w"))
    return model


@pytest.fixture
def native(tmp_path: Path) -> Path:
    path = tmp_path / "native.onnx"
    onnx.save(old(), path)
    return path


@pytest.mark.parametrize("place", ["padded.onnx", "bundle"])
def test_it_converts_and_says_what_it_came_from(native: Path, place: str) -> None:
    out, told = native.with_name(place), list[str]()
    convert(native, ["x:2=T"], containers=[12], out=out, gate_lengths=4, on_message=told.append)
    assert "opset 9 is brought up to 17 by onnx's version converter" in told
    assert read_metadata(out).native_opset == 9
    assert verify(out, native, limit=4).ok
    if place == "bundle":
        assert onnx.load(out / "native.onnx").opset_import[0].version == 9
        assert verify(out, limit=4).ok


def test_what_the_converter_gets_wrong_is_found(native: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    faithful = raise_opset.convert_version

    def faulty(model: onnx.ModelProto, target: int) -> onnx.ModelProto:
        raised = faithful(model, target)
        raised.graph.node.insert(0, onnx.helper.make_node("Neg", ["x"], ["turned"]))
        raised.graph.node[1].input[0] = "turned"
        return raised

    monkeypatch.setattr(raise_opset, "convert_version", faulty)
    with pytest.raises(GateFailedError):
        convert(native, ["x:2=T"], containers=[12], out=native.with_name("padded.onnx"), gate_lengths=4)


def test_one_without_a_time_axis_too(native: Path) -> None:
    told: list[str] = []
    out = native.with_name("frozen.onnx")
    convert(native, [], out=out, bindings=["x:2=8"], on_message=told.append)
    assert read_metadata(out).native_opset == 9 and told[0].startswith("opset 9")


def test_it_is_checked_and_linted(native: Path) -> None:
    assert paddable.check(native, ["x:2=T"]).notes[0].startswith("opset 9 is brought up to 17")
    assert lint(native, lengths=["x:2=T"]).skipped[0].startswith("opset 9 is brought up to 17")


def test_what_cannot_be_brought_up_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def stuck(model: onnx.ModelProto, target: int) -> onnx.ModelProto:
        raise RuntimeError("No Adapter For Conv")

    monkeypatch.setattr(raise_opset, "convert_version", stuck)
    with pytest.raises(RefusedError, match=r"No Adapter For Conv.*opset_version=18"):
        paddable.check(old(), ["x:2=T"])
