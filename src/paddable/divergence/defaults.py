"""What an attribute means that a node leaves out."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import onnx
import onnx_ir as ir

__all__ = ["EMPTY", "default"]

EMPTY = "allowzero"
"""What a Reshape makes of arrays without elements: exporters differ, and no run does."""


def default(node: ir.Node, name: str) -> object:
    """The value of an attribute that a node leaves out; None where the standard gives none."""
    return _defaults(node.domain, node.op_type).get(name)


@cache
def _defaults(domain: str, operator: str) -> Mapping[str, object]:
    try:
        schema = onnx.defs.get_schema(operator, domain=domain)
    except onnx.defs.SchemaError:
        return {}
    held = {name: each.default_value for name, each in schema.attributes.items() if each.default_value.name}
    found = {name: onnx.helper.get_attribute_value(value) for name, value in held.items()}
    return {name: value.decode() if isinstance(value, bytes) else value for name, value in found.items()}
