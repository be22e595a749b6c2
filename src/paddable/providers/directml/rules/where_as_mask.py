"""DML122."""

from __future__ import annotations

from collections.abc import Iterator

from paddable.linter.evidence import measured, reported
from paddable.linter.rule import Match, Rule
from paddable.linter.site import Site
from paddable.providers.directml.placement import Placement

__all__ = ["WhereAsMask"]


class WhereAsMask(Rule[Placement]):
    """## What it does
    Counts Where nodes that mask attention scores in a deep stack.

    ## Why is this bad
    A popular belief is that ``masked_fill`` blocks fusion and that adding a bias is faster. Not confirmed: both
    fuse into one graph. On a software device the difference was within noise; no GPU was measured.

    ## Example
    ``Softmax(Where(mask, scores, fill))`` in each of 12 layers

    ## Use instead
    Nothing: a select is exact whatever the scores are; an added bias needs a proven bound.

    ## Fix safety
    No fix.
    """

    code = "DML122"
    name = "where-as-mask"
    severity = "note"
    evidence = (
        measured("onnxruntime-directml 1.24.4 on a software device: no difference on a fused graph"),
        reported("popular advice to use Add"),
    )
    VALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (bool[1, 4] m, float[1, 4] x) => (float[1, 4] y) <float f = {-1000.0}> { h = Where(m, x, f)
                 y = Softmax(h) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 4] m, float[1, 4] x) => (float[1, 4] y) { h = Add(m, x)
                 y = Softmax(h) }""",
    )
    INVALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (bool[1, 4] m, float[1, 4] x) => (float[1, 4] y) <float f = {-1000.0}> { a = Where(m, x, f)
                 b = Softmax(a)
                 c = Where(m, b, f)
                 d = Softmax(c)
                 e = Where(m, d, f)
                 g = Softmax(e)
                 h = Where(m, g, f)
                 y = Softmax(h) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (bool[1, 4] m, float[1, 4] x) => (float[1, 4] y) <float f = {-9.0}> { a = Where(m, x, f)
                 b = Softmax(a)
                 c = Where(m, b, f)
                 d = Softmax(c)
                 e = Where(m, d, f)
                 g = Softmax(e)
                 h = Where(m, g, f)
                 i = Softmax(h)
                 j = Where(m, i, f)
                 y = Softmax(j) }""",
    )

    def check(self, site: Site[Placement]) -> Iterator[Match]:
        masks = [
            node
            for node in site.placement.running("Where")
            if any(reader.op == "Softmax" for reader in site.view.readers(node.outputs[0]))
        ]
        if len(masks) >= _DEEP:
            what = f"{len(masks)} attention layers are masked by select, measured as not slower than adding once fused"
            yield Match(what, "nothing to do", masks[0], fixable=False)


_DEEP = 4
