"""``convert`` for a provider that wants forms: padded equals native, the file says what was done, or none is there."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import pytest

import paddable
from paddable.bundle import read_metadata
from paddable.errors import MisuseError

BLOCK = """<ir_version: 10, opset_import: ["" : 18]>
m (float[1, T, 8] x) => (float[1, T, 8] y)
<int64[4] split = {1, -1, 2, 4}, int64[3] join = {1, -1, 8}, float half = {0.5},
 float[8] g = {1, 2, -1, 0.5, 1, 1, 2, 1}, float[8] d = {0, 1, 2, 3, 0, 0, 1, 0},
 float[8] w = {1, -1, 1, 2, 1, 0, 1, 3}> {
    q = Mul(x, half)
    k = Mul(x, w)
    q4 = Reshape(q, split)
    k4 = Reshape(k, split)
    qh = Transpose<perm = [0, 2, 1, 3]>(q4)
    kh = Transpose<perm = [0, 2, 3, 1]>(k4)
    vh = Transpose<perm = [0, 2, 1, 3]>(k4)
    scores = MatMul(qh, kh)
    weights = Softmax<axis = -1>(scores)
    mixed = MatMul(weights, vh)
    back = Transpose<perm = [0, 2, 1, 3]>(mixed)
    joined = Reshape(back, join)
    sum = Add(x, joined)
    y = LayerNormalization(sum, g, d)
}"""


def converted(
    out: Path, native: onnx.ModelProto | None = None, **options: object
) -> tuple[list[str], dict[str, object], list[str]]:
    """Operators of the file, what it says of its forms, and the lines that were told."""
    told: list[str] = []
    given = {"containers": [12], "target": "cuda", "gate_lengths": 6, **options}
    made = paddable.convert(
        native or onnx.parser.parse_model(BLOCK), ["x:1=T"], out=out, on_message=told.append, **given
    )  # type: ignore[arg-type]
    assert isinstance(made, Path)
    return [node.op_type for node in onnx.load(made).graph.node], dict(read_metadata(made).forms), told


@pytest.mark.parametrize(
    ("options", "form", "operator"),
    [
        ({}, "attention-in-place", "FusedMatMul"),
        ({"forms": "attention,skip-normalisation"}, "attention", "MultiHeadAttention"),
        ({"precision": "fp16"}, "attention", "MultiHeadAttention"),
        ({"precision": "fp16", "half": "fast"}, "attention", "MultiHeadAttention"),
    ],
)
def test_a_container_in_its_forms_passes_the_gates_and_says_so(
    options: dict[str, str], form: str, operator: str, tmp_path: Path
) -> None:
    operators, forms, told = converted(tmp_path / "made.onnx", **options)
    assert {operator, "SkipLayerNormalization"} <= set(operators) and "MatMul" not in operators
    assert forms == {form: {"places": 1}, "skip-normalisation": {"places": 1}}
    assert f"T=12: form {form}: 1 place" in told


def test_the_report_of_a_bundle_lists_the_forms_of_each_file(tmp_path: Path) -> None:
    given = {"containers": [12], "target": "cuda", "gate_lengths": 1, "precision": "fp32,fp16"}
    paddable.convert(onnx.parser.parse_model(BLOCK), ["x:1=T"], out=tmp_path / "b", **given)  # type: ignore[arg-type]
    told = json.loads((tmp_path / "b/report.json").read_text())
    assert told["forms"] == {
        f"cuda-{precision}-12.onnx": {form: {"places": 1}, "skip-normalisation": {"places": 1}}
        for precision, form in (("fp32", "attention-in-place"), ("fp16", "attention"))
    }


def test_without_forms_it_is_what_it_was(tmp_path: Path) -> None:
    operators, forms, _ = converted(tmp_path / "made.onnx", forms="none", verify=False)
    assert "Softmax" in operators and "LayerNormalization" in operators and not forms


def test_a_bias_is_not_summed_with_a_matrix_that_is_rounded_later(tmp_path: Path) -> None:
    operators, forms, _ = converted(tmp_path / "made.onnx", native=feed_forward(), precision="int8")
    assert "Relu" in operators and "DequantizeLinear" in operators
    assert forms["relu-as-max"] == {
        "places": 0,
        "left": {"its matrix will be stored in fewer bits than the bias is summed with": 1},
    }


def feed_forward() -> onnx.ModelProto:
    """Two matrices of 2,048 numbers each, which int8 takes."""
    rng = np.random.default_rng(0)
    text = """<ir_version: 10, opset_import: ["" : 18]> m (float[1, T, 32] x) => (float[1, T, 32] y) {
        p = MatMul(x, w) s = Add(p, b) r = Relu(s) z = MatMul(r, u) y = Add(z, c) }"""
    model = onnx.parser.parse_model(text)
    for name, shape in {"w": (32, 64), "b": (64,), "u": (64, 32), "c": (32,)}.items():
        model.graph.initializer.append(
            onnx.numpy_helper.from_array(rng.standard_normal(shape).astype(np.float32), name)
        )
    return model


def test_half_is_a_choice_of_fp16(tmp_path: Path) -> None:
    with pytest.raises(MisuseError, match="no precision is fp16"):
        converted(tmp_path / "made.onnx", half="fast")
    with pytest.raises(MisuseError, match="choose exact or fast"):
        converted(tmp_path / "made.onnx", precision="fp16", half="quick")
