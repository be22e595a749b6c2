"""DML128."""

from __future__ import annotations

from collections.abc import Iterator

from paddable.linter.evidence import measured
from paddable.linter.rule import Match, Rule
from paddable.linter.site import Site
from paddable.linter.view.graph import NodeView
from paddable.providers.directml.placement import Placement

__all__ = ["AveragePoolOverhang"]


class AveragePoolOverhang(Rule[Placement]):
    """## What it does
    Finds an AveragePool with ``ceil_mode=1`` and ``count_include_pad=1``.

    ## Why is this bad
    Rounding up makes a last window that hangs over the end. DirectML divides its sum by the whole kernel, other
    runtimes by what lies within the input and its pads, without an error: 0.159 against 1.268 with kernel and stride 8
    at length 33.

    ## Example
    ``AveragePool <kernel_shape=[8], strides=[8], ceil_mode=1, count_include_pad=1>``

    ## Use instead
    ``count_include_pad=0``, where there are no pads; with pads, a Pad of zeros in front of it.

    ## Fix safety
    Exact: zeros that a Pad wrote count as input, and the part that hangs over counts for neither. A window that begins
    in the pads behind is left out, and would not be if they were input: no fix where one would, or where the size is
    not known.
    """

    code = "DML128"
    name = "average-pool-overhang"
    severity = "error"
    evidence = (measured("onnxruntime-directml 1.24.4 on a software device; count_include_pad=0 agrees with the CPU"),)
    VALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 1, 33] x) => (float[1, 1, 5] y) {
                    y = AveragePool<kernel_shape: ints = [8], strides: ints = [8], ceil_mode: int = 1>(x) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 1, 33] x) => (float[1, 1, 4] y) {
                    y = AveragePool<kernel_shape: ints = [8], strides: ints = [8], count_include_pad: int = 1>(x) }""",
    )
    INVALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 1, 33] x) => (float[1, 1, 5] y) {
                    y = AveragePool<kernel_shape: ints = [8], strides: ints = [8], ceil_mode: int = 1,
                        count_include_pad: int = 1>(x) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 2, 10, 8] x) => (float[1, 2, 4, 4] y) {
                    y = AveragePool<kernel_shape: ints = [3, 3], strides: ints = [3, 2], pads: ints = [1, 1, 0, 0],
                        ceil_mode: int = 1, count_include_pad: int = 1>(x) }""",
    )

    def check(self, site: Site[Placement]) -> Iterator[Match]:
        for node in site.placement.running("AveragePool"):
            if node.attribute("ceil_mode", 0) and node.attribute("count_include_pad", 0):
                yield Match(
                    "the last window is divided by the whole kernel, by its own size on the CPU, silently",
                    "use count_include_pad 0, with a Pad in front where there are pads",
                    node,
                    fixable=_same_windows(node, site),
                )


def _same_windows(node: NodeView, site: Site[Placement]) -> bool:
    """Whether as many windows begin within a padded input as within the input and its pads."""
    kernel = node.attribute("kernel_shape")
    rank = len(kernel)
    pads, shape = node.attribute("pads", [0] * 2 * rank), site.view.shape(node.inputs[0])
    if node.attribute("auto_pad", "NOTSET") != "NOTSET":
        return False
    if not any(pads[rank:]):
        return True
    strides, dilations = node.attribute("strides", [1] * rank), node.attribute("dilations", [1] * rank)
    for i, size in enumerate(shape[2:] if shape is not None else [None] * rank):
        if not isinstance(size, int):
            return False
        behind = pads[rank + i]
        rest = pads[i] + size + behind - (kernel[i] - 1) * dilations[i] - 1
        last = -(-rest // strides[i]) * strides[i]  # where the last window begins
        if pads[i] + size <= last < pads[i] + size + behind:
            return False
    return True
