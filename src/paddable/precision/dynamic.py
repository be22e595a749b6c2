"""int8-dynamic: matrix products in 8 bits, the range of what goes in measured on every run.

    x ~ s (q - z),  q in 0 .. 255,  s and z from the smallest and largest number of the whole tensor, 0 among them
    w ~ scale[c] q,  scale[c] = max |w[c]| / 127,  q signed

One operator of ONNX Runtime's CPU provider, ``com.microsoft.DynamicQuantizeMatMul``, which ends in a bias. Written here
and not by ``quantize_dynamic``: that leaves four nodes a product to the optimiser and makes weights unsigned unless
asked, which halves the speed. Convolutions stay: of the models measured they are a twentieth of the time.

The range sees every row, padding among them, so native is changed *before* it is padded: the padding rules then put
zeros in front of every range (PAD109), and 0 is in each.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import onnx_ir as ir
from onnx_ir.passes import common

from paddable.graph.initialisers import add_initialiser
from paddable.graph.names import Names
from paddable.precision.int8 import Weight, quantised, storable
from paddable.precision.lookup import looked_up, lookups_with
from paddable.precision.moves import moved_with
from paddable.precision.own_codes import give_own_codes

__all__ = ["ComputeInInt8Pass", "twins"]


class ComputeInInt8Pass(ir.passes.InPlacePass):
    """Replaces matrix products with a constant by ones in 8 bits, but for those of a front end.

    Args:
        kept: names of values whose products stay in fp32, each with its reason.

    Requires: weights in fp32.
    Ensures: inputs and outputs keep names and types; each product has a weight of its own, and so has a lookup of a
        table that else products in 8 bits alone read.
    Modifies: nodes and initialisers of the main graph; imports the domain com.microsoft.
    """

    def __init__(self, kept: Mapping[str, str] | None = None) -> None:
        self._kept = kept or {}

    def call(self, model: ir.Model) -> ir.passes.PassResult:
        graph, names = model.graph, Names(model.graph)
        exact = {value.producer() for value in moved_with(graph, self._kept)}
        found = {node: weight for node, weight in _products(graph).items() if node not in exact}
        weights = storable(graph)
        taken = {*found, *(node for node, weight in weights.items() if weight.at == 0 and node not in exact)}
        for lookup in lookups_with(weights, taken):
            rows = looked_up(model, names, lookup, weights[lookup], 1)
            ir.convenience.replace_nodes_and_values(graph, lookup, [lookup], rows, lookup.outputs, rows[-1].outputs)
        for node, weight in found.items():
            made = _in_8_bits(graph, names, node, weight)
            ir.convenience.replace_nodes_and_values(graph, node, [node], [made], node.outputs, made.outputs)
            _take_bias(graph, made)
        if found:
            common.RemoveUnusedNodesPass()(model)
            model.opset_imports["com.microsoft"] = 1
        return ir.passes.PassResult(model, give_own_codes(model) or bool(found))


def twins(model: ir.Model, names: Names) -> list[tuple[ir.Node, list[ir.Node]]]:
    """See ``damage.Twins``. They are written in what defines the operator, and summed in floats.

    The operator itself saturates on some processors unless the optimiser is on (``x64quantprecision``), and a
    comparison runs without: damage would be another on each machine.
    """
    graph, weights = model.graph, storable(model.graph)
    products = _products(graph)
    lookups = lookups_with(weights, {*products, *(node for node, weight in weights.items() if weight.at == 0)})
    return [
        *((node, _by_definition(graph, names, node, weight)) for node, weight in products.items()),
        *((node, looked_up(model, names, node, weights[node], 1)) for node in lookups),
    ]


def _by_definition(graph: ir.Graph, names: Names, node: ir.Node, weight: Weight) -> list[ir.Node]:
    """A product of numbers that were rounded to 8 bits and restored; the nodes stand in no graph yet."""
    numbers, scale = quantised(weight.tensor.numpy(), weight.axis)
    shape = [-1 if axis == weight.axis else 1 for axis in range(numbers.ndim)]
    held = add_initialiser(graph, names, f"{weight.value.name}_int8", numbers)
    scales = add_initialiser(graph, names, f"{weight.value.name}_scale", scale.reshape(shape))
    rounded = ir.node("DynamicQuantizeLinear", [node.inputs[0]], num_outputs=3)
    restored = ir.node("DequantizeLinear", rounded.outputs)
    floats = ir.node("Cast", [held], attributes={"to": int(ir.DataType.FLOAT)})
    matrix = ir.node("Mul", [floats.outputs[0], scales])
    inputs = [restored.outputs[0], matrix.outputs[0], *node.inputs[2:]]
    return [rounded, restored, floats, matrix, ir.node(node.op_type, inputs, attributes=dict(node.attributes))]


def _products(graph: ir.Graph) -> dict[ir.Node, Weight]:
    """The matrix products that can be made in 8 bits: with a constant matrix that is worth it, not of a front end."""
    return {
        node: weight
        for node, weight in storable(graph).items()
        if node.op_type in ("MatMul", "Gemm") and len(weight.tensor.shape) == 2 and _is_plain(node, weight)
    }


def _is_plain(node: ir.Node, weight: Weight) -> bool:
    """Whether a product is x w + b and no other combination."""
    if node.op_type == "MatMul":
        return True
    bias = node.inputs[2] if len(node.inputs) > 2 else None
    plain = node.attributes.get_float("alpha", 1.0) == 1 and not node.attributes.get_int("transA", 0)
    added = bias is None or node.attributes.get_float("beta", 1.0) == 1
    return plain and added and (bias is None or _is_bias(bias, weight.tensor.shape.numpy()[weight.axis]))


def _is_bias(bias: ir.Value, columns: int) -> bool:
    tensor = bias.const_value if bias.is_initializer() and not bias.is_graph_input() else None
    return tensor is not None and tuple(tensor.shape) == (columns,)


def _take_bias(graph: ir.Graph, made: ir.Node) -> None:
    """A bias that is added behind a product in 8 bits becomes its input: one pass over the answer less."""
    (product,), weight = made.outputs, made.inputs[1]
    readers = [user for user, _ in product.uses()]
    if len(readers) != 1 or readers[0].op_type != "Add" or readers[0].domain or product.is_graph_output():
        return
    (added,), (bias,) = readers, [value for value in readers[0].inputs if value is not product]
    assert weight is not None and weight.const_value is not None
    if bias is not None and len(made.inputs) < 5 and _is_bias(bias, weight.const_value.shape.numpy()[1]):
        made.resize_inputs(5)
        made.replace_input_with(4, bias)
        ir.convenience.replace_nodes_and_values(graph, added, [added], [], added.outputs, [product])


def _in_8_bits(graph: ir.Graph, names: Names, node: ir.Node, weight: Weight) -> ir.Node:
    """A product in 8 bits with the inputs of one of ``_products``; it stands in no graph yet, its weight does.

    No two share a weight: ONNX Runtime 1.32 with ``session.x64quantprecision`` makes it unsigned for each, under one
    name, and fails. Those that are equal have one place in a data file.
    """
    bias = node.inputs[2] if len(node.inputs) > 2 else None
    inputs = [node.inputs[0], *_stored(graph, names, weight), *([] if bias is None else [bias])]
    made = ir.node(
        "DynamicQuantizeMatMul",
        inputs,
        domain="com.microsoft",
        name=node.name,
        metadata_props=dict(node.metadata_props),
    )
    made.outputs[0].name = names.fresh(f"{node.outputs[0].name}_int8")
    return made


def _stored(graph: ir.Graph, names: Names, weight: Weight) -> tuple[ir.Value, ...]:
    matrix, stem = weight.tensor.numpy(), weight.value.name
    numbers, scale = quantised(matrix if weight.axis else matrix.T, 1)
    return (
        add_initialiser(graph, names, f"{stem}_int8", np.ascontiguousarray(numbers)),
        add_initialiser(graph, names, f"{stem}_scale", scale),
        add_initialiser(graph, names, f"{stem}_zero", np.int8(0)),  # OpenVINO does not load it without
    )
