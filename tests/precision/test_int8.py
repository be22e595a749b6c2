"""int8: which weights are stored in 8 bits, how exactly, and that nothing else changes."""

from __future__ import annotations

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from onnx import numpy_helper

import paddable
from paddable.api import convert
from paddable.errors import RefusedError
from paddable.graph.io.read import read_model
from paddable.graph.io.write import to_proto
from paddable.precision import in_precision
from paddable.precision.int8 import SESSION_CONFIG, quantised

RANDOM = np.random.default_rng(0)
MATRIX = RANDOM.standard_normal((64, 96)).astype(np.float32)
KERNEL = RANDOM.standard_normal((64, 32, 3)).astype(np.float32)
TEXTS = {
    "matmul": ("net (float[1, 5, 64] x) => (float[1, 5, 96] y) { y = MatMul(x, w) }", MATRIX, 1),
    "matmul from the left": ("net (float[1, 96, 5] x) => (float[1, 64, 5] y) { y = MatMul(w, x) }", MATRIX, 0),
    "gemm": ("net (float[5, 64] x) => (float[5, 96] y) { y = Gemm(x, w) }", MATRIX, 1),
    "gemm transposed": ("net (float[5, 96] x) => (float[5, 64] y) { y = Gemm<transB = 1>(x, w) }", MATRIX, 0),
    "conv": ("net (float[1, 32, 9] x) => (float[1, 64, 7] y) { y = Conv(x, w) }", KERNEL, 0),
    "transposed conv": ("net (float[1, 64, 9] x) => (float[1, 32, 11] y) { y = ConvTranspose(x, w) }", KERNEL, 1),
}


def model(text, opset=18, **weights):
    proto = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : {opset}]>\n{text}')
    proto.graph.initializer.extend(numpy_helper.from_array(array, name) for name, array in weights.items())
    return read_model(proto)


def run(model, x):
    proto = to_proto(model)
    onnx.checker.check_model(proto)
    onnx.shape_inference.infer_shapes(proto, strict_mode=True, check_type=True)
    options = ort.SessionOptions()
    for key, value in SESSION_CONFIG.items():
        options.add_session_config_entry(key, value)
    return ort.InferenceSession(proto.SerializeToString(), options).run(None, {"x": x})[0]


@pytest.mark.parametrize("kind", TEXTS)
def test_a_weight_is_stored_with_one_scale_a_channel(kind):
    text, weight, axis = TEXTS[kind]
    native = model(text, w=weight)
    changed = in_precision(native, "int8")
    stored = {name: value.const_value.numpy() for name, value in changed.graph.initializers.items()}
    kinds = {name: array.dtype for name, array in stored.items()}
    assert kinds == {"w_int8": np.int8, "w_scale": np.float32, "w_zero": np.int8} and not stored["w_zero"].any()
    assert stored["w_scale"].shape == (weight.shape[axis],)
    x = RANDOM.standard_normal([d if isinstance(d, int) else 1 for d in native.graph.inputs[0].shape]).astype("f4")
    shape = [-1 if i == axis else 1 for i in range(weight.ndim)]
    restored = stored["w_int8"] * stored["w_scale"].reshape(shape)
    want = run(model(text, w=restored), x)
    assert np.abs(run(changed, x) - want).max() <= 1e-5 * np.abs(want).max()
    assert 0 < np.abs(run(native, x) - want).max() < 0.02 * np.abs(want).max()


def test_a_kernel_that_got_an_axis_is_the_same_as_without() -> None:
    """A target's fix widens depthwise convolutions; native in int8 knows nothing of it."""
    kernel = RANDOM.standard_normal((128, 1, 20)).astype(np.float32)
    plain = model("net (float[1, 128, 40] x) => (float[1, 128, 21] y) { y = Conv<group = 128>(x, w) }", w=kernel)
    text = """net (float[1, 128, 40] x) => (float[1, 128, 21] y) {
        h = Unsqueeze(x, two) k = Unsqueeze(w, two) c = Conv<group = 128>(h, k) y = Squeeze(c, two) }"""
    wide = in_precision(model(text, w=kernel, two=np.array([2])), "int8")
    assert [node.op_type for node in wide.graph].count("DequantizeLinear") == 1
    x = RANDOM.standard_normal((1, 128, 40)).astype(np.float32)
    want = run(in_precision(plain, "int8"), x)
    assert np.abs(run(wide, x) - want).max() <= 1e-6 * np.abs(want).max()


def test_numbers_are_the_nearest_ones():
    weight = np.array([[1.27, -0.5, 0.004], [0, 0, 0]], np.float32)
    numbers, scale = quantised(weight, 0)
    assert numbers.tolist() == [[127, -50, 0], [0, 0, 0]]
    assert np.allclose(scale, [0.01, 1])


def test_one_that_two_nodes_share_is_stored_once_and_small_ones_stay():
    text = (
        "net (float[1, 64] x) => (float[1, 64] y) { a = MatMul(x, w) b = MatMul(a, w) c = MatMul(b, s) y = Add(c, k) }"
    )
    square, small = MATRIX[:, :64].copy(), MATRIX[:64, :1].repeat(8, 1).copy()
    text = text.replace("c = MatMul(b, s) y = Add(c, k)", "c = MatMul(b, s) d = MatMul(c, r) y = Add(d, k)")
    native = model(text, w=square, s=small, r=small.T.copy(), k=np.ones((1, 64), np.float32))
    changed = in_precision(native, "int8")
    assert [node.op_type for node in changed.graph].count("DequantizeLinear") == 1
    assert set(changed.graph.initializers) == {"w_int8", "w_scale", "w_zero", "s", "r", "k"}
    run(changed, np.ones((1, 64), np.float32))


def test_an_old_opset_is_refused(tmp_path):
    """Before its damage is measured, too: ONNX Runtime would not load that."""
    old = model(TEXTS["matmul"][0], opset=12, w=MATRIX)
    with pytest.raises(RefusedError, match="opset 12 has no DequantizeLinear"):
        in_precision(old, "int8")
    with pytest.raises(RefusedError, match="opset 12 has no DequantizeLinear"):
        convert(to_proto(old), [], precision="int8")


@pytest.mark.parametrize("precision", ["int8", "int4"])
def test_a_layer_that_few_bits_would_damage_keeps_its_weight(precision, tmp_path):
    """A large weight takes the scale of its column, and the input is 0 there."""
    loud, x = MATRIX.copy(), RANDOM.standard_normal((1, 5, 64)).astype(np.float32)
    loud[0], x[..., 0] = 1e4, 0
    np.save(tmp_path / "x.npy", x)
    for weight, stays in ((MATRIX, False), (loud, True)):
        told = []
        proto = to_proto(model(TEXTS["matmul"][0], w=weight))
        made = convert(
            proto, [], precision=precision, examples=tmp_path / "x.npy", verify=False, on_message=told.append
        )
        assert ("w" in {tensor.name for tensor in made.graph.initializer}) is stays
        assert any("stay in fp32: y: " in line for line in told) is stays


def test_a_model_without_a_large_weight_is_told(tmp_path):
    told = []
    proto = to_proto(model("net (float[1, 5, 64] x) => (float[1, 5, 64] y) { y = Relu(x) }"))
    convert(proto, [], precision="int8", on_message=told.append)
    assert any("int8: no weight gets fewer bits" in line for line in told)


def test_what_is_not_taken_for_another_reason_than_its_size_is_told():
    heard = []
    for text, weight, precision in (
        ("net (float[5, 64] x) => (float[5, 96] y) { y = Gemm<alpha = 0.5>(x, w) }", MATRIX, "int8-dynamic"),
        ("net (float[1, 5, 64] x) => (float[1, 5, 96] y) { y = MatMul(x, w) }", MATRIX[None], "int4"),
    ):
        convert(to_proto(model(text, w=weight)), [], precision=precision, verify=False, on_message=heard.append)
    told = [line for line in heard if "gets fewer bits" in line]
    assert (
        "int8-dynamic: no weight gets fewer bits, since it leaves Gemm y, which is more than a product and a bias"
        in told
    )
    assert "int4: no weight gets fewer bits, since it leaves MatMul y, whose weight w has 3 axes" in told


def test_numbers_too_large_to_measure_stay_alone():
    """NaN of one layer is none of the next."""
    loud, told = MATRIX.copy(), []
    loud[:, 0] = 1e30
    text = "net (float[1, 5, 64] x) => (float[1, 5, 64] y) { a = MatMul(x, w) h = Tanh(a) y = MatMul(h, v) }"
    proto = to_proto(model(text, w=loud, v=MATRIX.T.copy()))
    convert(proto, [], precision="int8-dynamic", verify=False, on_message=told.append)
    (line,) = [line for line in told if "stay in fp32:" in line]
    assert "1 of 2" in line and "a: its numbers are too large to measure" in line


def test_a_precision_that_changes_no_weight_shares_those_of_fp32_and_tells_it(tmp_path):
    told = []
    looked_up = onnx.parser.parse_model(
        '<ir_version: 10, opset_import: ["" : 18]> net (int64[1, T] x) => (float[1, T, 64] y) { y = Gather(table, x) }'
    )
    table = np.random.default_rng(0).standard_normal((300, 64)).astype(np.float32)
    looked_up.graph.initializer.append(numpy_helper.from_array(table, "table"))
    out = convert(
        looked_up, ["x:1=T"], containers=[20], precision="fp32,int8", gate_lengths=2, out=tmp_path / "b",
        on_message=told.append,
    )  # fmt: skip
    assert [file.name for file in out.glob("*.data")] == ["fp32.data"]
    assert (out / "fp32.data").stat().st_size < 1.5 * table.nbytes
    ids = np.arange(20)[None]
    assert np.array_equal(paddable.load(out, precision="int8").run({"x": ids})["y"], table[ids])
    assert "int8: its weights are those in fp32, which a bundle stores once" in told
    assert not any("weights take" in line for line in told)


def test_the_damage_of_a_weight_on_the_left_is_summed_over_its_rows(tmp_path):
    """A row of one large number and many small ones loses these in 8 bits."""
    weight = RANDOM.standard_normal((64, 96)).astype(np.float32)
    weight[:, 0] = 1e4
    text = """net (float[1, 96, T] x) => (float[1, 64, T] y) {
        f = Mul(x, m) a = MatMul(w, f) b = MatMul(u, a) y = Relu(b) }"""
    mask = np.ones((96, 1), np.float32)
    mask[0] = 0
    told = []
    native = to_proto(model(text, w=weight, m=mask, u=MATRIX[:, :64]))
    given = {"containers": [40], "precision": "int8", "gate_lengths": 2, "out": tmp_path / "b"}
    convert(native, ["x:2=T"], **given, on_message=told.append)
    (line,) = [line for line in told if "1 of 2 products" in line]
    assert "stay in fp32: a: " in line
