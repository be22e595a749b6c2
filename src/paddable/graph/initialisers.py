"""New constants of a graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray

from paddable.graph.names import Names

__all__ = ["add_initialiser"]


def add_initialiser(graph: ir.Graph, names: Names, stem: str, array: NDArray[Any] | np.generic) -> ir.Value:
    """A new initialiser of the graph, named ``stem`` or what is free beside it."""
    name, held = names.fresh(stem), np.asarray(array)
    tensor = ir.Tensor(held, name=name)
    value = ir.Value(name=name, shape=ir.Shape(held.shape), type=ir.TensorType(tensor.dtype), const_value=tensor)
    graph.register_initializer(value)
    return value
