"""DML110."""

from __future__ import annotations

from collections.abc import Iterator

from paddable.linter.evidence import measured, reported
from paddable.linter.rule import Match, Rule
from paddable.linter.site import Site
from paddable.providers.directml.placement import Placement

__all__ = ["FreeDimBlocksFusion"]


class FreeDimBlocksFusion(Rule[Placement]):
    """## What it does
    Finds graphs with symbolic sizes.

    ## Why is this bad
    Only nodes whose sizes are all known at session creation are fused. Every other node is a kernel of its own that
    keeps one shape: another length builds a throw-away kernel at each run. A 12-layer model ran as 111 kernels so,
    and as one fused graph once static.

    ## Example
    ``float[1, T] audio``

    ## Use instead
    One static graph per container (``paddable convert --containers``), or ``add_free_dimension_override_by_name``.

    ## Fix safety
    No fix here: cutting a graph to a size is what ``convert`` does.
    """

    code = "DML110"
    name = "free-dim-blocks-fusion"
    severity = "warning"
    evidence = (
        measured("onnxruntime-directml 1.24.4: T=40 11 ms, first T=64 41 to 193 ms, later 20 to 27 ms"),
        reported("microsoft/onnxruntime#14387, #15394, #14550"),
    )
    VALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 8] x) => (float[1, 8] y) { y = Relu(x) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 8] x) => (float[1, 8] y) { y = Tanh(x) }""",
    )
    INVALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, T] x) => (float[1, T] y) { y = Relu(x) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[B, 8] x) => (float[B, 8] y) { y = Tanh(x) }""",
    )

    def check(self, site: Site[Placement]) -> Iterator[Match]:
        view = site.view
        free = {
            f"{name}:{axis}={dim or '?'}": axis
            for name in view.inputs
            for axis, dim in enumerate(view.shape(name) or ())
            if not isinstance(dim, int)
        }
        loose = [placed for placed in site.placement.kernels if "not static" in (placed.unfused or "")]
        if free and loose and view.outer is None:
            yield Match(
                f"{len(loose)} nodes run as kernels of their own because {', '.join(free)} is free",
                "make one static graph per container",
                value=next(iter(free)).split(":")[0],
                axis=next(iter(free.values())),
                fixable=False,
            )
