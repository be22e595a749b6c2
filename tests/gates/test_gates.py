"""Each gate on a right model, and on models with one fault planted."""

from __future__ import annotations

import sys
from functools import partialmethod
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from paddable.api.certificate import certificate
from paddable.api.opened import Opened, open_model
from paddable.bundle import Metadata
from paddable.gates import Candidate, GateReport, judge
from paddable.gates.alone import judge_alone
from paddable.gates.engine import Engine
from paddable.graph.io.write import to_proto
from paddable.padding.rewrite.rewrite import rewrite

from .mutation import NEEDED, Movement, mutants, padded_symbolic, remedies_of

CONTAINER = {"T": 12}


@pytest.fixture(scope="module")
def opened(encoder: onnx.ModelProto) -> Opened:
    return open_model(encoder, ["x:1=T"])


def judged(opened: Opened, encoder: onnx.ModelProto, padded: onnx.ModelProto, container: dict[str, int]) -> GateReport:
    metadata = certificate(opened.analyse(), {}, container, "cpu")
    candidate = Candidate("planted", padded.SerializeToString(), metadata, CONTAINER)
    return judge(opened.analyse(), encoder.SerializeToString(), [candidate])


def static(opened: Opened) -> onnx.ModelProto:
    return to_proto(rewrite(opened.analyse(), CONTAINER))


def test_a_right_model_passes(opened: Opened, encoder: onnx.ModelProto) -> None:
    for padded, container in ((padded_symbolic(opened), {}), (static(opened), CONTAINER)):
        report = judged(opened, encoder, padded, container)
        assert report.ok, report.to_json()
        summary = report.summary()
        assert summary["L"]["sites"] == len(report.sites) >= 6
        assert {row.length for row in report.rows} == set(range(1, 13))
        assert all(row.junk for row in report.rows if row.length != 12)


def test_every_remedy_left_out_fails_the_whole(opened: Opened, encoder: onnx.ModelProto) -> None:
    found = list(mutants(opened))
    assert {mutant.code for mutant in found} == {"PAD101", "PAD102", "PAD103"}
    for mutant in found:
        report = judged(opened, encoder, mutant.model, {})
        assert not report.ok, mutant.node
        if mutant.code != "PAD101":  # the mean is the output itself: no inner value differs
            assert report.first_difference is not None
            assert report.first_difference["node"] == mutant.node
        assert all(row.junk is not False for row in report.rows), "behind a tail fill gate J holds by construction"


def test_every_remedy_left_out_fails_alone(opened: Opened) -> None:
    analysis = opened.analyse()
    for code, node, _, remedies in remedies_of(analysis):
        results = judge_alone(
            analysis, CONTAINER, [{"T": 5}, {"T": 9}], leave_out=frozenset(id(remedy) for remedy in remedies)
        )
        assert [site.node for site in results if site.ok is False] == [node], code


def test_padding_that_is_a_computed_zero_point_is_fed_as_one() -> None:
    """Softmax's codes times the values' codes, as quantize_dynamic writes attention: a code of 0 is no 0."""
    model = onnx.parser.parse_model(
        """<ir_version: 9, opset_import: ["" : 17]> g (float[1, T, 4] x) => (float[1, T, 4] y) {
           t = Transpose <perm = [0, 2, 1]> (x) scores = MatMul (x, t) weights = Softmax (scores)
           a, as, az = DynamicQuantizeLinear (weights) b, bs, bz = DynamicQuantizeLinear (x)
           sum = MatMulInteger (a, b, az, bz) wide = Cast <to = 1> (sum) scale = Mul (as, bs) y = Mul (wide, scale) }"""
    )
    analysis = open_model(model, ["x:1=T"]).analyse()
    results = judge_alone(analysis, CONTAINER, [{"T": 5}, {"T": 9}])
    assert {site.op for site in results} > {"DynamicQuantizeLinear", "MatMulInteger"}
    assert all(site.ok for site in results), [site for site in results if not site.ok]
    (site,) = (site for site in analysis.sites if site.node.op_type == "MatMulInteger")
    assert not site.remedies, "the zeros in front of the codes serve the product too"


def test_movement_tells_needed_from_unneeded(opened: Opened, encoder: onnx.ModelProto) -> None:
    movement = Movement(opened, encoder.SerializeToString(), CONTAINER, [{"T": 1}, {"T": 5}, {"T": 11}], (0, 1, 3))
    assert movement.of(padded_symbolic(opened)) < 1e-5
    for mutant in mutants(opened):
        assert movement.of(mutant.model) > NEEDED, mutant.node


def test_fewer_lengths_when_asked_and_every_core_for_large_weights(
    opened: Opened, encoder: onnx.ModelProto, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules[judge.__module__], "_HEAVY", 0)
    asked = []
    monkeypatch.setattr(Engine, "__init__", partialmethod(_noting_threads, asked, Engine.__init__))
    metadata = certificate(opened.analyse(), {}, CONTAINER, "cpu")
    candidate = Candidate("static", static(opened).SerializeToString(), metadata, CONTAINER)
    report = judge(opened.analyse(), encoder.SerializeToString(), [candidate], limit=3)
    assert report.ok, report.to_json()
    assert {1, 12} < {row.length for row in report.rows} and len({row.length for row in report.rows}) == 3
    assert asked.count(0) == 3  # native with and without the optimiser, and the padded graph


def _noting_threads(self: Engine, asked: list[int], init: Any, model: Any, **options: Any) -> None:
    asked.append(options.get("threads", 1))
    init(self, model, **options)


def test_a_wrong_length_fails(opened: Opened, encoder: onnx.ModelProto) -> None:
    padded = static(opened)
    node = next(node for node in padded.graph.node if "y_length" in node.output)
    node.output[list(node.output).index("y_length")] = "right"
    padded.graph.initializer.append(numpy_helper.from_array(np.array([1]), "one"))
    padded.graph.node.append(helper.make_node("Sub", ["right", "one"], ["y_length"]))
    report = judged(opened, encoder, padded, CONTAINER)
    assert not any(row.length_right for row in report.rows if row.output == "y")
    assert all(row.error <= row.tolerance for row in report.rows)
    assert not report.ok


def _through_add(padded: onnx.ModelProto, addend: list[onnx.NodeProto]) -> onnx.ModelProto:
    """``y`` plus something, at the end of the graph."""
    node = next(node for node in padded.graph.node if "y" in node.output)
    node.output[list(node.output).index("y")] = "right"
    padded.graph.node.extend(addend)
    padded.graph.node.append(helper.make_node("Add", ["right", "more"], ["y"]))
    return padded


def test_what_is_not_zero_behind_the_length_fails(opened: Opened, encoder: onnx.ModelProto) -> None:
    padded = static(opened)
    tail = np.zeros((1, 12, 8), np.float32)
    tail[:, 11] = 1.0
    padded.graph.initializer.append(numpy_helper.from_array(tail, "more"))
    report = judged(opened, encoder, _through_add(padded, []), CONTAINER)
    assert not any(row.zero_behind for row in report.rows if row.output == "y" and row.length != 12)
    assert not report.ok


def test_padding_that_reaches_the_output_fails(opened: Opened, encoder: onnx.ModelProto) -> None:
    padded = static(opened)
    indices, small = np.array([11]), np.array(1e-9, np.float32)
    padded.graph.initializer.extend([numpy_helper.from_array(indices, "last"), numpy_helper.from_array(small, "small")])
    read = [
        helper.make_node("Gather", ["x", "last"], ["step"], axis=1),
        helper.make_node("Mul", ["step", "small"], ["more"]),
    ]
    report = judged(opened, encoder, _through_add(padded, read), CONTAINER)
    assert all(row.junk is False for row in report.rows if row.output == "y" and row.length != 12)
    assert all(row.junk is not False for row in report.rows if row.output == "pooled")


def test_a_domain_that_is_too_narrow_fails(opened: Opened, encoder: onnx.ModelProto) -> None:
    padded = static(opened)
    stated = certificate(opened.analyse(), {}, CONTAINER, "cpu").to_json()
    stated["symbols"]["T"]["min"] = 3
    candidate = Candidate("planted", padded.SerializeToString(), Metadata.from_json(stated, where="a test"), CONTAINER)
    analysis = opened.analyse()
    analysis.scope.reasons["T"] = "a frame needs three steps"
    report = judge(analysis, encoder.SerializeToString(), [candidate])
    wrong = [check for check in report.domain if check.ok is False and check.why == "below the shortest"]
    assert [(check.at, check.outcome) for check in wrong] == [(2, "native answers, and a frame needs three steps")]


@pytest.mark.parametrize(("operator", "gates"), [("LSTM", 4), ("GRU", 3), ("RNN", 1)])
def test_sequence_lengths_of_the_model_are_fed_row_by_row(operator: str, gates: int) -> None:
    """As a packed sequence is exported: the lengths are the model's own input, and the rows differ."""
    names = {"W": [2, gates * 3, 2], "R": [2, gates * 3, 3]}
    model = onnx.parser.parse_model(
        f"""<ir_version: 9, opset_import: ["" : 17]>
           g (float[T, B, 2] x, int64[B] n) => (float[T, 2, B, 3] y) {{
           lens = Cast <to = 6> (n)
           y = {operator} <hidden_size = 3, direction = "bidirectional"> (x, W, R, , lens) }}"""
    )
    rng = np.random.default_rng(0)
    model.graph.initializer.extend(
        numpy_helper.from_array(rng.standard_normal(shape).astype(np.float32), name) for name, shape in names.items()
    )
    opened = open_model(model, ["x:0=T"], length_inputs=["n=T"], batch="x:1", batch_size=2)
    sites = judge_alone(opened.analyse(), CONTAINER, [{"T": 11}, {"T": 2}])
    assert [site.detail for site in sites if site.op == operator] == [""]
