"""Operators that are defined by others, and that no rule covers: each is replaced by its definition.

So Attention of opset 23 becomes the MatMul, Softmax and MatMul that it stands for, which rules know. ONNX has the
definitions of its own operators; those of ONNX Runtime's are ours (`definitions`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

import onnx
import onnx_ir as ir
from onnx_ir.passes import common

from paddable.graph.prepare.definitions import DEFINITIONS, Definition

__all__ = ["ExpandPass"]

_DOMAIN = "paddable.definitions"


class ExpandPass(ir.passes.InPlacePass):
    """Makes a local function of each node whose operator has a definition; inlining it is another pass.

    Ensures: nodes of a definition carry the metadata of the node that they replace: its source line and module. What
    has no definition, or stands where types are not known, is left alone.

    Args:
        known: operators of the standard domain to leave as they are.
    """

    def __init__(self, known: Iterable[str]) -> None:
        super().__init__()
        self._known = frozenset(known) | {"Constant", "If", "Loop", "Scan"}

    def call(self, model: ir.Model) -> ir.passes.PassResult:
        opset = model.graph.opset_imports.get("", 1)
        defined = [(node, source) for node in self._unknown(model) if (source := _source(node, opset)) is not None]
        if any(_type(value) is None for node, _ in defined for value in node.inputs):
            common.ShapeInferencePass(check_type=False, strict_mode=False)(model)
        found = 0
        for node, source in defined:
            definition = source(node, opset) if callable(source) else _definition(node, source, opset)
            if definition is not None:
                found += 1
                _call(model, node, definition, f"{node.op_type}_{found}")
        return ir.passes.PassResult(model, found > 0)

    def _unknown(self, model: ir.Model) -> Iterator[ir.Node]:
        for node in ir.traversal.RecursiveGraphIterator(model.graph):
            if _key(node) in DEFINITIONS or (node.domain in ("", "ai.onnx") and node.op_type not in self._known):
                yield node


_Schema: TypeAlias = Any
"""onnx.defs.OpSchema; its stubs lack what concerns definitions."""


def _key(node: ir.Node) -> tuple[str, str]:
    return "" if node.domain == "ai.onnx" else node.domain, node.op_type


def _source(node: ir.Node, opset: int) -> Definition | _Schema | None:
    """Where a node's definition comes from: our table, or ONNX's schema."""
    if _key(node) in DEFINITIONS:
        return DEFINITIONS[_key(node)]
    try:
        schema: _Schema = onnx.defs.get_schema(node.op_type, opset, "")
    except onnx.defs.SchemaError:
        return None
    return schema if schema.has_function or schema.has_context_dependent_function else None


def _definition(node: ir.Node, schema: _Schema, opset: int) -> onnx.FunctionProto | None:
    """The body of a node's operator for its own attributes, inputs and their types."""
    if schema.has_function:
        body = schema.get_function_with_opset_version(opset)
        if node.attributes or not body:
            return None
        found: onnx.FunctionProto = onnx.FunctionProto.FromString(body)
        for entry in found.opset_import:
            if not entry.domain:  # an older body is given only where its operators are still the same
                entry.version = opset
        return found
    types = [_type(value) for value in node.inputs]
    if any(kind is None for kind in types):
        return None
    body = schema.get_context_dependent_function(ir.to_proto(node).SerializeToString(), types)
    definition = onnx.FunctionProto.FromString(body)
    del definition.output[len(node.outputs) :]  # what the node leaves out is not computed either
    computed = {name for inner in definition.node for name in inner.output}
    return definition if definition.node and computed.issuperset(definition.output) else None


def _type(value: ir.Value | None) -> bytes | None:
    if value is None:
        return b""  # an empty TypeProto
    if value.dtype is None or value.shape is None:
        return None
    shape = [size if isinstance(size, int) else str(size) for size in value.shape]
    return bytes(onnx.helper.make_tensor_type_proto(value.dtype.value, shape).SerializeToString())


def _call(model: ir.Model, node: ir.Node, definition: onnx.FunctionProto, name: str) -> None:
    definition.domain, definition.name = _DOMAIN, name
    function = ir.serde.deserialize_function(definition)
    for inner in function:
        inner.doc_string = node.doc_string
    model.functions[function.identifier()] = function
    model.graph.opset_imports.setdefault(_DOMAIN, 1)
    node.domain, node.op_type = _DOMAIN, name
    node.attributes.clear()
