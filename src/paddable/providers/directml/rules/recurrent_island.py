"""DML119."""

from __future__ import annotations

from collections.abc import Iterator

from paddable.linter.evidence import measured
from paddable.linter.rule import Match, Rule
from paddable.linter.site import Site
from paddable.providers.directml.placement import Placement

__all__ = ["RecurrentIsland"]


class RecurrentIsland(Rule[Placement]):
    """## What it does
    Counts LSTM, GRU and RNN, which DirectML runs and never fuses.

    ## Why is this bad
    Each cuts the fused graph in two: a static model with one LSTM is FusedNode, LSTM, FusedNode. Nothing is wrong;
    every extra piece costs a dispatch and a barrier.

    ## Example
    ``LSTM(x, w, r)`` between two convolution stacks

    ## Use instead
    Nothing, unless the recurrence can be replaced.

    ## Fix safety
    No fix.
    """

    code = "DML119"
    name = "recurrent-island"
    severity = "note"
    evidence = (measured("onnxruntime-directml 1.24.4"),)
    VALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 8] x) => (float[1, 8] y) { y = Relu(x) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[2, 8] x, float[8, 4] w) => (float[2, 4] y) { y = MatMul(x, w) }""",
    )
    INVALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[5, 1, 2] x, float[1, 12, 2] w, float[1, 12, 3] r) => (float[5, 1, 1, 3] y) {
                    y = LSTM<hidden_size: int = 3>(x, w, r) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[5, 1, 2] x, float[1, 9, 2] w, float[1, 9, 3] r) => (float[5, 1, 1, 3] y) {
                    y = GRU<hidden_size: int = 3>(x, w, r) }""",
    )

    def check(self, site: Site[Placement]) -> Iterator[Match]:
        nodes = [node for op in ("LSTM", "GRU", "RNN") for node in site.placement.running(op)]
        if nodes:
            islands = len(site.placement.islands)
            what = f"{len(nodes)} recurrent nodes are kernels of their own, beside {islands} fused graphs"
            yield Match(what, "nothing to do: they run on DirectML", nodes[0], fixable=False)
