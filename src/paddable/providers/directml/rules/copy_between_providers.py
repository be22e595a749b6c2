"""DML121."""

from __future__ import annotations

from collections.abc import Iterator

from paddable.linter.evidence import measured
from paddable.linter.rule import Match, Rule
from paddable.linter.site import Site
from paddable.providers.directml.placement import Placement

__all__ = ["CopyBetweenProviders"]


class CopyBetweenProviders(Rule[Placement]):
    """## What it does
    Finds values that cross between CPU and GPU memory at every run.

    ## Why is this bad
    A copy to the CPU waits for the GPU to finish; the fused graph is cut there. Shape chains cost none of this:
    Shape reads no data and writes to CPU memory.

    ## Example
    ``Relu`` on DirectML, ``Unique`` on the CPU

    ## Use instead
    Operators that run on DirectML on both sides; the other findings name what sent the node to the CPU.

    ## Fix safety
    No fix of its own.
    """

    code = "DML121"
    name = "copy-between-providers"
    severity = "warning"
    evidence = (measured("onnxruntime-directml 1.24.4: MemcpyToHost and MemcpyFromHost in the graph"),)
    VALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 8] x) => (float[1, 8] y) { h = Relu(x)
                 y = Tanh(h) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, T] x) => (float[M] y) <int64[1] m = {1}> { s = Shape(x)
                 p = ReduceProd<keepdims: int = 0>(s)
                 n = Reshape(p, m)
                 y = Reshape(x, n) }""",
    )
    INVALID = (
        """<ir_version: 9, opset_import: ["" : 20]>
                agraph (float[1, 8] x) => (float[1, 8] y) { h = Relu(x)
                 g = Gelu(h)
                 y = Tanh(g) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 8] x) => (float[1, 8] y) { h = Relu(x)
                 g = HardSwish(h)
                 y = Tanh(g) }""",
    )

    def check(self, site: Site[Placement]) -> Iterator[Match]:
        copies = site.placement.copies
        if copies:
            back = sum(copy.to_cpu for copy in copies)
            what = f"{len(copies)} values are copied at each run, {back} to the CPU; the first is {copies[0].value!r}"
            node = site.view.producers.get(copies[0].value)
            yield Match(what, "see which nodes run on the CPU and why", node, value=copies[0].value, fixable=False)
