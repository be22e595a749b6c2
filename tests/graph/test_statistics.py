"""Normalisations over time written out in double: closer to the truth than the kernel, in every form that they have."""

from __future__ import annotations

import numpy as np
import onnx
import onnx.parser
import onnx_ir as ir
import onnxruntime
import pytest

from paddable.graph.statistics import in_double, normalisations


def _answer(model: onnx.ModelProto, feeds: dict[str, np.ndarray]) -> np.ndarray:
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return np.asarray(session.run(None, feeds)[0])


@pytest.mark.parametrize("shape", [(1, 8, 1), (2, 8, 2), (2, 8, 3, 2)])
@pytest.mark.parametrize(
    ("op", "opset", "weights"),
    [
        ("InstanceNormalization", 11, 8), ("InstanceNormalization <epsilon = 0.001>", 17, 8),
        ("InstanceNormalization", 18, 8), ("GroupNormalization <num_groups = 4>", 18, 4),
        ("GroupNormalization <num_groups = 4, epsilon = 0.001>", 21, 8),
    ],
)  # fmt: skip
def test_in_double(op: str, opset: int, weights: int, shape: tuple[int, ...]) -> None:
    dims = ", ".join(map(str, shape))
    name, _, attributes = op.partition(" ")
    model = onnx.parser.parse_model(
        f'<ir_version: 8, opset_import: ["": {opset}]> g (float[{dims}] x, float[{weights}] s, float[{weights}] b) '
        f"=> (float[{dims}] y) {{ y = {name} {attributes} (x, s, b) }}"
    )
    random = np.random.default_rng(3)
    x = (random.normal(size=shape) * 3 + 40).astype(np.float32)
    s, b = (random.normal(size=weights).astype(np.float32) for _ in range(2))
    groups, epsilon = (4 if name.startswith("Group") else 8), (1e-3 if "epsilon" in op else 1e-5)
    rows = x.astype(np.float64).reshape(shape[0], groups, -1)
    rows = (rows - rows.mean(-1, keepdims=True)) / np.sqrt(rows.var(-1, keepdims=True) + epsilon)
    scale, bias = (np.repeat(w.astype(np.float64), 8 // weights).reshape(1, 8, *[1] * (len(shape) - 2)) for w in (s, b))
    exact = rows.reshape(shape) * scale + bias

    wide = ir.from_proto(model)
    assert len(normalisations(wide)) == 1
    assert in_double(wide) and not normalisations(wide) and not in_double(wide)
    feeds = {"x": x, "s": s, "b": b}
    before, after = (_answer(each, feeds) for each in (model, ir.to_proto(wide)))
    assert after.dtype == np.float32
    assert np.abs(after - exact).max() < 1e-6 < np.abs(before - exact).max()
