"""TGT103."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from paddable.linter.evidence import measured
from paddable.linter.rule import Match, Rule
from paddable.linter.site import Site

__all__ = ["MixedLengthsPlanAnew"]


class MixedLengthsPlanAnew(Rule[Any]):
    """## What it does
    Finds graphs with free sizes on a target that plans or compiles again at each change of length.

    ## Why is this bad
    The CUDA provider keeps one plan for each convolution, so every change of length plans all of them, also when
    going back to a length already seen. On an H200 a stream of 200 utterances through a 70-block encoder took 137 to
    166 s with default settings, 15 to 17 s with ``cudnn_conv_algo_search=HEURISTIC``, 3.6 to 4.7 s in a container,
    3.1 to 3.3 s in a captured container and 2.4 s in four captured containers.

    ## Example
    ``Conv`` over ``float[1, 512, T]``

    ## Use instead
    One container, captured (``paddable convert --target cuda``), or HEURISTIC where the graph has to stay dynamic.

    ## Fix safety
    No fix here: cutting a graph to a size is what ``convert`` does.
    """

    code = "TGT103"
    name = "mixed-lengths-plan-anew"
    severity = "warning"
    evidence = (
        measured("onnxruntime-gpu 1.31.1 on one H200, docs/targets/cuda.md"),
        measured("openvino 2026.4.1 and onnxruntime-ep-webgpu 0.4.0, milder"),
    )
    VALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 2, 9] x, float[3, 2, 4] w) => (float[1, 3, 6] y) { y = Conv(x, w) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 8] x) => (float[1, 8] y) { y = Relu(x) }""",
    )
    INVALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 2, T] x, float[3, 2, 4] w) => (float[1, 3, M] y) { y = Conv(x, w) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[B, 2, 9] x, float[3, 2, 4] w) => (float[B, 3, 6] y) { y = Conv(x, w) }""",
    )

    def check(self, site: Site[Any]) -> Iterator[Match]:
        if site.facts is None or site.facts.shapes != "preferred":
            return
        view = site.view
        planned = [n for n in view.nodes if n.op in _PLANNED and not view.is_static(n.outputs[0])]
        if planned:
            what = f"{len(planned)} convolutions and others see free sizes: {site.facts.shapes_fact}"
            yield Match(what, "use one container; capture it on CUDA", planned[0], fixable=False)


_PLANNED = frozenset({"Conv", "ConvTranspose", "MatMul", "Gemm", "LSTM", "GRU"})
