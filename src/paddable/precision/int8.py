"""int8: weights stored in 8 bits, one scale a channel; everything is computed in fp32.

    w ~ scale[c] * q,  scale[c] = max |w[c]| / 127,  q = round(w / scale) in -127 .. 127

Activations are not quantised: a range that is measured at run time would see the padding. Standard operators only,
``DequantizeLinear`` with an axis (opset 13), so any provider reads it. ONNX Runtime's quantiser has no such form: it
quantises activations too, or stores matrices alone in an operator of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray

from paddable.errors import RefusedError
from paddable.graph.initialisers import add_initialiser
from paddable.graph.names import Names
from paddable.precision.exact import front_end_nodes, moved_with

__all__ = [
    "LEAST",
    "SESSION_CONFIG",
    "StoreWeightsAsInt8Pass",
    "demand_axis",
    "quantised",
    "storable",
    "store_weights",
    "twins",
]

SESSION_CONFIG = {"session.disable_quant_qdq": "1"}
"""What ONNX Runtime is asked for: weights restored once, when the session opens. Left alone it fuses them with matrix
products into an operator that rounds the activations too and, measured with onnxruntime 1.32 on a CPU, is slower."""

LEAST = 1024
"""Numbers from which on a weight is worth a node."""


class StoreWeightsAsInt8Pass(ir.passes.InPlacePass):
    """Stores the weights of matrix products and convolutions, but those of a front end, in 8 bits.

    Args:
        kept: names of values whose nodes keep their weights, each with its reason.

    Requires: opset 13 or later, which has a scale a channel.
    Ensures: inputs and outputs keep names and types; a weight that several nodes read is stored once.
    Modifies: initialisers of the main graph, and adds a DequantizeLinear for each weight.

    Raises:
        RefusedError: an older opset.
    """

    def __init__(self, kept: Mapping[str, str] | None = None) -> None:
        self._kept = kept or {}

    def call(self, model: ir.Model) -> ir.passes.PassResult:
        demand_axis(model)
        graph, names = model.graph, Names(model.graph)
        exact = {value.producer() for value in moved_with(graph, self._kept)}
        nodes = [node for node in storable(graph) if node not in exact]
        return ir.passes.PassResult(model, store_weights(graph, names, nodes))


def storable(graph: ir.Graph) -> list[ir.Node]:
    """The products and convolutions with a constant that is worth it, those of a front end aside."""
    exact = front_end_nodes(graph)
    return [node for node in graph if node not in exact and _weight(node) is not None]


def twins(model: ir.Model, names: Names) -> list[tuple[ir.Node, list[ir.Node]]]:
    """See ``damage.Twins``."""
    demand_axis(model)
    found = []
    for node in storable(model.graph):
        reader, _, axis = _weight(node) or (None, 0, 0)
        weight = node.inputs[1]
        if reader is node and weight is not None:
            stored = _stored(model.graph, names, weight, axis)
            inputs = [node.inputs[0], stored.outputs[0], *node.inputs[2:]]
            found.append((node, [stored, ir.node(node.op_type, inputs, attributes=dict(node.attributes))]))
    return found


def demand_axis(model: ir.Model) -> None:
    """Raise ``RefusedError`` where the opset has no scale a channel."""
    if model.graph.opset_imports.get("", 0) < 13:
        raise RefusedError(
            f"opset {model.graph.opset_imports.get('', 0)} has no DequantizeLinear with an axis",
            where="model",
            fix="export it with opset 13 or later",
        )


def store_weights(graph: ir.Graph, names: Names, nodes: Iterable[ir.Node]) -> bool:
    """Store the weights of some of ``storable`` in 8 bits; whether there was one."""
    restored: dict[tuple[ir.Value, int], ir.Value] = {}
    for node in nodes:
        found = _weight(node)
        if found is None:
            continue
        reader, position, axis = found
        weight = reader.inputs[position]
        assert weight is not None
        if (weight, axis) not in restored:
            dequantise = _stored(graph, names, weight, axis)
            graph.insert_before(reader, dequantise)
            restored[weight, axis] = dequantise.outputs[0]
        reader.replace_input_with(position, restored[weight, axis])
    for weight, _ in restored:
        if not weight.uses() and not weight.is_graph_output():
            del graph.initializers[str(weight.name)]
    return bool(restored)


def _weight(node: ir.Node) -> tuple[ir.Node, int, int] | None:
    """Who reads a node's weight, at which position, and the axis of its output channels, if it is worth storing.

    A fix of a target may have put an axis into a kernel; the weight then goes to an Unsqueeze.
    """
    if node.domain or len(node.inputs) < 2:
        return None
    reader, position = node, 1
    behind = None if node.inputs[1] is None else node.inputs[1].producer()
    if behind is not None and behind.op_type == "Unsqueeze":
        reader, position = behind, 0
    weight = reader.inputs[position]
    if weight is None or not weight.is_initializer() or weight.is_graph_input() or weight.const_value is None:
        return None
    tensor = weight.const_value
    rank = len(tensor.shape)
    if tensor.dtype != ir.DataType.FLOAT or rank < 2 or tensor.size < LEAST:
        return None
    axis = _channels(node, rank)
    if axis is None or (reader is not node and not all(put > axis for put in _put(reader))):
        return None
    return reader, position, axis


def _channels(node: ir.Node, rank: int) -> int | None:
    if node.op_type == "MatMul":
        return rank - 1
    if node.op_type == "Gemm":
        return 0 if node.attributes.get_int("transB", 0) else 1
    if node.op_type == "Conv":
        return 0
    if node.op_type == "ConvTranspose":
        return 1  # [inputs, outputs / groups, kernel]: groups share their scales
    return None


def _put(unsqueeze: ir.Node) -> list[int]:
    """The axes that it puts in; one in front of all where they are not known or count from the end."""
    axes = unsqueeze.inputs[1] if len(unsqueeze.inputs) > 1 else None
    if axes is None or axes.const_value is None:
        return [-1]
    return [int(axis) for axis in axes.const_value.numpy().reshape(-1)]


def _stored(graph: ir.Graph, names: Names, weight: ir.Value, axis: int) -> ir.Node:
    assert weight.const_value is not None
    numbers, scale = quantised(weight.const_value.numpy(), axis)
    # ONNX Runtime with `session.x64quantprecision` puts one number in place of zeros that are left out, and then fails.
    zero = np.zeros(len(scale), np.int8)
    inputs = [
        add_initialiser(graph, names, f"{weight.name}_{ending}", array)
        for array, ending in ((numbers, "int8"), (scale, "scale"), (zero, "zero"))
    ]
    name = names.fresh(f"{weight.name}_fp32")
    node = ir.node("DequantizeLinear", inputs, attributes={"axis": axis}, name=name)
    result = node.outputs[0]
    result.name, result.shape, result.type = name, weight.shape, ir.TensorType(ir.DataType.FLOAT)
    return node


def quantised(weight: NDArray[np.float32], axis: int) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Numbers int8 of the weight's shape, and scales float32 [channels]."""
    others = tuple(i for i in range(weight.ndim) if i != axis)
    scale = (np.abs(weight).max(others, keepdims=True) / 127).astype(np.float32)
    scale[scale == 0] = 1  # a channel of zeros
    numbers = np.clip(np.rint(weight / scale), -127, 127).astype(np.int8)
    return numbers, scale.reshape(-1)
