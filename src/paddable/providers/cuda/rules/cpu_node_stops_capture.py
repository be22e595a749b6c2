"""CUDA101."""

from __future__ import annotations

from collections.abc import Iterator

from paddable.linter.evidence import measured, reported
from paddable.linter.rule import Match, Rule
from paddable.linter.site import Site
from paddable.providers.cuda.placement import CudaPlacement

__all__ = ["CpuNodeStopsCapture"]


class CpuNodeStopsCapture(Rule[CudaPlacement]):
    """## What it does
    Finds nodes that the CUDA provider leaves to the CPU: it has no kernel for the operator, its version, its types or
    its form. In a graph of fixed shapes it also finds shape arithmetic that ONNX Runtime keeps there.

    ## Why is this bad
    Values are copied between the memories at each run, and the graph cannot be captured. On an H200 a captured
    70-block encoder took 14.5 ms, the same graph node by node 26 ms.

    ## Example
    ``ConvTranspose`` with asymmetric pads; ``GRU`` with ``linear_before_reset = 0``; ``Acos``

    ## Use instead
    A form that the kernel takes. Shape arithmetic disappears when the graph is made for one container
    (``paddable convert --target cuda``).

    ## Fix safety
    No fix here.
    """

    code = "CUDA101"
    name = "cpu-node-stops-capture"
    severity = "warning"
    evidence = (
        reported("ONNX Runtime's docs/OperatorKernels.md and cuda_execution_provider.cc, main of 2025-12-02"),
        measured("onnxruntime-gpu 1.31.1: profiles of the zoo's graphs, docs/targets/cuda.md"),
    )
    VALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 2, 9] x, float[3, 2, 4] w) => (float[1, 3, 6] y) { y = Conv(x, w) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, T] x) => (int64[2] y) { s = Shape(x)
                    y = Add(s, s) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 2, 9] x) => (float[1, 3, 19] y) <float[2, 3, 3] w> {
                    y = ConvTranspose<strides: ints = [2]>(x, w) }""",
    )
    INVALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[4] x) => (float[4] y) { y = Acos(x) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 2, 9] x) => (float[1, 3, 18] y) <float[2, 3, 3] w> {
                    y = ConvTranspose<strides: ints = [2], pads: ints = [0, 1]>(x, w) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (int32[2, 2] x, int32[2, 2] z) => (int32[2, 2] y) { y = MatMul(x, z) }""",
    )

    def check(self, site: Site[CudaPlacement]) -> Iterator[Match]:
        static = site.placement.is_static
        for node, why in site.placement.on_cpu:
            if static or node.index in site.placement.lacking:
                yield Match(
                    f"{node.op} runs on the CPU: {why}", "use a form that CUDA has a kernel for", node, fixable=False
                )
