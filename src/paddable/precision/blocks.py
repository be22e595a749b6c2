"""int4: matrices stored in 4 bits, one scale for 32 numbers of a column; everything is computed in fp32.

    w ~ scale[b] (q - 8),  scale[b] = max |w[b]| / 7,  q in 1 .. 15

One operator of ONNX Runtime, ``com.microsoft.MatMulNBits``, which keeps the weights in 4 bits in memory and restores a
block at a time: an eighth of fp32 on disk and in memory. It saves memory, not time, at the lengths of an encoder. The
layout is the operator's: uint8 [N, blocks, 16], two numbers a byte, the first in the low half. ONNX Runtime's own
quantiser writes the same; it needs the runtime, which this package may not import.

A table that a lookup shares with a product, as tied embeddings do, is stored in 8 bits for both: the operator has a
layout that no lookup reads, and the table in 4 bits and in 8 besides would be larger.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray
from onnx_ir.passes import common

from paddable.graph.initialisers import add_initialiser
from paddable.graph.names import Names
from paddable.precision.int8 import storable, store_weights
from paddable.precision.int8 import twins as twins_of_stored
from paddable.precision.moves import moved_with

__all__ = ["StoreWeightsAsInt4Pass", "packed", "twins"]

BLOCK, BITS, ZERO = 32, 4, 8


class StoreWeightsAsInt4Pass(ir.passes.InPlacePass):
    """Stores the constant matrices of MatMul, but those of a front end, in 4 bits, and tied tables in 8.

    Args:
        kept: names of values whose products keep their weights, each with its reason.

    Requires: weights in fp32.
    Ensures: inputs and outputs keep names and types; every value that is computed stays fp32.
    Modifies: nodes and initialisers of the main graph; imports the domain com.microsoft.
    """

    def __init__(self, kept: Mapping[str, str] | None = None) -> None:
        self._kept = kept or {}

    def call(self, model: ir.Model) -> ir.passes.PassResult:
        graph, names = model.graph, Names(model.graph)
        kept = {value.producer() for value in moved_with(graph, self._kept)}
        stored: dict[ir.Value, tuple[ir.Value, ir.Value]] = {}
        tied = [node for node in _tied(model) if node not in kept]
        for node, matrix in _products(model).items():
            if node not in kept:
                made = _in_4_bits(graph, names, node, matrix, stored)
                ir.convenience.replace_nodes_and_values(graph, node, [node], [made], node.outputs, made.outputs)
        if stored:
            common.RemoveUnusedNodesPass()(model)
            model.opset_imports["com.microsoft"] = 1
        return ir.passes.PassResult(model, store_weights(model, tied) or bool(stored))


def twins(model: ir.Model, names: Names) -> list[tuple[ir.Node, list[ir.Node]]]:
    """See ``damage.Twins``."""
    tied = _tied(model)
    eight = twins_of_stored(model, names, tied) if tied else []
    found = [(node, [_in_4_bits(model.graph, names, node, matrix, {})]) for node, matrix in _products(model).items()]
    if found:
        model.opset_imports["com.microsoft"] = 1
    return [*found, *eight]


def _products(model: ir.Model) -> dict[ir.Node, ir.TensorProtocol]:
    """The products with a constant matrix that is worth it, those of a front end and of a tied table aside."""
    tied = _tied(model)
    return {
        node: weight.tensor
        for node, weight in storable(model.graph).items()
        if node.op_type == "MatMul" and len(weight.tensor.shape) == 2 and node not in tied
    }


def _tied(model: ir.Model) -> set[ir.Node]:
    """The lookups and products that share a table; none where the opset has no 8 bits for it."""
    if model.graph.opset_imports.get("", 0) < 13:
        return set()
    return {node for node, weight in storable(model.graph).items() if weight.table is not None}


def _in_4_bits(
    graph: ir.Graph,
    names: Names,
    node: ir.Node,
    matrix: ir.TensorProtocol,
    stored: dict[ir.Value, tuple[ir.Value, ir.Value]],
) -> ir.Node:
    """A product in 4 bits, which stands in no graph yet. Its weight is added to ``stored``."""
    weight = node.inputs[1]
    assert weight is not None
    if weight not in stored:
        numbers, scales = packed(matrix.numpy())
        stored[weight] = (
            add_initialiser(graph, names, f"{weight.name}_int4", numbers),
            add_initialiser(graph, names, f"{weight.name}_scale", scales),
        )
    rows, columns = matrix.shape.numpy()
    return ir.node(
        "MatMulNBits",
        [node.inputs[0], *stored[weight]],
        attributes={"K": rows, "N": columns, "bits": BITS, "block_size": BLOCK},
        domain="com.microsoft",
        name=node.name,
        metadata_props=dict(node.metadata_props),
    )


def packed(matrix: NDArray[np.float32]) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    """A matrix [K, N] as bytes uint8 [N, blocks, 16] and scales float32 [N, blocks]; K is filled up with zeros."""
    rows, columns = matrix.shape
    blocks = -(-rows // BLOCK)
    filled = np.zeros((columns, blocks * BLOCK), np.float32)
    filled[:, :rows] = matrix.T
    parts = filled.reshape(columns, blocks, BLOCK)
    scales = np.abs(parts).max(-1) / (ZERO - 1)
    safe = np.where(scales == 0, 1, scales)[..., None]
    numbers = (np.clip(np.rint(parts / safe), 1 - ZERO, ZERO - 1) + ZERO).astype(np.uint8)
    return np.asarray(numbers[..., ::2] | (numbers[..., 1::2] << BITS), np.uint8), scales.astype(np.float32)
