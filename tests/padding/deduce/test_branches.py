"""An If whose condition no domain decides: both branches are computed, and each row selects by its own length."""

from __future__ import annotations

import onnx.parser
import pytest

from paddable.api import check

from ..example import Example
from ..native import assert_exact, verdict_of


def test_a_branch_is_inlined_before_nodes_that_were_sorted_ahead() -> None:
    assert_exact(
        """g (float[1, T, 2] x) => (float[1, T, 2] y, float[1, T, 2] z) <int64 zero = {0}, int64 one = {1}> {
           s = Shape (x)
           n = Gather <axis = 0> (s, one)
           c = Less (zero, n)
           y = If (c) <then_branch = t () => (float[1, T, 2] p) { q = Neg (x) p = Tanh (q) },
                       else_branch = e () => (float[1, T, 2] p) { p = Abs (x) }>
           a = Sin (y)
           z = Add (a, y)
        }""",
        "x:1=T",
    )


def test_what_is_inlined_keeps_its_names() -> None:
    """Findings and profiles name nodes and weights as the model does."""
    analysis = Example(
        """s = Shape <start = 2> (x) c = Less (nil, s) d = Squeeze (c)
           y = If (d) <then_branch = then () => (float[1, 2, T] p) <float slope = {2}> { [slanted] p = Mul (x, slope) },
                       else_branch = other () => (float[1, 2, T] q) { q = Neg (x) }>""",
        "float[1, 2, T] y",
        constants="int64[1] nil = {0}",
    ).compiled().analysis  # fmt: skip
    assert any("slope" in name for name in analysis.model.graph.initializers)
    assert any(node.name and "slanted" in node.name for node in analysis.model.graph)


MEAN_OR_RELU = """
    y = If (short) <
        then_branch = then () => (float[1, T, 4] p) { m = ReduceMean <axes = [1]> (x) p = Sub (x, m) },
        else_branch = other () => (float[1, T, 4] q) { q = Relu (x) }>
"""


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


def _verdict(branch: str, condition: str = "few = Less (peak, ten)") -> str:
    text = f"""g (int64[1, T] x) => (float[1, T] y)
        <int64[1] axis = {{1}}, int64 ten = {{2}}, float[2] short = {{1.0, 2.0}}, float[3] long = {{3.0, 4.0, 5.0}}> {{
        peak = ReduceMax <axes = [1], keepdims = 0> (x)
        {condition}
        y = If (few) <then_branch = t () => (float[1, T] p) {{ {branch} }},
                      else_branch = e () => (float[1, T] q) {{ q = Cast <to = 1> (x) }}>
    }}"""
    verdict = verdict_of(text, "x:1=T")
    return verdict.outcome if verdict.outcome != "refused" else verdict.reason


def test_a_branch_that_native_does_not_take_may_not_stop() -> None:
    """Tokens up to 7 for a table of 2: native reads it where all of them are 0 or 1."""
    assert "may be out of range where it is not taken" in _verdict("p = Gather (short, x)")
    assert "may be 0 where it is not taken" in _verdict("d = Div (ten, x) p = Cast <to = 1> (d)")


def test_a_clamped_index_is_in_range_in_either_branch() -> None:
    branch = """least = Constant <value = int64 {0}> () most = Constant <value = int64 {1}> ()
        inside = Clip (x, least, most) p = Gather (short, inside)"""
    assert _verdict(branch) == "exact"


def test_an_index_is_in_range_of_the_axis_that_is_read() -> None:
    """Of 3 columns, and of 2 rows: in tuples each entry reads an axis of its own."""
    inside = """least = Constant <value = int64 {0}> () most = Constant <value = int64 {MOST}> ()
        inside = Clip (x, least, most) zero = Constant <value = int64 {0}> ()
        table = Constant <value = float[2, 3] {0.5, 1.5, 2.5, 3.5, 4.5, 5.5}> () """
    column = "g = Gather <axis = 1> (table, inside) p = Gather (g, zero)"
    assert _verdict(inside.replace("MOST", "2") + column) == "exact"
    assert "may be out of range" in _verdict(inside.replace("MOST", "3") + column)
    row = "g = Gather <axis = 0> (table, inside) p = Gather <axis = 2> (g, zero)"
    assert _verdict(inside.replace("MOST", "1") + row) == "exact"
    assert "may be out of range" in _verdict(inside.replace("MOST", "2") + row)
    tuples = """last = Constant <value = int64[1] {-1}> () i = Unsqueeze (inside, last)
        pair = Concat <axis = -1> (i, i) p = GatherND (table, pair)"""
    assert _verdict(inside.replace("MOST", "1") + tuples) == "exact"
    assert "may be out of range" in _verdict(inside.replace("MOST", "2") + tuples)


def test_the_number_of_rows_is_no_condition() -> None:
    text = """g (float[batch, T, 4] x) => (float[batch, T, 4] y) <int64 first = {0}, int64 one = {1}> {
        s = Shape (x)
        rows = Gather (s, first)
        many = Greater (rows, one)
        y = If (many) <then_branch = t () => (float[batch, T, 4] p) { p = Neg (x) },
                       else_branch = e () => (float[batch, T, 4] q) { q = Relu (x) }>
    }"""
    verdict = verdict_of(text, "x:1=T", rows=None, padded_rows=3)
    assert verdict.outcome == "refused" and "number of rows" in verdict.reason


def test_a_table_in_a_branch_does_not_end_the_domain_of_the_other() -> None:
    text = _graph(
        """y = If (short) <
            then_branch = then () => (float[1, T, 4] p) {
                table = Constant <value = float[20] {0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19}> ()
                n = Squeeze (steps, front) row = Gather (table, n) p = Mul (x, row) },
            else_branch = other () => (float[1, T, 4] q) { q = Relu (x) }>
        """
    )
    verdict = verdict_of(text, "x:1=T")
    assert verdict.outcome == "refused"
    assert "does not take the lengths of the other: the table of 20 rows ends" in verdict.reason
