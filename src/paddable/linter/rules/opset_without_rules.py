"""OPS101."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from paddable.graph.io.structure import NEWEST_OPSET
from paddable.linter.evidence import measured
from paddable.linter.rule import Match, Rule
from paddable.linter.site import Site

__all__ = ["OpsetWithoutRules"]


class OpsetWithoutRules(Rule[Any]):
    """## What it does
    Finds an opset that is newer than the newest whose operators Paddable's rules were written for.

    ## Why is this bad
    ``paddable check`` and ``paddable convert`` refuse the model: what a new version of an operator does to padding is
    not known. GPU providers lag further behind; they leave new versions to the CPU, or do not load the model. The other
    findings hold as far as the operators are the same in older opsets.

    ## Example
    ``opset_import: 25``

    ## Use instead
    ``torch.onnx.export(..., opset_version=18)``: every provider with known facts loads it.

    ## Fix safety
    No fix without a target. ``--target directml --fix`` converts the opset where DirectML loses operators to
    it (DML106) and an older form exists.
    """

    code = "OPS101"
    name = "opset-without-rules"
    severity = "error"
    evidence = (
        measured("paddable check and convert, opset 25"),
        measured(
            "onnxruntime 1.32 CPU loads opset 27; the newest kernel of onnxruntime-directml 1.24.4 is of opset 21"
        ),
    )
    VALID = (
        "m (float[1,T,8] x) => (float[1,T,8] y) { y = Neg(x) }",
        """<ir_version: 10, opset_import: ["" : 24]>
        m (float[1,T,8] x) => (float[1,T,8] y) { y = Neg(x) }""",
    )
    INVALID = (
        """<ir_version: 10, opset_import: ["" : 25]>
        m (float[1,T,8] x) => (float[1,T,8] y) { y = Neg(x) }""",
        """<ir_version: 10, opset_import: ["" : 26]>
        m (float[1,T,8] x) => (float[1,T,8] y) { y = Cast<to = 1>(x) }""",
    )

    def check(self, site: Site[Any]) -> Iterator[Match]:
        """Yields one match for the model."""
        opset = site.view.opset.get("", 0)
        if site.is_main and opset > NEWEST_OPSET:
            yield Match(
                f"opset {opset} is newer than {NEWEST_OPSET}, the newest that has rules: check and convert refuse the "
                "model, and no GPU provider was measured with its operators",
                "export the model with opset_version=18",
                value=site.view.proto.name,
            )
