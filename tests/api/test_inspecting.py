"""``inspect`` tells a person with a file what to run next."""

from __future__ import annotations

import onnx
import onnx.parser
import pytest

import paddable

TEXT = """<ir_version: 8, opset_import: ["" : {opset}]>
g (float[batch, N] x, int64[batch] lens) => (float[batch, N] y) {{ l = Cast<to=1>(lens) y = Relu(x) }}"""


@pytest.mark.parametrize("opset", [7, 17, 99])
def test_any_opset_can_be_looked_at_and_ends_with_a_command(opset: int) -> None:
    report = paddable.inspect(onnx.parser.parse_model(TEXT.format(opset=opset)))
    assert report.opsets == {"ai.onnx": opset}
    assert report.to_json()["next"] == "paddable check MODEL.onnx --length x:1=T --length-input lens=T"
    assert report.to_json()["suggested"]["length_inputs"] == ["lens"]
