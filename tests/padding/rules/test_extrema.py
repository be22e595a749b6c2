"""Extrema over time: ties with the fill, conditions, and positions."""

from __future__ import annotations

import numpy as np
import onnx.parser
import onnxruntime
import pytest

from paddable.api import convert
from paddable.api.opened import open_model
from paddable.gates.engine import Engine

from .native import assert_exact, verdict_of


@pytest.mark.parametrize("kept", [0, 1])
def test_the_last_of_equal_extremes_is_a_valid_step(kept: int) -> None:
    """Every valid step is the type's minimum, so the padding ties with it, and the last index won."""
    axes = "1, 1, 4" if kept else "1, 4"
    text = f"""<ir_version: 10, opset_import: ["": 17]>
        g (int32[1, T, 4] x) => (int64[{axes}] y) {{
           y = ArgMax <axis = 1, select_last_index = 1, keepdims = {kept}> (x)
        }}"""
    padded = convert(onnx.parser.parse_model(text), ["x:1=T"], containers=[12])
    session = onnxruntime.InferenceSession(padded.SerializeToString(), providers=["CPUExecutionProvider"])
    lowest = np.full((1, 12, 4), np.iinfo(np.int32).min, np.int32)
    for steps in range(1, 13):
        (found,) = session.run(["y"], {"x": lowest, "ilens": np.array([steps])})
        assert (found == steps - 1).all(), steps


def test_the_maximum_of_conditions() -> None:
    assert_exact(
        """g (float[1, T, 4] x) => (bool[1, 1, 4] y) <float nil = {0}, int64[1] time = {1}> {
           above = Greater (x, nil)
           y = ReduceMax <keepdims = 1> (above, time)
        }""",
        "x:1=T",
        opset=20,
    )  # fmt: skip


def test_a_scalar_output_stays_a_scalar() -> None:
    assert_exact("g (float[1, T, 4] x) => (float y) { y = ReduceMean <keepdims = 0> (x) }", "x:1=T")


def test_a_flip_by_index_can_be_the_output() -> None:
    assert_exact(
        """g (float[1, T, 4] x) => (float[1, T, 4] y) <int64 axis = {1}, int64 one = {1}, int64 back = {-1}> {
           s = Shape (x)
           n = Gather (s, axis)
           last = Sub (n, one)
           index = Range (last, back, back)
           y = Gather <axis = 1> (x, index)
        }""",
        "x:1=T",
    )  # fmt: skip


def test_a_size_that_falls_is_refused() -> None:
    verdict = verdict_of(
        """g (float[1, T, 4] x) => (float[1, N, 4] y)
           <int64[1] at = {1}, int64[1] three = {3}, int64[1] one = {1}, int64[1] zero = {0}> {
           s = Shape (x)
           n = Gather (s, at)
           rest = Mod (n, three)
           end = Add (rest, one)
           y = Slice (x, zero, end, at)
        }""",
        "x:1=T",
    )  # fmt: skip
    assert verdict.outcome == "refused", verdict.reason


@pytest.mark.parametrize("factor", [0.1, 0.3])
def test_rounded_float_arithmetic_on_lengths_is_left_to_the_runtime(factor: float) -> None:
    """50 * 0.1f is 5 in float32 and more than 5 exactly, so its ceiling may not be decided in fractions."""
    assert_exact(
        f"""g (float[1, T, 4] x) => (float[1, T, 4] y)
           <int64 axis = {{1}}, float k = {{{factor}}}, float one = {{1}}> {{
           s = Shape (x)
           n = Gather (s, axis)
           f = Cast <to = 1> (n)
           g1 = Mul (f, k)
           g2 = Add (g1, one)
           h = Ceil (g2)
           y = Mul (x, h)
        }}""",
        "x:1=T",
    )  # fmt: skip


def test_a_limit_lowers_both_bounds() -> None:
    """min(i + 1, n - 1) was taken to be at least 1; at n = 1 it is 0."""
    text = """<ir_version: 10, opset_import: ["": 17]>
        g (float[1, T] x) => (float[1, T] y) <int64 axis = {1}, int64 one = {1}, int64 nil = {0}> {
           s = Shape (x)
           n = Gather (s, axis)
           i = Range (nil, n, one)
           next = Add (i, one)
           last = Sub (n, one)
           near = Clip (next, , last)
           f = Cast <to = 1> (near)
           y = Mul (x, f)
        }"""
    facts = open_model(onnx.parser.parse_model(text), ["x:1=T"]).analyse().values["near"]
    assert facts.low <= 0 < facts.high


@pytest.mark.parametrize("masked_to", [np.finfo(np.float32).min, -np.inf])
def test_scores_that_native_masks_away_altogether(masked_to: float) -> None:
    """An additive mask that is an input: beside a row of the lowest number, a fill of it would take its share."""
    model = onnx.parser.parse_model(
        """<ir_version: 10, opset_import: ["": 17]>
        g (float[1, T, 4] x, float[1, 1, T] mask) => (float[1, T, 4] y) {
           t = Transpose <perm = [0, 2, 1]> (x) s = MatMul (x, t) m = Add (s, mask) p = Softmax <axis = 2> (m)
           y = MatMul (p, x) }"""
    )  # fmt: skip
    padded = convert(model, ["x:1=T", "mask:2=T"], containers=[20], verify=False)
    x = np.random.default_rng(0).standard_normal((1, 20, 4)).astype(np.float32)
    mask = np.full((1, 1, 20), masked_to, np.float32)
    native = Engine(model.SerializeToString()).run({"x": x[:, :5], "mask": mask[..., :5]})["y"]
    got = Engine(padded.SerializeToString()).run({"x": x, "mask": mask, "ilens": np.array([5])})["y"]
    np.testing.assert_allclose(got[:, :5], native, rtol=1e-6, atol=1e-6)
    assert not got[:, 5:].any()
