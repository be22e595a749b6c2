"""A fix takes no constant from what the graph does not settle: stale annotations, initializers that may be replaced."""

from __future__ import annotations

import numpy as np
import onnx
import onnx_ir as ir
import pytest

from paddable.api.running import Sampled
from paddable.linter.view.folding import view_model
from paddable.providers.report import fix_for, lint_for

SPLIT = """p, q = Split<axis: int = 2, num_outputs: int = 2>(h) s = Sigmoid(q) y = Mul(p, s)"""
JOINED = f"""<ir_version: 8, opset_import: ["" : 18]> a (float[1, 4, T] x) => (float[1, 4, M] y)
    <float[1, 4, 32000] h> {{ h = Concat<axis: int = 2>(x, x) {SPLIT} }}"""
COUNTED = """<ir_version: 8, opset_import: ["" : 18]> a (float[1, 4, T] x) => (float[1, 4, M] y)
    <float[1, 4, 32000] h> {
    h = Concat<axis: int = 2>(x, x)
    n = Shape<start: int = 2>(h) m = Neg(n) one = Constant<value = int64[1] {1}>() k = Add(m, one)
    z = Constant<value = int64[5] {0, 0, 0, 0, 0}>() p = Concat<axis: int = 0>(z, k) y = Pad(h, p) }"""
IN_A_BRANCH = f"""<ir_version: 8, opset_import: ["" : 18]> a (bool c, float[1, 4, T] x) => (float[1, 4, M] y) {{
    y = If(c) <then_branch = t () => (float[1, 4, M] y1) <float[1, 4, 32000] h> {{
        h = Concat<axis: int = 2>(x, x) {SPLIT.replace("y =", "y1 =")} }},
    else_branch = e () => (float[1, 4, M] y2) {{ y2 = Identity(x) }}> }}"""


@pytest.mark.parametrize("text", [JOINED, IN_A_BRANCH, COUNTED])
def test_a_size_that_only_an_annotation_states_is_no_constant(text: str) -> None:
    model = ir.from_proto(onnx.parser.parse_model(text))
    fixed, report = fix_for(model, "directml", Sampled())
    assert not report.applied
    assert {node.op_type for graph in fixed.graphs() for node in graph} & {"Split", "Pad"}


def test_a_size_that_inference_confirms_is_one() -> None:
    model = ir.from_proto(onnx.parser.parse_model(JOINED.replace("T]", "16000]")))
    assert fix_for(model, "directml", Sampled())[1].applied == {"replace split with slices": 0.0}


CROP = """<ir_version: %d, opset_import: ["" : 11]> a (float[1, 8] x, int64[4] p) => (float[1, N] y)
    <int64[4] p = {0, 0, 0, -1}> { y = Pad(x, p) }"""


def test_an_initializer_that_a_run_may_replace_is_no_constant() -> None:
    proto = onnx.parser.parse_model(CROP % 4)
    view = view_model(proto)
    assert not view.is_constant("p") and view.constant("p") is None and "p" in view.inputs
    assert None is not view.shape("y") != (1, 7)
    assert "DML114" not in {finding.code for finding in lint_for(proto, "directml").findings}
    model, report = fix_for(ir.from_proto(proto), "directml", Sampled(), [{"x": np.ones((1, 8), np.float32)}])
    assert not report.applied and [node.op_type for node in model.graph] == ["Pad"]


def test_before_ir_version_4_none_may_be_replaced() -> None:
    """ONNX Runtime: ``Graph::CanOverrideInitializer`` asks for IR version 4; before, feeding one is an error."""
    proto = onnx.parser.parse_model(CROP % 3)
    assert view_model(proto).is_constant("p") and view_model(proto).shape("y") == (1, 7)
    model, report = fix_for(ir.from_proto(proto), "directml", Sampled(), [{"x": np.ones((1, 8), np.float32)}])
    assert report.applied == {"replace negative pad": 0.0}
    onnx.checker.check_model(ir.to_proto(model))
    assert [value.name for value in model.graph.inputs][:2] == ["x", "p"]
