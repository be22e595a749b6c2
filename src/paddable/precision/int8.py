"""int8: weights stored in 8 bits, one scale a channel; everything is computed in fp32.

    w ~ scale[c] * q,  scale[c] = max |w[c]| / 127,  q = round(w / scale) in -127 .. 127

Activations are not quantised: a range that is measured at run time would see the padding. Standard operators only,
``DequantizeLinear`` with an axis (opset 13), so any provider reads it. ONNX Runtime's quantiser has no such form: it
quantises activations too, or stores matrices alone in an operator of its own.

A table that a lookup and a product share, as tied embeddings do, is stored once for both. One that is only looked up
stays: its rows are numbers of the model as they are, and nothing is summed over them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray
from onnx_ir.passes import common

from paddable.errors import RefusedError
from paddable.graph.constants import Constants
from paddable.graph.initialisers import add_initialiser
from paddable.graph.names import Names
from paddable.precision.codes import bits_of
from paddable.precision.exact import front_end_nodes
from paddable.precision.moves import moved_with

__all__ = [
    "LEAST",
    "SESSION_CONFIG",
    "StoreWeightsAsInt8Pass",
    "Weight",
    "demand_axis",
    "quantised",
    "storable",
    "store_weights",
    "twins",
]

SESSION_CONFIG = {"session.disable_quant_qdq": "1"}
"""What ONNX Runtime is asked for: weights restored once, when the session opens. Left alone it fuses them with matrix
products into an operator that rounds the activations too and, measured with onnxruntime 1.32 on a CPU, is no faster."""

LEAST = 1024
"""Numbers from which on a weight is worth a node."""


class StoreWeightsAsInt8Pass(ir.passes.InPlacePass):
    """Stores the weights of matrix products and convolutions, but those of a front end, in 8 bits, and tied tables.

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
        exact = {value.producer() for value in moved_with(model.graph, self._kept)}
        modified = store_weights(model, [node for node in storable(model.graph, left=True) if node not in exact])
        return ir.passes.PassResult(model, modified)


@dataclass(frozen=True)
class Weight:
    """The constant of a product or convolution, or of a lookup that shares its table with one.

    Attributes:
        value: what the node reads: an initialiser, or what is computed of some.
        tensor: its numbers.
        axis: of the output channels; of a lookup, that of the product.
        at: the node's input that it is.
        table: the initialiser that a lookup shares with the node.
    """

    value: ir.Value
    tensor: ir.TensorProtocol
    axis: int
    at: int = 1
    table: ir.Value | None = None

    def stands_left(self, node: ir.Node) -> bool:
        """Whether it is ``w`` of a product ``w x``; a lookup reads its table at the same input."""
        return self.at == 0 and node.op_type == "MatMul"


def storable(graph: ir.Graph, *, left: bool = False) -> dict[ir.Node, Weight]:
    """The products and convolutions with a constant that is worth it, those of a front end aside; and the lookups of
    their tables.

    Args:
        graph: the graph.
        left: the products ``w x`` too, of channels along the last axis but one: what stores weights takes them, and
            the operators of ONNX Runtime that compute with them do not.
    """
    exact, constants = front_end_nodes(graph), Constants(graph)
    found = {node: _weight(node, constants) for node in graph if node not in exact}
    if left:
        found |= {node: _left(node, constants) for node, weight in found.items() if weight is None}
    products = {node: weight for node, weight in found.items() if weight is not None}
    return {**products, **_tied(products, constants)}


def twins(
    model: ir.Model, names: Names, nodes: Collection[ir.Node] | None = None
) -> list[tuple[ir.Node, list[ir.Node]]]:
    """See ``damage.Twins``; of some of ``storable``, where nodes are given."""
    demand_axis(model)
    found = []
    for node, weight in storable(model.graph, left=True).items():
        if nodes is not None and node not in nodes:
            continue
        stored = _stored(model.graph, names, weight)
        inputs = [stored.outputs[0] if at == weight.at else value for at, value in enumerate(node.inputs)]
        found.append((node, [stored, ir.node(node.op_type, inputs, attributes=dict(node.attributes))]))
    return found


def demand_axis(model: ir.Model) -> None:
    """Raise ``RefusedError`` where the opset has no scale a channel."""
    if model.graph.opset_imports.get("", 0) < 13:
        raise RefusedError(
            f"opset {model.graph.opset_imports.get('', 0)} has no DequantizeLinear with an axis",
            where="model",
            why="int8 and int8-static are written in it",
            fix="export it with opset 13 or later, or leave them out",
        )


def store_weights(model: ir.Model, nodes: Iterable[ir.Node], *, apart: bool = False) -> bool:
    """Store the weights of some of ``storable`` in 8 bits, each once; whether there was one.

    Args:
        model: is changed in place.
        nodes: whose weights.
        apart: each product has a weight of its own, and lookups none of it (``lookup``): ONNX Runtime 1.32 with
            ``session.x64quantprecision`` makes that of a product in integers unsigned, and fails where another reads
            it. Equal ones have one place in a data file.
    """
    graph, names, chosen = model.graph, Names(model.graph), set(nodes)
    weights = storable(graph, left=True)
    restored: dict[tuple[ir.Value, int, ir.Node | None], ir.Value] = {}
    shared: set[ir.Value] = set()
    for node, weight in {} if apart else weights.items():
        table = weight.table if node.op_type == "Gather" and node in chosen else None
        tied = [other for other, one in weights.items() if table is not None and one.table is table]
        if table is not None and table not in shared and chosen.issuperset(tied):
            dequantise = _stored(graph, names, weight)
            graph.insert_before(graph[0], dequantise)
            table.replace_all_uses_with(dequantise.outputs[0])
            shared.add(table)
    for node in weights:
        weight = weights[node]
        if node not in chosen or weight.table in shared or node.op_type == "Gather":
            continue
        key = weight.value, weight.axis, node if apart else None
        if key not in restored:
            dequantise = _stored(graph, names, weight)
            graph.insert_before(node, dequantise)
            restored[key] = dequantise.outputs[0]
        node.replace_input_with(weight.at, restored[key])
    common.RemoveUnusedNodesPass()(model)
    return bool(restored or shared)


def _tied(products: Mapping[ir.Node, Weight], constants: Constants) -> dict[ir.Node, Weight]:
    """The lookups of tables that else products alone read, all with the same channels, and these with their table."""
    found: dict[ir.Node, Weight] = {}
    tables = {
        node: _table(weight.value, weight.axis) for node, weight in products.items() if len(weight.tensor.shape) == 2
    }
    for table, axis in dict.fromkeys(place for place in tables.values() if place is not None):
        readers = constants.readers(table)
        lookups = [node for node, at in readers if node.op_type == "Gather" and not node.domain and at == 0]
        others = [(node, at) for node, at in readers if node not in lookups]
        whole = all(at == 1 and tables.get(node) == (table, axis) for node, at in others)
        rows = {node: weight for node in lookups if (weight := _rows(node, table, axis, constants)) is not None}
        if lookups and len(rows) == len(lookups) and whole and not table.is_graph_output():
            found |= rows
            found |= {node: replace(products[node], table=table) for node, _ in others}
    return found


def _rows(node: ir.Node, table: ir.Value, axis: int, constants: Constants) -> Weight | None:
    """What a lookup reads, where these are the rows of a table as it is laid out."""
    value, along = node.inputs[0], node.attributes.get_int("axis", 0)
    tensor = constants.tensor(value)
    if value is None or tensor is None or tensor.dtype != ir.DataType.FLOAT or along != 0:
        return None
    alike = all(_table(value, place) == (table, place) for place in (0, 1))
    return Weight(value, tensor, axis, at=0, table=table) if alike else None


def _table(value: ir.Value, axis: int) -> tuple[ir.Value, int] | None:
    """The initialiser that a matrix is, or is transposed or cast from, and where an axis of the matrix is in it."""
    while (producer := value.producer()) is not None:
        given = producer.inputs[0] if producer.inputs else None
        if producer.op_type not in ("Cast", "Identity", "Transpose") or producer.domain or given is None:
            return None
        if producer.op_type == "Transpose":
            axis = (producer.attributes.get_ints("perm", None) or (1, 0))[axis]
        value = given
    return value, axis


def _weight(node: ir.Node, constants: Constants) -> Weight | None:
    if node.domain or len(node.inputs) < 2 or node.inputs[1] is None:
        return None
    tensor = _worth_it(node.inputs[1], constants)
    if tensor is None:
        return None
    axis = _channels(node, len(tensor.shape))
    return None if axis is None else Weight(node.inputs[1], tensor, axis)


def _left(node: ir.Node, constants: Constants) -> Weight | None:
    """The matrices in front of what a product is of; each row is a channel."""
    if node.op_type != "MatMul" or node.domain or node.inputs[0] is None:
        return None
    tensor = _worth_it(node.inputs[0], constants)
    if tensor is None:
        return None
    computed = constants.tensor(node.inputs[1]) is None
    return Weight(node.inputs[0], tensor, len(tensor.shape) - 2, at=0) if computed else None


def _worth_it(value: ir.Value, constants: Constants) -> ir.TensorProtocol | None:
    """A weight in fp32 that is large enough; none made of codes, which others would round again."""
    tensor = constants.tensor(value)
    if tensor is None or tensor.dtype != ir.DataType.FLOAT or len(tensor.shape) < 2 or tensor.size < LEAST:
        return None
    return None if any(bits_of(node) for node in constants.makers(value)) else tensor


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


def _stored(graph: ir.Graph, names: Names, weight: Weight) -> ir.Node:
    numbers, scale = quantised(weight.tensor.numpy(), weight.axis)
    # ONNX Runtime with `session.x64quantprecision` puts one number in place of zeros that are left out, and then fails.
    zero, stem = np.zeros(len(scale), np.int8), weight.value.name
    inputs = [
        add_initialiser(graph, names, f"{stem}_{ending}", array)
        for array, ending in ((numbers, "int8"), (scale, "scale"), (zero, "zero"))
    ]
    name = names.fresh(f"{stem}_fp32")
    node = ir.node("DequantizeLinear", inputs, attributes={"axis": weight.axis}, name=name)
    result = node.outputs[0]
    result.name, result.shape, result.type = name, ir.Shape(numbers.shape), ir.TensorType(ir.DataType.FLOAT)
    return node


def quantised(weight: NDArray[np.float32], axis: int) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Numbers int8 of the weight's shape, and scales float32 [channels]."""
    others = tuple(i for i in range(weight.ndim) if i != axis)
    scale = (np.abs(weight).max(others, keepdims=True) / 127).astype(np.float32)
    scale[scale == 0] = 1  # a channel of zeros
    numbers = np.clip(np.rint(weight / scale), -127, 127).astype(np.int8)
    return numbers, scale.reshape(-1)
