"""The structure of an IR model as a ModelProto, without its weights: what views and ONNX's own tools are given."""

from __future__ import annotations

import onnx
import onnx_ir as ir

from paddable.targets.view import SMALL, GraphView

__all__ = ["graph_at", "light_proto"]


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
