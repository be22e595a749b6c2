"""Nodes that depend on constants alone, computed once: a table that a model writes by ScatterND inside its forward.

Only where the node's own operator has no rule. What rules know stays computed: folding the sines of a position table
would move them by an ulp from what the provider computes natively.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import onnx_ir as ir

from paddable.graph.constants import DRAWS, TABLE
from paddable.graph.evaluate import evaluated
from paddable.graph.names import Names

__all__ = ["FoldPass"]

_LARGEST = 1 << 22
"""Elements of a table that is folded: 16 MiB in float32."""
_SIZED = {"ConstantOfShape": 0, "Expand": 1}
"""Operators whose result is as large as the numbers in an input say, and that input."""


class FoldPass(ir.passes.InPlacePass):
    """Computes nodes without a rule whose whole ancestry is constants, with what they are computed from.

    Requires: constants are initialisers, topological order. Ensures: answers stay as they are; a node that the
    reference evaluator of ONNX lacks, that draws random numbers, or that is large, stays.

    Args:
        known: operators of the standard domain that have a rule, and stay.
    """

    def __init__(self, known: Iterable[str]) -> None:
        super().__init__()
        self._known = frozenset(known)

    def call(self, model: ir.Model) -> ir.passes.PassResult:
        folder = _Folder(model)
        modified = False
        for node in list(model.graph):
            if node.domain not in ("", "ai.onnx") or node.op_type in self._known:
                continue
            if any(output.is_graph_output() for output in node.outputs):
                continue
            arrays = folder.computed(node)
            if arrays is None:
                continue
            for output, array in zip(node.outputs, arrays, strict=True):
                if output.uses():
                    output.replace_all_uses_with(folder.initialiser(array))
            model.graph.remove(node, safe=True)
            modified = True
        return ir.passes.PassResult(model, modified)


class _Folder:
    def __init__(self, model: ir.Model) -> None:
        self._graph = model.graph
        self._names = Names(model.graph)
        self._done: dict[ir.Node, list[np.ndarray] | None] = {}

    def computed(self, node: ir.Node) -> list[np.ndarray] | None:
        """What a node computes, None where it depends on an input or is not to be folded."""
        if node not in self._done:
            self._done[node] = None
            operands = [node]
            while operands:  # without recursion: a chain may be long
                current = operands[-1]
                waiting = [
                    producer
                    for value in current.inputs
                    if value is not None and (producer := value.producer()) is not None and producer not in self._done
                ]
                if waiting:
                    self._done.update(dict.fromkeys(waiting))
                    operands += waiting
                    continue
                self._done[current] = self._run(current)
                operands.pop()
        return self._done[node]

    def _run(self, node: ir.Node) -> list[np.ndarray] | None:
        if node.domain not in ("", "ai.onnx") or node.op_type in DRAWS or node.graph is not self._graph:
            return None
        if any(a.type in (ir.AttributeType.GRAPH, ir.AttributeType.GRAPHS) for a in node.attributes.values()):
            return None
        arrays = [self._array(value) for value in node.inputs]
        if any(value is not None and array is None for value, array in zip(node.inputs, arrays, strict=True)):
            return None
        sizes = arrays[_SIZED[node.op_type]] if node.op_type in _SIZED else None
        if sizes is not None and np.prod(sizes, dtype=np.float64) > _LARGEST:
            return None
        found = evaluated(node, arrays, self._graph.opset_imports)
        return found if found is not None and all(array.size <= _LARGEST for array in found) else None

    def _array(self, value: ir.Value | None) -> np.ndarray | None:
        if value is None:
            return None
        if value.const_value is not None:
            return value.const_value.numpy() if value.const_value.size <= _LARGEST else None
        producer = value.producer()
        results = self._done.get(producer) if producer is not None else None
        return None if results is None or producer is None else results[producer.outputs.index(value)]

    def initialiser(self, array: np.ndarray) -> ir.Value:
        """A new initialiser of the graph."""
        name = self._names.fresh(TABLE)
        tensor = ir.tensor(np.ascontiguousarray(array).reshape(array.shape), name=name)
        value = ir.Value(name=name, type=ir.TensorType(tensor.dtype), shape=ir.Shape(array.shape), const_value=tensor)
        self._graph.register_initializer(value)
        return value
