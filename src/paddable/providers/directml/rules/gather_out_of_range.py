"""DML115."""

from __future__ import annotations

from collections.abc import Iterator

from paddable.linter.evidence import measured
from paddable.linter.rule import Match, Rule
from paddable.linter.site import Site
from paddable.linter.view.folding import out_of_range
from paddable.providers.directml.placement import Placement

__all__ = ["GatherOutOfRange"]


class GatherOutOfRange(Rule[Placement]):
    """## What it does
    Finds a Gather with a constant index outside the axis.

    ## Why is this bad
    The CPU refuses it (INVALID_ARGUMENT); DirectML reads whatever is there and returns it.

    ## Example
    ``Gather(x, [9])`` with ``x`` of 8 rows

    ## Use instead
    An index within ``[-n, n-1]``.

    ## Fix safety
    No fix: which row was meant is not known.
    """

    code = "DML115"
    name = "gather-out-of-range"
    severity = "error"
    evidence = (measured("onnxruntime-directml 1.24.4: no error"),)
    VALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[8, 2] x) => (float[1, 2] y) <int64[1] i = {7}> { y = Gather(x, i) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[8, 2] x) => (float[1, 2] y) <int64[1] i = {-8}> { y = Gather(x, i) }""",
    )
    INVALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[8, 2] x) => (float[1, 2] y) <int64[1] i = {8}> { y = Gather(x, i) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[8, 2] x) => (float[8, 1] y) <int64[1] i = {-3}> { y = Gather<axis: int = 1>(x, i) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1] x) => (float[1, 2] y) <float[2, 2] w = {1, 2, 3, 4}, int64[1] i = {2}> {
                    g = Gather(w, i)
                    y = Add(g, x) }""",
    )

    def check(self, site: Site[Placement]) -> Iterator[Match]:
        for node in site.placement.running("Gather"):
            found = out_of_range(site.view, node)
            if found is not None:
                indices, size = found
                what = f"indices from {indices.min()} to {indices.max()} on an axis of {size}: read without an error"
                yield Match(
                    what, "keep every index within the axis", node, axis=node.attribute("axis", 0), fixable=False
                )
