"""Branches that no example takes: no range is fixed there, and nothing becomes half by what they never heard."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import onnxruntime as ort
import pytest
from onnx import numpy_helper

from paddable.api import convert

RANDOM = np.random.default_rng(0)
TEXT = """<ir_version: 10, opset_import: ["" : 18]> net (float[1, T, 64] x) => (float[1, T, 64] y) {
  mean = ReduceMean<keepdims = 0>(x) loud = Greater(mean, limit) m = MatMul(x, w)
  z = If (loud) <
    then_branch = a () => (float[1, T, 64] p) { r = Mul(m, big) p = MatMul(r, v) },
    else_branch = b () => (float[1, T, 64] q) { s = Relu(m) q = MatMul(s, u) }
  >
  y = Add(z, x)
}"""


@pytest.fixture(scope="module")
def native() -> onnx.ModelProto:
    model = onnx.parser.parse_model(TEXT)
    for name in "wuv":
        array = (0.2 + RANDOM.standard_normal((64, 64)) / 8).astype(np.float32)
        model.graph.initializer.append(numpy_helper.from_array(array, name))
    for name, number in (("limit", 0.5), ("big", 5)):
        model.graph.initializer.append(numpy_helper.from_array(np.float32(number), name))
    return model


def answer(model: onnx.ModelProto, x: np.ndarray) -> np.ndarray:
    feeds = {"x": x, "ilens": np.array([x.shape[1]])}
    session = ort.InferenceSession(model.SerializeToString())
    return session.run(["y"], {value.name: feeds[value.name] for value in session.get_inputs()})[0]


MIXED = np.clip(RANDOM.standard_normal((1, 20, 64)), -2, 2).astype(np.float32)
HEARD = {"p": MIXED, "q": np.where(np.arange(64) == 7, MIXED, np.abs(MIXED))}
"""By the branch that they do not take; both in the range of the first product."""


@pytest.mark.parametrize("left", HEARD)
def test_the_branch_that_no_example_takes_stays_in_fp32_and_that_is_told(
    left: str, native: onnx.ModelProto, tmp_path: Path
) -> None:
    np.savez(tmp_path / "x.npz", x=np.concatenate([HEARD[left], 2 * np.sign(HEARD[left])]))
    told: list[str] = []
    made = convert(native, ["x:1=T"], containers=[20], precision="int8-static", examples=tmp_path / "x.npz",
                   accept=["cosine=0.999"], gate_lengths=2, on_message=told.append)  # fmt: skip
    assert any(f"stay in fp32: {left}: is in a branch that no example takes" in line for line in told)
    assert [node.op_type for node in made.graph.node].count("QuantizeLinear") == 2
    other = HEARD["q" if left == "p" else "p"]
    want, got = answer(native, other), answer(made, other)
    assert np.abs(got - want).max() < 0.05 * np.abs(want).max()


def test_both_are_fixed_where_examples_take_both(native: onnx.ModelProto, tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", x=np.concatenate([*HEARD.values()]))
    told: list[str] = []
    convert(native, ["x:1=T"], containers=[20], precision="int8-static", examples=tmp_path / "x.npz", gate_lengths=2,
            on_message=told.append)  # fmt: skip
    assert not any("no example takes" in line for line in told)


def test_in_half_too_where_it_hangs_on_numbers(native: onnx.ModelProto, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", MIXED)
    asked = {"containers": [20], "precision": "fp16", "examples": tmp_path / "x.npy", "gate_lengths": 2}
    told: list[str] = []
    convert(native, ["x:1=T"], **asked, on_message=told.append)
    assert any("is in a branch that no example takes" in line for line in told)
    counted = "n = Shape<start = 1, end = 2>(x) c = Cast<to = 1>(n) mean = Mul(c, part)"
    text = TEXT.replace("mean = ReduceMean<keepdims = 0>(x)", counted)
    by_length = onnx.parser.parse_model(text)
    part = numpy_helper.from_array(np.float32(1 / 30), "part")
    by_length.graph.initializer.extend([*native.graph.initializer, part])
    told.clear()
    convert(by_length, ["x:1=T"], **asked, on_message=told.append)
    assert not any("no example takes" in line for line in told)
