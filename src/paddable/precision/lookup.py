"""A table that lookups share with products, where each product needs 8 bits of its own: rows restored one by one.

    row[i] = scale * q[i]

The codes are those of a product, in its layout, under another name: ONNX Runtime 1.32 with the session entry
``session.x64quantprecision`` makes the codes of a product unsigned, and fails where another node reads them. Equal ones
have one place in a data file. Of a table that lies turned in the product, columns are gathered and turned: as many
numbers as the rows have.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
import onnx_ir as ir

from paddable.graph.initialisers import add_initialiser
from paddable.graph.names import Names
from paddable.graph.types import know_types
from paddable.precision.int8 import Weight, quantised

__all__ = ["looked_up", "lookups_with"]


def lookups_with(weights: Mapping[ir.Node, Weight], taken: Collection[ir.Node]) -> dict[ir.Node, ir.Node]:
    """The lookups of tables whose every product is taken, each with the first of them.

    Args:
        weights: of ``int8.storable``.
        taken: nodes that get their weights in 8 bits, lookups among them.
    """
    found = {}
    for node, weight in weights.items():
        others = [one for one, other in weights.items() if weight.table is not None and other.table is weight.table]
        products = [one for one in others if weights[one].at == 1]
        if weight.at == 0 and products and all(one in taken for one in others):
            found[node] = products[0]
    return found


def looked_up(model: ir.Model, names: Names, node: ir.Node, weight: Weight, axis: int) -> list[ir.Node]:
    """A lookup of numbers in 8 bits; the nodes stand in no graph yet, the constants do.

    Args:
        model: of the lookup.
        names: of its graph.
        node: the lookup.
        weight: what it reads, of ``int8.storable``.
        axis: of the channels in the product's weight, whose layout the codes get; that of the table where the number of
            axes of the ids is not known.
    """
    graph, ids, table, stem = model.graph, node.inputs[1], weight.tensor.numpy(), weight.value.name
    assert ids is not None
    rank = _rank(model, ids)
    turned = axis != weight.axis and rank is not None
    numbers, scale = quantised(table.T if turned else table, 1 - weight.axis if turned else weight.axis)
    own = weight.axis == 0  # each row has a scale
    codes = add_initialiser(graph, names, f"{stem}_int8", np.ascontiguousarray(numbers))
    scales = add_initialiser(graph, names, f"{stem}_scale", scale[:, None] if own else scale)
    nodes: list[ir.Node] = []

    def add(operator: str, *inputs: ir.Value, **attributes: int | list[int]) -> ir.Value:
        nodes.append(ir.node(operator, inputs, attributes=attributes, name=names.fresh(f"{stem}_rows")))
        nodes[-1].outputs[0].name = str(nodes[-1].name)
        return nodes[-1].outputs[0]

    rows = add("Gather", codes, ids, axis=1 if turned else 0)
    if turned and rank:
        rows = add("Transpose", rows, perm=[*range(1, rank + 1), 0])
    floats = add("Cast", rows, to=int(ir.DataType.FLOAT))
    add("Mul", floats, add("Gather", scales, ids, axis=0) if own else scales)
    return nodes


def _rank(model: ir.Model, value: ir.Value) -> int | None:
    """How many axes a value has; of one whose shape nobody noted, by inference on a copy."""
    shape = value.shape
    if shape is None:
        known = model.clone()
        know_types(known)
        made = (output for node in known.graph for output in node.outputs if output.name == value.name)
        shape = next((output.shape for output in made), None)
    return None if shape is None else len(shape)
