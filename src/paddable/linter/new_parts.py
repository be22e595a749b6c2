"""The parts that fixes build: new constants, and new nodes in the place of an old one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx_ir as ir

from paddable.graph.names import Names

__all__ = ["Parts"]


class Parts:
    """Adds to a model; every name it gives is new in the whole model, branches included."""

    def __init__(self, model: ir.Model) -> None:
        self._names = Names(model.graph)
        self._opset = model.opset_imports.get("", model.opset_imports.get("ai.onnx", 1))
        self._ir_version = model.ir_version

    def fresh(self, stem: str) -> str:
        """A name that nothing in the model has."""
        return self._names.fresh(stem)

    def integers(self, node: ir.Node, name: str, values: Sequence[int] | int) -> ir.Value:
        """A new int64 initializer in the node's graph."""
        return self.constant(node, name, np.asarray(values, np.int64))

    def constant(self, node: ir.Node, name: str, array: npt.NDArray[Any]) -> ir.Value:
        """A new initializer in the node's graph."""
        assert isinstance(node.graph, ir.Graph)
        name = self._names.fresh(name)
        value = ir.Value(name=name, const_value=ir.tensor(array, name=name))
        value.shape, value.dtype = ir.Shape(array.shape), ir.DataType.from_numpy(array.dtype)
        node.graph.register_initializer(value)
        if self._ir_version < 4:  # until then an initializer had to be an input too
            node.graph.inputs.append(value)
        return value

    def unsqueezed(self, node: ir.Node, value: ir.Value | None, axis: int) -> ir.Node:
        """An Unsqueeze of a value, to be put in the place of the node."""
        return self._on_axis("Unsqueeze", node, value, axis)

    def squeezed(self, node: ir.Node, value: ir.Value | None, axis: int) -> ir.Node:
        """A Squeeze of a value, to be put in the place of the node."""
        return self._on_axis("Squeeze", node, value, axis)

    def _on_axis(self, op: str, node: ir.Node, value: ir.Value | None, axis: int) -> ir.Node:
        if self._opset < 13:  # until then the axes were an attribute
            return ir.node(op, [value], {"axes": [axis]})
        return ir.node(op, [value, self.integers(node, f"{node.name or node.op_type}_axis", [axis])])

    def replace(self, node: ir.Node, new_nodes: Sequence[ir.Node], new_outputs: Sequence[ir.Value]) -> None:
        """Put new nodes in the place of one: outputs keep names, types and readers; the trace is copied."""
        self.replace_all(node, [node], new_nodes, node.outputs, new_outputs)

    def replace_all(
        self,
        node: ir.Node,
        nodes: Sequence[ir.Node],
        new_nodes: Sequence[ir.Node],
        outputs: Sequence[ir.Value],
        new_outputs: Sequence[ir.Value],
    ) -> None:
        """Put new nodes in the place of several.

        Args:
            node: one of them, where the new ones go; their trace is its.
            nodes: the old ones; outside of them, nobody reads anything of theirs but ``outputs``.
            new_nodes: in topological order.
            outputs: values of the old nodes that are read elsewhere.
            new_outputs: what takes the name, type and readers of each. A value without a use may be nameless.
        """
        assert isinstance(node.graph, ir.Graph)
        for new in new_nodes:
            new.metadata_props.update(node.metadata_props)
            new.doc_string = new.doc_string or node.doc_string
            new.name = self._names.fresh(f"{node.name or node.op_type}_{new.op_type.lower()}")
            for output in new.outputs:
                if output not in new_outputs and output.name != "":
                    output.name = self._names.fresh(f"{new.name}_output")
        ir.convenience.replace_nodes_and_values(
            node.graph, node, list(nodes), list(new_nodes), list(outputs), list(new_outputs)
        )
