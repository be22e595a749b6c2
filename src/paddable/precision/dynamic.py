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

from paddable.graph.initialisers import add_initialiser
from paddable.graph.names import Names
from paddable.precision.exact import front_end_nodes, moved_with
from paddable.precision.int8 import LEAST, quantised

__all__ = ["ComputeInInt8Pass", "twins"]


class ComputeInInt8Pass(ir.passes.InPlacePass):
    """Replaces matrix products with a constant by ones in 8 bits, but for those of a front end.

    Args:
        kept: names of values whose products stay in fp32, each with its reason.

    Requires: weights in fp32.
    Ensures: inputs and outputs keep names and types; a weight that several nodes read is stored once.
    Modifies: nodes and initialisers of the main graph; imports the domain com.microsoft.
    """

    def __init__(self, kept: Mapping[str, str] | None = None) -> None:
        self._kept = kept or {}

    def call(self, model: ir.Model) -> ir.passes.PassResult:
        graph, names = model.graph, Names(model.graph)
        exact = {value.producer() for value in moved_with(graph, self._kept)}
        stored: dict[tuple[ir.Value, bool], tuple[ir.Value, ...]] = {}
        found = [node for node in _products(graph) if node not in exact]
        weights = {node.inputs[1] for node in found}
        for node in found:
            made = _in_8_bits(graph, names, node, stored)
            ir.convenience.replace_nodes_and_values(graph, node, [node], [made], node.outputs, made.outputs)
            _take_bias(graph, made)
        for weight in weights:
            if weight is not None and not weight.uses() and not weight.is_graph_output():
                del graph.initializers[str(weight.name)]
        if found:
            model.opset_imports["com.microsoft"] = 1
        return ir.passes.PassResult(model, bool(found))


def twins(model: ir.Model, names: Names) -> list[tuple[ir.Node, list[ir.Node]]]:
    """See ``damage.Twins``."""
    found = [(node, [_in_8_bits(model.graph, names, node)]) for node in _products(model.graph)]
    if found:
        model.opset_imports["com.microsoft"] = 1
    return found


def _products(graph: ir.Graph) -> list[ir.Node]:
    """The matrix products that can be made in 8 bits: with a constant matrix that is worth it, not of a front end."""
    exact = front_end_nodes(graph)
    return [node for node in graph if node not in exact and _is_product(node)]


def _is_product(node: ir.Node) -> bool:
    if node.domain or node.op_type not in ("MatMul", "Gemm"):
        return False
    weight = node.inputs[1]
    if weight is None or not weight.is_initializer() or weight.is_graph_input() or weight.const_value is None:
        return False
    tensor = weight.const_value
    if tensor.dtype != ir.DataType.FLOAT or len(tensor.shape) != 2 or tensor.size < LEAST:
        return False
    if node.op_type == "MatMul":
        return True
    bias = node.inputs[2] if len(node.inputs) > 2 else None
    plain = node.attributes.get_float("alpha", 1.0) == 1 and not node.attributes.get_int("transA", 0)
    return plain and (
        bias is None
        or (
            _is_bias(bias, tensor, node.attributes.get_int("transB", 0) or 0)
            and node.attributes.get_float("beta", 1.0) == 1
        )
    )


def _is_bias(bias: ir.Value, weight: ir.TensorProtocol, transposed: int) -> bool:
    columns = weight.shape[0 if transposed else 1]
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
    if bias is not None and len(made.inputs) < 5 and _is_bias(bias, weight.const_value, 0):
        made.resize_inputs(5)
        made.replace_input_with(4, bias)
        ir.convenience.replace_nodes_and_values(graph, added, [added], [], added.outputs, [product])


def _in_8_bits(
    graph: ir.Graph,
    names: Names,
    node: ir.Node,
    stored: dict[tuple[ir.Value, bool], tuple[ir.Value, ...]] | None = None,
) -> ir.Node:
    """A product in 8 bits with the inputs of one of ``_products``; it stands in no graph yet.

    Args:
        graph: gets the weight.
        names: of the graph.
        node: the product.
        stored: weights that are in 8 bits already, by themselves and whether they are transposed; added to.
    """
    weight, transposed = node.inputs[1], node.op_type == "Gemm" and bool(node.attributes.get_int("transB", 0))
    assert weight is not None
    stored = {} if stored is None else stored
    if (weight, transposed) not in stored:
        stored[weight, transposed] = _stored(graph, names, weight, transposed)
    bias = node.inputs[2] if len(node.inputs) > 2 else None
    inputs = [node.inputs[0], *stored[weight, transposed], *([] if bias is None else [bias])]
    made = ir.node(
        "DynamicQuantizeMatMul",
        inputs,
        domain="com.microsoft",
        name=node.name,
        metadata_props=dict(node.metadata_props),
    )
    made.outputs[0].name = names.fresh(f"{node.outputs[0].name}_int8")
    return made


def _stored(graph: ir.Graph, names: Names, weight: ir.Value, transposed: bool) -> tuple[ir.Value, ...]:
    assert weight.const_value is not None
    matrix = weight.const_value.numpy()
    numbers, scale = quantised(matrix.T if transposed else matrix, 1)
    return (
        add_initialiser(graph, names, f"{weight.name}_int8", np.ascontiguousarray(numbers)),
        add_initialiser(graph, names, f"{weight.name}_scale", scale),
        add_initialiser(graph, names, f"{weight.name}_zero", np.int8(0)),  # OpenVINO does not load it without
    )
