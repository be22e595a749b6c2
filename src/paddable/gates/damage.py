"""What fewer bits do to each product or convolution of native, measured where it stands, on examples.

Beside each runs the same in fewer bits, on the same input, so that one run tells the damage of every one alone: the
energy of the difference over the energy of the answer, of each row or step, and the mean of all. A row with one large
number takes the range and leaves few codes to the others; over all rows at once its own energy would hide that.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx_ir as ir

from paddable.gates.engine import Array, Engine
from paddable.graph.initialisers import add_initialiser
from paddable.graph.names import Names
from paddable.graph.types import know_types
from paddable.precision.damage import Twins
from paddable.precision.int8 import Weight, storable

__all__ = ["Comparison", "compared"]


def compared(model: ir.Model, twins: Twins) -> tuple[ir.Model, dict[str, str]]:
    """A copy whose only outputs are what is measured, and by the answer of each node the name of its damage."""
    made = model.clone()
    know_types(made)
    graph, names = made.graph, Names(made.graph)
    found: dict[str, str] = {}
    zero, one, tiny = (add_initialiser(graph, names, "compared", np.float32(number)) for number in (0, 1, 1e-30))
    graph.outputs.clear()
    readers_of = {node: [(use.node, use.idx) for use in node.outputs[0].uses()] for node in graph}
    weights = storable(graph, left=True)
    for node, nodes in twins(made, names):
        exact, readers = node.outputs[0], readers_of[node]
        for made_node in nodes:
            made_node.name = names.fresh("compared")
            for output in made_node.outputs:
                output.name = names.fresh("compared")
        summed, ones = _summing(node, weights[node])  # an axis of sums, in any opset
        columns = add_initialiser(graph, names, "compared", ones)

        def add(operator: str, *inputs: ir.Value, nodes: list[ir.Node] = nodes, **attributes: int) -> ir.Value:
            nodes.append(ir.node(operator, inputs, attributes=attributes))
            nodes[-1].outputs[0].name = names.fresh("compared")
            return nodes[-1].outputs[0]

        gap = add("Sub", nodes[-1].outputs[0], exact)
        noise, energy = (
            add(summed, columns, squares) if weights[node].stands_left(node) else add(summed, squares, columns)
            for squares in (add("Mul", gap, gap), add("Mul", exact, exact))
        )
        energy = add("Add", energy, tiny)
        share = add("ReduceMean", add("Min", add("Div", noise, energy), one), keepdims=0)
        # Who reads it waits, as of ``observe``; a share that is NaN stays with its node.
        passed = add("Add", exact, add("Where", add("Less", share, one), zero, zero))
        for reader, position in readers:
            reader.replace_input_with(position, passed)
        graph.insert_after(node, nodes)
        share.type, share.shape = ir.TensorType(ir.DataType.FLOAT), ir.Shape(())
        graph.outputs.append(share)
        found[str(exact.name)] = str(share.name)
    return made, found


def _summing(node: ir.Node, weight: Weight) -> tuple[str, Array]:
    """The operator that sums over the channels of a node's answer, and its constant, by the sizes of its weight."""
    sizes: Sequence[int] = weight.tensor.shape.numpy()
    if weight.stands_left(node):
        return "MatMul", np.ones((1, sizes[-2]), np.float32)
    if node.op_type in ("Gather", "Gemm", "MatMul"):
        columns = sizes[0] if node.attributes.get_int("transB", 0) else sizes[-1]
        return "MatMul", np.ones((columns, 1), np.float32)
    channels = sizes[0] if node.op_type == "Conv" else sizes[1] * (node.attributes.get_int("group", 1) or 1)
    return "Conv", np.ones((1, channels, *[1] * (len(sizes) - 2)), np.float32)


class Comparison:
    """Runs a compared model; arguments as of ``observe.Observer``."""

    def __init__(self, file: Path, names: Mapping[str, str], threads: int = 0) -> None:
        self._names = names
        self._engine = Engine(file, optimise=False, where="native", threads=threads, arena=True)

    def damage(self, feeds: Mapping[str, Array]) -> dict[str, float]:
        """By answer, the share of energy that fewer bits change, from 0 to 1; infinite where energies overflow.

        Raises:
            EngineError: native does not run on these inputs.
        """
        if not self._names:  # ONNX Runtime takes no run that asks for nothing
            return {}
        seen = self._engine.run(feeds)
        shares = {name: float(seen[share]) for name, share in self._names.items()}
        return {name: math.inf if math.isnan(share) else share for name, share in shares.items()}
