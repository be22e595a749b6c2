"""Inputs bound to values, and axes to sizes."""

from __future__ import annotations

import numpy as np
import onnx
import onnx.parser
import onnx_ir as ir
import pytest

from paddable.errors import MisuseError
from paddable.graph.io.read import read_model
from paddable.graph.prepare.bind import bind

TEXT = """<ir_version: 8, opset_import: ["" : 17]>
g (float[batch, chunk] x, float[2, batch, 4] state, int64 sr, bool[1] flag, float[3] scale) => (float[batch, chunk] y)
{ y = Relu(x) }"""


@pytest.fixture
def model() -> ir.Model:
    return read_model(onnx.parser.parse_model(TEXT))


def test_an_input_becomes_a_constant_and_leaves_the_signature(model: ir.Model) -> None:
    bind(model, ["sr=16000", "flag=true", "scale=1,2.5,-3"])
    assert [value.name for value in model.graph.inputs] == ["x", "state"]
    held = {name: value.const_value.numpy() for name, value in model.graph.initializers.items() if value.const_value}
    assert held["sr"].shape == () and held["sr"].dtype == np.int64 and held["sr"] == 16000
    assert held["flag"].tolist() == [True]
    assert held["scale"].dtype == np.float32 and held["scale"].tolist() == [1, 2.5, -3]


def test_axes_get_sizes_by_place_and_by_name(model: ir.Model) -> None:
    bind(model, ["batch=2", "x:-1=512"])
    shapes = {value.name: value.shape for value in model.graph.inputs}
    assert shapes["x"] == [2, 512] and shapes["state"] == [2, 2, 4]


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("rate=1", "no input 'rate'.*sr"),
        ("sr", "not NAME=VALUE"),
        ("sr=16k", "'16k' is not a value of the input sr, which is INT64"),
        ("sr=1.5", "'1.5' is not a value"),
        ("sr=99999999999999999999", "is not a value"),
        ("scale=1,2", "is not a value of the input scale"),
        ("x:5=1", "no axis 5.*0 to 1"),
        ("x:1=0", "'0' is not a size"),
        ("state:0=3", "has the fixed size 2"),
    ],
)
def test_what_does_not_fit_is_told(model: ir.Model, setting: str, message: str) -> None:
    with pytest.raises(MisuseError, match=message):
        bind(model, [setting])
