"""One node, computed by the reference evaluator of ONNX."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
from numpy.typing import NDArray
from onnx.reference import ReferenceEvaluator

__all__ = ["evaluated"]


def evaluated(
    node: ir.Node, inputs: Sequence[NDArray[Any] | None], opsets: Mapping[str, int]
) -> list[NDArray[Any]] | None:
    """What a node answers; None for an operator that the reference lacks, or a form that it cannot take.

    Args:
        node: the node, without graphs in it.
        inputs: its inputs, None for one that is left out.
        opsets: of its graph, by domain.
    """
    proto = ir.to_proto(node)
    names = ["" if array is None else f"i{k}" for k, array in enumerate(inputs)]
    outputs = [f"o{k}" for k in range(len(node.outputs))]
    del proto.input[:], proto.output[:]
    proto.input.extend(names)
    proto.output.extend(outputs)
    unknown = onnx.TypeProto()
    graph = onnx.helper.make_graph(
        [proto],
        "evaluated",
        [onnx.helper.make_value_info(name, unknown) for name in names if name],
        [onnx.helper.make_value_info(name, unknown) for name in outputs],
    )
    imports = [onnx.helper.make_opsetid(domain, version) for domain, version in opsets.items()]
    feeds = {name: array for name, array in zip(names, inputs, strict=True) if name}
    try:
        evaluator = ReferenceEvaluator(onnx.helper.make_model(graph, opset_imports=imports))
        return [np.asarray(result) for result in evaluator.run(None, feeds)]
    except Exception:  # each operator raises what it likes
        return None
