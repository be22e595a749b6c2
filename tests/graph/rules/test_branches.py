"""An If whose condition no domain decides: both branches are computed, and each row selects by its own length."""

from __future__ import annotations

import onnx.parser
import pytest

from paddable.build import check

from .native import assert_exact, verdict_of

SHORT = """
    steps = Shape <start = 1, end = 2> (x)
    few = Less (steps, limit)
    short = Squeeze (few, front)
"""


def _graph(body: str, result: str = "float[1, T, 4] y", condition: str = SHORT) -> str:
    return f"""g (float[1, T, 4] x) => ({result})
        <int64[1] limit = {{20}}, int64[1] front = {{0}}, int64[1] time = {{1}}, int64[1] all = {{1}},
         float one = {{1.0}}, int64[1] wide = {{7}}> {{
        {condition}
        {body}
    }}"""


MEAN_OR_RELU = """
    y = If (short) <
        then_branch = then () => (float[1, T, 4] p) { m = ReduceMean <axes = [1]> (x) p = Sub (x, m) },
        else_branch = other () => (float[1, T, 4] q) { q = Relu (x) }>
"""


def test_the_length_selects() -> None:
    assert_exact(_graph(MEAN_OR_RELU), "x:1=T")


@pytest.mark.parametrize("condition", ["short", "few"])
def test_each_row_selects_by_its_own_length(condition: str) -> None:
    text = _graph(MEAN_OR_RELU.replace("short", condition)).replace("float[1, T, 4]", "float[batch, T, 4]")
    assert_exact(text, "x:1=T", rows=None, padded_rows=3)


def test_leaks_inside_a_branch_are_found() -> None:
    model = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["": 17]>\n{_graph(MEAN_OR_RELU)}')
    report = check(model, ["x:1=T"])
    assert report.refusal is None
    assert any(finding.op == "ReduceMean" for finding in report.findings)


def test_a_condition_of_one_element_and_several_outputs() -> None:
    body = """
    h, k = If (few) <
        then_branch = then () => (float[1, T, 4] p, float[1, 1, 4] r) { p = Neg (x) r = ReduceMax <axes = [1]> (x) },
        else_branch = other () => (float[1, T, 4] q, float[1, 1, 4] t) { q = Relu (x) t = ReduceMean <axes = [1]> (x) }>
    y = Add (h, k)
    """
    assert_exact(_graph(body), "x:1=T")


def test_branches_within_branches() -> None:
    body = """
    y = If (short) <
        then_branch = then () => (float[1, T, 4] p) {
            eight = Constant <value = int64[1] {8}> ()
            fewer = Less (steps, eight)
            p = If (fewer) <
                then_branch = inner () => (float[1, T, 4] r) { r = Softmax <axis = 1> (x) },
                else_branch = rest () => (float[1, T, 4] s) { s = Neg (x) }> },
        else_branch = other () => (float[1, T, 4] q) { q = CumSum (x, time) }>
    """
    assert_exact(_graph(body), "x:1=T")


def test_a_condition_on_data() -> None:
    condition = """
    size = Abs (x)
    peak = ReduceMax <keepdims = 0> (size)
    short = Greater (peak, one)
    """
    body = """
    y = If (short) <
        then_branch = then () => (float[1, T, 4] p) { p = Div (x, peak) },
        else_branch = other () => (float[1, T, 4] q) { q = Identity (x) }>
    """
    assert_exact(_graph(body, condition=condition), "x:1=T")


def test_branches_of_different_shapes_are_refused() -> None:
    body = """
    h = If (short) <
        then_branch = then () => (float[1, K, 4] p) { p = ReduceMean <axes = [1]> (x) },
        else_branch = other () => (float[1, K, 4] q) { q = Relu (x) }>
    y = Neg (h)
    """
    verdict = verdict_of(_graph(body, "float[1, K, 4] y"), "x:1=T")
    assert verdict.outcome == "refused"
    assert "different shapes" in verdict.reason
