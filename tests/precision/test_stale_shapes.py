"""Exporters note the lengths of their example behind a recurrent operator; ONNX Runtime's optimiser believes them."""

from __future__ import annotations

import numpy as np
import onnx
import onnx.parser
import pytest
from onnx import TensorProto, helper, numpy_helper

import paddable
from paddable.api import convert

TEXT = """<ir_version: 10, opset_import: ["" : 18]> net (float[1, T, 64] x) => (float[1, N, 64] y) {
  h = MatMul(x, w) s = Shape(h) f = Slice(s, zero, one) r = Slice(s, one, three) m = Concat<axis = 0>(f, r)
  g = Reshape(h, m) p = MatMul(g, v) y = Add(p, b)
}"""


@pytest.fixture
def native() -> onnx.ModelProto:
    model, random = onnx.parser.parse_model(TEXT), np.random.default_rng(0)
    for name, shape in (("w", (64, 64)), ("v", (64, 64)), ("b", (64,))):
        array = (random.standard_normal(shape) / 8).astype(np.float32)
        model.graph.initializer.append(numpy_helper.from_array(array, name))
    for name, number in (("zero", 0), ("one", 1), ("three", 3)):
        model.graph.initializer.append(numpy_helper.from_array(np.array([number]), name))
    for name in ("g", "p"):
        model.graph.value_info.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 50, 64]))
    return model


@pytest.mark.parametrize("precision", ["fp32", "fp16", "int8", "int8-dynamic", "fp32,fp16"])
def test_stale_shapes_are_in_nobodys_way(native: onnx.ModelProto, tmp_path, precision: str) -> None:
    onnx.save(native, tmp_path / "native.onnx")
    out = convert(
        tmp_path / "native.onnx", ["x:1=T"], containers=[60], out=tmp_path / "b", precision=precision, gate_lengths=4
    )
    wanted = precision.partition(",")[0]
    model = paddable.load(out, precision=wanted)
    assert model.run({"x": np.zeros((1, 33, 64), np.float32)})["y"].shape == (1, 33, 64)
