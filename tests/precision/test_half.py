"""fp16: what stays in fp32, what does not, and that the graph stays valid."""

from __future__ import annotations

import numpy as np
import onnx
import onnx_ir as ir
import onnxruntime as ort
import pytest
from onnx import numpy_helper

from paddable.api import convert
from paddable.errors import MisuseError
from paddable.graph.io.read import read_model
from paddable.graph.io.write import to_proto
from paddable.precision import in_precision

HEAD = '<ir_version: 10, opset_import: ["" : 18]>\n'


def model(text, **weights):
    proto = onnx.parser.parse_model(HEAD + text)
    proto.graph.initializer.extend(numpy_helper.from_array(array, name) for name, array in weights.items())
    for number, node in enumerate(proto.graph.node):
        node.name = node.name or f"{node.op_type}_{number}"
    return read_model(proto)


def halved(native):
    """The graph in half, strictly checked, and the type of each value that a node of the original made."""
    changed = in_precision(native, "fp16")
    proto = to_proto(changed)
    onnx.checker.check_model(proto)
    onnx.shape_inference.infer_shapes(proto, strict_mode=True, check_type=True)
    return proto, {value.name: value.dtype for node in changed.graph for value in node.outputs}


def run(proto, **feeds):
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    return ort.InferenceSession(proto.SerializeToString(), options).run(None, feeds)


RANDOM = np.random.default_rng(0)
WEIGHT = RANDOM.standard_normal((8, 8)).astype(np.float32)


def test_products_are_half_and_inputs_and_outputs_keep_their_types():
    native = model("net (float[1, 5, 8] x) => (float[1, 5, 8] y) { h = MatMul(x, w) y = Relu(h) }", w=WEIGHT)
    proto, types = halved(native)
    assert types["h"] == ir.DataType.FLOAT16 and types["y"] == ir.DataType.FLOAT
    assert [tensor.data_type for tensor in proto.graph.initializer] == [onnx.TensorProto.FLOAT16]
    x = RANDOM.standard_normal((1, 5, 8)).astype(np.float32)
    (got,), (want,) = run(proto, x=x), run(to_proto(native), x=x)
    assert got.dtype == np.float32 and 0 < np.abs(got - want).max() < 5e-3 * np.abs(want).max()
    assert to_proto(native).graph.initializer[0].data_type == onnx.TensorProto.FLOAT  # the original is left alone


ATTENTION = """net (float[1, 2, 5, 8] x, bool[1, 1, 1, 5] mask) => (float[1, 2, 5, 8] y) {
    t = Transpose<perm = [0, 1, 3, 2]>(x)
    raw = MatMul(x, t)
    score = Mul(raw, scale)
    masked = Where(mask, score, fill)
    share = Softmax<axis = -1>(masked)
    y = MatMul(share, x)
}"""


@pytest.mark.parametrize("fill", [-np.inf, np.finfo(np.float32).min])
def test_mask_and_softmax_stay_and_a_masked_key_has_no_share(fill):
    native = model(ATTENTION, scale=np.float32(0.3), fill=np.float32(fill))
    proto, types = halved(native)
    assert [types[name] for name in ("raw", "masked", "share")] == [
        ir.DataType.FLOAT16,
        ir.DataType.FLOAT,
        ir.DataType.FLOAT,
    ]
    x, mask = RANDOM.standard_normal((1, 2, 5, 8)).astype(np.float32), np.array([[[[1, 1, 0, 1, 0]]]], bool)
    (first,) = run(proto, x=x, mask=mask)
    x[:, :, [2, 4]] = 7  # keys and values nobody may see; their own rows are queries
    (second,) = run(proto, x=x, mask=mask)
    seen = [0, 1, 3]
    assert np.isfinite(first).all() and np.array_equal(first[:, :, seen], second[:, :, seen])


def test_norms_written_out_stay():
    text = """net (float[1, 5, 8] x) => (float[1, 5, 8] y) {
        square = Mul(x, x) mean = ReduceMean(square, axis) safe = Add(mean, eps) root = Sqrt(safe)
        factor = Reciprocal(root) normed = Mul(x, factor) y = MatMul(normed, w)
    }"""
    native = model(text, axis=np.array([2]), eps=np.float32(1e-6), w=WEIGHT)
    proto, types = halved(native)
    names = ("square", "mean", "safe", "root", "factor", "normed")
    assert all(types[name] == ir.DataType.FLOAT for name in names)
    x = 500 * RANDOM.standard_normal((1, 5, 8)).astype(np.float32)  # its square is beyond half
    (got,), (want,) = run(proto, x=x), run(to_proto(native), x=x)
    assert np.abs(got - want).max() < 5e-3 * np.abs(want).max()


def test_positions_are_exact_past_2048():
    text = """net (float[1, T, 8] x) => (float[1, T, 8] y) {
        shape = Shape(x) steps = Gather(shape, one) row = Range(zero, steps, one) place = Cast<to = 1>(row)
        angle = Mul(place, speed) wave = Sin(angle) column = Unsqueeze(wave, last) z = MatMul(x, w) y = Mul(z, column)
    }"""
    weights = {"zero": np.array(0), "one": np.array(1), "last": np.array([1]), "speed": np.float32(0.7), "w": WEIGHT}
    proto, types = halved(model(text, **weights))
    assert all(types[name] == ir.DataType.FLOAT for name in ("place", "angle", "wave", "column"))
    assert types["z"] == ir.DataType.FLOAT16
    x = np.ones((1, 4001, 8), np.float32)
    (got,) = run(proto, x=x)
    want = np.sin(np.arange(4001) * 0.7)[:, None] * (x[0] @ WEIGHT)
    assert np.abs(got[0] - want).max() < 5e-3 * np.abs(want).max()


def test_the_sine_of_a_folded_table_stays_with_the_rotation_that_it_is_for():
    text = """net (float[1, 300, 8] x) => (float[1, 300, 8] y) {
        turned = Transpose<perm = [1, 0]>(folded) angle = Concat<axis = -1>(turned, turned)
        cos = Cos(angle) sin = Sin(angle) back = Neg(sin)
        h = MatMul(x, w) a = Mul(h, cos) g = MatMul(x, w) b = Mul(g, back) sum = Add(a, b) y = MatMul(sum, w)
    }"""
    folded = (np.arange(2000, 2300)[None] * RANDOM.uniform(0.5, 1, 4)[:, None]).astype(np.float32)
    native = model(text, w=WEIGHT, folded=folded)
    proto, types = halved(native)
    exact = {name for name, kind in types.items() if kind == ir.DataType.FLOAT}
    assert {"turned", "angle", "cos", "sin", "back", "a", "b", "sum"} <= exact and not {"h", "g"} & exact
    x = RANDOM.standard_normal((1, 300, 8)).astype(np.float32)
    (got,), (want,) = run(proto, x=x), run(to_proto(native), x=x)
    assert np.abs(got - want).max() < 5e-3 * np.abs(want).max()


def test_the_sine_of_a_sound_and_of_an_embedding_are_half():
    text = """net (float[1, 5, 8] x, int64[1, 5] ids) => (float[1, 5, 8] y) {
        h = MatMul(x, w) wave = Sin(h) e = Gather(w, ids) other = Sin(e) sum = Add(wave, other)
        turned = Transpose<perm = [1, 0]>(w) y = MatMul(sum, turned)
    }"""
    _, types = halved(model(text, w=WEIGHT))
    assert {types[name] for name in ("wave", "e", "other", "sum", "turned")} == {ir.DataType.FLOAT16}


def test_tables_over_positions_stay_and_gains_a_channel_do_not():
    text = """net (float[1, 5, 8] x) => (float[1, 5, 8] y) {
        h = MatMul(x, w) g = Mul(h, gain) p = MatMul(g, w) y = Add(p, table)
    }"""
    table, gain = RANDOM.standard_normal((5, 8)).astype(np.float32), np.ones(8, np.float32)
    proto, types = halved(model(text, w=WEIGHT, table=table, gain=gain))
    assert types["g"] == ir.DataType.FLOAT16 and types["y"] == ir.DataType.FLOAT
    stored = {tensor.name: tensor.data_type for tensor in proto.graph.initializer}
    assert stored["table"] == onnx.TensorProto.FLOAT and stored["gain_fp16"] == onnx.TensorProto.FLOAT16


def test_a_constant_that_exact_and_half_nodes_share_is_kept_for_the_exact_one():
    text = """net (float[1, 5, 8] x) => (float[1, 5, 8] y) {
        a = MatMul(x, w) b = Relu(a) c = Mul(b, third) d = MatMul(c, w) e = Mul(d, third) s = Softmax<axis = 1>(e)
        y = MatMul(s, w)
    }"""
    proto, types = halved(model(text, w=WEIGHT, third=np.float32(1 / 3)))
    assert types["c"] == ir.DataType.FLOAT16 and types["e"] == ir.DataType.FLOAT
    assert {"third", "third_fp16"} <= {tensor.name for tensor in proto.graph.initializer}


def test_a_spectrum_stays_up_to_its_logarithm():
    text = """net (float[1, 5, 8] x) => (float[1, 5, 8] y) {
        a = MatMul(x, w) p = Mul(a, a) q = Clip(p, low, none) l = Log(q) y = MatMul(l, w)
    }""".replace(", none)", ")")
    native = model(text, w=WEIGHT, low=np.float32(1e-10))
    proto, _ = halved(native)
    x = 1e-4 * RANDOM.standard_normal((1, 5, 8)).astype(np.float32)  # powers that half does not have
    (got,), (want,) = run(proto, x=x), run(to_proto(native), x=x)
    assert np.abs(got - want).max() < 5e-3 * np.abs(want).max()


def test_recurrences_stay():
    text = """net (float[5, 1, 8] x) => (float[5, 1, 8] y) {
        a = MatMul(x, w) h = LSTM<hidden_size = 8>(a, i, r) s = Squeeze(h, one) y = MatMul(s, w)
    }"""
    weights = RANDOM.standard_normal((1, 32, 8)).astype(np.float32)
    proto, types = halved(model(text, w=WEIGHT, i=weights, r=weights, one=np.array([1])))
    assert types["a"] == ir.DataType.FLOAT16 and types["h"] == ir.DataType.FLOAT
    assert np.isfinite(run(proto, x=np.ones((5, 1, 8), np.float32))[0]).all()


def test_branches_read_outer_values_in_fp32():
    text = """net (float[1, 8] x, bool c) => (float[1, 8] y) {
        h = MatMul(x, w)
        y = If(c)<then_branch = t () => (float[1, 8] a) { a = Identity(h) },
                  else_branch = e () => (float[1, 8] b) { b = Neg(h) }>
    }"""
    native = model(text, w=WEIGHT)
    proto, types = halved(native)
    assert types["h"] == ir.DataType.FLOAT16
    x = RANDOM.standard_normal((1, 8)).astype(np.float32)
    for c in (True, False):
        (got,), (want,) = run(proto, x=x, c=np.array(c)), run(to_proto(native), x=x, c=np.array(c))
        assert np.abs(got - want).max() < 5e-3 * np.abs(want).max()


@pytest.mark.parametrize("size", [1e5, 1e-6])
def test_a_product_with_a_weight_that_half_cannot_hold_stays(size):
    text = "net (float[1, 5, 8] x) => (float[1, 5, 8] y) { h = MatMul(x, w) g = Relu(h) y = MatMul(g, v) }"
    native = model(text, w=size * WEIGHT, v=WEIGHT / size)
    _, types = halved(native)
    assert types["h"] == ir.DataType.FLOAT
    x = RANDOM.standard_normal((1, 5, 8)).astype(np.float32)
    kept = to_proto(in_precision(native, "fp16", {"h": "overflows", "y": "for this test", "g": "overflows"}))
    (got,), (want,) = run(kept, x=x), run(to_proto(native), x=x)
    assert np.abs(got - want).max() < 5e-3 * np.abs(want).max()


def test_values_that_measurement_keeps_stay_with_what_moves_them():
    text = """net (float[1, 5, 8] x, bool[1, 5, 1] valid) => (float[1, 5, 8] y) {
        h = MatMul(x, w) masked = Where(valid, h, zero) turned = Transpose<perm = [0, 2, 1]>(masked)
        z = MatMul(turned, masked) q = Relu(z) y = MatMul(q, w)
    }"""
    native = model(text.replace("[1, 5, 8] y", "[1, 8, 8] y"), w=WEIGHT, zero=np.float32(0))
    kept = in_precision(native, "fp16", {"masked": "overflows"})
    types = {value.name: value.dtype for node in kept.graph for value in node.outputs}
    assert {types[name] for name in ("h", "masked", "turned", "z")} == {ir.DataType.FLOAT}
    assert types["q"] == ir.DataType.FLOAT16


def test_a_mask_in_front_of_what_sees_all_digits_rounds_nothing():
    """Padding puts it there, and native has none."""
    text = """net (float[1, 5, 8] x, bool[1, 5, 1] valid) => (float[1, 5, 8] y, int64[1, 8] n) {
        a = Where(valid, x, zero) q, s, z = DynamicQuantizeLinear(a) i = MatMulInteger(q, c, z) f = Cast<to = 1>(i)
        g = Mul(f, s) h = MatMul(g, w) y = Relu(h) b = Where(valid, x, low) n = ArgMax<axis = 1, keepdims = 0>(b)
    }"""
    native = model(text, w=WEIGHT, c=(9 * WEIGHT).astype(np.int8), zero=np.float32(0), low=np.float32(-99))
    _, types = halved(native)
    assert {types[name] for name in ("a", "s", "f", "g", "b")} == {ir.DataType.FLOAT}
    assert types["h"] == ir.DataType.FLOAT16


def test_an_unknown_precision_names_those_there_are():
    with pytest.raises(MisuseError, match=r"fp8.*choose fp32, fp16, int8"):
        in_precision(model("net (float[1] x) => (float[1] y) { y = Relu(x) }"), "fp8")


def test_a_mean_over_valid_steps_stays_with_what_is_beside_it_as_natives_does():
    """Padding writes it as a sum and a division, and a mask behind it that moves fp32 numbers to an output."""
    text = "net (float[1, T, 8] x) => (float[1, 8] y) { s = ReduceMean<keepdims = 0>(x, a) y = Add(s, w) }"
    native = to_proto(model(text, a=np.array([1]), w=np.ones(8, np.float32)))
    made = convert(native, ["x:1=T"], containers=[20], precision="fp16", gate_lengths=4)
    (added,) = (node for node in made.graph.node if "s" in node.input)
    assert added.op_type == "Add" and "w" in added.input
