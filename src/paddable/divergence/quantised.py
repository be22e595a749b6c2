"""Weights stored in 8 or 4 bits against the same in float: what is rounded may be a step away, a wrong scale is
further."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import onnx_ir as ir

from paddable.divergence.changed import Changed, is_weight
from paddable.divergence.fork import region
from paddable.divergence.moving import MOVING
from paddable.divergence.parting import Parting
from paddable.divergence.plain import Plain
from paddable.divergence.unpaired import Unpaired
from paddable.gates.engine import Array
from paddable.precision.codes import bits_of

__all__ = ["beside_rounding", "changed_quantised", "fewest_bits", "in_codes", "products_of_both"]

_STORED: dict[str, tuple[int, int | None, int]] = {
    "ConvInteger": (1, None, 3),
    "DequantizeLinear": (0, 1, 2),
    "DynamicQuantizeMatMul": (1, 2, 3),
    "MatMulInteger": (1, None, 3),
    "MatMulIntegerToFloat": (1, 3, 5),
    "QLinearConv": (3, 4, 5),
    "QLinearMatMul": (3, 4, 5),
}
"""Inputs that hold a weight, its scale and its zero point; without a scale, it is multiplied later."""


@dataclass(frozen=True)
class _Weight:
    """A weight of one graph as numbers, and the steps between two of them; None in float."""

    node: ir.Node
    name: str
    numbers: Array
    step: Array | None
    place: int = 0
    """Of a recurrent node, which of its weights."""

    @property
    def like(self) -> tuple[int, int]:
        """What a weight for the same place has as well."""
        return self.numbers.size, self.place

    @property
    def stem(self) -> str:
        """Its name before it was quantised."""
        return re.sub("_(quantized|int4|int8)$", "", self.name)


def in_codes(node: ir.Node) -> bool:
    """Whether a node rounds to 8 bits or fewer, or reads what is."""
    return bits_of(node) is not None


def beside_rounding(one: Unpaired, nodes: Sequence[ir.Node]) -> Unpaired:
    """Of the nodes at a fork that one graph has in 8 bits and the other in float, those that no quantiser puts there or
    takes away.

    Args:
        one: nodes that only one graph has.
        nodes: all nodes at the fork, of both graphs.
    """
    if any(node.domain and not node.op_type.startswith("QLinear") and not in_codes(node) for node in nodes):
        return Unpaired((), (), False)  # one node for several
    static = any(node.op_type.startswith("Q") for node in nodes)
    extra, missing = (
        {_kind(node): node for node in each if _kind(node) not in _QUANTISERS | MOVING}
        for each in (one.extra, one.missing)
    )
    cut = _CUT if static else frozenset[str]()
    return Unpaired(
        [node for kind, node in extra.items() if kind not in {*missing, *cut}],
        [node for kind, node in missing.items() if kind not in {*extra, *cut}],
        one.last,
    )


def _kind(node: ir.Node) -> str:
    whole = node.op_type.removeprefix("QLinear").removeprefix("DynamicQuantize").removesuffix("NBits")
    return whole or node.op_type


_QUANTISERS = frozenset(
    {"Add", "Cast", "Conv", "ConvTranspose", "Div", "DynamicQuantizeLinear", "Gemm", "Linear", "LSTM", "MatMul"}
    | {"MatMulIntegerToFloat", "Mul", "QuantizeLinear", "Sub", *_STORED}
)
"""Operators that a product in codes consists of, and those that it stands for."""

_CUT = frozenset({"Clip", "Relu"})
"""What the ends of the codes do as well."""


def products_of_both(
    parting: Parting, nodes: Sequence[ir.Node], others: Sequence[ir.Node]
) -> Iterator[tuple[ir.Node, ir.Node]]:
    """Nodes at a fork of which the quantiser put one in the other's place: alone of their kind and the size of their
    weights, one of them in 8 bits.

    Args:
        parting: both runs.
        nodes: those of the first graph.
        others: those of the second.
    """
    taken = {*parting.matching.pairs, *parting.matching.pairs.values()}
    mine, theirs = (
        [(key, node) for node in each if node not in taken and (key := _product(node)) is not None]
        for each in (nodes, others)
    )
    counts = [Counter(key for key, _ in each) for each in (mine, theirs)]
    for key, node in mine:
        partner = next((each for other, each in theirs if other == key), None)
        if partner is not None and counts[0][key] == counts[1][key] == 1 and in_codes(node) != in_codes(partner):
            yield node, partner


def _product(node: ir.Node) -> tuple[str, int] | None:
    """What a product is in either precision: its kind, and the size of its weight; None for what is none."""
    kind = _kind(node).removesuffix("Integer")
    if kind not in ("Conv", "LSTM"):
        return None
    held = _constant(node, 3 if node.op_type == "QLinearConv" else 1)
    return (kind, held.size) if held is not None else None


def fewest_bits(plain: Plain) -> int | None:
    """In how few bits a graph that was quantised, by whatever quantiser, keeps or computes something."""
    return min((bits for node in plain.nodes if (bits := bits_of(node)) is not None), default=None)


def changed_quantised(parting: Parting) -> list[Changed]:
    """Weights in 8 bits of one graph that are more than a step away from the other's in float."""
    one, other = parting.one.plain, parting.other.plain
    partners = parting.matching.values()
    compared = {partners[value] for value in parting.measures}
    found: dict[ir.Node, Changed] = {}
    for value in parting.measures:
        mine, _ = region(one, value, lambda v: v in parting.measures)
        theirs, _ = region(other, partners[value], lambda v: v in compared)
        if not any(map(in_codes, (*mine, *theirs))):
            continue
        for a, b in _alike(list(_weights(one, mine)), list(_weights(other, theirs))):
            told = _apart(a, b)
            if told is None or a.node in found:
                continue
            twin = _elsewhere(one, other, a, b)
            named = any(parting.matching.by.get(node) == "name" for node in mine[-1:])
            if twin is not None and not named and not parting.carries(value):
                continue  # of products that read the same, such as query and key, the wrong one
            text = f"{a.name} differs from the second graph's {b.name} with scale and zero point applied, {told[1]}"
            found[a.node] = Changed(a.node, text, told[0], a.numbers.size, _held_by(twin, a))
    return list(found.values())


def _held_by(twin: ir.Node | None, held: _Weight) -> str:
    """Where what is in 8 bits lies in float; empty where it does not."""
    if twin is None:
        return ""
    whose, where = ("these", "second") if held.step is not None else ("the second graph's", "first")
    return f"; {whose} numbers are those of {twin.op_type} {twin.name}".rstrip() + f" in the {where} graph"


def _alike(mine: Sequence[_Weight], theirs: Sequence[_Weight]) -> Iterator[tuple[_Weight, _Weight]]:
    """Weights that alone have their size, or their name too, one of them in 8 bits."""
    for a in mine:
        twins = [b for b in theirs if b.like == a.like and (a.step is None) != (b.step is None)]
        if len(twins) > 1 or sum(each.like == a.like for each in mine) > 1:  # such as gain and shift of a norm
            twins = [b for b in twins if b.stem == a.stem]
        if len(twins) == 1:
            yield a, twins[0]


def _elsewhere(one: Plain, other: Plain, a: _Weight, b: _Weight) -> ir.Node | None:
    """The node at which what is in 8 bits in one graph lies in float in the other, if there is another than the
    partner's."""
    plain, held = (other, a) if a.step is not None else (one, b)
    floats = (each for node in plain.nodes if node.op_type not in _STORED for each in _floats(plain, node))
    alike = (each for each in floats if each.numbers.size == held.numbers.size)
    return next((w.node for w in alike if _apart(_corner(held), _corner(w)) is None and _apart(held, w) is None), None)


def _corner(weight: _Weight) -> _Weight:
    """A few numbers of a weight that lie in the same place when it is turned."""
    few = (slice(4),) * weight.numbers.ndim
    return replace(weight, numbers=weight.numbers[few], step=None if weight.step is None else weight.step[few])


def _floats(plain: Plain, node: ir.Node) -> Iterator[_Weight]:
    for value in plain.weights(node):
        if is_weight(value) and value.const_value is not None:
            place = list(node.inputs).index(value) if node.op_type == "LSTM" and value in node.inputs else 0
            yield _Weight(node, str(value.name), value.const_value.numpy(), None, place)


def _of_lstm(node: ir.Node) -> Iterator[_Weight]:
    """The two weights of an LSTM in 8 bits, which lie turned: [directions, inputs, gates]."""
    for place, scale_at in ((1, 8), (2, 10)):
        held, stored = node.inputs[place], _constant(node, place)
        scale, zero = _constant(node, scale_at), _constant(node, scale_at + 1)
        if held is None or stored is None or scale is None or stored.dtype.itemsize != 1:
            continue
        shape = (len(stored), 1, -1)
        step = np.abs(scale).astype(np.float64).reshape(shape)
        offset = 0 if zero is None else zero.astype(np.float64).reshape(shape)
        numbers = (stored.astype(np.float64) - offset) * step
        numbers, step = (np.swapaxes(each, 1, 2) for each in (numbers, np.broadcast_to(step, stored.shape)))
        yield _Weight(node, str(held.name), numbers, step, place)


def _weights(plain: Plain, nodes: Sequence[ir.Node]) -> Iterator[_Weight]:
    for node in nodes:
        if node.op_type == "DynamicQuantizeLSTM":
            yield from _of_lstm(node)
            continue
        if node.op_type == "MatMulNBits":
            yield from _in_blocks(node)
            continue
        if node.op_type not in _STORED:
            yield from _floats(plain, node)
            continue
        at, scale_at, zero_at = _STORED[node.op_type]
        held, zero = node.inputs[at], _constant(node, zero_at)
        stored = _constant(node, at)
        scale = _later_scale(nodes) if scale_at is None else _constant(node, scale_at)
        if held is None or stored is None or scale is None or stored.dtype.itemsize != 1:
            continue
        axis = 0 if "Conv" in node.op_type else stored.ndim - 1
        if node.op_type == "DequantizeLinear":
            axis = int(node.attributes["axis"].value) if "axis" in node.attributes else 1
        shape = _along(axis, stored, scale, zero)
        if shape is None:
            continue  # in blocks
        step = np.broadcast_to(np.abs(scale).astype(np.float64).reshape(shape if scale.size > 1 else ()), stored.shape)
        offset = np.zeros(()) if zero is None else zero.astype(np.float64).reshape(shape if zero.size > 1 else ())
        yield _Weight(node, str(held.name), (stored.astype(np.float64) - offset) * step, step)


def _in_blocks(node: ir.Node) -> Iterator[_Weight]:
    """The weight of a product with one scale for some numbers of a column, which lie in a row: [columns, rows]."""
    held, stored, scale, zero = node.inputs[1], *(_constant(node, index) for index in (1, 2, 3))
    rows, columns, bits, size = (node.attributes.get_int(name, 4) for name in ("K", "N", "bits", "block_size"))
    if held is None or stored is None or scale is None or 8 % bits or (zero is not None and zero.dtype != np.uint8):
        return
    middle: Array | float = 2.0 ** (bits - 1)
    if zero is not None:
        middle = _unpacked(zero.reshape(columns, -1), bits)[:, : scale.size // columns].repeat(size, axis=1)
    step = np.abs(scale.astype(np.float64)).reshape(columns, -1).repeat(size, axis=1)
    numbers = (_unpacked(stored.reshape(columns, -1), bits) - middle) * step
    yield _Weight(node, str(held.name), numbers[:, :rows].T, step[:, :rows].T)


def _unpacked(stored: Array, bits: int) -> Array:
    """Numbers of which some lie in a byte, the first in its lowest bits: [columns, rows] as floats."""
    parts = [stored >> shift & (1 << bits) - 1 for shift in range(0, 8, bits)]
    return np.stack(parts, axis=-1).reshape(len(stored), -1).astype(np.float64)


def _along(axis: int, stored: Array, scale: Array, zero: Array | None) -> list[int] | None:
    """The shape in which scale and zero point lie along an axis; of one for all, the axis says nothing, and need not be
    there. None where they do not fit it."""
    sizes = {each.size for each in (scale, zero) if each is not None} - {1}
    if not sizes:
        return []
    if not -stored.ndim <= axis < stored.ndim or sizes != {stored.shape[axis]}:
        return None
    return [-1 if each == axis % stored.ndim else 1 for each in range(stored.ndim)]


def _constant(node: ir.Node, index: int) -> Array | None:
    value = node.inputs[index] if index < len(node.inputs) else None
    return value.const_value.numpy() if value is not None and value.const_value is not None else None


def _later_scale(nodes: Sequence[ir.Node]) -> Array | None:
    """The scale of a weight that is multiplied by that of what it is multiplied with."""
    found = []
    for node in nodes:
        makers = [value.producer() for value in node.inputs if value is not None]
        if node.op_type == "Mul" and any(n is not None and n.op_type == "DynamicQuantizeLinear" for n in makers):
            found += [constant for index in range(2) if (constant := _constant(node, index)) is not None]
    return found[0] if len(found) == 1 else None


def _apart(a: _Weight, b: _Weight) -> tuple[int, str] | None:
    """How many numbers are more than a step away, and the text of it; as they lie or turned, whichever is nearer."""
    step = a.step if a.step is not None else b.step
    assert step is not None
    told = []
    for x, y in ((a.numbers, b.numbers), (a.numbers, b.numbers.T)):
        if x.shape != y.shape:
            continue
        gap = np.abs(x.astype(np.float64) - y)
        turned = a.step is None and y is not b.numbers
        wrong = gap > 1.01 * (step.T if turned else step) + 1e-7
        if not wrong.any():
            return None
        at = np.unravel_index(int(gap.argmax()), x.shape)
        place, count = [int(n) for n in at], int(wrong.sum())
        where = f"in {count} of {x.size} numbers by more than a step, most at {place}"
        told.append((count, f"{where}: {x[at]:.4g} and {y[at]:.4g}"))
    return min(told, default=None)
