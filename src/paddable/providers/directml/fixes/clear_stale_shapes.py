"""Fix of DML103."""

from __future__ import annotations

import onnx_ir as ir

from paddable.linter.fix import GraphFix
from paddable.linter.rule import Match
from paddable.linter.site import Site
from paddable.linter.view.light import graph_at
from paddable.providers.directml.placement import Placement
from paddable.providers.directml.rules.stale_static_shape import StaleStaticShape

__all__ = ["ClearStaleShapes"]


class ClearStaleShapes(GraphFix[Placement]):
    """Replaces recorded shapes that the graph contradicts by what the graph gives.

    The values concerned may be outputs of folded nodes, so they are found by name and not by node.
    """

    rule = StaleStaticShape
    exact = True  # no number depends on what is recorded

    def mend(self, model: ir.Model, found: list[tuple[Site[Placement], Match]]) -> None:
        for site, match in found:
            shape = site.view.inferred[match.value].shape
            graph = graph_at(model, site.view)
            value = next((v for node in graph for v in node.outputs if v.name == match.value), None)
            if value is not None and shape is not None:
                value.shape = ir.Shape([None if isinstance(d, str) and d.startswith("unk__") else d for d in shape])
