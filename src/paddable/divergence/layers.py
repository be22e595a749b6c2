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

_LAYOUT = ("Squeeze", "Unsqueeze")
"""A convolution over one axis may be stored as one over two, with these around it."""

_NEUTRAL = (*_LAYOUT, "Where")
"""What neither scales nor shifts: a fill by zero stands in front of a convolution only."""

LINEAR = {"Conv": 0, "ConvTranspose": 1, "Gemm": 1, "MatMul": 1}
"""Of linear operators, the axis of the effective weight that counts the channels of the result."""


@dataclass(frozen=True)
class Layer:
    """A linear node with the scales and shifts around it.

    Attributes:
        node: the linear node.
        front: what scales and shifts in front of it, in order: a LayerNormalization only as the first; of a convolution
            what scales, and what leaves zeros zero.
        behind: what does behind it, in order.
        stored: weight and bias as the linear node holds them.
        weight: with the scales in it, of a product with the channels that it reads first.
        shift: of each channel, all of them together.
        factors: the product's own, of its weight and of its bias, which are in the two above.
    """

    node: ir.Node
    front: tuple[ir.Node, ...]
    behind: tuple[ir.Node, ...]
    stored: tuple[Array, Array]
    weight: Array
    shift: Array
    factors: tuple[float, float] = (1.0, 1.0)

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
        bare: the products' own factors differ, and are in neither weight.
    """

    one: Layer
    other: Layer
    half: bool
    bare: bool = False

    @property
    def folded(self) -> str:
        """The nodes that only one of them has, or that both have with other numbers."""
        longer = max(self.one, self.other, key=lambda layer: len(layer.front) + len(layer.behind))
        nodes = [node for node in (*longer.front, *longer.behind) if node.op_type not in _NEUTRAL]
        return " and ".join(f"{node.op_type} {node.name}".rstrip() for node in nodes)

    def weights(self) -> tuple[Array, Array]:
        """Both weights with everything folded in, but for rounding, as the first graph stores its own."""
        mine = self.one.weight
        both = mine, but_for_rounding(mine, self.other.weight.reshape(mine.shape), half=self.half)
        return (both[0].T, both[1].T) if _is_turned(self.one.node) else both

    def shifts(self) -> tuple[Array, Array]:
        """The same of what is added to each channel."""
        return self.one.shift, but_for_rounding(self.one.shift, self.other.shift, half=self.half)

    @property
    def is_one(self) -> bool:
        """Whether what they compute with is equal, or nearer than what the linear nodes hold."""
        apart = _count(*self.weights()) + _count(*self.shifts())
        held = list(zip(self.one.stored, self.other.stored, strict=True))
        stored = sum(_apart(mine, theirs, half=self.half) for mine, theirs in held)
        return apart == 0 or apart < stored or (self.norm is not None and stored > sum(x.size for x, _ in held) / 2)

    @property
    def norm(self) -> ir.Node | None:
        """The batch norm that one of them has as a node and the other in its weights."""
        norms = [
            [node for node in each.behind if node.op_type == "BatchNormalization"] for each in (self.one, self.other)
        ]
        return (norms[0] or norms[1])[0] if bool(norms[0]) != bool(norms[1]) else None


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
        if all(each.op_type in _NEUTRAL for each in (*behind[0], *behind[1], *front[0], *front[1])):
            if _form(node) == _form(partner):
                continue
            behind = front = [], []
        one, other = layer_with(node, behind[0], front[0]), layer_with(partner, behind[1], front[1])
        if one is None or other is None or one.weight.ndim == 0 or not _one_shape(one.weight, other.weight):
            continue
        both = _with_factors(Layers(one, other, half))
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
    if not _one_shape(mine, theirs):
        return mine.size
    return _count(mine, but_for_rounding(mine, theirs.reshape(mine.shape), half=half))


def _one_shape(mine: Array, theirs: Array) -> bool:
    """But for axes of size 1."""
    return [n for n in mine.shape if n != 1] == [n for n in theirs.shape if n != 1]


def _form(node: ir.Node) -> tuple[object, ...]:
    """How a linear node's weight is to be read."""
    return node.op_type, _is_turned(node), *_factors(node)


def _factors(node: ir.Node) -> tuple[float, float]:
    alpha, beta = (node.attributes.get(name) if node.op_type == "Gemm" else None for name in ("alpha", "beta"))
    return (alpha.as_float() if alpha is not None else 1.0, beta.as_float() if beta is not None else 1.0)


def _with_factors(both: Layers) -> Layers:
    """The layers; without the products' own factors where that brings them nearer: then a factor is what differs."""
    if both.one.factors == both.other.factors or 0 in (*both.one.factors, *both.other.factors):
        return both
    bare = replace(both, one=_bare(both.one), other=_bare(both.other), bare=True)
    apart = [_count(*each.weights()) + _count(*each.shifts()) for each in (both, bare)]
    return bare if apart[1] < apart[0] else both


def _bare(layer: Layer) -> Layer:
    alpha, beta = layer.factors
    return replace(layer, weight=layer.weight / alpha, shift=layer.shift / beta)


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
    convolves = node.op_type.startswith("Conv")
    while len(node.outputs) == 1:
        uses = list(node.outputs[0].uses())
        if len(uses) != 1 or node.outputs[0].is_graph_output():
            break
        node = uses[0].node
        layout = node.op_type in _LAYOUT and convolves
        if node not in plain.place or not (layout or node.op_type in _SHIFTS_AND_SCALES) or node.domain:
            break
        if len(_computed(node)) != 1:
            break
        found.append(node)
    return found


def _front(plain: Plain, node: ir.Node) -> list[ir.Node]:
    """The scales and shifts that make what a product reads, up to a norm; the scales alone, with the fills by zero
    between them, that make what a convolution reads: a shift in front of its padding is none behind it."""
    found: list[ir.Node] = []
    convolves = node.op_type == "Conv"
    allowed = ("Div", "Mul", *_NEUTRAL) if convolves else ("Add", "Div", "Mul", "Sub")
    while convolves or is_linear(node) or found:
        read = [node.inputs[1]] if node.op_type == "Where" else _computed(node)
        maker = read[0].producer() if len(read) == 1 and read[0] is not None else None
        if maker is None or maker not in plain.place or maker.domain or maker.outputs[0].is_graph_output():
            break
        if maker.op_type == "LayerNormalization" and not convolves:
            found.append(maker)
            break
        filled = maker.op_type == "Where" and _is_zero(maker.inputs[2])
        if maker.op_type not in allowed or (len(_computed(maker)) != 1 and not filled):
            break
        found.append(maker)
        node = maker
    while found and found[-1].op_type in _NEUTRAL:
        del found[-1]
    return found[::-1]


def _is_zero(value: ir.Value | None) -> bool:
    array = _numbers(value)
    return array is not None and not array.any()


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

        if node.op_type in _NEUTRAL:
            return self
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
    alpha, beta = _factors(node)
    held, weight = weight, weight.T if _is_turned(node) else weight
    channels = weight.shape[LINEAR[node.op_type]]
    first: _Affine | None = _Affine(np.ones(1), np.zeros(1))
    rank = weight.ndim
    for each in front[::-1]:
        rank += _fewer(each, rank)
    for each in front:
        rank -= _fewer(each, rank)
        read = len(weight) if product else weight.shape[1] if attributes.get("group", 1) == 1 else 1
        first = first.then(each, read, 1 if product else rank - 1) if first is not None else None
    shift = np.zeros(channels)
    if len(node.inputs) > 2 and node.inputs[2] is not None:
        bias = _numbers(node.inputs[2])
        if bias is None or bias.size != channels:
            return None
        shift = bias.astype(np.float64).reshape(-1)
    if first is None:
        return None
    stored, effective, shift = (held, shift), weight.astype(np.float64) * alpha, shift * beta
    if product:
        shift = shift + np.broadcast_to(first.shift, len(weight)) @ effective
        effective = effective * first.scale.reshape(-1, 1)
    else:
        effective = effective * first.scale.reshape(-1, *[1] * (weight.ndim - 2))
    last: _Affine | None = _Affine(np.ones(channels), shift)
    rank = weight.ndim
    for each in behind:
        rank -= _fewer(each, rank)
        last = last.then(each, channels, 1 if product else rank - 1) if last is not None else None
    if last is None:
        return None
    sizes = [1] * weight.ndim
    sizes[LINEAR[node.op_type]] = -1
    scaled = effective * last.scale.reshape(sizes)
    return Layer(node, tuple(front), tuple(behind), stored, scaled, last.shift, (alpha, beta))


def _fewer(node: ir.Node, rank: int) -> int:
    """How many axes a node takes away behind the channels."""
    if node.op_type not in _LAYOUT:
        return 0
    axes = _numbers(node.inputs[1] if len(node.inputs) > 1 else None)
    count = rank - 2 if axes is None else axes.size
    return count if node.op_type == "Squeeze" else -count
