"""A graph of fixed ranges without its rounding: the same products of numbers that are cut off and not rounded.

A number near the middle between two codes goes to either with its last place, so two right forms of int8-static differ
by a code here and there, and how much one code moves an answer hangs on which it is. Where nothing is rounded they
compute the same sums, and 1e-5 of scale tells them apart as it does in fp32. What is rounded, and to which codes, is
the same where all scales and zeros are.
"""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from paddable.gates.engine import Source
from paddable.gates.lift import read_source
from paddable.graph.initialisers import add_initialiser
from paddable.graph.io.write import to_proto
from paddable.graph.names import Names

__all__ = ["ranges_of", "unrounded"]

Code = tuple[float, int, str]
"""Scale, zero and type of what a value is rounded to."""

_MOST = 2_000_000_000
"""Bytes of the weights: protobuf ends at 2 GB."""


def ranges_of(source: Source) -> set[Code]:
    """What the values of a file or serialised model are rounded to."""
    return {code for node in read_source(source).graph if (code := _code(node)) is not None}


def unrounded(source: Source) -> bytes:
    """A model, serialised, in which each pair that rounds a value to a fixed range only cuts it off at the ends.

    Raises:
        ValueError: it is too large for one message.
    """
    model = read_source(source)
    graph, names = model.graph, Names(model.graph)
    held = [value.const_value for value in graph.initializers.values()]
    if sum(tensor.nbytes for tensor in held if tensor is not None) > _MOST:
        raise ValueError("it is too large for one message")
    for node in list(graph):
        code = _code(node)
        readers = [user for user, _ in node.outputs[0].uses()] if code is not None else []
        if code is None or not readers or any(user.op_type != "DequantizeLinear" for user in readers):
            continue
        scale, zero, kind = code
        ends = np.iinfo(kind)
        bounds = [np.float32(scale) * np.float32(end - zero) for end in (ends.min, ends.max)]
        limits = [add_initialiser(graph, names, "paddable/cut", np.float32(bound)) for bound in bounds]
        for reader in readers:
            cut = ir.node("Clip", [node.inputs[0], *limits], name=names.fresh("cut"))
            value, old = cut.outputs[0], reader.outputs[0]
            value.name, value.type, value.shape = names.fresh("cut"), old.type, old.shape
            ir.convenience.replace_nodes_and_values(graph, reader, [reader], [cut], [old], [value])
        graph.remove(node, safe=True)
    return bytes(to_proto(model).SerializeToString())


def _code(node: ir.Node) -> Code | None:
    """Of a QuantizeLinear with one constant scale."""
    if node.op_type != "QuantizeLinear" or len(node.inputs) != 3:
        return None
    held = [None if value is None else value.const_value for value in node.inputs[1:]]
    if any(tensor is None or tensor.size != 1 for tensor in held):
        return None
    scale, zero = (tensor.numpy().reshape(-1) for tensor in held if tensor is not None)
    return float(scale[0]), int(zero[0]), str(zero.dtype)
