"""What a value holds that is computed from constants alone: a weight behind a Transpose, a Cast or its own norm.

Exporters that fold no constants, and tied weights, leave such a chain in the graph. Whoever changes weights has to see
through it, or native and a container, in which short chains are folded, would differ. Constants of a container's size
are none: native has none in their place.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray

from paddable.graph.evaluate import evaluated

__all__ = ["DRAWS", "FOLDED", "SIZED", "TABLE", "Constants", "sized"]

FOLDED, SIZED, TABLE = "paddable/folded", "paddable/sized", "paddable/table"
"""First part of the names of constants that are made of constants, of the container's sizes, and of a model's table."""

DRAWS = {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"}

_LONGEST = 32
"""Nodes in a chain; a longer one is no weight."""


def sized(value: ir.Value) -> bool:
    """Whether a constant may hang on the size of the container: it was made here, and not of constants alone."""
    name = str(value.name)
    return name.startswith("paddable/") and not name.startswith((FOLDED, TABLE))


class Constants:
    """The values of a graph that are computed from its initialisers alone.

    Args:
        graph: in topological order.
    """

    def __init__(self, graph: ir.Graph) -> None:
        self._opsets = graph.opset_imports
        self._depth: dict[ir.Node, int] = {}
        self._tensors: dict[ir.Value, ir.TensorProtocol | None] = {}
        for node in graph:
            depths = [self._depth_of(value) for value in node.inputs if value is not None]
            plain = node.domain in ("", "ai.onnx") and node.op_type not in DRAWS
            if depths and plain and not any(map(_is_graph, node.attributes.values())) and None not in depths:
                depth = 1 + max(depth or 0 for depth in depths)
                if depth <= _LONGEST:
                    self._depth[node] = depth

    def tensor(self, value: ir.Value | None) -> ir.TensorProtocol | None:
        """What it holds, computed when it is read; None for a value that is not constant."""
        if value is None or self._depth_of(value) is None:
            return None
        if value.producer() is None:
            return value.const_value
        if value not in self._tensors:
            array = self._array(value)
            self._tensors[value] = None if array is None else ir.LazyTensor(
                lambda: ir.tensor(np.ascontiguousarray(self._array(value)), name=value.name),
                dtype=ir.DataType.from_numpy(array.dtype),
                shape=ir.Shape(array.shape),
                name=value.name,
            )  # fmt: skip
        return self._tensors[value]

    def computes(self, node: ir.Node) -> bool:
        """Whether a node only computes constants."""
        return node in self._depth

    def sources(self, value: ir.Value) -> set[ir.Value]:
        """The initialisers that it is computed from: itself, or what stands in front of its chain."""
        return {source for source in self._chain(value) if source.producer() is None}

    def makers(self, value: ir.Value) -> list[ir.Node]:
        """The nodes that compute it."""
        return [producer for step in self._chain(value) if (producer := step.producer()) is not None]

    def readers(self, source: ir.Value) -> list[tuple[ir.Node, int]]:
        """The nodes that read an initialiser or what is computed of it, and at which input; of chains only the end."""
        found: dict[tuple[ir.Node, int], None] = {}
        waiting, seen = [source], {source}
        while waiting:
            for node, position in waiting.pop().uses():
                if not self.computes(node):
                    found[node, position] = None
                    continue
                waiting += [output for output in node.outputs if output not in seen]
                seen.update(node.outputs)
        return list(found)

    def _depth_of(self, value: ir.Value) -> int | None:
        producer = value.producer()
        if producer is not None:
            return self._depth.get(producer)
        held = value.is_initializer() and not value.is_graph_input() and value.const_value is not None
        return 0 if held and not sized(value) else None

    def _chain(self, value: ir.Value) -> list[ir.Value]:
        """It and all that it is computed from, each once, behind what it reads."""
        found: dict[ir.Value, None] = {}

        def visit(value: ir.Value) -> None:
            if value not in found:
                for given in _inputs(value):
                    visit(given)
                found[value] = None

        visit(value)
        return list(found)

    def _array(self, value: ir.Value) -> NDArray[Any] | None:
        arrays: dict[ir.Value, NDArray[Any]] = {}
        for step in self._chain(value):
            producer = step.producer()
            if producer is None:
                assert step.const_value is not None  # `_depth_of`
                arrays[step] = step.const_value.numpy()
                continue
            answers = evaluated(
                producer, [None if given is None else arrays[given] for given in producer.inputs], self._opsets
            )
            if answers is None:
                return None
            arrays[step] = answers[producer.outputs.index(step)]
        return arrays[value]


def _inputs(value: ir.Value) -> list[ir.Value]:
    producer = value.producer()
    return [] if producer is None else [given for given in producer.inputs if given is not None]


def _is_graph(attribute: ir.Attr) -> bool:
    return attribute.type in (ir.AttributeType.GRAPH, ir.AttributeType.GRAPHS)
