"""What ONNX Runtime's optimiser has fused, in its parts: a file that it wrote is compared with one that it did not."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

__all__ = ["unfused"]

_PARAMETERS: dict[str, tuple[str, ...]] = {
    "Clip": (),
    "HardSigmoid": ("alpha", "beta"),
    "LeakyRelu": ("alpha",),
    "Relu": (),
    "Sigmoid": (),
    "Tanh": (),
}
"""Of an activation that is fused into the product in front of it, the attributes that its parameters are."""


def unfused(model: ir.Model) -> ir.Model:
    """A model in which a product and its activation are two nodes: a copy that shares the weights, or the model itself
    where nothing is fused.

    Source: onnxruntime/core/optimizer/conv_activation_fusion.cc and gemm_activation_fusion.cc.

    Args:
        model: in plain form (`paddable.graph.prepare.normalise`).
    """
    if not any(map(_is_fused, model.graph)):
        return model
    copy = model.clone()
    for node in [node for node in copy.graph if _is_fused(node)]:
        parts = _parts(node)
        for value in (value for part in parts for value in part.inputs):
            if value is not None and value.const_value is not None and value.name not in copy.graph.initializers:
                copy.graph.register_initializer(value)
        ir.convenience.replace_nodes_and_values(copy.graph, node, [node], parts, node.outputs, parts[-1].outputs)
    return copy


def _is_fused(node: ir.Node) -> bool:
    held = node.attributes.get("activation")
    kind = held.as_string() if held is not None and node.domain == "com.microsoft" else ""
    return node.op_type in ("FusedConv", "FusedGemm") and kind in _PARAMETERS


def _parts(node: ir.Node) -> list[ir.Node]:
    """The product, what is added to it, and the activation, in order."""
    kind, value = node.attributes["activation"].as_string(), node.outputs[0]
    own = [each for name, each in node.attributes.items() if not name.startswith("activation")]
    operator = node.op_type.removeprefix("Fused")
    added = node.inputs[3:4] if operator == "Conv" else ()
    read = node.inputs[:3] if operator == "Conv" else node.inputs
    parts = [ir.Node("", operator, read, own, name=node.name)]
    if added and added[0] is not None:
        parts.append(ir.node("Add", [parts[0].outputs[0], added[0]], name=f"{node.name}/Add"))
    limits: list[ir.Value] = []
    if kind == "Clip":
        numbers = node.attributes["activation_params"].as_floats()
        limits = [_constant(f"{value.name}/{name}", n) for name, n in zip(("min", "max"), numbers, strict=True)]
    given = dict(zip(_PARAMETERS[kind], _given(node), strict=False))
    parts.append(ir.node(kind, [parts[-1].outputs[0], *limits], given, name=f"{node.name}/{kind}"))
    for place, part in enumerate(parts):
        part.metadata_props.update(node.metadata_props)
        part.outputs[0].name = f"{value.name}/{place}"
        part.outputs[0].type, part.outputs[0].shape = value.type, value.shape
    return parts


def _given(node: ir.Node) -> list[float]:
    """The parameters of the activation: in one list of a convolution, one by one of a Gemm."""
    if "activation_params" in node.attributes:
        return list(node.attributes["activation_params"].as_floats())
    names = (f"activation_{each}" for each in ("alpha", "beta"))
    return [node.attributes[name].as_float() for name in names if name in node.attributes]


def _constant(name: str, number: float) -> ir.Value:
    return ir.Value(
        name=name,
        type=ir.TensorType(ir.DataType.FLOAT),
        shape=ir.Shape(()),
        const_value=ir.tensor(np.float32(number), name=name),
    )
