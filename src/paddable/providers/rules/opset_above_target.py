"""TGT102."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from paddable.linter.evidence import measured, reported
from paddable.linter.rule import Match, Rule
from paddable.linter.site import Site

__all__ = ["OpsetAboveTarget"]


class OpsetAboveTarget(Rule[Any]):
    """## What it does
    Finds an opset above the highest one that the target is known to load.

    ## Why is this bad
    The session is refused, often with a text that names neither model nor opset.

    ## Example
    opset 28 on onnxruntime 1.32

    ## Use instead
    A lower opset.

    ## Fix safety
    No fix here.
    """

    code = "TGT102"
    name = "opset-above-target"
    severity = "error"
    evidence = (
        reported("snakers4/silero-vad#355, Windows-Machine-Learning#509"),
        measured("onnxruntime 1.32 CPU loads opset 27 and refuses 99"),
    )
    VALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 8] x) => (float[1, 8] y) { y = Relu(x) }""",
        """<ir_version: 10, opset_import: ["" : 27]>
                agraph (float[1, 8] x) => (float[1, 8] y) { y = Relu(x) }""",
    )
    INVALID = (
        """<ir_version: 10, opset_import: ["" : 28]>
                agraph (float[1, 8] x) => (float[1, 8] y) { y = Relu(x) }""",
        """<ir_version: 10, opset_import: ["" : 99]>
                agraph (float[1, 8] x) => (float[1, 8] y) { y = Relu(x) }""",
    )

    def check(self, site: Site[Any]) -> Iterator[Match]:
        highest = site.facts.highest_opset if site.facts is not None else None
        opset = site.view.opset.get("", 0)
        if site.facts is not None and highest is not None and opset > highest and site.is_main:
            what = f"the model has opset {opset}; {site.facts.name} is known to load up to {highest}"
            yield Match(what, f"export or convert to opset {min(highest, 18)}", fixable=False)
