"""Values of a graph in a wider type: every tensor, constant and Cast target."""

from __future__ import annotations

from collections.abc import Container, Iterator
from copy import deepcopy

import numpy as np
import onnx_ir as ir

__all__ = ["HALF", "lift"]

HALF = (ir.DataType.FLOAT16, ir.DataType.BFLOAT16)
_TYPES = ("to", "dtype", "output_dtype", "stash_type", "softmax_precision")
"""Integer attributes that name a type."""


def lift(
    model: ir.Model,
    narrow: Container[ir.DataType | None] = HALF,
    wide: ir.DataType = ir.DataType.FLOAT,
    *,
    forget: bool = True,
) -> bool:
    """Give every value of a type ``narrow`` the type ``wide``, in place; half becomes float where neither is said.

    Args:
        model: the model.
        narrow: types of the values that change.
        wide: the type that they get.
        forget: drop the shapes that the exporter noted of inner values.

    Returns:
        Whether there was any.
    """
    found = False
    for graph in _graphs(model):
        values = [*graph.inputs, *graph.outputs, *graph.initializers.values()]
        values += [value for node in graph for value in node.outputs]
        for value in values:
            if value.dtype in narrow:
                value.type, found = deepcopy(value.type), True  # a clone shares it
                value.dtype = wide
        for value in graph.initializers.values():
            if value.const_value is not None and value.const_value.dtype in narrow:
                value.const_value, found = _cast(value.const_value, wide), True
        for node in graph:
            found |= _lift_attributes(node, narrow, wide)
            for value in node.outputs if forget else ():
                value.shape = value.shape if value.is_graph_output() else None
    return found


def _graphs(model: ir.Model) -> Iterator[ir.Graph]:
    for root in (model.graph, *(function.graph for function in model.functions.values())):
        yield root
        yield from root.subgraphs()


def _lift_attributes(node: ir.Node, narrow: Container[ir.DataType | None], wide: ir.DataType) -> bool:
    found = False
    for name, attribute in list(node.attributes.items()):
        if attribute.is_ref():
            continue
        if attribute.type == ir.AttributeType.TENSOR and attribute.value.dtype in narrow:
            node.attributes[name], found = ir.AttrTensor(name, _cast(attribute.value, wide)), True
        elif name in _TYPES and attribute.type == ir.AttributeType.INT and attribute.value in narrow:
            node.attributes[name], found = ir.AttrInt64(name, int(wide)), True
    return found


def _cast(tensor: ir.TensorProtocol, wide: ir.DataType) -> ir.TensorProtocol:
    """The tensor in a type, made when it is written: a lift of many weights holds one of them at a time."""
    return ir.LazyTensor(
        lambda: ir.tensor(np.asarray(tensor.numpy()).astype(wide.numpy()), name=tensor.name),
        dtype=wide,
        shape=ir.Shape(tensor.shape.numpy()),
        name=tensor.name,
    )
