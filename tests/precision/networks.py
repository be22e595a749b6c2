"""Small networks as the tests of precision write them."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

__all__ = ["model"]


def model(
    body: str, inputs: str = "float[1, T, 8] x", output: str = "float[1, T, 5] y", **weights: Any
) -> onnx.ModelProto:
    """A network of opset 18 in ONNX's text, its nodes named after their operator and place."""
    proto = onnx.parser.parse_model(
        f'<ir_version: 10, opset_import: ["" : 18]>\nnet ({inputs}) => ({output}) {{ {body} }}'
    )
    for name, array in weights.items():
        kind = np.float32 if np.asarray(array).dtype.kind == "f" else np.int64
        proto.graph.initializer.append(numpy_helper.from_array(np.asarray(array, kind), name))
    for number, node in enumerate(proto.graph.node):
        node.name = f"{node.op_type}_{number}"
    return proto
