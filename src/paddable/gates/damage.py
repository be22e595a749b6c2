"""What 8 bits do to each matrix product of native, measured where it stands, on examples.

Beside each product runs the same in 8 bits, on the same input, so that one run tells the damage of every product alone:
the energy of the difference over the energy of the answer, of each row, and the mean of all rows. A row with one large
number takes the range and leaves few codes to the others; over all rows at once its own energy would hide that.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx_ir as ir

from paddable.gates.engine import Array, Engine
from paddable.graph.initialisers import add_initialiser
from paddable.graph.names import Names
from paddable.precision.dynamic import in_8_bits, products
from paddable.precision.half import know_types

__all__ = ["Comparison", "compared"]


def compared(model: ir.Model) -> tuple[ir.Model, dict[str, str]]:
    """A copy whose only outputs are what is measured, and by product the name of its damage."""
    made = model.clone()
    know_types(made)
    graph, names = made.graph, Names(made.graph)
    found: dict[str, str] = {}
    zero, one, tiny = (add_initialiser(graph, names, "compared", np.float32(number)) for number in (0, 1, 1e-30))
    graph.outputs.clear()
    for node in products(graph):
        exact = node.outputs[0]
        readers = [(use.node, use.idx) for use in exact.uses()]
        twin = in_8_bits(graph, names, node)
        twin.name = names.fresh("compared")
        ones = np.ones((_columns(twin), 1), np.float32)  # an axis of sums, in any opset
        columns = add_initialiser(graph, names, "compared", ones)
        nodes = [twin]

        def add(operator: str, *inputs: ir.Value, nodes: list[ir.Node] = nodes, **attributes: int) -> ir.Value:
            nodes.append(ir.node(operator, inputs, attributes=attributes))
            nodes[-1].outputs[0].name = names.fresh("compared")
            return nodes[-1].outputs[0]

        gap = add("Sub", twin.outputs[0], exact)
        noise = add("MatMul", add("Mul", gap, gap), columns)
        energy = add("Add", add("MatMul", add("Mul", exact, exact), columns), tiny)
        share = add("ReduceMean", add("Min", add("Div", noise, energy), one), keepdims=0)
        passed = add("Add", exact, add("Mul", share, zero))  # who reads it waits, as of ``observe``
        for reader, position in readers:
            reader.replace_input_with(position, passed)
        graph.insert_after(node, nodes)
        share.type, share.shape = ir.TensorType(ir.DataType.FLOAT), ir.Shape(())
        graph.outputs.append(share)
        found[str(exact.name)] = str(share.name)
    if found:
        made.opset_imports["com.microsoft"] = 1
    return made, found


def _columns(product: ir.Node) -> int:
    weight = product.inputs[1]
    assert weight is not None and weight.const_value is not None
    return int(weight.const_value.numpy().shape[1])


class Comparison:
    """Runs a compared model; arguments as of ``observe.Observer``."""

    def __init__(self, file: Path, names: Mapping[str, str], threads: int = 0) -> None:
        self._names = names
        self._engine = Engine(file, optimise=False, where="native", threads=threads, half=False, arena=True)

    def damage(self, feeds: Mapping[str, Array]) -> dict[str, float]:
        """By product, the share of energy that 8 bits change, from 0 to 1.

        Raises:
            EngineError: native does not run on these inputs.
        """
        if not self._names:  # ONNX Runtime takes no run that asks for nothing
            return {}
        seen = self._engine.run(feeds)
        return {name: float(seen[share]) for name, share in self._names.items()}
