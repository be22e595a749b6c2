"""A small model with one leak of each common kind: attention, a convolution, and a mean over time."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

TEXT = """
<ir_version: 9, opset_import: ["" : 17]>
encoder (float[1, T, 8] x) => (float[1, T, 8] y, float[1, 8] pooled) {
  turned = Transpose<perm = [0, 2, 1]>(x)
  convolved = Conv<kernel_shape = [3], pads = [1, 1]>(turned, w, b)
  frames = Transpose<perm = [0, 2, 1]>(convolved)
  scores = MatMul(frames, convolved)
  weights = Softmax<axis = 2>(scores)
  y = MatMul(weights, frames)
  pooled = ReduceMean<axes = [1], keepdims = 0>(y)
}
"""


@pytest.fixture(scope="session")
def encoder() -> onnx.ModelProto:
    """Input x float[1, T, 8]; outputs y float[1, T, 8] and pooled float[1, 8]."""
    model = onnx.parser.parse_model(TEXT)
    rng = np.random.default_rng(0)
    for name, shape in (("w", (8, 8, 3)), ("b", (8,))):
        model.graph.initializer.append(numpy_helper.from_array(rng.normal(0, 0.3, shape).astype(np.float32), name))
    for node in model.graph.node:
        node.name = f"{node.op_type}_{node.output[0]}"
    onnx.checker.check_model(model)
    return model
