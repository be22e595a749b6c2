"""Why a precision leaves the products of a model as they are, node by node."""

from __future__ import annotations

from collections.abc import Collection

import onnx_ir as ir

from paddable.graph.constants import Constants
from paddable.precision.codes import bits_computed, bits_of
from paddable.precision.exact import front_end_nodes
from paddable.precision.half import with_bodies
from paddable.precision.int8 import LEAST, Weight, storable
from paddable.precision.moves import MOVES

__all__ = ["called", "untaken", "why_untaken"]

_PRODUCTS = ("MatMul", "Gemm", "Conv", "ConvTranspose")


def called(node: ir.Node) -> str:
    """A node as messages name it."""
    return f"{node.op_type} {node.name or node.outputs[0].name}"


def why_untaken(node: ir.Node, weight: Weight, rounds: bool) -> str:
    """Why a precision that takes products with a matrix, and ``rounds`` what goes in, leaves one of ``storable``."""
    if node.op_type == "MatMul":
        return f"whose weight {weight.value.name} has {len(weight.tensor.shape)} axes"
    if node.op_type == "Gemm" and rounds:
        return "which is more than a product and a bias"
    return "which is no MatMul"


def untaken(model: ir.Model, taken: Collection[str], rounds: bool) -> list[str]:
    """What reads a weight worth taking and keeps it, each with the reason, the largest first.

    Args:
        model: as the precision would change it.
        taken: names of the answers of nodes that it changes.
        rounds: as of ``why_untaken``.
    """
    known, exact, constants = storable(model.graph), front_end_nodes(model.graph), Constants(model.graph)
    found: dict[str, int] = {}
    for node in model.graph:
        if str(node.outputs[0].name) in taken or constants.computes(node):
            continue
        if node in known:
            size, why = known[node].tensor.size, why_untaken(node, known[node], rounds)
        else:
            size, why = _otherwise(node, constants, node in exact)
        if why:
            found[f"{called(node)}, {why}"] = size
    return sorted(found, key=lambda text: -found[text])


def _otherwise(node: ir.Node, constants: Constants, in_front: bool) -> tuple[int, str]:
    """How many numbers the largest weight has that a node reads, and why it is none of ``storable``."""
    if bits_of(node) is not None:
        bits = bits_computed(node)
        return _size_in(node), f"which is in {bits} bits already" if bits else ""
    if node.op_type in (*_PRODUCTS, "Einsum") and any(map(_from_codes, node.inputs)):
        return _size_in(node), "which is in 8 bits already"
    inside = [value for inner in list(with_bodies(node))[1:] for value in inner.inputs if value is not None]
    if inside:
        size = max((value.const_value.size for value in inside if value.const_value is not None), default=0)
        return (size, "whose body stays as it is") if size >= LEAST else (0, "")
    tensors = [(value, constants.tensor(value), at) for at, value in enumerate(node.inputs)]
    weights = [
        (value, tensor, at) for value, tensor, at in tensors if tensor is not None and tensor.dtype.is_floating_point()
    ]
    if not weights:
        return 0, ""
    value, tensor, at = max(weights, key=lambda one: one[1].size)
    name = "" if value is None else value.name
    if node.op_type in _PRODUCTS and not node.domain and len(tensor.shape) > 1:
        if tensor.size < LEAST:
            return tensor.size, f"whose weight {name} has {tensor.size:,} numbers, fewer than {LEAST:,}"
        if in_front:
            return tensor.size, "which is part of a front end"
        if tensor.dtype != ir.DataType.FLOAT:
            return tensor.size, f"whose weight {name} is {_word(tensor.dtype)}"
        return tensor.size, f"whose weight {name} is its input {at}"
    if tensor.size < LEAST:
        return 0, ""
    if node.op_type.startswith("Gather"):
        return tensor.size, f"which only looks up what {name} holds"
    return tensor.size, f"which is no {', '.join(_PRODUCTS[:-1])} or {_PRODUCTS[-1]}"


def _from_codes(value: ir.Value | None) -> bool:
    """Whether a value is restored from codes, laid out anew or not."""
    while value is not None and (producer := value.producer()) is not None:
        if producer.op_type == "DequantizeLinear":
            return True
        if producer.op_type not in MOVES | {"Cast"} or not producer.inputs:
            return False
        value = producer.inputs[0]
    return False


def _size_in(node: ir.Node) -> int:
    """Numbers of the largest constant that it reads."""
    held = [value.const_value for value in node.inputs if value is not None]
    return max((tensor.size for tensor in held if tensor is not None), default=0)


def _word(kind: ir.DataType) -> str:
    return {ir.DataType.DOUBLE: "float64"}.get(kind, kind.name.lower())
