"""Fix of TGT107."""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir as ir

from paddable.providers.fix import NodeFix
from paddable.providers.light import confirmed_view
from paddable.providers.new_parts import Parts
from paddable.providers.rule import Match
from paddable.providers.rules.is_nan_splits_graph import IsNanSplitsGraph
from paddable.providers.table import TableSite
from paddable.providers.tables import target

__all__ = ["CompareWithItself"]


class CompareWithItself(NodeFix[TableSite]):
    """Writes IsNaN(x) as Not(Equal(x, x))."""

    rule = IsNanSplitsGraph()
    exact = True  # NaN alone is not equal to itself

    def look(self, model: ir.Model) -> Sequence[TableSite]:
        """The graphs of the model, on OpenVINO."""
        return [TableSite(view, target("openvino")) for view in confirmed_view(model).walk()]

    def repair(self, node: ir.Node, site: TableSite, match: Match, parts: Parts) -> None:
        same = ir.node("Equal", [node.inputs[0], node.inputs[0]])
        differs = ir.node("Not", [same.outputs[0]])
        parts.replace(node, [same, differs], [differs.outputs[0]])
