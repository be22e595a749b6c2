"""Fix of DML106."""

from __future__ import annotations

from collections.abc import Iterator

import onnx
import onnx_ir as ir
from onnx.version_converter import convert_version

from paddable.errors import RefusedError
from paddable.linter.fix import GraphFix
from paddable.linter.new_parts import Parts
from paddable.linter.one_node import cut_out, put_back, reason
from paddable.linter.rule import Match
from paddable.linter.site import Site
from paddable.linter.view.graph import GraphView, NodeView
from paddable.linter.view.light import graph_at
from paddable.providers.directml.placement import Placement
from paddable.providers.directml.rules.opset_outside_sweet_spot import OpsetOutsideSweetSpot, sweet_spot

__all__ = ["ConvertOpset"]

_ONLY_TYPES_CHANGED = frozenset({"ConstantOfShape", "GlobalMaxPool"})  # ONNX's converter lacks the step


class ConvertOpset(GraphFix[Placement]):
    """Converts a model to the opset that has the most kernels, node by node with ONNX's own converter.

    Nodes whose version is the same in both opsets are not touched. Refuses, and changes nothing, where an operator
    cannot be expressed in the older opset.
    """

    rule = OpsetOutsideSweetSpot

    def mend(self, model: ir.Model, found: list[tuple[Site[Placement], Match]]) -> None:
        view = found[0][0].view.outermost
        target = sweet_spot(view)
        changed = [
            (graph_at(model, part)[node.index], _converted(node, part, target))
            for part in view.walk()
            for node in _changing_nodes(part, target)
        ]
        parts = Parts(model)
        for node, result in changed:
            put_back(node, result, parts)
        for graph in model.graphs():
            graph.opset_imports[""] = target
        model.opset_imports[""] = target


def _changing_nodes(view: GraphView, target: int) -> Iterator[NodeView]:
    """Every node of the file, folded ones too, whose operator has another version in the target opset."""
    for index, proto in enumerate(view.proto.node):
        if proto.domain in ("", "ai.onnx") and not NodeView(proto, index, 0).subgraphs:
            since, wanted = _version(proto.op_type, view.opset[""]), _version(proto.op_type, target)
            if since != wanted:
                yield NodeView(proto, index, since or 0)


def _version(op: str, opset: int) -> int | None:
    try:
        return int(onnx.defs.get_schema(op, opset).since_version)
    except onnx.defs.SchemaError:
        return None


def _converted(node: NodeView, view: GraphView, target: int) -> onnx.ModelProto:
    alone = cut_out(node, view)
    if node.op in _ONLY_TYPES_CHANGED:
        return alone
    if node.op == "Split" and target < 18:
        return _split_without_count(node, view, alone)
    if node.op == "GridSample" and target < 20:
        return _grid_sample_of_images(node, view, alone)
    try:
        converted = convert_version(alone, target)
        for part in converted.graph.node:  # the converter lets attributes pass that the older version does not have
            _check(part, target)
    except (RuntimeError, onnx.checker.ValidationError) as error:
        raise RefusedError(
            f"{node.op} of opset {view.opset['']} has no form in opset {target}",
            where=node.name,
            why=reason(error),
            fix=f"export the model with opset {target}",
        ) from None
    return converted


def _check(node: onnx.NodeProto, opset: int) -> None:
    context = onnx.checker.C.CheckerContext()
    context.ir_version = onnx.IR_VERSION
    context.opset_imports = {"": opset}
    onnx.checker.check_node(node, context)


def _split_without_count(node: NodeView, view: GraphView, alone: onnx.ModelProto) -> onnx.ModelProto:
    """Split before opset 18 has no ``num_outputs``: without sizes it cuts equal parts, so they have to be equal."""
    shape = view.shape(node.inputs[0])
    total = shape[node.attribute("axis", 0)] if shape else None
    if not node.input(1) and (not isinstance(total, int) or total % len(node.outputs)):
        raise RefusedError(
            "Split cuts unequal parts without naming their sizes", where=node.name, fix="export with opset 17"
        )
    kept = [attribute for attribute in alone.graph.node[0].attribute if attribute.name != "num_outputs"]
    del alone.graph.node[0].attribute[:]
    alone.graph.node[0].attribute.extend(kept)
    return alone


_MODES_BEFORE_20 = {"linear": "bilinear", "cubic": "bicubic", "nearest": "nearest"}


def _grid_sample_of_images(node: NodeView, view: GraphView, alone: onnx.ModelProto) -> onnx.ModelProto:
    """GridSample before opset 20 takes images only, and names its modes otherwise; ONNX's converter lacks the step."""
    rank = len(view.shape(node.inputs[0]) or ())
    if rank != 4:
        raise RefusedError(
            f"GridSample of rank {rank or 'unknown'} has no form in opset 18",
            where=node.name,
            why="before opset 20 it takes images (rank 4) only",
            fix="sample with Gather",
        )
    proto = alone.graph.node[0]
    mode = _MODES_BEFORE_20[node.attribute("mode", "linear")]
    kept = [attribute for attribute in proto.attribute if attribute.name != "mode"]
    del proto.attribute[:]
    proto.attribute.extend([*kept, onnx.helper.make_attribute("mode", mode)])
    return alone
