"""Scales and shifts behind a layer: one exporter folds them into its weights, another leaves them as nodes.

A linear node and the scales and shifts by constants behind it are one layer. Where two layers that are one have other
nodes behind them, their weights are compared as if everything were folded in, and their last values are partners; what
lies between has none.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from paddable.divergence.constants import Constants
from paddable.divergence.matching import Matching
from paddable.divergence.plain import Plain
from paddable.gates.engine import Array

__all__ = ["Fold", "FoldedLayer", "but_for_rounding", "folds"]

_ROUNDING = 1e-5
"""Of the weight's scale: what folding in fp32 rounds."""

_ROUNDING_HALF = 2.0**-9

_SHIFTS_AND_SCALES = ("Add", "BatchNormalization", "Div", "Mul", "Sub")


@dataclass(frozen=True)
class FoldedLayer:
    """A linear node with the scales and shifts behind it.

    Attributes:
        node: the linear node.
        behind: the others, in order.
        stored: the weight.
        weight: with the scales in it.
        shift: of each channel, all of them together.
    """

    node: ir.Node
    behind: tuple[ir.Node, ...]
    stored: Array
    weight: Array
    shift: Array

    @property
    def end(self) -> ir.Value:
        """What the layer makes."""
        return (self.behind or (self.node,))[-1].outputs[0]

    @property
    def bias(self) -> tuple[ir.Node, ir.Value] | None:
        """The last constant that shifts, and the node that reads it."""
        for node in self.behind[::-1]:
            if node.op_type in ("Add", "Sub"):
                value = next((v for v in node.inputs if v is not None and v.const_value is not None), None)
                return (node, value) if value is not None else None
        value = self.node.inputs[2] if len(self.node.inputs) > 2 else None
        return (self.node, value) if value is not None else None


@dataclass(frozen=True)
class Fold:
    """Two layers that are one, of which one has folded what the other has as nodes.

    Attributes:
        one: of the first graph.
        other: of the second.
        half: one of them is stored in half.
    """

    one: FoldedLayer
    other: FoldedLayer
    half: bool

    @property
    def folded(self) -> str:
        """The nodes that only one of them has."""
        longer = max(self.one, self.other, key=lambda layer: len(layer.behind))
        return " and ".join(f"{node.op_type} {node.name}".rstrip() for node in longer.behind)

    def weights(self) -> tuple[Array, Array]:
        """Both weights with everything folded in, and without what rounding alone makes."""
        return self.one.weight, but_for_rounding(self.one.weight, self.other.weight, half=self.half)

    def shifts(self) -> tuple[Array, Array]:
        """The same of what is added to each channel."""
        return self.one.shift, but_for_rounding(self.one.shift, self.other.shift, half=self.half)


def but_for_rounding(mine: Array, theirs: Array, *, half: bool = False) -> Array:
    """The second with the first's numbers where only rounding lies between the two."""
    scale = float(np.abs(theirs[np.isfinite(theirs)]).max(initial=0.0))
    allowed = _ROUNDING_HALF if half else _ROUNDING
    return np.where(np.isclose(mine, theirs, rtol=allowed, atol=allowed * scale), mine, theirs)


def folds(matching: Matching, numbers: Constants, *, half: bool) -> dict[ir.Node, Fold]:
    """By linear node of the first graph: only those whose weights are nearer to one another when folded.

    Args:
        matching: pairs of nodes.
        numbers: of constants.
        half: one of the graphs is in half precision.
    """
    found = {}
    for node, partner in matching.pairs.items():
        left, right = _behind(matching.one, node), _behind(matching.other, partner)
        while left and right and matching.pairs.get(left[-1]) is right[-1]:
            del left[-1], right[-1]
        if not left and not right:
            continue
        one, other = _layer(matching.one, node, left, numbers), _layer(matching.other, partner, right, numbers)
        if one is None or other is None or one.weight.shape != other.weight.shape:
            continue
        fold = Fold(one, other, half)
        apart = _count(*fold.weights())
        as_stored = _count(one.stored, but_for_rounding(one.stored, other.stored, half=half))
        if apart + _count(*fold.shifts()) == 0 or apart < as_stored:
            found[node] = fold
    return found


def _count(x: Array, y: Array) -> int:
    return int((x != y).sum())


_AXES = {"Conv": 0, "ConvTranspose": 1, "Gemm": 1, "MatMul": 1}
"""Of linear operators, the axis of the weight that counts the channels of the result."""


def _behind(plain: Plain, node: ir.Node) -> list[ir.Node]:
    """The scales and shifts that alone read what a linear node makes."""
    found: list[ir.Node] = []
    while node.op_type in (_SHIFTS_AND_SCALES if found else _AXES) and not node.domain and len(node.outputs) == 1:
        uses = list(node.outputs[0].uses())
        if len(uses) != 1 or node.outputs[0].is_graph_output():
            break
        after = uses[0].node
        if after not in plain.place or after.op_type not in _SHIFTS_AND_SCALES or after.domain:
            break
        if sum(value.const_value is None for value in after.inputs if value is not None) != 1:
            break
        found.append(after)
        node = after
    return found


def _layer(plain: Plain, node: ir.Node, behind: list[ir.Node], numbers: Constants) -> FoldedLayer | None:
    """The layer; None where a constant is another than one number for each channel."""
    held = node.inputs[1]
    weight = numbers(plain, held) if held is not None else None
    attributes = {name: attribute.value for name, attribute in node.attributes.items()}
    axis = _AXES[node.op_type] if not attributes.get("transB") else 0
    if weight is None or weight.dtype.kind != "f" or weight.ndim < 2 or (node.op_type == "MatMul" and weight.ndim > 2):
        return None
    if node.op_type == "ConvTranspose" and attributes.get("group", 1) != 1:
        return None
    if attributes.get("alpha", 1.0) != 1 or attributes.get("beta", 1.0) != 1:
        return None
    last, channels = not node.op_type.startswith("Conv"), weight.shape[axis]
    scale, shift = np.ones(channels), np.zeros(channels)

    def by_channel(value: ir.Value | None) -> Array | None:
        array = numbers(plain, value) if value is not None else None
        if array is None or array.size not in (1, channels):
            return None
        place = array.ndim - 1 if last else array.ndim - weight.ndim + 1
        return array.astype(np.float64).reshape(-1) if array.size in (1, *array.shape[place : place + 1]) else None

    if len(node.inputs) > 2 and node.inputs[2] is not None:
        bias = numbers(plain, node.inputs[2])
        if bias is None or bias.size != channels:
            return None
        shift = bias.astype(np.float64).reshape(-1)
    for after in behind:
        if after.op_type == "BatchNormalization":
            parts = [numbers(plain, value) for value in after.inputs[1:5] if value is not None]
            if node.op_type == "MatMul" or any(part is None or part.size != channels for part in parts):
                return None
            gain, offset, mean, variance = (np.asarray(part, np.float64) for part in parts)
            epsilon = after.attributes.get("epsilon")
            gain = gain / np.sqrt(variance + (epsilon.as_float() if epsilon is not None else 1e-5))
            scale, shift = scale * gain, (shift - mean) * gain + offset
            continue
        computed = next(i for i, value in enumerate(after.inputs) if value is not None and value.const_value is None)
        constant = by_channel(after.inputs[1 - computed])
        if constant is None or (after.op_type == "Div" and computed == 1):
            return None
        match after.op_type:
            case "Mul":
                scale, shift = scale * constant, shift * constant
            case "Div":
                scale, shift = scale / constant, shift / constant
            case "Add":
                shift = shift + constant
            case _:
                sign = 1 if computed == 0 else -1
                scale, shift = sign * scale, sign * (shift - constant)
    sizes = [1] * weight.ndim
    sizes[axis] = -1
    return FoldedLayer(node, tuple(behind), weight, weight * scale.reshape(sizes), shift)
