"""Graphs that compute in half, judged as they are and on their fp32 lift; native models that the runtime fails on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from paddable.api.certificate import certificate
from paddable.api.opened import open_model
from paddable.errors import RefusedError
from paddable.gates import Candidate, GateReport, judge
from paddable.gates.engine import Engine
from paddable.gates.lift import computes_in_half, rounded
from paddable.graph.io.write import to_proto
from paddable.padding.rewrite.rewrite import rewrite

CONTAINER = {"T": 12}

GRAPHS = {
    "convolutions": (
        "(float16[1, 4, T] x) => (float16[1, 4, U] y) "
        "{ c = Conv<pads = [1, 1], strides = [2]>(x, w) r = Relu(c) y = Conv<pads = [1, 1]>(r, w) }",
        "x:2=T",
    ),
    "instance normalisation": (
        "(float16[1, 4, T] x) => (float16[1, 4, T] y) "
        "{ c = Conv<pads = [1, 1]>(x, w) y = InstanceNormalization(c, s, s) }",
        "x:2=T",
    ),
    "group normalisation": (
        "(float16[1, 4, T] x) => (float16[1, 4, T] y) "
        "{ c = Conv<pads = [1, 1]>(x, w) y = GroupNormalization<num_groups = 2>(c, s, s) }",
        "x:2=T",
    ),
    "attention": (
        "(float16[1, T, 4] x) => (float16[1, T, 4] y) "
        "{ t = Transpose<perm = [0, 2, 1]>(x) s0 = MatMul(x, t) p = Softmax<axis = -1>(s0) y = MatMul(p, x) }",
        "x:1=T",
    ),
    "mean": ("(float16[1, T, 4] x) => (float16[1, 4] y) { y = ReduceMean<keepdims = 0>(x, axis) }", "x:1=T"),
    "average pool": (
        "(float16[1, 4, T] x) => (float16[1, 4, U] y) "
        "{ y = AveragePool<kernel_shape = [3], strides = [2], pads = [1, 1]>(x) }",
        "x:2=T",
    ),
    "half inside": (
        "(float[1, T, 4] x) => (float[1, 4] y) "
        "{ h = Cast<to = 10>(x) m = ReduceMean<keepdims = 0>(h, axis) y = Cast<to = 1>(m) }",
        "x:1=T",
    ),
}


def half(text: str, seed: int = 1) -> onnx.ModelProto:
    """A graph at opset 21 with the weights that it reads of: w half[4, 4, 3], s half[4], axis int64[1]."""
    model = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]> g {text}')
    rng = np.random.default_rng(seed)
    weights = {"w": rng.normal(0, 0.5, (4, 4, 3)), "s": rng.normal(0, 0.5, 4)}
    used = {name for node in model.graph.node for name in node.input}
    for name, array in weights.items():
        if name in used:
            model.graph.initializer.append(numpy_helper.from_array(array.astype(np.float16), name))
    if "axis" in used:
        model.graph.initializer.append(numpy_helper.from_array(np.array([1]), "axis"))
    return model


def judged(native: onnx.ModelProto, length: str, padded: onnx.ModelProto | None = None) -> GateReport:
    """The static form of a model, or another one in its place, against it."""
    opened = open_model(native, [length])
    metadata = certificate(opened.analyse(), {}, CONTAINER, "cpu")
    padded = padded or to_proto(rewrite(opened.analyse(), CONTAINER))
    candidate = Candidate("static", padded.SerializeToString(), metadata, CONTAINER)
    return judge(opened.analyse(), native.SerializeToString(), [candidate])


@pytest.mark.parametrize("name", GRAPHS)
def test_a_half_graph_is_judged_as_it_is_and_lifted(name: str) -> None:
    report = judged(half(GRAPHS[name][0]), GRAPHS[name][1])
    assert report.ok, [row for row in report.rows if not row.ok]
    lifted = [row for row in report.rows if row.model == "static, fp32 lift"]
    assert len(lifted) == len(report.rows) / 2
    assert sorted(row.tolerance for row in lifted)[len(lifted) // 2] == 1e-5, "the lift is known better than that"
    assert all(row.tolerance < 0.01 for row in report.rows)


def test_a_normalisation_over_equal_steps_is_known_no_better_than_it_moves() -> None:
    report = judged(half(GRAPHS["group normalisation"][0], seed=0), GRAPHS["group normalisation"][1])
    assert report.ok, [row for row in report.rows if not row.ok]
    worst = max(report.rows, key=lambda row: row.error if row.model.endswith("lift") else 0)
    assert worst.length == 1 and 1e-5 < worst.error <= worst.tolerance < 1e-3


def test_a_fault_below_the_noise_of_half_fails_on_the_lift() -> None:
    text, length = GRAPHS["attention"]
    native = half(text)
    padded = to_proto(rewrite(open_model(native, [length]).analyse(), CONTAINER))
    node = next(node for node in padded.graph.node if node.op_type == "Softmax")
    node.output[0] = "exact"
    padded.graph.initializer.append(numpy_helper.from_array(np.float16(0.9995), "nearly"))
    at = list(padded.graph.node).index(node) + 1
    padded.graph.node.insert(at, helper.make_node("Mul", ["exact", "nearly"], ["p"]))
    rows = judged(native, length, padded).rows
    assert {row.model for row in rows if not row.ok} == {"static, fp32 lift"}


def test_a_recurrent_half_graph_does_not_end_the_process() -> None:
    """onnxruntime 1.32's layout transformer does, for what TorchScript writes of a bidirectional LSTM and a Linear."""
    hidden = 2
    nodes = [
        helper.make_node("Transpose", ["x"], ["t"], perm=[1, 0, 2]),
        helper.make_node("LSTM", ["t", "W", "R", "B"], ["h"], hidden_size=hidden, direction="bidirectional"),
        helper.make_node("Transpose", ["h"], ["h1"], perm=[0, 2, 1, 3]),
        helper.make_node("Reshape", ["h1", "joined"], ["h2"]),
        helper.make_node("Transpose", ["h2"], ["h3"], perm=[1, 0, 2]),
        helper.make_node("MatMul", ["h3", "M"], ["y"]),
    ]
    rng = np.random.default_rng(0)
    shapes = {"W": (2, 4 * hidden, 3), "R": (2, 4 * hidden, hidden), "B": (2, 8 * hidden), "M": (2 * hidden, 4)}
    weights = [numpy_helper.from_array(rng.normal(0, 0.5, s).astype(np.float16), n) for n, s in shapes.items()]
    weights.append(numpy_helper.from_array(np.array([0, 0, -1]), "joined"))
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT16, [1, "T", 3])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT16, [1, "T", 4])
    graph = helper.make_graph(nodes, "g", [x], [y], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    assert computes_in_half(model.SerializeToString())
    report = judged(model, "x:1=T")
    assert report.ok, [row for row in report.rows if not row.ok]


def test_stale_shapes_of_inner_values_do_not_stop_native() -> None:
    """The optimiser trusts them, as torch's exporter writes the example's behind a recurrent operator."""
    model = onnx.parser.parse_model(
        '<ir_version: 9, opset_import: ["" : 17]> g (float[1, T, 4] x) => (float[1, T, 4] y) '
        "{ r = Relu(x) m = MatMul(r, w) y = Add(m, b) }"
    )
    model.graph.value_info.append(helper.make_tensor_value_info("r", TensorProto.FLOAT, [1, 50, 4]))
    model.graph.value_info.append(helper.make_tensor_value_info("m", TensorProto.FLOAT, [1, 50, 4]))
    for name, shape in (("w", (4, 4)), ("b", (4,))):
        model.graph.initializer.append(numpy_helper.from_array(np.ones(shape, np.float32), name))
    with pytest.raises(Exception, match="Reshape"):
        Engine(model.SerializeToString()).run({"x": np.ones((1, 7, 4), np.float32)})
    report = judged(model, "x:1=T")
    assert report.ok, [row for row in report.rows if not row.ok]


@pytest.mark.parametrize("kind", [TensorProto.DOUBLE, TensorProto.BFLOAT16])
def test_a_native_model_without_kernels_is_no_failure_of_a_gate(kind: int) -> None:
    x, y = (helper.make_tensor_value_info(n, kind, [1, 4, "T"]) for n in ("x", "y"))
    ones = helper.make_tensor("s", kind, [4], [1.0] * 4)
    node = helper.make_node("InstanceNormalization", ["x", "s", "s"], ["y"])
    graph = helper.make_graph([node], "g", [x], [y], [ones])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)
    with pytest.raises(
        RefusedError, match=r"native itself does not run on onnxruntime [\d.]+ \(CPU\): .*`verify=False`"
    ):
        judged(model, "x:2=T")


def test_rounded_is_half_to_the_letter(tmp_path: Path) -> None:
    """Each value, and what overflows is infinite: ONNX Runtime computes a chain of half in float otherwise."""
    native = half("(float16[1, T, 4] x) => (float16[1, T, 4] y) { a = Mul(x, x) b = Mul(a, x) c = Abs(b) y = Sqrt(c) }")
    x = (3 * np.random.default_rng(0).standard_normal((1, 50, 4))).astype(np.float16)
    x[0, 7] = 100
    with np.errstate(over="ignore"):
        want = np.sqrt(np.abs(x * x * x))
    engine = Engine(rounded(native.SerializeToString(), tmp_path / "rounded.onnx"), optimise=False)
    got = engine.run({"x": x})["y"]
    assert got.dtype == np.float16 and np.array_equal(got, want) and np.isinf(got[0, 7]).all()
