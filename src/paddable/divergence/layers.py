"""What a linear node computes with: one exporter folds scales and shifts into its weights, another leaves nodes.

A linear node and the scales and shifts by constants in front of it and behind it are one layer. Two layers that are one
are compared by their effective weight and shift, as if everything were folded in. Where that brings them nearer to one
another than what is stored, their last values are partners, and what lies between has none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import onnx_ir as ir

from paddable.divergence.matching import Matching
from paddable.divergence.plain import Plain, is_linear
from paddable.gates.engine import Array

__all__ = ["LINEAR", "Layer", "Layers", "but_for_rounding", "layer_with", "layers", "scales_behind"]

_ROUNDING = 1e-5
"""Of the weight's scale: what folding in fp32 rounds."""

_ROUNDING_HALF = 2.0**-9

_SHIFTS_AND_SCALES = ("Add", "BatchNormalization", "Div", "Mul", "Sub")

LINEAR = {"Conv": 0, "ConvTranspose": 1, "Gemm": 1, "MatMul": 1}
"""Of linear operators, the axis of the effective weight that counts the channels of the result."""


@dataclass(frozen=True)
class Layer:
    """A linear node with the scales and shifts around it.

    Attributes:
        node: the linear node.
        front: what scales and shifts in front of it, in order: a LayerNormalization only as the first.
        behind: what does behind it, in order.
        stored: weight and bias as the linear node holds them.
        weight: with the scales in it, of a product with the channels that it reads first.
        shift: of each channel, all of them together.
    """

    node: ir.Node
    front: tuple[ir.Node, ...]
    behind: tuple[ir.Node, ...]
    stored: tuple[Array, Array]
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
class Layers:
    """Two layers that are one, of which one has in its weights what the other has as nodes.

    Attributes:
        one: of the first graph.
        other: of the second.
        half: one of them is stored in half.
    """

    one: Layer
    other: Layer
    half: bool

    @property
    def folded(self) -> str:
        """The nodes that only one of them has, or that both have with other numbers."""
        longer = max(self.one, self.other, key=lambda layer: len(layer.front) + len(layer.behind))
        return " and ".join(f"{node.op_type} {node.name}".rstrip() for node in (*longer.front, *longer.behind))

    def weights(self) -> tuple[Array, Array]:
        """Both weights with everything folded in, but for rounding, as the first graph stores its own."""
        mine = self.one.weight
        both = mine, but_for_rounding(mine, self.other.weight, half=self.half)
        return (both[0].T, both[1].T) if _is_turned(self.one.node) else both

    def shifts(self) -> tuple[Array, Array]:
        """The same of what is added to each channel."""
        return self.one.shift, but_for_rounding(self.one.shift, self.other.shift, half=self.half)

    @property
    def is_one(self) -> bool:
        """Whether what they compute with is equal, or nearer than what the linear nodes hold."""
        apart = _count(*self.weights()) + _count(*self.shifts())
        held = zip(self.one.stored, self.other.stored, strict=True)
        return apart == 0 or apart < sum(_apart(mine, theirs, half=self.half) for mine, theirs in held)


def but_for_rounding(mine: Array, theirs: Array, *, half: bool = False) -> Array:
    """The second with the first's numbers where only rounding lies between the two."""
    scale = float(np.abs(theirs[np.isfinite(theirs)]).max(initial=0.0))
    allowed = _ROUNDING_HALF if half else _ROUNDING
    return np.where(np.isclose(mine, theirs, rtol=allowed, atol=allowed * scale), mine, theirs)


def layers(matching: Matching, *, half: bool) -> dict[ir.Node, Layers]:
    """By linear node of the first graph: only those of which the two graphs keep something at different places.

    Args:
        matching: pairs of nodes.
        half: one of the graphs is in half precision.
    """
    found = {}
    for node, partner in matching.pairs.items():
        if node.op_type not in LINEAR or partner.op_type not in LINEAR or node.domain or partner.domain:
            continue
        front = _front(matching.one, node), _front(matching.other, partner)
        while all(front) and matching.pairs.get(front[0][0]) is front[1][0] and _alike(front[0][0], front[1][0]):
            del front[0][0], front[1][0]
        behind = scales_behind(matching.one, node), scales_behind(matching.other, partner)
        while all(behind) and matching.pairs.get(behind[0][-1]) is behind[1][-1]:
            if any(front) and not _alike(behind[0][-1], behind[1][-1]):
                break  # it may hold what is shifted in front
            del behind[0][-1], behind[1][-1]
        if not any((*behind, *front)) and (node.op_type, _is_turned(node)) == (partner.op_type, _is_turned(partner)):
            continue
        one, other = layer_with(node, behind[0], front[0]), layer_with(partner, behind[1], front[1])
        if one is None or other is None or one.weight.shape != other.weight.shape:
            continue
        both = Layers(one, other, half)
        if both.is_one:
            found[node] = both
    return _whole(matching, found)


def _whole(matching: Matching, found: dict[ir.Node, Layers]) -> dict[ir.Node, Layers]:
    """Those of which all that reads what is in front has it folded in: else a reader feels it as it is."""
    while True:
        inner = {node for each in found.values() for node in each.one.front}
        felt = {
            node for node in inner if any(u.node not in inner and u.node not in found for u in node.outputs[0].uses())
        }
        partly = [node for node, each in found.items() if not felt.isdisjoint(each.one.front)]
        if not partly:
            return found
        found = {node: each for node, each in found.items() if node not in partly}


def _count(x: Array, y: Array) -> int:
    return int((x != y).sum())


def _apart(mine: Array, theirs: Array, *, half: bool) -> int:
    return mine.size if mine.shape != theirs.shape else _count(mine, but_for_rounding(mine, theirs, half=half))


def _is_turned(node: ir.Node) -> bool:
    turned = node.attributes.get("transB")
    return turned is not None and bool(turned.as_int())


def _alike(node: ir.Node, partner: ir.Node) -> bool:
    """Whether two nodes scale and shift by the same numbers."""
    for mine, theirs in zip(node.inputs, partner.inputs, strict=False):
        a, b = (each.const_value if each is not None else None for each in (mine, theirs))
        if a is not None and b is not None:
            x, y = a.numpy(), b.numpy()
            if x.size != y.size or (x.ravel() != but_for_rounding(x.ravel(), y.ravel())).any():
                return False
    return len(node.inputs) == len(partner.inputs)


def _computed(node: ir.Node) -> list[ir.Value]:
    return [value for value in node.inputs if value is not None and value.const_value is None]


def scales_behind(plain: Plain, node: ir.Node) -> list[ir.Node]:
    """The scales and shifts that alone read what a linear node makes."""
    found: list[ir.Node] = []
    while len(node.outputs) == 1:
        uses = list(node.outputs[0].uses())
        if len(uses) != 1 or node.outputs[0].is_graph_output():
            break
        node = uses[0].node
        if node not in plain.place or node.op_type not in _SHIFTS_AND_SCALES or node.domain:
            break
        if len(_computed(node)) != 1:
            break
        found.append(node)
    return found


def _front(plain: Plain, node: ir.Node) -> list[ir.Node]:
    """The scales and shifts that make what a product reads, up to a norm."""
    found: list[ir.Node] = []
    while is_linear(node) or found:
        read = _computed(node)
        maker = read[0].producer() if len(read) == 1 else None
        if maker is None or maker not in plain.place or maker.domain or maker.outputs[0].is_graph_output():
            break
        if maker.op_type == "LayerNormalization":
            found.append(maker)
            break
        if maker.op_type not in ("Add", "Div", "Mul", "Sub") or len(_computed(maker)) != 1:
            break
        found.append(maker)
        node = maker
    return found[::-1]


def _numbers(value: ir.Value | None) -> Array | None:
    return value.const_value.numpy() if value is not None and value.const_value is not None else None


@dataclass(frozen=True)
class _Affine:
    """``scale * x + shift`` of each channel."""

    scale: Array
    shift: Array

    def then(self, node: ir.Node, channels: int, axis: int) -> _Affine | None:
        """With a node behind; None where it is another than one number for each channel.

        Args:
            node: it.
            channels: how many.
            axis: of them in what the node reads, counted from the right.
        """

        def by_channel(value: ir.Value | None) -> Array | None:
            array = _numbers(value)
            if array is None or array.size not in (1, channels):
                return None
            flat = array.astype(np.float64).reshape(-1)
            return flat if array.size == 1 or (array.ndim >= axis and array.shape[-axis] == array.size) else None

        if node.op_type == "LayerNormalization":
            gain, offset = by_channel(node.inputs[1]), np.zeros(1)
            if len(node.inputs) > 2:
                given = by_channel(node.inputs[2])
                offset = given if given is not None else offset
            last = node.attributes.get("axis")
            return (
                _Affine(self.scale * gain, self.shift * gain + offset)
                if gain is not None and axis == 1 and (last is None or last.as_int() == -1)
                else None
            )
        if node.op_type == "BatchNormalization":
            parts = [_numbers(value) for value in node.inputs[1:5]]
            if axis == 1 or any(part is None or part.size != channels for part in parts):
                return None
            gain, offset, mean, variance = (np.asarray(part, np.float64) for part in parts)
            epsilon = node.attributes.get("epsilon")
            gain = gain / np.sqrt(variance + (epsilon.as_float() if epsilon is not None else 1e-5))
            return _Affine(self.scale * gain, (self.shift - mean) * gain + offset)
        computed = next(i for i, value in enumerate(node.inputs) if value is not None and value.const_value is None)
        constant = by_channel(node.inputs[1 - computed])
        if constant is None or (node.op_type == "Div" and computed == 1):
            return None
        match node.op_type:
            case "Mul":
                return _Affine(self.scale * constant, self.shift * constant)
            case "Div":
                return _Affine(self.scale / constant, self.shift / constant)
            case "Add":
                return replace(self, shift=self.shift + constant)
        sign = 1 if computed == 0 else -1
        return _Affine(sign * self.scale, sign * (self.shift - constant))


def layer_with(node: ir.Node, behind: Sequence[ir.Node], front: Sequence[ir.Node] = ()) -> Layer | None:
    """The layer; None where a constant is another than one number for each channel."""
    weight = _numbers(node.inputs[1])
    if weight is None or weight.dtype.kind != "f" or weight.ndim < 2:
        return None
    product = is_linear(node)
    attributes = {name: attribute.value for name, attribute in node.attributes.items()}
    if not node.op_type.startswith("Conv") and not product:
        return None
    if node.op_type == "ConvTranspose" and attributes.get("group", 1) != 1:
        return None
    if attributes.get("alpha", 1.0) != 1 or attributes.get("beta", 1.0) != 1:
        return None
    held, weight = weight, weight.T if _is_turned(node) else weight
    channels = weight.shape[LINEAR[node.op_type]]
    first: _Affine | None = _Affine(np.ones(1), np.zeros(1))
    for each in front:
        first = first.then(each, len(weight), 1) if first is not None else None
    shift = np.zeros(channels)
    if len(node.inputs) > 2 and node.inputs[2] is not None:
        bias = _numbers(node.inputs[2])
        if bias is None or bias.size != channels:
            return None
        shift = bias.astype(np.float64).reshape(-1)
    if first is None:
        return None
    stored, effective = (held, shift), weight.astype(np.float64)
    if product:
        shift = shift + np.broadcast_to(first.shift, len(weight)) @ effective
        effective = effective * first.scale.reshape(-1, 1)
    last: _Affine | None = _Affine(np.ones(channels), shift)
    for each in behind:
        last = last.then(each, channels, 1 if product else weight.ndim - 1) if last is not None else None
    if last is None:
        return None
    sizes = [1] * weight.ndim
    sizes[LINEAR[node.op_type]] = -1
    return Layer(node, tuple(front), tuple(behind), stored, effective * last.scale.reshape(sizes), last.shift)
