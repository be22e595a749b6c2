"""Fix of DML103."""

from __future__ import annotations

import onnx_ir as ir

from paddable.targets.directml.fix import Fix
from paddable.targets.directml.placement import place
from paddable.targets.directml.rules.stale_static_shape import StaleStaticShape
from paddable.targets.directml.site import Site, sites
from paddable.targets.folding import view_model
from paddable.targets.light import graph_at, light_proto
from paddable.targets.lint import matches_of
from paddable.targets.new_parts import Parts
from paddable.targets.rule import Match
from paddable.targets.view import read_shape

__all__ = ["ClearStaleShapes"]


class ClearStaleShapes(Fix):
    """Replaces recorded shapes that the graph contradicts by what the graph gives.

    The values concerned may be outputs of folded nodes, so they are found by name and not by node.
    """

    rule = StaleStaticShape()

    def call(self, model: ir.Model) -> ir.passes.PassResult:
        found = list(matches_of(self.rule, sites(place(view_model(light_proto(model))))))
        for site, match in found:
            shape = read_shape(site.view.inferred.get(match.value))
            graph = graph_at(model, site.view)
            value = next((v for node in graph for v in node.outputs if v.name == match.value), None)
            if value is not None and shape is not None:
                value.shape = ir.Shape([None if isinstance(d, str) and d.startswith("unk__") else d for d in shape])
        return ir.passes.PassResult(model, bool(found))

    def repair(self, node: ir.Node, site: Site, match: Match, parts: Parts) -> None:
        raise NotImplementedError("found by value name, see call")
