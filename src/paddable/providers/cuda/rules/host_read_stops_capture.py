"""CUDA102."""

from __future__ import annotations

from collections.abc import Iterator

from paddable.linter.evidence import measured, reported
from paddable.linter.rule import Match, Rule
from paddable.linter.site import Site
from paddable.providers.cuda.placement import CudaPlacement

__all__ = ["HostReadStopsCapture"]


class HostReadStopsCapture(Rule[CudaPlacement]):
    """## What it does
    Finds kernels of a graph of fixed shapes that read, in CPU memory, a value that depends on the inputs.

    ## Why is this bad
    A value made on the GPU is copied back in the middle of the run, and ONNX Runtime refuses to capture the graph. An
    input that is read on the CPU only is worse: ONNX Runtime captures the graph, and each replay goes on with the old
    value (an LSTM captured with 5 valid steps and replayed with 2 was silently wrong by 0.15).

    ## Example
    ``sequence_lens`` of LSTM, GRU and RNN; a computed target of Reshape; computed bounds of Slice

    ## Use instead
    Constants, or Gather with a computed index, which is read on the GPU. A recurrent layer that needs lengths cannot
    be captured: ``paddable convert`` notes that in the file, and ``paddable.load`` runs it node by node.

    ## Fix safety
    No fix here.
    """

    code = "CUDA102"
    name = "host-read-stops-capture"
    severity = "warning"
    evidence = (
        reported("InputMemoryType(OrtMemTypeCPUInput) of ONNX Runtime's CUDA kernels, main of 2025-12-02"),
        measured("onnxruntime-gpu 1.31.1: capture of a bidirectional LSTM with lengths, docs/targets/cuda.md"),
    )
    VALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[4, 2] x) => (float[8] y) <int64[1] s = {8}> { y = Reshape(x, s) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[9] x, int64[4] i) => (float[4] y) { y = Gather(x, i) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[T, 2] x, int64[1] s) => (float[N] y) { y = Reshape(x, s) }""",
    )
    INVALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[5, 1, 2] x, int32[1] n) => (float[5, 1, 1, 3] y)
                <float[1, 12, 2] w, float[1, 12, 3] r> { y = LSTM<hidden_size = 3>(x, w, r, , n) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[9] x, int64[1] k) => (float[9] y) { a = Neg(k)
                    y = CumSum(x, a) }""",
    )

    def check(self, site: Site[CudaPlacement]) -> Iterator[Match]:
        if not site.placement.is_static:
            return
        for node, value in site.placement.host_reads:
            what = f"{node.op} reads {value!r} in CPU memory, and it depends on the inputs"
            yield Match(what, "make it a constant, or run the graph without capture", node, fixable=False)
