"""int4: which matrices are stored in blocks, how exactly, and that a bundle of it is judged."""

from __future__ import annotations

import json

import numpy as np
import onnx
import onnx.parser
import onnxruntime as ort
from onnx import numpy_helper

from paddable.api import convert
from paddable.graph.io.read import read_model
from paddable.graph.io.write import to_proto
from paddable.precision import in_precision
from paddable.precision.blocks import BLOCK, packed

RANDOM = np.random.default_rng(0)
TEXT = """<ir_version: 10, opset_import: ["" : 18]>
net (float[1, T, 40] x) => (float[1, T, 48] y) { a = MatMul(x, w) b = Relu(a) c = MatMul(b, v) y = Add(c, k) }"""


def native() -> onnx.ModelProto:
    model = onnx.parser.parse_model(TEXT)
    for name, shape in {"w": (40, 64), "v": (64, 48), "k": (48,)}.items():
        array = (RANDOM.standard_normal(shape) / 6).astype(np.float32)
        model.graph.initializer.append(numpy_helper.from_array(array, name))
    for node in model.graph.node:
        node.name = f"{node.op_type}_{node.output[0]}"
    return model


def restored(matrix: np.ndarray) -> np.ndarray:
    numbers, scales = packed(matrix)
    codes = np.stack([numbers & 15, numbers >> 4], -1).reshape(*numbers.shape[:2], BLOCK)
    return ((codes.astype(np.float32) - 8) * scales[..., None]).reshape(matrix.shape[1], -1)[:, : len(matrix)].T


def test_numbers_are_the_nearest_of_a_block() -> None:
    matrix = RANDOM.standard_normal((70, 5)).astype(np.float32)
    matrix[:32, 1] = 0
    for start in range(0, 70, BLOCK):
        part, back = matrix[start : start + BLOCK], restored(matrix)[start : start + BLOCK]
        assert (np.abs(part - back) <= np.abs(part).max(0) / 14 + 1e-7).all()


def test_the_runtime_reads_it_as_it_was_written() -> None:
    model = native()
    made = to_proto(in_precision(read_model(model), "int4"))
    assert [node.op_type for node in made.graph.node] == ["MatMulNBits", "Relu", "MatMulNBits", "Add"]
    x = RANDOM.standard_normal((1, 9, 40)).astype(np.float32)
    weights = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    want = np.maximum(x @ restored(weights["w"]), 0) @ restored(weights["v"]) + weights["k"]
    (got,) = ort.InferenceSession(made.SerializeToString()).run(None, {"x": x})
    assert np.abs(got - want).max() < 1e-5 * np.abs(want).max()


def test_a_bundle_is_judged(tmp_path) -> None:
    out = convert(native(), ["x:1=T"], containers=[20], out=tmp_path / "b", precision="int4", gate_lengths=4)
    report = json.loads((out / "report.json").read_text())
    assert report["ok"] and report["precision"]["int4"]["y"]["cosine"] > 0.98
    assert {row["tolerance"] for row in report["rows"] if row["model"].startswith("int4")} == {1e-5}
