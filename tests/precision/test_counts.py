"""fp16: what rounds a count, and what is left of one, see all digits."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator

from paddable.graph.io.read import read_model
from paddable.graph.io.write import to_proto
from paddable.precision import in_precision

HEAD = '<ir_version: 10, opset_import: ["" : 18]>\n'
BODIES = {
    "a floor": "f = Floor(a) y = Sub(a, f)",
    "moved first": "u = Unsqueeze(a, axes) f = Floor(u) d = Sub(u, f) y = Squeeze(d, axes)",
    "a quotient": "q = Div(a, seven) f = Floor(q) m = Mul(f, seven) y = Sub(a, m)",
    "a remainder": "q = Abs(a) y = Mod<fmod = 1>(q, seven)",
    "rounded": "r = Round(a) y = Sub(a, r)",
    "two counts": """b = CumSum(g, axis) u = Unsqueeze(a, axes) v = Unsqueeze(b, axes) d = Sub(u, v)
                     y = Squeeze(d, axes)""",
}


@pytest.mark.parametrize("kind", BODIES)
def test_the_fraction_of_a_count_is_that_of_fp32(kind: str) -> None:
    body = BODIES[kind]
    proto = onnx.parser.parse_model(
        HEAD
        + f"""net (float[1, 900, 4] x) => (float[1, 900, 1] y)
        <int64 axis = {{1}}, int64[1] axes = {{0}}, float seven = {{7.0}}> {{
            i = MatMul(x, p) j = Relu(i) h = MatMul(j, w) s = Sigmoid(h) g = Mul(s, s) a = CumSum(s, axis) {body} }}"""
    )
    rng = np.random.default_rng(0)
    for name, width in (("p", 4), ("w", 1)):
        weight = rng.standard_normal((4, width)).astype(np.float32)
        proto.graph.initializer.append(onnx.numpy_helper.from_array(weight, name))
    x = rng.standard_normal((1, 900, 4)).astype(np.float32)
    half = in_precision(read_model(proto), "fp16")
    exact = {value.name for node in half.graph for value in node.outputs if value.dtype == onnx.TensorProto.FLOAT}
    assert {"a", "h", "y"} <= exact and "i" not in exact
    # From the sums of the half graph on, nothing more is rounded.
    stays, counts = to_proto(half), ["a", "b"] if "b = " in body else ["a"]
    stays.graph.output.extend(onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None) for name in counts)
    got, a, *b = ReferenceEvaluator(stays).run(None, {"x": x})
    wanted = {
        "a floor": a - np.floor(a),
        "moved first": a - np.floor(a),
        "a quotient": a - 7 * np.floor(a / 7),
        "a remainder": np.fmod(a, 7),
        "rounded": a - np.round(a),
        "two counts": a - b[0] if b else a,
    }
    np.testing.assert_allclose(got, wanted[kind], atol=1e-4)


def test_what_counts_on_examples_is_rounded_in_fp32_and_what_is_loud_is_not() -> None:
    proto = onnx.parser.parse_model(
        HEAD
        + """net (float[1, 9, 4] x) => (float[1, 9, 4] y) <float seven = {7.0}> {
            a = MatMul(x, p) u = Sigmoid(a) v = Relu(a) q = Abs(v) f = Floor(q) y = Mul(f, u) }"""
    )
    proto.graph.initializer.append(onnx.numpy_helper.from_array(np.eye(4, dtype=np.float32), "p"))
    for why, stays in (("loses integers: it counts to 9000, half to 2048", True), ("overflows: it reaches 5e4", False)):
        half = in_precision(read_model(proto), "fp16", {"a": why})
        types = {value.name: value.dtype for node in half.graph for value in node.outputs}
        assert (types["f"] == onnx.TensorProto.FLOAT) == stays


PHASES = {
    "a phase": "a = CumSum(f, axis) p = Mul(a, turn) y = Sin(p)",
    "wrapped first": "g = Mod<fmod = 1>(f, one) a = CumSum(g, axis) p = Mul(a, turn) y = Cos(p)",
    "drawn out": """u = Transpose<perm = [0, 2, 1]>(f) a = CumSum(u, last) b = Mul(a, turn)
                    r = Resize<mode = "linear">(b, , scales) p = Transpose<perm = [0, 2, 1]>(r) y = Sin(p)""",
    "of several harmonics": "a = CumSum(f, axis) k = Mul(a, harmonics) p = Mul(k, turn) s = Sin(p) y = MatMul(s, mix)",
}


@pytest.mark.parametrize("kind", PHASES)
def test_the_sine_of_a_phase_that_is_added_up_is_that_of_fp32(kind: str) -> None:
    proto = onnx.parser.parse_model(
        HEAD
        + f"""net (float[1, 3000, 4] x) => (float[1, N, 1] y)
        <int64 axis = {{1}}, int64 last = {{2}}, float turn = {{6.2831853}}, float rate = {{8000.0}},
         float one = {{1.0}}, float low = {{100.0}}, float[3] scales = {{1.0, 1.0, 2.0}},
         float[2] harmonics = {{1.0, 2.0}},
         float[2, 1] mix = {{0.5, 0.5}}> {{
            i = MatMul(x, p0) j = Relu(i) h = MatMul(j, w) s0 = Softplus(h) s1 = Mul(s0, low) s2 = Add(s1, low)
            f = Div(s2, rate) {PHASES[kind]} }}"""
    )
    rng = np.random.default_rng(0)
    for name, weight in (("p0", np.eye(4)), ("w", rng.standard_normal((4, 1)))):
        proto.graph.initializer.append(onnx.numpy_helper.from_array(weight.astype(np.float32), name))
    x = rng.integers(-8, 8, (1, 3000, 4)).astype(np.float32) / 4  # half holds it
    half = to_proto(in_precision(read_model(proto), "fp16"))
    (want,) = ReferenceEvaluator(proto).run(None, {"x": x})
    (got,) = ReferenceEvaluator(half).run(None, {"x": x})
    assert np.abs(got - want).max() < 5e-3
