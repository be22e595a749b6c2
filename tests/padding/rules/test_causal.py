"""A causal model reads no padding: every query keeps itself, so no row of its attention is empty."""

from __future__ import annotations

import onnx.parser

from paddable.api import check

from .native import assert_exact

LAYER = """
    s{i} = MatMul (h{i}, k{i}T)
    m{i} = Where (keep, s{i}, low)
    p{i} = Softmax <axis = -1> (m{i})
    a{i} = MatMul (p{i}, h{i})
    h{j} = Add (h{i}, a{i})
"""


def _graph(keep: str) -> str:
    layers = ""
    for i in range(4):  # what a layer does not prove finite is met by the layer after the next
        layers += f"k{i}T = Transpose <perm = [0, 2, 1]> (h{i})" + LAYER.format(i=i, j=i + 1)
    return f"""g (float[1, T, 4] x) => (float[1, T, 4] y)
        <int64 zero = {{0}}, int64 unit = {{1}}, int64 window = {{3}}, int64[1] back = {{1}}, int64[1] front = {{0}},
         float low = {{-inf}}> {{
        s = Shape <start = 1, end = 2> (x)
        n = Squeeze (s, front)
        i = Range (zero, n, unit)
        row = Unsqueeze (i, back)
        column = Unsqueeze (i, front)
        age = Sub (row, column)
        past = GreaterOrEqual (age, zero)
        near = Less (age, window)
        keep = {keep}
        h0 = Identity (x)
        {layers}
        y = Identity (h4)
    }}"""


def test_sliding_causal_attention_has_no_leak() -> None:
    text = _graph("And (past, near)")
    model = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["": 17]>\n{text}')
    report = check(model, ["x:1=T"])
    assert report.refusal is None
    assert [str(finding) for finding in report.findings] == []
    assert_exact(text, "x:1=T")


def test_a_mask_that_may_empty_a_row_is_not_trusted() -> None:
    """Strictly earlier steps only: the first row keeps nothing, and later layers may meet its NaN."""
    text = _graph("Less (column, row)")
    model = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["": 17]>\n{text}')
    assert any(finding.code == "PAD108" for finding in check(model, ["x:1=T"]).findings)
