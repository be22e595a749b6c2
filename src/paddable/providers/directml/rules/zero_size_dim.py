"""DML120."""

from __future__ import annotations

from collections.abc import Iterator

from paddable.linter.evidence import reported
from paddable.linter.rule import Match, Rule
from paddable.linter.site import Site
from paddable.providers.directml.placement import Placement

__all__ = ["ZeroSizeDim"]


class ZeroSizeDim(Rule[Placement]):
    """## What it does
    Finds values with an axis of size 0, such as an empty cache.

    ## Why is this bad
    A node that touches one is not fused.

    ## Example
    ``float[1, 0, 64] past``

    ## Use instead
    A cache of fixed size with a mask and a valid count.

    ## Fix safety
    No fix.
    """

    code = "DML120"
    name = "zero-size-dim"
    severity = "warning"
    evidence = (reported("ContainsEmptyDimensions in the provider's source, onnxruntime main of 2025-10-23"),)
    VALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 2] x) => (float[1, 2] y) { y = Relu(x) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 1] x, float[1, 2] z) => (float[1, 3] y) { y = Concat<axis: int = 1>(x, z) }""",
    )
    INVALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 0] x) => (float[1, 0] y) { y = Relu(x) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 0] x, float[1, 2] z) => (float[1, 2] y) { y = Concat<axis: int = 1>(x, z) }""",
    )

    def check(self, site: Site[Placement]) -> Iterator[Match]:
        for placed in site.placement.kernels:
            if "dim of size 0" in (placed.unfused or ""):
                yield Match(
                    f"not fused: {placed.unfused}",
                    "give it a fixed size and mask what is empty",
                    placed.node,
                    fixable=False,
                )
