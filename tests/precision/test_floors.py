"""fp16 at silence: what a constant below half is for reaches the node that needs it, whatever moves it there."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator

from paddable.graph.io.read import read_model
from paddable.graph.io.write import to_proto
from paddable.precision import in_precision

HEAD = '<ir_version: 10, opset_import: ["" : 18]>\n'
NORM = "n = ReduceL2(h, axes)"
BODIES = {
    "expanded": NORM + "c = Clip(n, least) shape = Shape(h) d = Expand(c, shape) y = Div(h, d)",
    "of absolute values": """n = ReduceL1(h, axes) c = Max(n, least) s = Squeeze(c, axes) d = Unsqueeze(s, axes)
                             y = Div(h, d)""",
    "tiled": NORM + "c = Add(n, least) d = Tile(c, repeats) y = Div(h, d)",
    "transposed twice": NORM
    + """c = Add(n, least) t = Transpose<perm = [0, 2, 1]>(c) d = Transpose<perm = [0, 2, 1]>(t)
         y = Div(h, d)""",
    "a reciprocal beyond half": NORM + "c = Add(n, small) r = Div(one, c) y = Mul(h, r)",
    "a root between": """q = Mul(h, h) n = ReduceMean(q, axes) c = Add(n, root) s = Sqrt(c) r = Div(one, s)
                         y = Mul(h, r)""",
    "a logarithm": "p = Softmax(h) c = Add(p, least) y = Log(c)",
    "a logarithm of what stays": "g = Mul(h, steep) p = Softmax(g) y = Log(p)",
    "a logarithm of a sigmoid": "g = Mul(h, steep) p = Sigmoid(g) y = Log(p)",
    "a logarithm behind a rectifier": "r = Relu(h) c = Add(r, least) y = Log(c)",
}
"""What becomes of h = x w; the reference evaluator rounds every value, as a provider with half kernels does."""


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_a_silent_frame_is_finite_where_it_is_in_fp32(body: str) -> None:
    proto = onnx.parser.parse_model(
        HEAD
        + f"""net (float[1, 6, 8] x) => (float[1, 6, 8] y)
        <int64[1] axes = {{2}}, int64[3] repeats = {{1, 1, 8}}, float least = {{1e-12}}, float small = {{1e-5}},
         float root = {{1e-10}}, float one = {{1.0}}, float steep = {{9.0}}> {{ h = MatMul(x, w) {body} }}"""
    )
    rng = np.random.default_rng(0)
    proto.graph.initializer.append(onnx.numpy_helper.from_array(rng.standard_normal((8, 8)).astype(np.float32), "w"))
    x = rng.standard_normal((1, 6, 8)).astype(np.float32)
    x[:, 2:4] = 0
    half = to_proto(in_precision(read_model(proto), "fp16"))
    assert any(value.data_type == onnx.TensorProto.FLOAT16 for value in half.graph.initializer)
    with np.errstate(all="ignore"):
        (want,), (got,) = (ReferenceEvaluator(one).run(None, {"x": x}) for one in (proto, half))
    assert np.isfinite(want).all() and np.isfinite(got).all()
    np.testing.assert_allclose(got[:, 2:4], want[:, 2:4], rtol=1e-3, atol=1e-6)


def test_a_floor_that_half_holds_keeps_no_more_in_fp32() -> None:
    proto = onnx.parser.parse_model(
        HEAD
        + """net (float[1, 6, 8] x) => (float[1, 6, 8] y) <int64[1] axes = {2}, float least = {1e-3}> {
            h = MatMul(x, w) n = Abs(h) c = Add(n, least) s = Sigmoid(c) y = Mul(h, s) }"""
    )
    proto.graph.initializer.append(onnx.numpy_helper.from_array(np.eye(8, dtype=np.float32), "w"))
    changed = in_precision(read_model(proto), "fp16")
    assert [node.op_type for node in changed.graph] == ["Cast", "MatMul", "Abs", "Add", "Sigmoid", "Mul", "Cast"]
