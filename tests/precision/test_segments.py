"""A detector in another precision: how far the ends of its segments move."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnx.parser
from onnx import numpy_helper

from paddable.api.exporting_segments import moved_segments, told_segments
from paddable.gates.examples import Example


def detector(path: Path, gain: float) -> Path:
    """Two classes, silence and speech, from the loudness of each frame of 400 samples at every 160."""
    text = """<ir_version: 10, opset_import: ["" : 18]>
    net (float[1, S] audio) => (float[1, T, 2] posteriors) {
      a = Abs(audio) u = Unsqueeze(a, one) m = Conv<strides = [160]>(u, k) t = Transpose<perm = [0, 2, 1]>(m)
      l = Mul(t, gain) o = Sub(l, half) n = Neg(o) c = Concat<axis = 2>(n, o) posteriors = Softmax<axis = -1>(c)
    }"""
    model = onnx.parser.parse_model(text)
    weights = {"k": np.full((1, 1, 400), 1 / 400), "gain": np.array(gain), "half": np.array(1.0)}
    for name, array in weights.items():
        model.graph.initializer.append(numpy_helper.from_array(array.astype(np.float32), name))
    model.graph.initializer.append(numpy_helper.from_array(np.array([1]), "one"))
    onnx.save(model, path)
    return path


def test_ends_that_move_and_segments_that_go_are_told(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    time = np.arange(48_000) / 16_000
    swell = (0.5 * np.exp(-(((time - 1.5) / 0.5) ** 2)) * rng.standard_normal(48_000)).astype(np.float32)
    examples = [Example("swell.wav", {"S": 48_000}, {"audio": swell[None]}), Example("features", {}, {})]
    exact = detector(tmp_path / "exact.onnx", 20)
    settings = {"vad": {}, "context": 78}

    (same,) = moved_segments(settings, exact, exact, examples, tmp_path)
    assert same["moved_ms"] == 0 and same["segments"] == same["segments_fp32"] == 1
    (later,) = moved_segments(settings, exact, detector(tmp_path / "later.onnx", 12), examples, tmp_path)
    assert 0 < later["moved_ms"] < 500
    (gone,) = moved_segments(settings, exact, detector(tmp_path / "gone.onnx", 0.1), examples, tmp_path)
    assert gone["moved_ms"] is None and gone["segments"] == 0
    told = told_segments("fp16", [later, gone])
    assert f"move by up to {later['moved_ms']} ms" in told and "in 1 the number of segments differs" in told
