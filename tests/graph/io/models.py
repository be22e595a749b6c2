"""Small models that the tests of reading and writing share."""

from __future__ import annotations

import numpy as np
import onnx
import onnx.parser
from onnx import TensorProto, helper, numpy_helper

LARGE = 64 * 1024  # elements: above every threshold below which a tensor stays in the message


def dense(seed: int = 0, large: int = LARGE, name: str = "dense") -> onnx.ModelProto:
    """y = (x + w) * s with a large weight ``w`` and a small one ``s``."""
    weight = np.random.default_rng(seed).standard_normal(large).astype(np.float32)
    nodes = [
        helper.make_node("Add", ["x", "w"], ["h"], name="add"),
        helper.make_node("Mul", ["h", "s"], ["y"], name="scale"),
    ]
    graph = helper.make_graph(
        nodes,
        name,
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["T", large])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["T", large])],
        [numpy_helper.from_array(weight, "w"), numpy_helper.from_array(np.float32(2.0), "s")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def text(source: str) -> onnx.ModelProto:
    """A model from ONNX text; the header is added."""
    return onnx.parser.parse_model('<ir_version: 9, opset_import: ["" : 18]>' + source)
