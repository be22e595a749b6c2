"""DML131."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from paddable.linter.evidence import measured
from paddable.linter.rule import Match, Rule
from paddable.linter.site import Site
from paddable.linter.view.graph import GraphView, NodeView
from paddable.providers.directml.placement import Placement

__all__ = ["FourierSizeRounds"]

_LARGEST = 1024
"""Points up to which the fix writes a transform as a matrix, whose size grows with their square: 4 MB here."""


class FourierSizeRounds(Rule[Placement]):
    """## What it does
    Finds STFT and DFT in float of a size that is no power of two.

    ## Why is this bad
    Such a transform is computed by way of longer ones: 2e-5 to 5e-5 of scale from exact, on DirectML and on the CPU,
    each with another rounding. Of a bin that holds little no digit is left: behind a logarithm, as in every mel front
    end, the two are up to 3e-2 apart.

    ## Example
    ``STFT(signal, 160, window, 400)``, then ``Log`` of the power

    ## Use instead
    The transform as a product with cosines and sines: a Conv with the window in its weights for an STFT, a MatMul for
    a DFT. At the sizes of speech (320 to 600 points) that agrees with exact arithmetic to 1e-6 of scale.

    ## Fix safety
    The numbers move, towards exact: the result is compared with the same graph whose transforms are computed in double
    and has to be as near to it as the graph was. A window and sizes that are constant, real input (STFT), and at most
    1024 points.
    """

    code = "DML131"
    name = "fourier-size-rounds"
    severity = "warning"
    evidence = (measured("onnxruntime-directml 1.24.4 on a software device, and onnxruntime 1.32 on the CPU"),)
    VALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 600, 1] x, float[64] w) => (float[1, 34, 33, 2] y) <int64 s = {16}, int64 n = {64}> {
                    y = STFT<onesided: int = 1>(x, s, w, n) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[3, 64, 1] x) => (float[3, 64, 2] y) { y = DFT<axis: int = 1>(x) }""",
    )
    INVALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 400, 1] x) => (float[1, 18, 31, 2] y) <int64 s = {20}, int64 n = {60}> {
                    y = STFT(x, s, , n) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[2, 100, 1] x) => (float[2, 9, 20, 2] y)
                <int64 s = {10}, float[20] w = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0,
                                               1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1}> {
                    y = STFT<onesided: int = 0>(x, s, w) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[3, 20, 2, 2] x) => (float[3, 24, 2, 2] y) <int64 n = {24}> {
                    y = DFT<axis: int = 1, inverse: int = 1>(x, n) }""",
        """<ir_version: 10, opset_import: ["" : 20]>
                agraph (float[1, 5, 24, 1] x) => (float[1, 5, 13, 2] y) {
                    y = DFT<onesided: int = 1>(x) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[1, 400, 1] x, float[60] w) => (float[1, 18, 31, 2] y) <int64 s = {20}, int64 n = {60}> {
                    y = STFT(x, s, w, n) }""",
    )

    def check(self, site: Site[Placement]) -> Iterator[Match]:
        for node in site.nodes("STFT", "DFT"):
            points = size_of(node, site.view)
            if site.view.dtype(node.inputs[0]) != "float" or points is None or points & (points - 1) == 0:
                continue
            fits = _stft_is_constant if node.op == "STFT" else _dft_is_constant
            yield Match(
                f"{node.op} of {points} points, no power of two, is 2e-5 to 5e-5 of scale from exact, and a logarithm"
                " behind it up to 3e-2",
                f"write it as a {'Conv' if node.op == 'STFT' else 'MatMul'} with cosines and sines",
                node,
                fixable=points <= _LARGEST and fits(node, site.view),
            )


def size_of(node: NodeView, view: GraphView) -> int | None:
    """Points of an STFT or DFT; None where they are not known."""
    given = scalar(view, node.input(3 if node.op == "STFT" else 1))
    if given is not None:
        return given
    if node.op == "STFT":
        shape = view.shape(node.input(2)) if node.input(2) else None
        found = shape[0] if shape else None
    else:
        axis, shape = axis_of(node, view), view.shape(node.inputs[0])
        found = None if axis is None or shape is None or node.input(1) else shape[axis]
    return found if isinstance(found, int) else None


def axis_of(node: NodeView, view: GraphView) -> int | None:
    """The transformed axis of a DFT, from the front: an attribute before opset 20, then an input."""
    shape = view.shape(node.inputs[0])
    if shape is None:
        return None
    axis = int(node.attribute("axis", 1)) if node.since < 20 else scalar(view, node.input(2)) if node.input(2) else -2
    return None if axis is None else axis % len(shape)


def scalar(view: GraphView, name: str) -> int | None:
    """A constant integer input; None where it is absent or computed."""
    value = view.constant(name) if name else None
    return int(value.reshape(-1)[0]) if value is not None and value.size == 1 else None


def window_of(node: NodeView, view: GraphView) -> npt.NDArray[np.float64] | None:
    """The window of an STFT in double, ones where it has none; None where it is computed or of another size."""
    points = size_of(node, view)
    if not node.input(2):
        return None if points is None else np.ones(points)
    value = view.constant(node.input(2))
    return value.astype(np.float64) if value is not None and value.shape == (points,) else None


def _stft_is_constant(node: NodeView, view: GraphView) -> bool:
    shape = view.shape(node.inputs[0])
    real = shape is not None and len(shape) == 3 and shape[-1] == 1
    return real and scalar(view, node.input(1)) is not None and window_of(node, view) is not None


def _dft_is_constant(node: NodeView, view: GraphView) -> bool:
    shape, axis = view.shape(node.inputs[0]), axis_of(node, view)
    if shape is None or axis is None or axis == len(shape) - 1 or not isinstance(shape[axis], int):
        return False
    return shape[-1] in (1, 2) and not (
        node.attribute("onesided", 0) and (shape[-1] == 2 or node.attribute("inverse", 0))
    )
