"""The structure of an IR model as a ModelProto, without its weights: what views and ONNX's own tools are given."""

from __future__ import annotations

import onnx
import onnx_ir as ir

from paddable.linter.view.folding import view_model
from paddable.linter.view.graph import SMALL, GraphView, NodeView

__all__ = ["confirmed_view", "graph_at", "light_proto", "without_weights"]


def confirmed_view(model: ir.Model) -> GraphView:
    """What a fix sees: no size, and so no constant, that only the file's own annotations state; they may be stale."""
    return view_model(light_proto(model), trusting=False)


def light_proto(model: ir.Model) -> onnx.ModelProto:
    """The model's proto in which every large initializer is named, typed and empty. The model is not changed."""
    copy = model.clone()
    for graph in copy.graphs():
        for value in graph.initializers.values():
            tensor = value.const_value
            if tensor is not None and tensor.size > SMALL:
                value.const_value = ir.ExternalTensor(
                    "absent",
                    None,
                    None,
                    tensor.dtype,
                    shape=ir.Shape(list(tensor.shape.numpy())),
                    name=value.name or "",
                )
    return ir.to_proto(copy)


def without_weights(model: ir.Model) -> onnx.ModelProto:
    """The model's proto in which every large initializer is an input: a checker looks for no file then."""
    proto = light_proto(model)
    given = {value.name for value in proto.graph.input}

    def move(graph: onnx.GraphProto) -> None:
        tensors = list(graph.initializer)
        del graph.initializer[:]
        for tensor in tensors:
            if tensor.data_location != onnx.TensorProto.EXTERNAL:
                graph.initializer.append(tensor)
            elif tensor.name not in given:
                kind = onnx.helper.make_tensor_value_info(tensor.name, tensor.data_type, list(tensor.dims))
                proto.graph.input.append(kind)
        for node in graph.node:
            for body in NodeView(node, 0).subgraphs:
                move(body)

    move(proto.graph)
    return proto


def graph_at(model: ir.Model, view: GraphView) -> ir.Graph:
    """The IR graph that a view of ``light_proto(model)`` shows."""
    if view.outer is None or view.position is None:
        return model.graph
    node_index, body = view.position
    node = graph_at(model, view.outer)[node_index]
    bodies: list[ir.Graph] = []
    for attribute in node.attributes.values():
        if attribute.type == ir.AttributeType.GRAPH:
            bodies.append(attribute.as_graph())
        elif attribute.type == ir.AttributeType.GRAPHS:
            bodies.extend(attribute.as_graphs())
    return bodies[body]
