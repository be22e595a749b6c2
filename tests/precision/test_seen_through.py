"""Weights that are no initialisers: behind a Transpose, a Cast or a norm, in half, tied, and sliced to a container."""

from __future__ import annotations

import numpy as np
import onnx
import onnx.parser
import pytest
from onnx import TensorProto, numpy_helper

import paddable
from paddable.api import convert
from paddable.errors import MisuseError
from paddable.gates.engine import Engine
from paddable.graph.io.read import read_model
from paddable.graph.io.write import to_proto
from paddable.precision import in_precision
from paddable.precision.tied import kept_with_others

RANDOM = np.random.default_rng(0)
HEAD = '<ir_version: 10, opset_import: ["" : 18]> net (float[1, T, 64] x) => (float[1, T, 64] y) '
CHAINS = {
    "transpose": "{ w = Transpose<perm = [1, 0]>(b) h = MatMul(x, w) r = Relu(h) y = MatMul(r, c) }",
    "copy": "{ w = Identity(b) h = MatMul(x, w) r = Relu(h) y = MatMul(r, c) }",
    "both ways": "{ w = Transpose<perm = [1, 0]>(b) h = MatMul(x, w) r = Relu(h) q = MatMul(r, b) y = Add(q, h) }",
    "twice": "{ w = Transpose<perm = [1, 0]>(b) h = MatMul(x, b) q = MatMul(h, b) y = MatMul(q, w) }",
    "rows": "{ w = Reshape(f, s) h = MatMul(x, w) r = Relu(h) y = MatMul(r, c) }",
    "half": "{ w = Cast<to = 1>(k) h = MatMul(x, w) r = Relu(h) y = MatMul(r, c) }",
    "weight norm": "{ n = ReduceL2(b, z) u = Div(b, n) w = Mul(u, o) h = MatMul(x, w) r = Relu(h) y = MatMul(r, c) }",
}
TABLE = """{
  q = MatMul(x, b) n = Shape(x) t = Gather(n, one) p = Slice(l, zero, t, zero) v = Transpose<perm = [1, 0]>(p)
  m = MatMul(q, v) y = MatMul(m, p)
}"""
COUNTED = {"int8": "DequantizeLinear", "int4": "MatMulNBits", "int8-dynamic": "DynamicQuantizeMatMul"}


def model(body: str, head: str = HEAD) -> onnx.ModelProto:
    made = onnx.parser.parse_model(head + body)
    square = (RANDOM.standard_normal((64, 64)) / 8).astype(np.float32)
    weights = {
        "b": square, "c": square[::-1].copy(), "f": square.reshape(-1), "k": square.astype(np.float16),
        "l": (RANDOM.standard_normal((200, 64)) / 8).astype(np.float32), "o": np.ones((1, 64), np.float32),
        "s": np.array([64, 64]), "z": np.array([0]), "zero": np.array([0]), "one": np.array([1]),
    }  # fmt: skip
    read = {name for node in made.graph.node for name in node.input}
    made.graph.initializer.extend(numpy_helper.from_array(weights[name], name) for name in weights if name in read)
    for node in made.graph.node:
        node.name = f"{node.op_type}_{node.output[0]}"
    return made


@pytest.mark.parametrize("precision", COUNTED)
@pytest.mark.parametrize("chain", CHAINS)
def test_native_and_containers_get_the_same_weights_in_fewer_bits(chain: str, precision: str) -> None:
    native = model(CHAINS[chain])
    changed = in_precision(read_model(native), precision)
    kinds = [node.op_type for node in changed.graph]
    products = [node.op_type for node in native.graph.node].count("MatMul")
    weights = 2 if precision == "int8" else products
    assert kinds.count(COUNTED[precision]) == weights
    assert all(value.const_value.size < 1024 or value.dtype != 1 for value in changed.graph.initializers.values())
    convert(native, ["x:1=T"], containers=[40], precision=precision, gate_lengths=4)  # the gates pass


@pytest.mark.parametrize("precision", COUNTED)
def test_a_table_that_is_cut_to_the_container_is_no_weight(precision: str) -> None:
    made = convert(model(TABLE), ["x:1=T"], containers=[40], precision=precision, gate_lengths=4)
    assert [node.op_type for node in made.graph.node].count(COUNTED[precision]) == 1


@pytest.mark.parametrize("precision", COUNTED)
def test_a_model_in_half_gets_its_weights_in_fewer_bits_and_keeps_its_types(precision: str) -> None:
    head = HEAD.replace("float[", "float16[")
    native = model("{ h = MatMul(x, b) r = Relu(h) y = MatMul(r, c) }", head)
    for tensor in native.graph.initializer:
        tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor).astype(np.float16), tensor.name))
    told: list[str] = []
    made = convert(native, ["x:1=T"], containers=[40], precision=precision, gate_lengths=4, on_message=told.append)
    assert [node.op_type for node in made.graph.node].count(COUNTED[precision]) == 2
    assert all("against fp32" in line for line in told)
    types = {value.name: value.type.tensor_type.elem_type for value in (*made.graph.input, *made.graph.output)}
    assert types["x"] == types["y"] == TensorProto.FLOAT16


def test_weights_of_a_model_in_half_that_stay_are_stored_in_half(tmp_path) -> None:
    head = HEAD.replace("float[", "float16[")
    native = model("{ t = Transpose<perm = [0, 2, 1]>(x) h = Conv(t, v) y = Transpose<perm = [0, 2, 1]>(h) }", head)
    weight = (RANDOM.standard_normal((64, 64, 1)) / 8).astype(np.float16)
    native.graph.initializer.append(numpy_helper.from_array(weight, "v"))
    made = convert(native, ["x:1=T"], containers=[40], precision="int8-dynamic", gate_lengths=4)
    assert max(len(tensor.raw_data) for tensor in made.graph.initializer) == weight.nbytes


TIED = """<ir_version: 10, opset_import: ["" : 18]> net (int64[1, T] x) => (float[1, T, 1100] y) {
  e = Gather(d, x) h = MatMul(e, b) w = Transpose<perm = [1, 0]>(d) y = MatMul(h, w)
}"""
HALF_TIED = TIED.replace("float[", "float16[")
READ_BESIDES = TIED.replace(
    "y = MatMul(h, w)",
    "p = MatMul(h, w) t = Transpose<perm = [0, 2, 1]>(h) u = MatMul(d, t) v = Transpose<perm = [0, 2, 1]>(u) "
    "y = Add(p, v)",
)


def tied(text: str = TIED) -> onnx.ModelProto:
    made = model("", text)
    kind = np.float16 if "float16" in text else np.float32
    table = (RANDOM.standard_normal((1100, 64)) / 8).astype(kind)
    made.graph.initializer.append(numpy_helper.from_array(table, "d"))
    made.graph.initializer[0].CopyFrom(
        numpy_helper.from_array(numpy_helper.to_array(made.graph.initializer[0]).astype(kind), "b")
    )
    return made


@pytest.mark.parametrize("text", [TIED, HALF_TIED], ids=["floats", "half"])
@pytest.mark.parametrize("precision", ["int8", "int4"])
def test_a_table_that_a_lookup_and_a_product_share_is_stored_once_in_8_bits_and_that_is_told(
    precision: str, text: str
) -> None:
    told: list[str] = []
    made = convert(tied(text), ["x:1=T"], containers=[40], precision=precision, gate_lengths=4, on_message=told.append)
    held = {tensor.name: tensor for tensor in made.graph.initializer if 1100 in tensor.dims and len(tensor.dims) == 2}
    assert [(list(tensor.dims), tensor.data_type) for tensor in held.values()] == [([1100, 64], TensorProto.INT8)]
    assert f"{precision}: d is stored once, in 8 bits, for Gather Gather_e and MatMul MatMul_y" in told


def test_rows_of_a_table_in_8_bits_are_off_by_half_a_code_at_most() -> None:
    native = tied()
    native.graph.output.append(onnx.helper.make_tensor_value_info("e", TensorProto.FLOAT, None))
    changed = to_proto(in_precision(read_model(native), "int8"))
    feeds = {"x": np.arange(1100)[None]}
    rows, stored = (Engine(proto.SerializeToString()).run(feeds)["e"] for proto in (native, changed))
    assert np.abs(rows - stored).max() > 0
    assert np.all(np.abs(rows - stored) <= np.abs(rows).max(-1, keepdims=True) / 254 * 1.0001)


CAST_TIED = TIED.replace("e = Gather(d, x)", "i = Cast<to = 1>(d) e = Gather(i, x)").replace("(d) y", "(i) y")
TABLES = {
    "floats": TIED,
    "ids": TIED.replace("e = Gather(d, x)", "i = Sub(x, zero) e = Gather(d, i)"),
    "half": HALF_TIED,
    "cast": CAST_TIED,
    "gemm": TIED.replace(
        "w = Transpose<perm = [1, 0]>(d) y = MatMul(h, w)",
        "r = Reshape(h, rows) g = Gemm<transB = 1>(r, d) y = Unsqueeze(g, zero)",
    ),
}


@pytest.mark.parametrize("form", TABLES)
@pytest.mark.parametrize("precision", ["int8-dynamic", "int8-static"])
def test_a_table_that_a_lookup_and_a_rounded_product_share_is_in_a_data_file_once(
    precision: str, form: str, tmp_path
) -> None:
    native = tied(TABLES[form])
    native.graph.initializer.append(numpy_helper.from_array(np.array([-1, 64]), "rows"))
    if form == "cast":
        (table,) = (tensor for tensor in native.graph.initializer if tensor.name == "d")
        table.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(table).astype(np.float16), "d"))
    np.savez(tmp_path / "ids.npz", x=np.arange(40)[None])
    told: list[str] = []
    out = convert(native, ["x:1=T"], containers=[40], precision=precision, examples=tmp_path / "ids.npz",
                  gate_lengths=4, out=tmp_path / "b", on_message=told.append)  # fmt: skip
    assert (out / f"{precision}.data").stat().st_size < 1.3 * 1100 * 64
    assert any("d is in 8 bits for Gather" in line and "a data file has it once" in line for line in told)
    ids = np.arange(0, 40, 3)[None]
    (want,) = Engine(native.SerializeToString()).run({"x": ids}).values()
    got = paddable.load(out, precision=precision).run({"x": ids})["y"].astype(np.float32)
    assert np.abs(got - want).max() < 0.05 * np.abs(want).max()


@pytest.mark.parametrize("precision", ["int8", "int4"])
def test_a_table_that_somebody_reads_in_another_way_besides_is_not_stored_twice_and_that_is_told(
    precision: str,
) -> None:
    told: list[str] = []
    made = convert(
        tied(READ_BESIDES), ["x:1=T"], containers=[40], precision=precision, gate_lengths=4, on_message=told.append
    )
    held = {tensor.name: list(tensor.dims) for tensor in made.graph.initializer}
    assert sorted(held.values()).count([1100, 64]) == 1 and [64, 1100] not in held.values()
    assert any("p: Gather Gather_e reads its weight d in fp32 all the same" in line for line in told)


def test_a_precision_that_takes_more_room_is_told_with_who_reads_what_stays() -> None:
    told: list[str] = []
    asked = {"containers": [40], "precision": "int8-dynamic", "gate_lengths": 4}
    convert(tied(READ_BESIDES), ["x:1=T"], **asked, on_message=told.append)
    (line,) = [line for line in told if "weights take" in line]
    assert line == "int8-dynamic: weights take 361 kB, and without it 298 kB: 282 kB stay in fp32 for Gather and MatMul"


def test_a_precision_that_is_no_smaller_than_half_is_told() -> None:
    told: list[str] = []
    body = "{ h = MatMul(x, c) r = Relu(h) i = ArgMax<axis = 2, keepdims = 0>(r) g = Gather(l, i) y = Add(g, r) }"
    convert(model(body), ["x:1=T"], containers=[40], precision="int8", gate_lengths=2, on_message=told.append)
    (line,) = [line for line in told if "weights take" in line]
    assert "and in fp16 " in line and "stay in fp32 for Gather" in line


def test_who_computes_with_a_weight_is_told_and_not_who_reads_the_result() -> None:
    body = "{ a = MatMul(x, b) t = Transpose<perm = [1, 0]>(b) r = ReduceSum<keepdims = 0>(t) y = Add(a, r) }"
    (why,) = kept_with_others(read_model(model(body)), {"a"}).values()
    assert why == "ReduceSum ReduceSum_r reads its weight b in fp32 all the same"


def test_a_precision_that_is_not_there_is_told_with_those_that_are(tmp_path) -> None:
    out = convert(model(CHAINS["copy"]), ["x:1=T"], containers=[40], out=tmp_path / "b", precision="fp16,int8")
    for wanted in ("", "bf16"):
        with pytest.raises(MisuseError, match=f"no precision {wanted!r} for 'cpu'; it holds fp16, int8") as refused:
            paddable.load(out, precision=wanted)
        assert "precision='bf16'" not in str(refused.value)
    with pytest.raises(MisuseError, match="which precision"):
        paddable.load(out)
