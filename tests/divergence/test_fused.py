"""A file that ONNX Runtime's optimiser wrote against one that it did not: what it fused is compared in its parts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime
import pytest

import paddable

from .test_verdicts import save

TEXT = "(float[1, 4, T] x) => (float[1, 4, T] y) { %s }"
BODY = [
    "a = Conv <pads = [1, 1]> (x, w, b)",
    "c = LeakyRelu <alpha = 0.1> (a)",
    "d = Conv <pads = [1, 1]> (c, v, b)",
    "e = Add (d, c)",
    "f = Conv <pads = [2, 2], dilations = [2]> (e, u, b)",
    "h = Conv (f, k, b)",
    "y = Clip (h, low, high)",
]
RNG = np.random.default_rng(0)
WEIGHTS = {
    **{name: RNG.standard_normal((4, 4, 3)).astype(np.float32) for name in "wvu"},
    "k": RNG.standard_normal((4, 4, 1)).astype(np.float32),
    "b": np.ones(4, np.float32),
    "low": np.float32(-2),
    "high": np.float32(3),
}


@pytest.fixture
def fused(tmp_path: Path) -> Path:
    native = save(tmp_path / "native.onnx", TEXT % " ".join(BODY), **WEIGHTS)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.optimized_model_filepath = str(tmp_path / "fused.onnx")
    onnxruntime.InferenceSession(native, options, providers=["CPUExecutionProvider"])
    assert b"FusedConv" in (tmp_path / "fused.onnx").read_bytes()
    return tmp_path / "fused.onnx"


def test_the_same_weights_agree(fused: Path) -> None:
    report = paddable.probe(fused.with_name("native.onnx"), fused, ["x:2=T"])
    assert report.ok and not report.changed, report.verdict


@pytest.mark.parametrize("first", [True, False])
def test_a_weight_in_front_of_an_activation_is_named(fused: Path, first: bool) -> None:
    other = save(fused.with_name("other.onnx"), TEXT % " ".join(BODY), **{**WEIGHTS, "w": WEIGHTS["w"][:, :, ::-1]})
    fork = paddable.probe(*((other, fused) if first else (fused, other)), ["x:2=T"]).fork
    assert fork is not None and fork.cause.kind == "weights"
    assert "(w) of Conv differs" in fork.cause.text


def test_a_layer_that_is_missing_is_nowhere_else(fused: Path) -> None:
    body = [line for line in BODY if line[0] not in "de"]
    body[body.index(BODY[4])] = BODY[4].replace("(e,", "(c,")
    other = save(fused.with_name("other.onnx"), TEXT % " ".join(body), **WEIGHTS)
    fork = paddable.probe(other, fused, ["x:2=T"]).fork
    assert fork is not None and fork.cause.kind == "structure"
    assert fork.cause.text.startswith("the first graph lacks") and "somewhere else" not in fork.cause.text
