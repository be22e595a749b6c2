"""Fix of DML131."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import onnx_ir as ir
from onnx_ir.passes.common import RemoveUnusedNodesPass

from paddable.graph.fourier import in_double
from paddable.linter.fix import Found, NodeFix
from paddable.linter.new_parts import Parts
from paddable.linter.rule import Match
from paddable.linter.site import Site
from paddable.linter.view.graph import GraphView, NodeView
from paddable.providers.directml.placement import Placement
from paddable.providers.directml.rules.fourier_size_rounds import (
    FourierSizeRounds,
    axis_of,
    scalar,
    size_of,
    window_of,
)

__all__ = ["WriteFourierAsProduct"]


class WriteFourierAsProduct(NodeFix[Placement]):
    """Writes an STFT as a Conv whose weights are window times cosine and sine, a DFT as a MatMul."""

    rule = FourierSizeRounds

    def reference(self, model: ir.Model) -> ir.Model:
        exact = model.clone()
        in_double(exact)
        return exact

    def mend(self, model: ir.Model, found: Found[Placement]) -> None:
        super().mend(model, found)
        RemoveUnusedNodesPass()(model)  # the window is in the weights now, and ONNX Runtime warns of what nobody reads

    def repair(self, node: ir.Node, site: Site[Placement], match: Match, parts: Parts) -> None:
        assert match.node is not None
        write = _stft_as_conv if match.node.op == "STFT" else _dft_as_product
        new = write(node, match.node, site.view, parts)
        parts.replace(node, new, [new[-1].outputs[0]])


def _stft_as_conv(node: ir.Node, found: NodeView, view: GraphView, parts: Parts) -> list[ir.Node]:
    """[batch, samples, 1] to [batch, frames, bins, 2]; Conv has the frames last, and both parts before the bins."""
    window, step = window_of(found, view), scalar(view, found.input(1))
    assert window is not None and step is not None
    points = len(window)
    bins = points // 2 + 1 if found.attribute("onesided", 1) else points
    waves = _waves(points, bins) * window[:, None, None]  # [points, bins, 2]
    weight = parts.constant(
        node, f"{_name(node)}_waves", waves.transpose(2, 1, 0).reshape(2 * bins, 1, points).astype(np.float32)
    )
    signal = ir.node("Transpose", [node.inputs[0]], {"perm": [0, 2, 1]})
    conv = ir.node("Conv", [signal.outputs[0], weight], {"kernel_shape": [points], "strides": [step]})
    shape = parts.integers(node, f"{_name(node)}_shape", [0, 2, bins, -1])
    apart = ir.node("Reshape", [conv.outputs[0], shape])
    return [signal, conv, apart, ir.node("Transpose", [apart.outputs[0]], {"perm": [0, 3, 2, 1]})]


def _dft_as_product(node: ir.Node, found: NodeView, view: GraphView, parts: Parts) -> list[ir.Node]:
    """The transformed axis is moved in front of the last, of real and imaginary part, and both are one for MatMul."""
    shape, axis, points = view.shape(found.inputs[0]), axis_of(found, view), size_of(found, view)
    assert shape is not None and axis is not None and points is not None
    size, components = shape[axis], shape[-1]
    assert isinstance(size, int) and isinstance(components, int)
    bins = points // 2 + 1 if found.attribute("onesided", 0) else points
    waves = _waves(points, bins)
    if found.attribute("inverse", 0):
        waves = waves * [1, -1] / points
    rows = np.zeros((size, components, bins, 2))  # steps past the transform's length count for nothing
    known = min(size, points)
    rows[:known, 0] = waves[:known]
    if components == 2:  # times the imaginary unit
        rows[:known, 1, :, 0], rows[:known, 1, :, 1] = -waves[:known, :, 1], waves[:known, :, 0]
    weight = parts.constant(node, f"{_name(node)}_waves", rows.reshape(size * components, bins * 2).astype(np.float32))
    rank = len(shape)
    order = [i for i in range(rank) if i not in (axis, rank - 1)] + [axis, rank - 1]
    back = [order.index(i) for i in range(rank)]
    moved = ir.node("Transpose", [node.inputs[0]], {"perm": order})
    flat = parts.integers(node, f"{_name(node)}_flat", [0] * (rank - 2) + [size * components])
    split = parts.integers(node, f"{_name(node)}_split", [0] * (rank - 2) + [bins, 2])
    joined = ir.node("Reshape", [moved.outputs[0], flat])
    product = ir.node("MatMul", [joined.outputs[0], weight])
    apart = ir.node("Reshape", [product.outputs[0], split])
    return [moved, joined, product, apart, ir.node("Transpose", [apart.outputs[0]], {"perm": back})]


def _waves(points: int, bins: int) -> npt.NDArray[Any]:
    """Cosine and minus sine, [points, bins, 2]: what a sample adds to the real and imaginary part of each bin."""
    turns = np.outer(np.arange(points), np.arange(bins)) % points * (2 * np.pi / points)
    return np.stack([np.cos(turns), -np.sin(turns)], -1)


def _name(node: ir.Node) -> str:
    return node.name or node.op_type
