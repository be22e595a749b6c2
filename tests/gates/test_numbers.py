"""The inputs that the gates draw: numbers that native answers, whatever it computes with them first."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx.parser
import pytest

import paddable
from paddable.errors import GateFailedError, RefusedError
from paddable.gates.engine import Engine, EngineError

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
