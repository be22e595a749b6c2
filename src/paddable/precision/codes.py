"""What a model has in fewer bits already, and what of it half would move from one code to the next.

    x ~ s (q - z)

A number near the middle between two codes goes to either with a change of its last digits, and half changes the digits
of all: one in twenty of the codes of 8 bits is then another, which costs as much as the 8 bits themselves did. So what
is made of codes and becomes codes again is computed in fp32, and so are scales.
"""

from __future__ import annotations

from collections.abc import Iterator

import onnx_ir as ir

from paddable.precision.moves import MOVES

__all__ = ["between_codes", "bits_computed", "bits_of", "rounds_inside", "rounds_to_ranges"]

_OF_8_BITS = {
    "ConvInteger", "DequantizeLinear", "DynamicQuantizeLSTM", "DynamicQuantizeLinear", "DynamicQuantizeMatMul",
    "MatMulInteger", "MatMulIntegerToFloat", "QAttention", "QEmbedLayerNormalization", "QGemm", "QuantizeLinear",
}  # fmt: skip
_CODES_ALONE = {"DequantizeLinear", "DynamicQuantizeLinear", "QuantizeLinear"}
_OF_BITS = {"GatherBlockQuantized": 4, "MatMulBnb4": 4, "MatMulFpQ4": 4, "MatMulNBits": 4}
"""Operators that keep weights in so many bits unless an attribute says otherwise, and compute in floats."""


_IN_8_BITS_INSIDE = 4
"""An ``accuracy_level`` of MatMulNBits: what goes in is rounded to 8 bits too."""


def bits_of(node: ir.Node) -> int | None:
    """In how many bits a node computes, or keeps what it reads; None where it does not say so itself."""
    if node.op_type in _OF_8_BITS or node.op_type.startswith("QLinear"):
        return 8
    return node.attributes.get_int("bits", _OF_BITS[node.op_type]) if node.op_type in _OF_BITS else None


def bits_computed(node: ir.Node) -> int | None:
    """As ``bits_of``; None for what only makes codes, or numbers of codes."""
    return None if node.op_type in _CODES_ALONE else bits_of(node)


def rounds_to_ranges(graph: ir.Graph) -> bool:
    """Whether it rounds values to fixed ranges itself."""
    return any(node.op_type == "QuantizeLinear" for node in graph)


def between_codes(graph: ir.Graph) -> dict[ir.Node, str]:
    """The nodes that half would move codes by, each with its reason.

    Those that compute in codes; those that make of codes what becomes codes of a fixed range again; and who makes what
    a range is taken of. Weights that are only stored in codes are none: nobody rounds what they are multiplied with.
    """
    found: dict[ir.Node, str] = {}
    made: set[ir.Node] = set()  # of codes that the model computes
    for node in graph:
        producers = [value.producer() for value in node.inputs if value is not None]
        if _computes_codes(node) or (node.op_type == "Cast" and any(p is not None and _sums(p) for p in producers)):
            found[node] = "codes and their scale" if node.op_type in _CODES_ALONE else "a product in 8 bits"
        of_codes = node.op_type == "DequantizeLinear" and producers[:1] != [None]
        if of_codes or (bits_of(node) is None and any(producer in made for producer in producers)):
            made.add(node)
    for node in _in_front_of(graph, {node for node in graph if node.op_type == "QuantizeLinear"}, made):
        found.setdefault(node, "it becomes codes of a fixed range")
    return found


def rounds_inside(node: ir.Node) -> bool:
    """Whether it is a product with weights in few bits that rounds what goes in to 8."""
    return node.op_type == "MatMulNBits" and node.attributes.get_int("accuracy_level", 0) == _IN_8_BITS_INSIDE


def _computes_codes(node: ir.Node) -> bool:
    return rounds_inside(node) or (node.op_type != "MatMulNBits" and bits_of(node) == 8)


def _sums(node: ir.Node) -> bool:
    return node.op_type in ("ConvInteger", "MatMulInteger")


def _in_front_of(graph: ir.Graph, rounding: set[ir.Node], made: set[ir.Node]) -> Iterator[ir.Node]:
    """Whoever makes what these round, and what stands in front of it as far as it is made of codes."""
    waiting = [
        producer
        for node in rounding
        if node.inputs[0] is not None and (producer := node.inputs[0].producer()) is not None
    ]
    seen: set[ir.Node] = set()
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        yield node
        producers = [value.producer() for value in node.inputs if value is not None]
        waiting += [
            producer for producer in producers if producer is not None and (node.op_type in MOVES or producer in made)
        ]
