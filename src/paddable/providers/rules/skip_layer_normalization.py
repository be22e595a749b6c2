"""TGT106."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from paddable.linter.evidence import measured
from paddable.linter.rule import Match, Rule
from paddable.linter.site import Site

__all__ = ["SkipLayerNormalizationOnCpu"]


class SkipLayerNormalizationOnCpu(Rule[Any]):
    """## What it does
    Finds SkipLayerNormalization on the CPU.

    ## Why is this bad
    It is slower there than Add and LayerNormalization: 16 % at 5 s, 11 % at 30 s of a small encoder. Transformer
    optimisers put it in.

    ## Example
    ``com.microsoft.SkipLayerNormalization(x, skip, gamma)``

    ## Use instead
    ``LayerNormalization(Add(x, skip), gamma)``; do not run the transformer optimiser for the CPU.

    ## Fix safety
    No fix here.
    """

    code = "TGT106"
    name = "skip-layer-normalization"
    severity = "note"
    evidence = (measured("onnxruntime 1.32.0, 2 vCPU AMD EPYC (Zen 5)"),)
    VALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 4, 8] x, float[8] g) => (float[1, 4, 8] y) { y = LayerNormalization(x, g) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 8] x) => (float[1, 8] y) { y = Relu(x) }""",
    )
    INVALID = (
        """<ir_version: 10, opset_import: ["" : 18, "com.microsoft" : 1]>
                agraph (float[1, 4, 8] x, float[1, 4, 8] s, float[8] g) => (float[1, 4, 8] y) {
                    y = com.microsoft.SkipLayerNormalization(x, s, g) }""",
        """<ir_version: 10, opset_import: ["" : 18, "com.microsoft" : 1]>
                agraph (float[1, 4, 8] x, float[1, 4, 8] s, float[8] g) => (float[1, 4, 8] y) {
                    y = com.microsoft.SkipSimplifiedLayerNormalization(x, s, g) }""",
    )

    def check(self, site: Site[Any]) -> Iterator[Match]:
        nodes = [node for node in site.view.nodes if node.op in _SLOWER and node.domain == "com.microsoft"]
        if nodes and site.facts is not None and site.facts.slower_skip_layer_normalization is not None:
            yield Match(
                f"{len(nodes)} {nodes[0].op} are slower than what they replace",
                "use Add and LayerNormalization",
                nodes[0],
                fixable=False,
            )


_SLOWER = frozenset({"SkipLayerNormalization", "SkipSimplifiedLayerNormalization"})
