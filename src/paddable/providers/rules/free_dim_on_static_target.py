"""TGT101."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from paddable.linter.evidence import reported
from paddable.linter.rule import Match, Rule
from paddable.linter.site import Site

__all__ = ["FreeDimOnStaticTarget"]


class FreeDimOnStaticTarget(Rule[Any]):
    """## What it does
    Finds sizes that are not known before the run, inside the graph too, on a target that needs every one.

    ## Why is this bad
    Such targets refuse the graph, or take part of it and fail in the run. Fixing the inputs is not enough: a Range
    or a Slice that reads a length makes a free size inside.

    ## Example
    ``float[1, T] audio`` on QNN, CoreML or VitisAI

    ## Use instead
    One static graph per container (``paddable convert --containers``).

    ## Fix safety
    No fix here: cutting a graph to a size is what ``convert`` does.
    """

    code = "TGT101"
    name = "free-dim-on-static-target"
    severity = "error"
    evidence = (
        reported("microsoft/onnxruntime#22439 (QNN), #26355 (CoreML)"),
        reported("airockchip/rknn-toolkit2#136 (Range)"),
    )
    VALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 8] x) => (float[1, 8] y) { y = Relu(x) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[2, 8] x) => (float[8, 2] y) { y = Transpose<perm: ints = [1, 0]>(x) }""",
    )
    INVALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, T] x) => (float[1, T] y) { y = Relu(x) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 8] x, int64[1] n) => (float[1, M] y) <int64[1] zero = {0}, int64[1] axis = {1}> {
                    y = Slice(x, zero, n, axis) }""",
    )

    def check(self, site: Site[Any]) -> Iterator[Match]:
        if site.facts is None or site.facts.shapes != "required":
            return
        view = site.view
        loose = [node for node in view.nodes if not all(view.is_static(name) for name in node.outputs if name)]
        if loose:
            why = site.facts.shapes_fact
            what = f"{len(loose)} nodes make values of unknown size on {site.facts.name}: {why}"
            yield Match(what, "make one static graph per container", loose[0], fixable=False)
