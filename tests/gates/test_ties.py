"""Ids that are chosen among scores: another one is told where the scores are a tie, and refused where they are not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import onnx
import onnx.parser
import onnx_ir as ir
import pytest
from onnx import helper, numpy_helper

from paddable.api import convert, verify
from paddable.api.certificate import certificate
from paddable.api.opened import open_model
from paddable.gates.chosen import apart
from paddable.gates.oracle import Oracle
from paddable.gates.report import Row
from paddable.gates.signals import Numbers, Signals
from paddable.gates.whole import Candidate, judge_whole
from paddable.graph.io.write import to_proto
from paddable.padding.rewrite.rewrite import rewrite
from paddable.precision import exact

TAILS = {
    "ids": ("int64[1, T] o", "o = ArgMax<axis = -1, keepdims = 0>(y)"),
    "moved": ("int32[1, T] o", "i = ArgMax<axis = -1, keepdims = 1>(y) b = Squeeze(i, two) o = Cast<to = 6>(b)"),
    "indices": ("float[1, T, 3] best, int64[1, T, 3] o", "best, o = TopK(y, three)"),
    "no blank": ("bool[1, T] o", "i = ArgMax<axis = -1, keepdims = 0>(y) o = Less(i, many)"),
    "unique": (
        "bool[1, U] o",
        "i = ArgMax<axis = -1, keepdims = 0>(y) b = Slice(i, one, last, one) c = Slice(i, zero, end, one) "
        "o = Less(b, c)",
    ),
    "threshold": ("bool[1, T, 1000] o", "o = Greater(y, half)"),
    "embedded": ("float[1, T, 32] o", "i = ArgMax<axis = -1, keepdims = 0>(y) o = Gather(table, i)"),
    "codes": ("int64[1, T, 1000] o", "l = Mul(y, fifty) o = Cast<to = 7>(l)"),
}


def recogniser(tail: str, seed: int = 0, batch: str = "1") -> onnx.ModelProto:
    """Three blocks of attention, a norm and a convolution, and 1000 classes that lie close together."""
    outputs, made = TAILS[tail]
    blocks, value = "", "x"
    rng = np.random.default_rng(seed)
    weights = {"v": rng.standard_normal((32, 1000)) / 6, "gain": np.ones(32), "table": rng.standard_normal((1000, 32))}
    for i in range(3):
        blocks += (
            f"q{i} = MatMul({value}, w{i}) k{i} = MatMul({value}, u{i}) t{i} = Transpose<perm = [0, 2, 1]>(k{i}) "
            f"s{i} = MatMul(q{i}, t{i}) p{i} = Softmax<axis = -1>(s{i}) h{i} = MatMul(p{i}, {value}) "
            f"m{i} = Add(h{i}, {value}) n{i} = LayerNormalization(m{i}, gain) "
            f"a{i} = Transpose<perm = [0, 2, 1]>(n{i}) c{i} = Conv<kernel_shape = [3], pads = [1, 1]>(a{i}, z{i}) "
            f"r{i} = Relu(c{i}) b{i} = Transpose<perm = [0, 2, 1]>(r{i}) f{i} = Add(b{i}, n{i}) "
        )
        value = f"f{i}"
        weights |= {f"{name}{i}": rng.standard_normal((32, 32)) / 6 for name in "wu"}
        weights[f"z{i}"] = rng.standard_normal((32, 32, 3)) / 8
    model = onnx.parser.parse_model(
        f'<ir_version: 10, opset_import: ["" : 18]> g (float[{batch}, T, 32] x) => (float[{batch}, T, 1000] y, '
        f"{outputs.replace('[1', f'[{batch}')}) {{ {blocks} y = MatMul({value}, v) {made} }}"
    )
    arrays = {name: array.astype(np.float32) for name, array in weights.items()}
    numbers = {"two": [2], "three": [3], "many": 500, "one": [1], "zero": [0], "last": [1 << 40], "end": [-1]}
    arrays |= {"half": np.float32(0.5), "fifty": np.float32(50), **{n: np.array(k) for n, k in numbers.items()}}
    read = {name for node in model.graph.node for name in node.input}
    model.graph.initializer.extend(numpy_helper.from_array(np.asarray(a), n) for n, a in arrays.items() if n in read)
    return model


@pytest.fixture
def rounded_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Containers in half that round in other places than native, as they may: their scores are not the same then."""
    monkeypatch.setattr(exact, "carried_over", lambda graph, native: {})
    monkeypatch.setattr(exact, "is_fill", lambda node: False)


@pytest.mark.usefixtures("rounded_elsewhere")
@pytest.mark.parametrize("tail", TAILS)
def test_a_choice_at_a_tie_is_told(tail: str) -> None:
    told: list[str] = []
    for seed in range(4):
        precision, native = "fp32" if tail == "codes" else "fp16", recogniser(tail, seed)
        convert(native, ["x:1=T"], containers=[80], precision=precision, gate_lengths=4, on_message=told.append)
        if any("ties of its scores" in line and "output o" in line for line in told):
            return
    raise AssertionError(told)


def rows(native: onnx.ModelProto, change: Callable[[onnx.GraphProto], None], count: int = 1) -> list[Row]:
    opened = open_model(native, ["x:1=T"])
    opened = opened if count == 1 else opened.of_rows(count)
    padded = to_proto(rewrite(opened.analyse(), {"T": 60}))
    change(padded.graph)
    metadata = certificate(opened.analyse(), {}, {"T": 60}, "cpu")
    oracle = Oracle(native.SerializeToString(), metadata)
    engine = oracle.engine
    signals = Signals(metadata, engine.dtypes, engine.shapes, {"T": 60}, Numbers({}), count, 0)
    candidate = Candidate("static", padded.SerializeToString(), metadata, {"T": 60})
    return judge_whole(candidate, oracle, signals, [{"T": 7}, {"T": 33}])


def exchange(graph: onnx.GraphProto) -> None:
    next(node for node in graph.node if node.op_type == "ArgMax").op_type = "ArgMin"


def add(graph: onnx.GraphProto, by: int, dtype: type = np.int64) -> None:
    """Something behind the choice."""
    node = next(node for node in graph.node if node.op_type == "ArgMax")
    name = node.output[0]
    node.output[0] = "before"
    graph.initializer.append(numpy_helper.from_array(np.array(by, dtype), "by"))
    graph.node.insert(list(graph.node).index(node) + 1, helper.make_node("Add", ["before", "by"], [name]))


def nudge(graph: onnx.GraphProto, by: float) -> None:
    """The scores, in front of the choice alone."""
    node = next(node for node in graph.node if node.op_type == "ArgMax")
    noise = by * np.random.default_rng(0).standard_normal(1000)
    graph.initializer.append(numpy_helper.from_array(noise.astype(np.float32), "by"))
    graph.node.insert(list(graph.node).index(node), helper.make_node("Add", [node.input[0], "by"], ["nudged"]))
    node.input[0] = "nudged"


@pytest.mark.parametrize(
    "change",
    [exchange, lambda graph: add(graph, 1), lambda graph: nudge(graph, 0.05)],
    ids=["another choice", "behind the choice", "scores in front of it"],
)
@pytest.mark.parametrize("tail", ["ids", "moved", "embedded"])
def test_a_fault_in_ids_is_refused(tail: str, change: Callable[[onnx.GraphProto], None]) -> None:
    found = [row for row in rows(recogniser(tail), change) if row.output == "o"]
    assert not any(row.told for row in found) and not all(row.ok for row in found)


@pytest.mark.parametrize("batch", ["1", "B"])
def test_scores_that_agree_make_ties_in_each_row(batch: str) -> None:
    count = 1 if batch == "1" else 3
    found = rows(recogniser("codes", batch=batch), lambda graph: None, count)
    assert all(row.ok for row in found)
    plain = replace(found[0], told="")
    assert "told" not in plain.to_json()


def node(operator: str, **attributes: int) -> ir.Node:
    return ir.node(operator, [ir.Value(name="s")], attributes=attributes)


def test_what_is_no_tie() -> None:
    scores = np.array([[1.0, 0.999, 0.2], [1.0, 0.9, 0.2]], np.float32)
    own, other = np.array([0, 0]), np.array([1, 1])
    assert apart(node("ArgMax", axis=-1, keepdims=0), [scores], [1e-3], own, other).tolist() == [False, True]
    lengths = np.array([1500.0, 3.0], np.float32)
    assert apart(node("Cast"), [lengths], [2.0], np.array([1500, 3]), np.array([1501, 3])).tolist() == [True, False]
    assert apart(node("Cast"), [lengths + 0.5], [2.0], np.array([1500, 3]), np.array([1501, 3])).sum() == 0
    steps, valid = np.arange(4, dtype=np.float32), np.full(4, 2, np.float32)
    assert apart(node("Less"), [steps, valid], [3.0, 3.0], steps < 2, steps < 4).tolist() == [False, False, True, True]


@pytest.mark.usefixtures("rounded_elsewhere")
def test_verify_tells_it(tmp_path) -> None:
    told: list[str] = []
    out = convert(recogniser("ids"), ["x:1=T"], containers=[80], out=tmp_path / "b", precision="fp16", gate_lengths=4)
    assert verify(out, limit=8, on_message=told.append).ok
    assert any("ArgMax" in line and "ties" in line for line in told)
