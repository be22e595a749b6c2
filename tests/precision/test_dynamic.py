"""int8-dynamic: which products are in 8 bits, how near, and that padding is in no range."""

from __future__ import annotations

import importlib.util
import json
from dataclasses import replace

import numpy as np
import onnx
import onnx.parser
import onnxruntime as ort
import pytest
from onnx import TensorProto, helper, numpy_helper

import paddable
from paddable.api import convert, verify
from paddable.bundle import Metadata, read_bundle
from paddable.gates import Candidate
from paddable.gates.damage import compared
from paddable.gates.oracle import Oracle
from paddable.gates.signals import Numbers, Signals
from paddable.gates.whole import judge_whole
from paddable.graph.io.read import read_model
from paddable.graph.io.write import to_proto
from paddable.precision import dynamic, in_precision, session_config
from paddable.runtime.session.model_file import open_session

RANDOM = np.random.default_rng(0)
TEXT = """<ir_version: 10, opset_import: ["" : 18]>
net (float[1, T, 64] x) => (float[1, T, 48] y) {
  q = MatMul(x, w) k = MatMul(x, v) t = Transpose<perm = [0, 2, 1]>(k) s = MatMul(q, t) p = Softmax<axis = -1>(s)
  o = MatMul(p, q) m = Add(o, x) r = Relu(m) f = Reshape(r, rows) g = Gemm<transB = 1>(f, u, b) y = Reshape(g, back)
}"""


@pytest.fixture(scope="module")
def native() -> onnx.ModelProto:
    model = onnx.parser.parse_model(TEXT)
    weights = {"w": (64, 64), "v": (64, 64), "u": (48, 64), "b": (48,)}
    for name, shape in weights.items():
        array = (RANDOM.standard_normal(shape) / (64 if name == "v" else 8)).astype(np.float32)
        model.graph.initializer.append(numpy_helper.from_array(array, name))
    for name, sizes in (("rows", [-1, 64]), ("back", [1, -1, 48])):
        model.graph.initializer.append(numpy_helper.from_array(np.array(sizes), name))
    for node in model.graph.node:
        node.name = f"{node.op_type}_{node.output[0]}"
    return model


def run(model: onnx.ModelProto, **feeds: np.ndarray) -> list[np.ndarray]:
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    for key, value in session_config("int8-dynamic").items():
        options.add_session_config_entry(key, value)
    return ort.InferenceSession(model.SerializeToString(), options).run(None, feeds)


def test_products_with_a_constant_are_in_8_bits_and_the_answer_is_near(native: onnx.ModelProto) -> None:
    made = to_proto(in_precision(read_model(native), "int8-dynamic"))
    kinds = [node.op_type for node in made.graph.node]
    assert kinds.count("DynamicQuantizeMatMul") == 3 and kinds.count("MatMul") == 2 and "Gemm" not in kinds
    types = {tensor.name: tensor.data_type for tensor in made.graph.initializer}
    assert types["w_int8"] == types["u_int8"] == TensorProto.INT8 and "w" not in types
    x = RANDOM.standard_normal((1, 30, 64)).astype(np.float32)
    (got,), (want,) = run(made, x=x), run(native, x=x)
    cosine = float(got.ravel() @ want.ravel() / np.linalg.norm(got) / np.linalg.norm(want))
    assert 0.99 < cosine < 1 and np.abs(got - want).max() < 0.1 * np.abs(want).max()


def test_no_sum_of_products_saturates() -> None:
    """On x86 without VNNI two products of 255 and 127 do not fit 16 bits: 64 of the largest gave half of their sum."""
    text = '<ir_version: 10, opset_import: ["" : 18]> net (float[2, 64] x) => (float[2, 64] y) { y = MatMul(x, w) }'
    model = onnx.parser.parse_model(text)
    weight = np.where(np.arange(64) < 32, 1, -1).astype(np.float32) * np.ones((64, 1), np.float32)
    model.graph.initializer.append(numpy_helper.from_array(weight, "w"))
    x = np.stack([np.ones(64), np.zeros(64)]).astype(np.float32)
    (got,) = run(to_proto(in_precision(read_model(model), "int8-dynamic")), x=x)
    np.testing.assert_allclose(got, x @ weight, rtol=1e-5)


@pytest.mark.parametrize("saturating", [True, False])
@pytest.mark.parametrize("target", ["cpu", "directml"])
def test_a_file_asks_for_it_where_the_processor_needs_it(
    native, tmp_path, monkeypatch, target: str, saturating: bool
) -> None:
    out = convert(native, ["x:1=T"], containers=[8], out=tmp_path / "made", target=target, precision="int8-dynamic")
    monkeypatch.setattr("paddable.runtime.session.saturation.saturates", lambda: saturating)
    asked = []

    def spied(path, options, **others):
        if path.name != "native.onnx":
            try:
                asked.append(options.get_session_config_entry("session.x64quantprecision"))
            except RuntimeError:  # it was not set
                asked.append("")
        return open_session(path, options, **others)

    monkeypatch.setattr("paddable.runtime.session.graph.open_session", spied)
    for native_too in (True, False):
        paddable.load(out, "cpu", target=target, native=native_too).run({"x": np.zeros((1, 8, 64), np.float32)})
    assert asked and set(asked) == {"1" if saturating else ""}


def test_a_bias_behind_a_product_becomes_its_input(native: onnx.ModelProto) -> None:
    biased, b = onnx.ModelProto(), RANDOM.standard_normal(64).astype(np.float32)
    biased.CopyFrom(native)
    biased.graph.node[1].output[0] = "k0"
    biased.graph.node.insert(2, helper.make_node("Add", ["c", "k0"], ["k"]))
    biased.graph.node.insert(3, helper.make_node("Add", ["q", "c"], ["unread"]))  # q has other readers
    biased.graph.initializer.append(numpy_helper.from_array(b, "c"))
    made = to_proto(in_precision(read_model(biased), "int8-dynamic"))
    assert ["k"] in [node.output for node in made.graph.node if list(node.input[4:]) == ["c"]]
    x = RANDOM.standard_normal((1, 30, 64)).astype(np.float32)
    (got,), (want,) = run(made, x=x), run(biased, x=x)
    assert np.abs(got - want).max() < 0.1 * np.abs(want).max()


def test_a_product_that_is_kept_stays(native: onnx.ModelProto) -> None:
    made = in_precision(read_model(native), "int8-dynamic", {"q": "for this test"})
    assert [node.op_type for node in made.graph].count("DynamicQuantizeMatMul") == 2


def test_a_product_that_8_bits_would_damage_stays_and_is_told(native: onnx.ModelProto, tmp_path) -> None:
    """One large number in its input takes the range, and leaves two codes to the others."""
    x = RANDOM.standard_normal((1, 30, 64)).astype(np.float32)
    np.save(tmp_path / "even.npy", x)
    x[0, 3, 5] = 3000
    np.save(tmp_path / "spiky.npy", x)
    told: list[str] = []
    kinds = {}
    for name in ("even", "spiky"):
        made = convert(
            native, ["x:1=T"], containers=[40], precision="int8-dynamic", gate_lengths=4,
            examples=tmp_path / f"{name}.npy", on_message=told.append,
        )  # fmt: skip
        kinds[name] = [node.op_type for node in made.graph.node].count("DynamicQuantizeMatMul")
    assert kinds == {"even": 3, "spiky": 0}
    (stays,) = [line for line in told if "8 bits move it" in line]
    assert "stay in fp32: q: 8 bits move it by" in stays
    assert "int8-dynamic: its weights are those in fp32, which a bundle stores once" in told


def test_a_bundle_is_judged_and_holds_native_too(native: onnx.ModelProto, tmp_path) -> None:
    out = convert(native, ["x:1=T"], containers=[20, 40], out=tmp_path / "b", precision="int8-dynamic,fp32")
    report = json.loads((out / "report.json").read_text())
    assert report["ok"] and report["precision"]["int8-dynamic"]["y"]["cosine"] > 0.99
    rows = [row for row in report["rows"] if row["model"].startswith("int8-dynamic")]
    assert len(rows) == 16 and all(row["junk"] is not False for row in rows)
    names = {f"cpu-{precision}-{steps}.onnx" for precision in ("fp32", "int8-dynamic") for steps in (20, 40)}
    assert {graph.file for graph in read_bundle(out).graphs} == names
    assert verify(out, limit=4).ok

    x = RANDOM.standard_normal((1, 17, 64)).astype(np.float32)
    (alone,) = run(onnx.load(out / "native-int8-dynamic.onnx"), x=x)
    by_itself = paddable.load(out, precision="int8-dynamic", threads=1)
    assert by_itself.describe().form == "native" and np.array_equal(by_itself.run({"x": x})["y"], alone)
    got = paddable.load(out, "cpu", precision="int8-dynamic", threads=1).run({"x": x})["y"]
    assert np.abs(got - alone).max() < 3e-3 * np.abs(alone).max()


def test_padding_is_in_no_range(native: onnx.ModelProto) -> None:
    made = convert(native, ["x:1=T"], containers=[40], precision="int8-dynamic")
    metadata = json.loads(next(entry.value for entry in made.metadata_props if entry.key == "paddable"))
    assert "PAD109" in {remedy["code"] for remedy in metadata["remedies"]}
    x = RANDOM.standard_normal((1, 40, 64)).astype(np.float32)
    lengths = np.array([17])
    first = run(made, x=x, ilens=lengths)[0]
    x[:, 17:] = 1e4
    assert np.array_equal(run(made, x=x, ilens=lengths)[0], first)


@pytest.mark.shared
def test_a_symbolic_container_whose_mask_is_made_from_ilens(shared, tmp_path) -> None:
    """Case 17: its graph takes a mask; the converted one takes the length that the mask says."""
    path = shared / "cases" / "case_17_dynamic_int8_scale_sees_padding.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    case = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(case)

    def quantised(source: str, place: str) -> None:
        made = convert(source, ["x:1=T"], mask_inputs=["valid:1=T"], keep_dynamic=True, batch_size=1,
                       precision="int8-dynamic", gate_lengths=4)  # fmt: skip
        mask = helper.make_tensor_value_info("valid", TensorProto.BOOL, [1, "T", 1])
        made.graph.input.remove(next(value for value in made.graph.input if value.name == "ilens"))
        made.graph.input.append(mask)
        made.graph.initializer.append(numpy_helper.from_array(np.array([1, 2]), "counted"))
        made.graph.node.insert(0, helper.make_node("Cast", ["valid"], ["ones"], to=TensorProto.INT64))
        made.graph.node.insert(1, helper.make_node("ReduceSum", ["ones", "counted"], ["ilens"], keepdims=0))
        onnx.save(made, place)

    ok, drift = case.check(quantised)
    assert ok, drift


def test_damage_is_measured_without_saturation_on_any_machine(native: onnx.ModelProto) -> None:
    """On x86 without VNNI the operator itself saturates where the optimiser is off, as it is in a comparison."""
    model = onnx.parser.parse_model(
        '<ir_version: 10, opset_import: ["" : 18]> net (float[1, 2, 64] x) => (float[1, 2, 64] y) { y = MatMul(x, w) }'
    )
    weight = np.where(np.arange(64) < 32, 1, -1).astype(np.float32) * np.ones((64, 1), np.float32)
    model.graph.initializer.append(numpy_helper.from_array(weight, "w"))
    x = np.stack([np.ones(64), np.zeros(64)]).astype(np.float32)[None]
    for given, feeds in ((model, x), (native, RANDOM.standard_normal((1, 30, 64)).astype(np.float32) + 2)):
        compared_, names = compared(read_model(given), dynamic.twins)
        assert names and all(not node.domain for node in compared_.graph)
        options = ort.SessionOptions()
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = ort.InferenceSession(to_proto(compared_).SerializeToString(), options)
        shares = dict(zip([o.name for o in session.get_outputs()], session.run(None, {"x": feeds}), strict=True))
        assert all(float(shares[share]) ** 0.5 < 0.02 for share in names.values())


def test_two_products_may_share_a_weight(native: onnx.ModelProto, tmp_path) -> None:
    """ONNX Runtime 1.32, asked not to saturate, makes a weight unsigned for each reader under one name, and fails."""
    body = "{ a = MatMul(x, w) r = Relu(a) y = MatMul(r, w) }"
    shared = onnx.parser.parse_model(
        f'<ir_version: 10, opset_import: ["" : 18]> net (float[1, T, 64] x) => (float[1, T, 64] y) {body}'
    )
    shared.graph.initializer.extend(tensor for tensor in native.graph.initializer if tensor.name == "w")
    out = convert(shared, ["x:1=T"], containers=[20], out=tmp_path / "b", precision="int8-dynamic", gate_lengths=4)
    assert (out / "int8-dynamic.data").stat().st_size == 64 * 64  # equal weights have one place


def test_native_shares_weights_that_a_container_has_in_another_layout(tmp_path) -> None:
    """A chain of constants, as in front of an exported LSTM, is folded in the container alone."""
    looked_up = onnx.parser.parse_model(
        """<ir_version: 10, opset_import: ["" : 18]> net (int64[1, T] x) => (float[1, T, 64] y) {
        t = Transpose<perm = [1, 0]>(table) y = Gather(t, x) }"""
    )
    table = RANDOM.standard_normal((64, 300)).astype(np.float32)
    looked_up.graph.initializer.append(numpy_helper.from_array(table, "table"))
    out = convert(
        looked_up, ["x:1=T"], containers=[20], precision="fp32,int8-dynamic", gate_lengths=2, out=tmp_path / "b"
    )
    assert [file.name for file in out.glob("*.data")] == ["fp32.data"]
    ids = np.arange(20)[None]
    for native in (True, False):
        loaded = paddable.load(out, "cpu", precision="int8-dynamic", native=native)
        assert np.array_equal(loaded.run({"x": ids})["y"], table.T[ids])


@pytest.mark.parametrize(("moved", "behind", "right"), [(2e-6, 0.0, True), (1e-4, 0.0, False), (2e-6, 5.0, False)])
def test_a_code_that_falls_the_other_way_is_no_fault_where_nothing_else_differs(
    moved: float, behind: float, right: bool
) -> None:
    """A range that sees what stands behind the steps is none."""
    text = """<ir_version: 10, opset_import: ["" : 18, "com.microsoft" : 1]>
        net (float[1, T, 4] x) => (float[1, T, 4] y) {
        p = Add(x, k) y = com.microsoft.DynamicQuantizeMatMul(p, w, s, z) }"""
    model = onnx.parser.parse_model(text)
    codes = 100 * np.eye(4, dtype=np.int8)
    for name, array in (("k", np.float32(0)), ("w", codes), ("s", np.full(4, 0.01, np.float32)), ("z", np.int8(0))):
        model.graph.initializer.append(numpy_helper.from_array(array, name))
    made = convert(model, ["x:1=T"], containers=[20_000], verify=False)
    metadata = replace(Metadata.loads(made.metadata_props[0].value, where=""), precision="int8-dynamic")
    (product,) = [node for node in made.graph.node if node.op_type == "DynamicQuantizeMatMul"]
    (fill,) = [node for node in made.graph.node if product.input[0] in node.output]
    made.graph.initializer.append(numpy_helper.from_array(np.float32(behind), "behind"))
    fill.input[2] = "behind"
    for tensor in made.graph.initializer:
        if tensor.name == "k":
            tensor.CopyFrom(numpy_helper.from_array(np.float32(moved), "k"))
    oracle = Oracle(model.SerializeToString(), metadata)
    candidate = Candidate("T=20000", made.SerializeToString(), metadata, {"T": 20_000})
    signals = Signals(metadata, oracle.engine.dtypes, oracle.engine.shapes, {"T": 20_000}, Numbers({}), 1, 0)
    (row,) = judge_whole(candidate, oracle, signals, [{"T": 19_000}])
    assert row.ok == right and 3e-3 < row.error < 3e-2
