"""Fix of DML103."""

from __future__ import annotations

import onnx_ir as ir

from paddable.targets.directml.placement import place
from paddable.targets.directml.rules.stale_static_shape import StaleStaticShape
from paddable.targets.fix import Fix
from paddable.targets.folding import view_model
from paddable.targets.light import graph_at, light_proto
from paddable.targets.lint import matches_of
from paddable.targets.new_parts import Parts
from paddable.targets.rule import Match, Site

__all__ = ["ClearStaleShapes"]


class ClearStaleShapes(Fix):
    """Forgets recorded shapes that the graph contradicts; the runtime infers them itself.

    The values concerned may be outputs of folded nodes, so they are found by name and not by node.
    """

    rule = StaleStaticShape()

    def call(self, model: ir.Model) -> ir.passes.PassResult:
        found = list(matches_of(self.rule, place(view_model(light_proto(model)))))
        stale: dict[ir.Graph, set[str]] = {}
        for site, match in found:
            stale.setdefault(graph_at(model, site.view), set()).add(match.value)
        for graph, names in stale.items():
            for value in (output for node in graph for output in node.outputs):
                if value.name in names:
                    value.shape = None
        return ir.passes.PassResult(model, bool(found))

    def repair(self, node: ir.Node, site: Site, match: Match, parts: Parts) -> None:
        raise NotImplementedError("found by value name, see call")
