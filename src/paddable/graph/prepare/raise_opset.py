"""A model of an opset older than the rules, brought up by ONNX's own version converter."""

from __future__ import annotations

import onnx
import onnx_ir as ir
from onnx.version_converter import convert_version

from paddable.errors import RefusedError
from paddable.graph.io.structure import OLDEST_OPSET, check_structure
from paddable.graph.io.write import to_proto

__all__ = ["raise_opset"]

_TARGETS = (17, 13, OLDEST_OPSET)
"""Tried in this order: the converter lacks some operators' steps to the newer ones."""


def raise_opset(model: ir.Model, where: str) -> ir.Model:
    """The model in an opset that is understood; the same object where it is in one.

    Args:
        model: a model of any older opset; it is not changed.
        where: how messages name it.

    Raises:
        RefusedError: the converter knows no way.
    """
    opset = model.opset_imports.get("", OLDEST_OPSET)
    if opset >= OLDEST_OPSET:
        return model
    proto, said = to_proto(model), ""
    for target in _TARGETS:
        try:
            raised = convert_version(proto, target)
            onnx.checker.check_model(raised)
            check_structure(raised, where=where)
        except Exception as error:  # the converter, its checks and ours share no class
            said = said or " ".join(str(error).split())[:200]
            continue
        return ir.from_proto(raised)
    raise RefusedError(
        f"opset {opset} is older than {OLDEST_OPSET}, the oldest that is understood",
        where=where,
        why=f"onnx's version converter cannot bring it up: {said}",
        fix="export the model again with opset_version=18",
    )
