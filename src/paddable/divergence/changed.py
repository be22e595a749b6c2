"""Weights and constants that differ between two nodes that are one: which number, and by how much."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import onnx_ir as ir

from paddable.divergence.constants import is_rounded, told
from paddable.divergence.flow import in_one_order
from paddable.divergence.layers import Layers, scales_behind
from paddable.divergence.matching import Matching
from paddable.divergence.norms import epsilons, trains
from paddable.divergence.plain import Plain
from paddable.divergence.weights import Fingerprint, fingerprint
from paddable.gates.engine import Array
from paddable.graph.trace import module_path

__all__ = [
    "Changed",
    "Weights",
    "changed_between",
    "changed_weights",
    "counted",
    "inside",
    "is_weight",
    "numbers_apart",
    "reordered",
]

_WEIGHT = 16
"""Elements from which a constant counts as a weight: smaller ones are sizes, axes and epsilons."""


_TELLING, _FEWEST = 4, 3
"""Weights from which their number tells two checkpoints apart; of few, where none is equal; of fewer, each is told at
its node."""

_ROUNDING = 2.0**-20
"""Of the weight's scale, some ulp of float32: two exporters that fold one norm into one weight round differently."""


_COMPUTED = 0.03
"""Of the scale, what half or 8 bits change of a constant that nodes compute."""


@dataclass(frozen=True)
class Changed:
    """One weight that differs.

    Attributes:
        node: of the first graph, which reads it.
        text: which, where and by how much.
        numbers: how many of its numbers differ; 0 where the shapes do.
        size: how many it has.
        moved: where the first graph's numbers are in the second, or else the second's in the first, if they are there;
            begins with a semicolon.
    """

    node: ir.Node
    text: str
    numbers: int
    size: int = 0
    moved: str = ""


_RECURRENT = ("GRU", "LSTM", "RNN")

_AS_STORED: Mapping[ir.Node, Layers] = MappingProxyType({})


def changed_between(
    one: Plain,
    other: Plain,
    pairs: Sequence[tuple[ir.Node, ir.Node]],
    *,
    exact: bool,
    layers: Mapping[ir.Node, Layers] = _AS_STORED,
) -> Iterator[Changed]:
    """The weights that differ between paired nodes, those that their bodies read among them.

    Axes of size 1 are no difference: one graph may keep a kernel as the other's Unsqueeze makes it.

    Args:
        one: the first graph.
        other: the second.
        pairs: nodes of both.
        exact: both are of one precision; else what rounding to half changes is allowed.
        layers: linear nodes of which the two graphs keep something at different places.
    """
    inner = inside(layers)
    for node, partner in pairs:
        if node in inner:
            continue
        if node in layers:
            yield from _changed_layer(layers[node])
            continue
        yield from _bias_of_one(one, node, other, partner)
        for place, a, b in _places(one, node, other, partner):
            if a.const_value is None or b.const_value is None:
                continue
            x, y = a.const_value.numpy(), b.const_value.numpy()
            if x.dtype.kind not in "fiub" or y.dtype.kind not in "fiub":
                continue
            where = f"{place} ({told(a)}) of {node.op_type}"
            if [n for n in x.shape if n != 1] != [n for n in y.shape if n != 1]:
                if x.size != y.size or one.fingerprint(a) != other.fingerprint(b):
                    shapes = f"{list(x.shape)} in the first graph and {list(y.shape)} in the second"
                    yield Changed(node, f"{where} is {shapes}", 0)
                continue
            y = y.reshape(x.shape)
            if (
                node.op_type in _RECURRENT
            ):  # what rounding alone moved is no difference of the sum, however small that is
                wrong = _differing(x, y, exact)
                y = np.where(wrong, y, x) if wrong is not None else x
            if not exact and (is_rounded(a) or is_rounded(b)) and _within_rounding(x, y):
                continue
            x, y = _as_added(node, a, x), _as_added(partner, b, y)
            apart = numbers_apart(x, y, exact) if x.shape == y.shape else None
            if apart is not None:
                told_apart = f"{where} differs from the second graph's {apart[1]}"
                moved = _within(one, node, other, partner, a, b) or reordered(x, y)
                moved = moved or _held_by(other, one.fingerprint(a), one.kinds[node], partner, "second")
                moved = moved or _held_by(one, other.fingerprint(b), other.kinds[partner], node, "first")
                yield Changed(node, told_apart, apart[0], x.size, moved)


def _within_rounding(x: Array, y: Array) -> bool:
    """Whether two constants that nodes compute differ by no more than half or 8 bits round."""
    floats = x.dtype.kind == y.dtype.kind == "f"
    return floats and bool((np.abs(x - y) <= _COMPUTED * np.abs(y).max(initial=0)).all())


def _bias_of_one(one: Plain, node: ir.Node, other: Plain, partner: ir.Node) -> Iterator[Changed]:
    """A bias that one of two nodes has, and neither the other nor what is behind that."""
    at = _BIASES.get(node.op_type)
    if at is None or node.op_type != partner.op_type or node.domain or partner.domain:
        return
    mine, theirs = (each.inputs[at] if len(each.inputs) > at else None for each in (node, partner))
    held, which, plain, bare = (mine, ("first", "second"), other, partner)
    if mine is None:
        held, which, plain, bare = (theirs, ("second", "first"), one, node)
    if (mine is None) == (theirs is None) or held is None or held.const_value is None:
        return
    count = int(np.count_nonzero(held.const_value.numpy()))
    if count and not any(each.op_type in _SHIFTS for each in scales_behind(plain, bare)):
        text = f"the {which[0]} graph has a bias ({told(held)}) in {node.op_type}, and the {which[1]} has none there"
        yield Changed(node, text, count, held.const_value.size)


_BIASES = {"Conv": 2, "ConvTranspose": 2, "GRU": 3, "Gemm": 2, "LSTM": 3, "RNN": 3}
"""Operators whose bias may be left out, and which input it is."""

_SHIFTS = ("Add", "BatchNormalization", "Sub")


def _as_added(node: ir.Node, value: ir.Value, array: Array) -> Array:
    """Of the two biases of a recurrent node, what is felt: their sum, but for a GRU's gate that resets in between."""
    recurrent = node.op_type in _RECURRENT and not node.domain
    if not recurrent or len(node.inputs) < 4 or value is not node.inputs[3] or array.ndim != 2 or array.shape[1] % 2:
        return array
    read, carried = np.split(array, 2, axis=1)
    linear = node.attributes.get("linear_before_reset")
    if node.op_type != "GRU" or linear is None or not linear.as_int():
        added: Array = read + carried
        return added
    gates = read.shape[1] // 3 * 2
    return np.concatenate([(read + carried)[:, :gates], read[:, gates:], carried[:, gates:]], axis=1)


def _within(one: Plain, node: ir.Node, other: Plain, partner: ir.Node, a: ir.Value, b: ir.Value) -> str:
    """Whether two inputs of a node stand in each other's place in its partner, such as a norm's gain and shift."""
    for _, x, y in _places(one, node, other, partner):
        if x is a or x.const_value is None or y.const_value is None or not is_weight(x):
            continue
        if one.fingerprint(a) == other.fingerprint(y) != one.fingerprint(x) == other.fingerprint(b):
            return f"; it is exchanged with {told(x)}, another input of the node"
    return ""


def reordered(x: Array, y: Array) -> str:
    """Whether a weight has the numbers of another in another order, and which parts are exchanged; empty where not.

    Args:
        x: a weight.
        y: another of its shape.
    """
    if x.size < _WEIGHT or x.shape != y.shape or fingerprint(ir.tensor(x)) != fingerprint(ir.tensor(y)):
        return ""
    if x.ndim == 2 and x.shape[0] > 1 and np.array_equal(x.T, y):
        return "; it is transposed"
    told = "; they are the same numbers in another order"
    for axis, count in ((axis, count) for axis in range(x.ndim) for count in (2, 3, 4)):
        if x.shape[axis] % count or x.shape[axis] == count > 2:
            continue
        mine, theirs = (np.split(each, count, axis) for each in (x, y))
        if all(any(np.array_equal(part, each) for each in theirs) for part in mine):
            moved = [k + 1 for k in range(count) if not np.array_equal(mine[k], theirs[k])]
            which = " and ".join(", ".join(map(str, moved)).rsplit(", ", 1))
            return f"{told}: parts {which} of {count} along axis {axis} changed places"
    return told


def _held_by(plain: Plain, wanted: Fingerprint, kind: tuple[str, str], partner: ir.Node, which: str) -> str:
    """The only node of a kind that holds a weight in another place than it is looked for; empty where there is none or
    several: then the numbers do not tell where they are from."""
    if wanted[0] < _WEIGHT:
        return ""
    held = [
        node
        for node in plain.nodes
        if plain.kinds[node] == kind and any(plain.fingerprint(value) == wanted for value in plain.weights(node))
    ]
    if len(held) != 1 or held[0] is partner:
        return ""
    module = module_path(held[0])
    name = f"{held[0].op_type} {held[0].name}".rstrip() + (f" ({module})" if module else "")
    numbers = "these numbers" if which == "second" else "the second graph's numbers"
    return f"; {numbers} are those of {name} in the {which} graph"


def inside(layers: Mapping[ir.Node, Layers]) -> set[ir.Node]:
    """The nodes of the first graph that are part of a layer, the linear ones apart."""
    return {node for each in layers.values() for node in (*each.one.front, *each.one.behind)}


def _changed_layer(both: Layers) -> Iterator[Changed]:
    """The weight and the shift of a layer, compared as if both graphs had everything folded in."""
    if epsilons(both) is not None or (both.norm is not None and trains(both.norm)):
        return  # the norm is what differs
    weight = both.one.node, both.one.node.inputs[1]
    for place, numbers in ((weight, both.weights()), (both.one.bias, both.shifts())):
        apart = numbers_apart(*numbers, exact=True)
        if apart is not None:
            node, value = place if place is not None else (both.one.node, None)
            where = f"input {list(node.inputs).index(value)} ({told(value)})" if value is not None else "the bias"
            where += f" of {node.op_type}{f', with {both.folded} folded in,' if both.folded else ''}"
            yield Changed(node, f"{where} differs from the second graph's {apart[1]}", apart[0], numbers[0].size)


def numbers_apart(x: Array, y: Array, exact: bool) -> tuple[int, str] | None:
    """How many numbers differ, and the text of how many, where most, and what lies there; None where none does.

    Args:
        x: the numbers of the first.
        y: those of the second, of one shape.
        exact: both are of one precision; else what rounding to half changes is allowed.
    """
    wrong = _differing(x, y, exact)
    if wrong is None:
        return None
    gap = np.abs(x.astype(np.float64) - y.astype(np.float64))
    at = np.unravel_index(int(np.nan_to_num(np.where(wrong, gap, -1.0), nan=np.inf).argmax()), x.shape)
    count, place = int(wrong.sum()), [int(n) for n in at]
    return count, f"in {count} of {x.size} numbers, most at {place}: {float(x[at]):.4g} and {float(y[at]):.4g}"


@dataclass(frozen=True)
class Weights:
    """What became of the weights that paired nodes compute with.

    Attributes:
        changed: those that differ, in graph order.
        compared: how many could be compared.
    """

    changed: Sequence[Changed]
    compared: int

    @property
    def are_others(self) -> bool:
        """Whether most differ: another checkpoint, and not one that was changed; of few, all in most of their numbers.
        What only lies in another place is none of them."""
        others = [each for each in self.changed if not each.moved]
        if self.compared < _TELLING:
            return self.compared >= _FEWEST and sum(2 * each.numbers > each.size for each in others) >= self.compared
        return len(others) > self.compared / 2

    @property
    def told(self) -> str:
        """How many are equal."""
        return f"{max(0, self.compared - len(self.changed))} of {self.compared} are in both graphs"


def changed_weights(
    matching: Matching,
    *,
    exact: bool,
    layers: Mapping[ir.Node, Layers] = _AS_STORED,
    equal: Collection[ir.Node] = (),
) -> Weights:
    """The weights that paired nodes compute with; one that only lies at another node of its kind in the other graph
    does not differ.

    Args:
        matching: pairs of nodes.
        exact: both graphs are of one precision.
        layers: linear nodes of which the two graphs keep something at different places.
        equal: nodes of the first graph whose weights are known to be the other's.
    """
    inner = inside(layers) | set(equal)
    one, other = matching.one, matching.other
    mine, theirs = _held(one), _held(other)
    found: list[Changed] = []
    seen: set[tuple[Fingerprint, Fingerprint]] = set()
    compared = 0
    for node in one.nodes:
        partner = matching.pairs.get(node)
        if partner is None or node in inner:
            continue
        if node in layers:
            changed = list(_changed_layer(layers[node]))
            found, compared = [*found, *changed], compared + 1
            continue
        kind = one.kinds[node]
        for _, a, b in _places(one, node, other, partner):
            if not (is_weight(a) and is_weight(b)):
                continue
            left, right = one.fingerprint(a), other.fingerprint(b)
            if left[0] != right[0] or (left, right) in seen:
                continue
            compared += 1
            elsewhere = mine[kind, left] <= theirs[kind, left] or theirs[kind, right] <= mine[kind, right]
            if (left == right and exact) or (left != right and not elsewhere):
                seen.add((left, right))
                changes = changed_between(one, other, [(node, partner)], exact=exact)
                found += [change for change in changes if change.numbers]
                break
    return Weights(found, compared)


def _held(plain: Plain) -> Counter[tuple[tuple[str, str], Fingerprint]]:
    """How many nodes of a kind hold each weight."""
    return Counter(
        (plain.kinds[node], plain.fingerprint(value))
        for node in plain.nodes
        for value in plain.weights(node)
        if is_weight(value)
    )


def counted(texts: Sequence[str]) -> str:
    """How many weights differ, and the first; empty where none does."""
    if not texts:
        return ""
    return f"{'1 weight differs' if len(texts) == 1 else f'{len(texts)} weights differ, the first'}: {texts[0]}"


def is_weight(value: ir.Value) -> bool:
    """Whether a value is a constant that is large enough to be a weight."""
    tensor = value.const_value
    return tensor is not None and tensor.size >= _WEIGHT and tensor.dtype.is_floating_point()


def _places(one: Plain, node: ir.Node, other: Plain, partner: ir.Node) -> Iterator[tuple[str, ir.Value, ir.Value]]:
    """Values of both at one place: an input, or the same place among what the bodies read."""
    for a, b in in_one_order(node, partner):
        if a is not None and b is not None:
            yield f"input {list(node.inputs).index(a)}", a, b
    mine, theirs = (
        [value for value in plain.weights(each) if value not in each.inputs]
        for plain, each in ((one, node), (other, partner))
    )
    if len(mine) == len(theirs):
        yield from (("the weight", a, b) for a, b in zip(mine, theirs, strict=True))


def _differing(x: Array, y: Array, exact: bool) -> Array | None:
    """Which numbers differ by more than rounding; None where none does."""
    if x.dtype == y.dtype and np.array_equal(x, y, equal_nan=x.dtype.kind == "f"):
        return None
    wide, right = x.astype(np.float64), y.astype(np.float64)
    if x.dtype.kind != "f" or y.dtype.kind != "f":
        allowed: Array | float = 0.0
    elif exact:
        allowed = _ROUNDING * float(np.abs(right[np.isfinite(right)]).max(initial=0.0))
    else:
        allowed = 2.0**-10 * np.abs(right) + 1e-7
    with np.errstate(invalid="ignore"):
        wrong = ~(np.abs(wide - right) <= allowed) & ~((wide == right) | (np.isnan(wide) & np.isnan(right)))
    return wrong if wrong.any() else None
