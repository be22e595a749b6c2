"""DML124."""

from __future__ import annotations

from collections.abc import Iterator

from paddable.linter.evidence import measured
from paddable.linter.rule import Match, Rule
from paddable.linter.site import Site
from paddable.linter.view.graph import Dim, elements
from paddable.providers.directml.placement import Placement

__all__ = ["ReshapeCountMismatch"]


class ReshapeCountMismatch(Rule[Placement]):
    """## What it does
    Finds a Reshape to a constant shape whose number of elements is not that of its input.

    ## Why is this bad
    A simplifier that ran at one length bakes that length into the target. DirectML answers 80070057, and the CPU
    fails too.

    ## Example
    ``Reshape(x, [1, 40, 4, 8])`` where ``x`` has 64 frames

    ## Use instead
    The target as the exporter wrote it, or a static graph cut by ``convert``.

    ## Fix safety
    No fix: the baked number has replaced what was computed.
    """

    code = "DML124"
    name = "reshape-count-mismatch"
    severity = "error"
    evidence = (measured("onnxruntime-directml 1.24.4: the onnxsim case"),)
    VALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[2, 6] x) => (float[3, 4] y) <int64[2] s = {3, 4}> { y = Reshape(x, s) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[2, 6] x) => (float[2, 6] y) <int64[2] s = {0, -1}> { y = Reshape(x, s) }""",
    )
    INVALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[2, 6] x) => (float[3, 5] y) <int64[2] s = {3, 5}> { y = Reshape(x, s) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[2, 6] x) => (float[5, M] y) <int64[2] s = {5, -1}> { y = Reshape(x, s) }""",
    )

    def check(self, site: Site[Placement]) -> Iterator[Match]:
        for node in site.view.of("Reshape"):
            if node.domain or node.attribute("allowzero", 0):
                continue
            source, target = site.view.shape(node.inputs[0]), site.view.constant(node.input(1))
            if source is None or target is None:
                continue
            if not _fits([int(size) for size in target.reshape(-1)], source):
                yield Match(
                    f"{list(source)} cannot become {target.tolist()}",
                    "export again, without a simplifier",
                    node,
                    fixable=False,
                )


def _fits(target: list[int], source: tuple[Dim, ...]) -> bool:
    """Whether the element counts agree; True where a free size leaves it open."""
    sizes = [source[i] if size == 0 and i < len(source) else size for i, size in enumerate(target)]
    if not all(isinstance(size, int) for size in (*source, *sizes)):
        return True
    have, want = elements([s for s in source if isinstance(s, int)]), elements([s for s in sizes if isinstance(s, int)])
    return have == want if -1 not in target else want != 0 and have % -want == 0
