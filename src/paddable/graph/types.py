"""The types of values: by onnx's inference, and where that knows no operator by the signatures of ONNX Runtime's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import onnx
import onnx_ir as ir
from onnx_ir.passes import common

from paddable.graph.contrib_signatures import CONTRIB_SIGNATURES

__all__ = ["know_types"]


def know_types(model: ir.Model) -> None:
    """Infer the types of values, in place; constants become initialisers.

    What no signature tells keeps none: the answer of somebody's own operator, and what hangs on it.
    """
    common.LiftConstantsToInitializersPass()(model)
    common.ShapeInferencePass(check_type=False, strict_mode=False, data_prop=False)(model)
    for value in model.graph.initializers.values():
        if value.dtype is None and value.const_value is not None:  # a weight need not be declared
            value.type = ir.TensorType(value.const_value.dtype)
    for node in model.graph:  # in order: each gives the next its types
        if any(value.dtype is None for value in node.outputs):
            for value, kind in zip(node.outputs, _types(node, model.graph.opset_imports), strict=False):
                if value.type is None and kind is not None:
                    value.type = ir.TensorType(kind)


def _types(node: ir.Node, versions: Mapping[str, int]) -> Sequence[ir.DataType | None]:
    """Of each output, what the operator says, from the types of its inputs."""
    if node.op_type == "Cast" and not node.domain:
        return [ir.DataType(node.attributes.get_int("to", int(ir.DataType.FLOAT)))]
    taken, made = _signature(node, versions)
    known: dict[str, ir.DataType] = {}
    for value, name in zip(node.inputs, taken, strict=False):
        if value is not None and value.dtype is not None:
            known.setdefault(name, value.dtype)
    return [known.get(name) for name in made]


def _signature(node: ir.Node, versions: Mapping[str, int]) -> tuple[Sequence[str], Sequence[str]]:
    """The names of the types of its inputs and outputs; the last of a schema holds for all that follow."""
    if node.domain == "com.microsoft":
        return CONTRIB_SIGNATURES.get((node.op_type, 1), ((), ()))
    try:
        schema = onnx.defs.get_schema(node.op_type, versions.get(node.domain, 1), node.domain)
    except onnx.defs.SchemaError:
        return (), ()
    sides = []
    for parameters, values in ((schema.inputs, node.inputs), (schema.outputs, node.outputs)):
        names = [parameter.type_str for parameter in parameters]
        sides.append([*names, *names[-1:] * (len(values) - len(names))])
    return sides[0], sides[1]
