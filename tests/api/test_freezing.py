"""``convert`` without ``--length``, and inputs that are bound with ``--set``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.parser
import onnxruntime as ort
import pytest
from onnx import numpy_helper

import paddable as library
from paddable.errors import MisuseError
from paddable.graph.io.read import read_model
from paddable.graph.io.write import to_proto
from paddable.precision import in_precision

HEAD = '<ir_version: 8, opset_import: ["" : 17]>\n'
ENHANCER = (
    (
        HEAD
        + """g (float[batch, chunk, 3] x, float[1, batch, 4] h) => (float[chunk, 1, batch, 4] y, float[1, batch, 4] hn)
    <float[1, 12, 3] w = {W}, float[1, 12, 4] r = {R}>
    { s = Shape(x) t = Transpose<perm = [1, 0, 2]>(x) y, hn = GRU<hidden_size = 4>(t, w, r, , , h) }"""
    )
    .replace("{W}", "{" + ",".join(["0.3"] * 36) + "}")
    .replace("{R}", "{" + ",".join(["0.1"] * 48) + "}")
)
RATE = (
    HEAD
    + """g (float[1, T] x, int64 sr) => (float[1, T] y) <int64 k = {16000}>
    { c = Equal(sr, k)
      y = If (c) <then_branch = a () => (p) { p = Relu(x) }, else_branch = b () => (p) { p = Neg(x) }> }"""
)


def save(text: str, path: Path) -> Path:
    onnx.save(onnx.parser.parse_model(text), path)
    return path


def run(path: Path, **feeds: Any) -> list[Any]:
    return list(ort.InferenceSession(path, providers=["CPUExecutionProvider"]).run(None, feeds))


def test_batch_and_chunk_get_sizes_and_the_answer_stays(tmp_path: Path) -> None:
    native = save(ENHANCER, tmp_path / "n.onnx")
    made = library.convert(native, [], out=tmp_path / "f.onnx", bindings=["chunk=5"], batch_size=2)
    shapes = [[d.dim_value for d in v.type.tensor_type.shape.dim] for v in onnx.load(made).graph.input]
    assert shapes == [[2, 5, 3], [1, 2, 4]]
    rng = np.random.default_rng(0)
    feeds = {"x": rng.standard_normal((2, 5, 3), np.float32), "h": rng.standard_normal((1, 2, 4), np.float32)}
    for want, got in zip(run(native, **feeds), run(Path(str(made)), **feeds), strict=True):
        assert np.array_equal(want, got)
    (told,) = [entry.value for entry in onnx.load(made).metadata_props if entry.key == "paddable"]
    said = json.loads(told)
    assert said["bindings"] == ["chunk=5"] and said["verified"]["worst"] == 0


def test_an_axis_that_stays_open_is_named_with_the_option_that_sizes_it(tmp_path: Path) -> None:
    native = save(ENHANCER, tmp_path / "n.onnx")
    with pytest.raises(MisuseError, match=r"x:1 varies.*`lengths=\['x:1=T'\], .*`bindings=\['x:1=SIZE'\]`"):
        library.convert(native, [], out=tmp_path / "f.onnx")


@pytest.mark.parametrize(("rate", "sign"), [(16000, 1), (8000, -1)])
def test_a_bound_input_decides_its_branch_and_native_is_bound_too(tmp_path: Path, rate: int, sign: int) -> None:
    native = save(RATE, tmp_path / "n.onnx")
    made = library.convert(
        native, ["x:1=T"], containers=[8], out=tmp_path / "p.onnx", bindings=[f"sr={rate}"], gate_lengths=4
    )
    graph = onnx.load(made).graph
    assert [value.name for value in graph.input] == ["x", "ilens"]
    assert "If" not in {node.op_type for node in graph.node}
    x = np.arange(-4, 4, dtype=np.float32)[None]
    got = run(Path(str(made)), x=x, ilens=np.array([8]))[0]
    assert np.array_equal(got, np.maximum(x, 0) if sign == 1 else -x)
    assert library.verify(made, native, limit=4).ok


def test_a_branch_that_is_not_taken_need_not_fit_the_sizes(tmp_path: Path) -> None:
    """Silero's two rates take chunks of their own: native, given the size of one of them, does not load."""
    text = RATE.replace("<int64 k = {16000}>", "<int64 k = {16000}, float[3, 3] w = {1, 0, 0, 0, 1, 0, 0, 0, 1}>")
    native = save(text.replace("p = Neg(x)", "p = MatMul(x, w)"), tmp_path / "n.onnx")
    made = library.convert(native, [], out=tmp_path / "f.onnx", bindings=["sr=16000", "x:1=4"])
    x = np.array([[1, -2, 3, -4]], np.float32)
    assert np.array_equal(run(Path(str(made)), x=x)[0], np.maximum(x, 0))


def test_rows_that_are_asked_for_are_the_first_axis(tmp_path: Path) -> None:
    """Nothing tells the rows of a classifier from the steps of a detector but the size that is given."""
    native = save(HEAD + "g (float[N, 8] x) => (float[N, 8] y) { y = Relu(x) }", tmp_path / "n.onnx")
    with pytest.raises(MisuseError, match="x:0 varies"):
        library.convert(native, [], out=tmp_path / "f.onnx")
    library.convert(native, [], out=tmp_path / "f.onnx", batch_size=3)
    assert [d.dim_value for d in onnx.load(tmp_path / "f.onnx").graph.input[0].type.tensor_type.shape.dim] == [3, 8]


def test_which_axis_counts_rows_may_be_said(tmp_path: Path) -> None:
    native = save(HEAD + "g (float[batch, N, 8] x) => (float[batch, N, 8] y) { y = Relu(x) }", tmp_path / "n.onnx")

    def sizes(**given: Any) -> list[int]:
        model = library.convert(native, [], **given)
        assert isinstance(model, onnx.ModelProto)
        return [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]

    assert sizes(batch="x:1", batch_size=3, bindings=["x:0=2"]) == [2, 3, 8]
    with pytest.raises(MisuseError, match="x:0 varies"):
        sizes(batch="none", bindings=["x:1=4"])
    with pytest.raises(MisuseError, match="no axis 5 of an input 'x'"):
        sizes(batch="x:5")
    with pytest.raises(MisuseError, match="speaks of a length, and `lengths` declares none"):
        sizes(shortest=["T=3"])


def test_an_open_axis_that_is_written_as_minus_one(tmp_path: Path) -> None:
    """As Paddle writes it."""
    model = onnx.parser.parse_model(HEAD + "g (float[N, 8] x) => (float[N, 8] y) { y = Relu(x) }")
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_value = -1
    onnx.save(model, tmp_path / "n.onnx")
    library.convert(tmp_path / "n.onnx", [], out=tmp_path / "f.onnx", bindings=["x:0=2"])
    assert [d.dim_value for d in onnx.load(tmp_path / "f.onnx").graph.input[0].type.tensor_type.shape.dim] == [2, 8]


def test_the_command_line(paddable: Any, tmp_path: Path) -> None:
    native = save(RATE, tmp_path / "n.onnx")
    done = paddable(
        "convert", native, "-o", tmp_path / "p.onnx", "--length", "x:1=T", "--container", "8", "--set", "fs=1"
    )
    assert done.code == 2 and "no input 'fs'" in done.err and "sr INT64" in done.err
    done = paddable("check", native, "--length", "x:1=T", "--set", "sr=16000")
    assert done.code == 0, done.err


@pytest.mark.parametrize("precision", ["fp32", "fp16", "int8"])
def test_shapes_behind_an_operator_of_onnx_runtime_are_known(precision: str) -> None:
    """onnx infers none there; here a product with weights in 4 bits, in front of another and as an output."""
    text = """<ir_version: 10, opset_import: ["" : 18]> g (float[1, 16, 64] x) => (float[1, 16, 64] y) {
      h = MatMul(x, w) r = Relu(h) s = MatMul(r, v) t = Relu(s) y = MatMul(t, u)
    }"""
    model, rng = onnx.parser.parse_model(text), np.random.default_rng(0)
    for name in "wvu":
        array = (rng.standard_normal((64, 64)) / 8).astype(np.float32)
        model.graph.initializer.append(numpy_helper.from_array(array, name))
    native = to_proto(in_precision(read_model(model), "int4"))
    assert [node.op_type for node in native.graph.node].count("MatMulNBits") == 3
    del native.graph.value_info[:]
    made = library.convert(native, [], precision=precision)
    assert "MatMulNBits" in {node.op_type for node in made.graph.node}
