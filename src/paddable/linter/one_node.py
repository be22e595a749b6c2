"""ONNX's own tools on one node: cut it out with its types and small constants, change it, put the result back.

Working on one node at a time keeps traces and weights out of the tools' hands.
"""

from __future__ import annotations

import onnx
import onnx_ir as ir

from paddable.linter.new_parts import Parts
from paddable.linter.view.graph import GraphView, NodeView

__all__ = ["cut_out", "put_back", "reason"]


def cut_out(node: NodeView, view: GraphView) -> onnx.ModelProto:
    """A model of the node alone; small constant inputs are initializers, every other input is a graph input.

    Values have the names of the file, also where a view reads another in their place.
    """
    inputs, constants = [], []
    for name in dict.fromkeys(name for name in node.proto.input if name):
        value = view.constant(view.resolve(name))
        if value is not None:
            constants.append(onnx.numpy_helper.from_array(value, name))
        else:
            inputs.append(_typed(view, name))
    outputs = [_typed(view, name) for name in node.outputs if name]
    proto = onnx.NodeProto()
    proto.CopyFrom(node.proto)
    # The inliner looks for types among values only.
    types = [_typed(view, tensor.name) for tensor in constants]
    graph = onnx.helper.make_graph([proto], "alone", inputs, outputs, constants, value_info=types)
    opsets = [onnx.helper.make_opsetid(domain, version) for domain, version in view.opset.items()]
    return onnx.helper.make_model(graph, opset_imports=opsets, ir_version=8)


def put_back(node: ir.Node, changed: onnx.ModelProto, parts: Parts) -> None:
    """Put the nodes of a changed one-node model in the place of the node."""
    model = ir.from_proto(changed)
    outer = {value.name: value for value in node.inputs if value is not None}
    mapping: dict[ir.Value, ir.Value] = {}
    for value in (*model.graph.inputs, *model.graph.initializers.values()):
        if value.name in outer:
            mapping[value] = outer[value.name]
        else:
            assert value.const_value is not None  # a constant that the tool added
            mapping[value] = parts.constant(node, value.name or "constant", value.const_value.numpy())
    new_nodes = list(model.graph)
    for new in new_nodes:
        for index, given in enumerate(new.inputs):
            if given in mapping:
                new.replace_input_with(index, mapping[given])
    results = {value.name: value for value in model.graph.outputs}
    new_outputs = [results.get(value.name) or ir.Value() for value in node.outputs]
    model.graph.outputs.clear()
    model.graph.remove(new_nodes)
    parts.replace(node, new_nodes, new_outputs)


def reason(error: Exception) -> str:
    """What a tool says against a node, without the place in the tool's own source that may stand in front."""
    text = str(error).strip().splitlines()[0].split(" failed: ", 1)[-1].rstrip(" .")
    # The inliner names the input, and one that is left out has no name.
    return "it finds no type for an input that is left out" if text == "Type unknown for" else text


def _typed(view: GraphView, name: str) -> onnx.ValueInfoProto:
    found = view.type(view.resolve(name))
    dtype, shape = found.dtype, found.shape
    if dtype is None:
        return onnx.ValueInfoProto(name=name)
    elem = onnx.TensorProto.DataType.Value(dtype.upper())
    return onnx.helper.make_tensor_value_info(name, elem, None if shape is None else list(shape))
