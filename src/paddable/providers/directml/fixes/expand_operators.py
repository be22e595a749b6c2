"""Fix of DML107."""

from __future__ import annotations

import onnx
import onnx_ir as ir
from onnx.inliner import inline_selected_functions

from paddable.errors import RefusedError
from paddable.linter.fix import NodeFix
from paddable.linter.new_parts import Parts
from paddable.linter.one_node import cut_out, put_back, reason
from paddable.linter.rule import Match
from paddable.linter.site import Site
from paddable.linter.view.graph import NodeView
from paddable.providers.directml.placement import Placement
from paddable.providers.directml.rules.operator_without_kernel import OperatorWithoutKernel

__all__ = ["ExpandOperators"]


class ExpandOperators(NodeFix[Placement]):
    """Expands an operator without a kernel into the ones that ONNX defines it by."""

    rule = OperatorWithoutKernel

    def repair(self, node: ir.Node, site: Site[Placement], match: Match, parts: Parts) -> None:
        assert match.node is not None
        alone = cut_out(match.node, site.view)
        _write_defaults(alone.graph.node[0], match.node.since)
        try:
            wanted = [(match.node.domain, match.node.op)]
            expanded = inline_selected_functions(alone, wanted, inline_schema_functions=True)
        except (RuntimeError, ValueError) as error:
            raise RefusedError(
                f"ONNX cannot expand {match.node.op}",
                where=match.node.name,
                why=reason(error),
                fix="export it as other operators",
            ) from None
        if any(NodeView(part, 0, 0).subgraphs for part in expanded.graph.node):
            raise RefusedError(
                f"ONNX defines {match.node.op} with an If",
                where=match.node.name,
                why="it would turn fusion off",
                fix="export it as other operators",
            )
        put_back(node, expanded, parts)


def _write_defaults(node: onnx.NodeProto, since: int) -> None:
    """Write out attributes that have a default: a function's body refers to them by name."""
    given = {attribute.name for attribute in node.attribute}
    for name, attribute in onnx.defs.get_schema(node.op_type, since, node.domain).attributes.items():
        if name not in given and attribute.default_value.type != onnx.AttributeProto.UNDEFINED:
            node.attribute.append(attribute.default_value)
