"""Predictions against facts recorded on the real provider (onnxruntime-directml 1.24.4)."""

from __future__ import annotations

import warnings

import onnx
import pytest
from onnx.backend.test.loader import load_model_tests

from paddable.linter.view.folding import view_model
from paddable.providers.directml.placement import Placement, place
from paddable.providers.report import TargetReport, lint_for

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # numpy, while ONNX computes its expected outputs
    NODE_TESTS = {case.name: case.model for case in load_model_tests(kind="node")}

# Node tests that fail or differ on DirectML only, with the code that has to say so. Newer releases of ONNX stamp the
# tests with a newer opset, which sends the node to the CPU; the opset that was measured is put back.
FAILING = {
    "test_convtranspose_autopad_same": ("DML105", 21),
    "test_resize_downsample_sizes_linear_antialias": ("DML117", 21),
    "test_resize_downsample_scales_linear_antialias": ("DML117", 21),
    "test_resize_upsample_sizes_nearest_not_larger": ("DML117", 21),
    "test_resize_upsample_sizes_nearest_not_smaller": ("DML117", 21),
    "test_resize_downsample_sizes_nearest_not_larger": ("DML117", 21),
    "test_resize_downsample_sizes_nearest_not_smaller": ("DML117", 21),
    "test_roialign_mode_max": ("DML118", 21),
    "test_maxpool_2d_ceil_output_size_reduce_by_one": ("DML118", 21),
    "test_quantizelinear_axis": ("DML123", 21),
    "test_dequantizelinear_axis": ("DML123", 21),
    "test_qlinearmatmul_2D_uint8_float16": ("DML123", 21),
    "test_qlinearmatmul_3D_uint8_float16": ("DML123", 21),
}


def lint(text: str) -> TargetReport:
    return lint_for(onnx.parser.parse_model(text), "directml")


def placed(text: str) -> Placement:
    return place(view_model(onnx.parser.parse_model(text)))


def codes(report: TargetReport, severity: str = "error") -> set[str]:
    return {finding.code for finding in report.findings if finding.severity == severity}


@pytest.mark.parametrize("name", FAILING)
def test_failing_node_test(name: str) -> None:
    code, opset = FAILING[name]
    model = onnx.ModelProto()
    model.CopyFrom(NODE_TESTS[name])
    for entry in model.opset_import:
        if entry.domain == "":
            entry.version = opset
    assert code in codes(lint_for(model, "directml"))


def test_conv_of_opset_22_runs_on_the_cpu() -> None:
    conv = "a (float[1,2,9] x, float[3,2,4] w) => (float[1,3,6] y) { y = Conv(x, w) }"
    text = f'<ir_version: 10, opset_import: ["" : %d]> {conv}'
    assert [p.reason for p in placed(text % 22).cpu_nodes] == ["version"]
    assert not placed(text % 21).cpu_nodes


def test_chain_of_opset_23_is_copied() -> None:
    placement = placed(
        """<ir_version: 10, opset_import: ["" : 23]> a (float[2,6] x) => (float[6,2] y)
        <int64[2] s = {3,4}, int64[2] t = {6,2}> {
        a = Relu(x)
        b = Reshape(a, s)
        c = Transpose<perm: ints = [1, 0]>(b)
        d = Tanh(c)
        y = Reshape(d, t)
        }"""
    )
    assert [p.node.op for p in placement.cpu_nodes] == ["Reshape", "Transpose", "Reshape"]
    assert [(c.value, c.to_cpu) for c in placement.copies] == [("a", True), ("c", False), ("d", True)]


def test_gelu_by_opset() -> None:
    gelu = (
        '<ir_version: 9, opset_import: ["" : 20, "com.microsoft" : 1]> a (float[1,8] x) => (float[1,8] y) { y = %s(x) }'
    )
    assert [p.reason for p in placed(gelu % "Gelu").cpu_nodes] == ["operator"]
    assert not placed(gelu % "com.microsoft.Gelu").cpu_nodes


def test_double_chain_runs_wholly_on_the_cpu() -> None:
    placement = placed(
        """<ir_version: 10, opset_import: ["" : 18]> a (float[4] x) => (float[4] y) {
        d = Cast<to: int = 11>(x)
        e = Mul(d, d)
        y = Cast<to: int = 1>(e)
        }"""
    )
    assert len(placement.cpu_nodes) == 3


def test_static_lstm_model_is_two_islands_and_a_kernel() -> None:
    placement = placed(
        """<ir_version: 10, opset_import: ["" : 18]>
        a (float[5,1,2] x, float[1,12,2] w, float[1,12,3] r) => (float[5,1,1,3] y) {
        h = Relu(x)
        l = LSTM<hidden_size: int = 3>(h, w, r)
        y = Tanh(l)
        }"""
    )
    assert [len(island.nodes) for island in placement.islands] == [1, 1]
    assert [p.node.op for p in placement.kernels] == ["LSTM"]
    assert not placement.cpu_nodes and not placement.copies


def test_shape_chain_stays_on_the_cpu_without_a_copy() -> None:
    placement = placed(
        """<ir_version: 10, opset_import: ["" : 17]> a (float[1,T,8] x) => (float[1,T,2,4] y)
        <int64 one = {1}, int64[1] zero = {0}, int64[1] b = {1}, int64[2] hd = {2, 4}> {
        s = Shape(x)
        t = Gather(s, one)
        u = Unsqueeze(t, zero)
        n = Concat<axis: int = 0>(b, u, hd)
        y = Reshape(x, n)
        }"""
    )
    assert [p.node.op for p in placement.cpu_nodes] == ["Gather", "Unsqueeze", "Concat"]
    assert {p.reason for p in placement.cpu_nodes} == {"shape chain"}
    assert not placement.copies


def test_half_values_are_never_moved_to_the_cpu() -> None:
    placement = placed(
        """<ir_version: 10, opset_import: ["" : 17]> a (float[1,T] x) => (float16[2] y) {
        s = Shape(x)
        y = Cast<to: int = 10>(s)
        }"""
    )
    # The Cast reads int64, so it moves; what reads its half result would not.
    assert [p.node.op for p in placement.cpu_nodes] == ["Cast"]


def test_one_if_turns_fusion_off_and_its_branches_are_fused() -> None:
    placement = placed(
        """<ir_version: 10, opset_import: ["" : 18]> a (bool c, float[4] x) => (float[4] z) {
        h = Relu(x)
        y = If(c) <then_branch = t () => (float[4] p) { p = Tanh(h) },
            else_branch = e () => (float[4] q) { q = Neg(h) }>
        z = Exp(y)
        }"""
    )
    assert not placement.islands
    assert [len(inner.islands) for inner in list(placement.walk())[1:]] == [1, 1]


def test_wrong_value_info_and_allowzero_without_minus_one() -> None:
    head = '<ir_version: 10, opset_import: ["" : 18]> '
    lstm = lint(
        head
        + """a (float[T,1,2] x, float[1,12,2] w, float[1,12,3] r) => (float[5,1,1,3] y) {
        y = LSTM<hidden_size: int = 3>(x, w, r) }"""
    )
    assert codes(lstm) == {"DML103"}
    harmless = lint(
        head + "a (float[2,6] x) => (float[3,4] y) <int64[2] s = {3,4}> { y = Reshape<allowzero: int = 1>(x, s) }"
    )
    assert not codes(harmless)


def test_arange_view_is_innocent_without_allowzero() -> None:
    report = lint(
        """<ir_version: 8, opset_import: ["" : 17]> a (float[1,T,8] x) => (float[1,T,8] y)
        <int64 one = {1}, int64 zero = {0}, int64[3] v = {1,-1,1}> {
        s = Shape(x)
        t = Gather(s, one)
        r = Range(zero, t, one)
        p = Reshape(r, v)
        f = Cast<to: int = 1>(p)
        y = Add(x, f)
        }"""
    )
    assert not codes(report)


def test_report_says_where_and_is_json() -> None:
    report = lint('<ir_version: 10, opset_import: ["" : 18]> a (float[1,T] x) => (float[1,T] y) { y = Relu(x) }')
    data = report.to_json()
    assert data["ok"] and data["target"]["name"] == "directml" and data["target"]["session"]["one_run_at_a_time"]
    assert data["placement"]["kernels"][0]["why"].startswith("the shape of")
