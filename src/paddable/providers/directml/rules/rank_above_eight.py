"""DML116."""

from __future__ import annotations

from collections.abc import Iterator

from paddable.linter.evidence import measured
from paddable.linter.rule import Match, Rule
from paddable.linter.site import Site
from paddable.providers.directml.placement import Placement

__all__ = ["RankAboveEight"]


class RankAboveEight(Rule[Placement]):
    """## What it does
    Finds values of more than 8 axes.

    ## Why is this bad
    DirectML stops with 80070057; rank 8 runs.

    ## Example
    ``Reshape(x, [2, 2, 2, 2, 2, 2, 2, 2, 2])``

    ## Use instead
    At most 8 axes: merge those that stay together.

    ## Fix safety
    No fix.
    """

    code = "DML116"
    name = "rank-above-eight"
    severity = "error"
    evidence = (measured("onnxruntime-directml 1.24.4: rank 9 fails in AbiCustomRegistry, rank 8 ran"),)
    VALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 1, 1, 1, 1, 1, 1, 2] x) => (float[1, 1, 1, 1, 1, 1, 1, 2] y) { y = Relu(x) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 2] x) => (float[1, 2] y) { y = Relu(x) }""",
    )
    INVALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 1, 1, 1, 1, 1, 1, 1, 2] x) => (float[1, 1, 1, 1, 1, 1, 1, 1, 2] y) { y = Relu(x) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[2] x) => (float[1, 1, 1, 1, 1, 1, 1, 1, 2] y)
                    <int64[9] s = {1, 1, 1, 1, 1, 1, 1, 1, 2}> { y = Reshape(x, s) }""",
    )

    def check(self, site: Site[Placement]) -> Iterator[Match]:
        if site.view.reader.highest_rank <= 8:
            return
        for node in site.placement.running():
            rank = site.view.rank(node)
            if rank > 8:
                yield Match(
                    f"a value of rank {rank}: DirectML stops with 80070057",
                    "merge axes to at most 8",
                    node,
                    fixable=False,
                )
