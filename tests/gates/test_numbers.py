"""The inputs that the gates draw: numbers that native answers, whatever it computes with them first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx.parser
import pytest

import paddable
from paddable.api import verify
from paddable.api.opened import open_model
from paddable.errors import GateFailedError, RefusedError
from paddable.gates.engine import Engine, EngineError
from paddable.gates.index_limits import index_limits

HEAD = '<ir_version: 10, opset_import: ["": 17]>\n'


def converted(text: str) -> onnx.ModelProto:
    model = paddable.convert(onnx.parser.parse_model(HEAD + text), ["x:1=T"], containers=[40])
    assert isinstance(model, onnx.ModelProto)
    return model


def test_integers_that_are_summed_before_they_index_a_table() -> None:
    """Random tokens from 0 to 7 run over its end; a mask's 0 and 1 do not."""
    rows = ", ".join(f"{i}.5" for i in range(41))
    text = f"""g (int64[1, T] x) => (float[1, T, 1] y) <float[41, 1] table = {{{rows}}}, int64 axis = {{1}}> {{
        position = CumSum (x, axis)
        y = Gather (table, position)
    }}"""
    converted(text)


def test_a_logarithm_gets_numbers_that_it_has_an_answer_for() -> None:
    text = """g (float[1, T, 4] x) => (float[1, 4] y) {
        h = Log (x)
        y = ReduceMean <axes = [1], keepdims = 0> (h)
    }"""
    converted(text)


def test_nothing_can_be_compared_with_a_native_that_is_always_nan() -> None:
    text = """g (float[1, T, 4] x) => (float[1, 4] y) <float low = {-1}> {
        square = Mul (x, x)
        negative = Sub (low, square)
        h = Log (negative)
        y = ReduceMean <axes = [1], keepdims = 0> (h)
    }"""
    with pytest.raises(RefusedError, match="NaN whatever it is given"):
        converted(text)


def test_nan_of_native_at_its_shortest_length_is_no_answer_to_match() -> None:
    """x - mean over its deviation is 0 / 0 at one step, and a maximum keeps NaN or not by its position."""
    text = """g (float[N, 8, T] x) => (float[N, 8] y) {
        mean = ReduceMean <axes = [2]> (x)
        centred = Sub (x, mean)
        square = Mul (centred, centred)
        variance = ReduceMean <axes = [2]> (square)
        deviation = Sqrt (variance)
        h = Div (centred, deviation)
        y = ReduceMax <axes = [2], keepdims = 0> (h)
    }"""
    paddable.convert(onnx.parser.parse_model(HEAD + text), ["x:2=T"], containers=[20], batch_size=3)


def test_a_padded_model_that_stops_at_junk_is_told_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Engine.run

    def stops(self: Engine, feeds: Any, *rest: Any) -> Any:
        if "ilens" in feeds and np.isnan(feeds["x"]).any():
            raise EngineError("an index is out of range")
        return run(self, feeds, *rest)

    monkeypatch.setattr(Engine, "run", stops)
    text = "g (float[1, T, 4] x) => (float[1, 4] y) {y = ReduceMean <axes = [1], keepdims = 0> (x)}"
    with pytest.raises(GateFailedError, match=r"gate J: with junk in the padding it does not run: .*out of range"):
        converted(text)


def test_a_fault_that_only_loud_samples_show_fails(tmp_path: Path) -> None:
    """A quantiser that cuts off at full scale, 5% off: numbers from 0 to 7 are one code with it and without."""
    rounded = """g (int16[1, T] x) => (float[1, T, 4] y) <float s = {257}, uint8 z = {128}, int64[1] axis = {2},
        float[1, 4] w = {0.5, -1, 2, 0.25}> {
        f = Cast <to = 1> (x)
        q = QuantizeLinear (f, s, z)
        d = DequantizeLinear (q, s, z)
        c = Unsqueeze (d, axis)
        y = MatMul (c, w)
    }"""
    onnx.save(onnx.parser.parse_model(HEAD + rounded), tmp_path / "native.onnx")
    file = paddable.convert(tmp_path / "native.onnx", ["x:1=T"], containers=[400], out=tmp_path / "made.onnx")
    assert isinstance(file, Path) and verify(file, tmp_path / "native.onnx", limit=4).ok
    made = onnx.load(file)
    (scale,) = (tensor for tensor in made.graph.initializer if tensor.name == "s")
    scale.CopyFrom(onnx.numpy_helper.from_array(np.float32(257 * 1.05), "s"))
    onnx.save(made, file)
    assert not verify(file, tmp_path / "native.onnx", limit=4).ok


@pytest.mark.parametrize(
    ("kind", "body", "full"),
    [
        ("int16[1, T]", "f = Cast <to = 1> (x) g = Unsqueeze (f, axis) y = Conv (g, w)", 32768),
        ("int32[1, T]", "f = Cast <to = 1> (x) g = Unsqueeze (f, axis) y = Conv (g, w)", 32768),
        ("int64[1, T]", "f = Cast <to = 1> (x) g = Unsqueeze (f, axis) y = Sin (g)", None),
        ("int64[1, T]", "y = Gather (w, x)", None),
        ("uint8[1, T]", "f = Cast <to = 1> (x) g = Unsqueeze (f, axis) y = Conv (g, w)", None),
    ],
)
def test_which_integers_are_samples(kind: str, body: str, full: float | None) -> None:
    text = f"g ({kind} x) => (float y) <int64[1] axis = {{1}}, float[2, 1, 2] w = {{1, 2, 3, 4}}> {{ {body} }}"
    analysis = open_model(onnx.parser.parse_model(HEAD + text), ["x:1=T"]).analyse()
    assert index_limits(analysis).sounds == ({} if full is None else {"x": full})
