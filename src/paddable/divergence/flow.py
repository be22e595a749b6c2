"""What a node reads, in terms of what is paired: of nodes that look alike, the one whose producers are the pairs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

import onnx_ir as ir

from paddable.divergence.plain import Plain
from paddable.divergence.regions import made_of_sizes

__all__ = ["Flow", "exchanged", "fed", "in_one_order"]

_DEEPEST = 4
"""Readers of readers that tell what a node is for: as far as from a projection of attention to its scores."""

_FARTHEST = 32
"""Nodes without a partner that are looked through; behind more, what is paired tells nothing."""

_EITHER_WAY = frozenset({"Add", "And", "Equal", "Max", "Mean", "Min", "Mul", "Or", "Sum", "Xor"})
"""Operators whose inputs may change places."""

_TABLES = frozenset({*_EITHER_WAY, "Concat", "Div", "Gather", "GatherElements", "Sub", "Where"})
"""Operators that read a constant of several axes and multiply with no matrix."""

_MATRIX = 16
"""Elements from which a constant is a weight."""

_Sources: TypeAlias = "frozenset[ir.Value | None]"


class Flow:
    """The values of two graphs that are one, and what follows from them.

    Args:
        one: the first graph.
        other: the second.
        pairs: by node of the first, the node of the second.
        swapped: of those that stand in another's place (`exchanged`), the node whose place it is.
    """

    def __init__(
        self, one: Plain, other: Plain, pairs: Mapping[ir.Node, ir.Node], swapped: Mapping[ir.Node, ir.Node]
    ) -> None:
        self.one, self.other = one, other
        self._sizes = made_of_sizes(one, constants=True) | made_of_sizes(other, constants=True)
        self._taken: set[ir.Node] = set()
        self._values = fed(one, other)
        self._partners = set(self._values.values())
        self._told: dict[tuple[ir.Value, bool, bool], _Sources | None] = {}
        for node, partner in pairs.items():
            self.pair(node, partner, swapped.get(node))

    def pair(self, node: ir.Node, partner: ir.Node, place: ir.Node | None = None) -> None:
        """From now on, the two are one; for what reads them, the first is the node whose place it stands in, if any."""
        self._told.clear()
        self._taken.add(partner)
        for mine, theirs in zip(node.outputs, (place or partner).outputs, strict=False):
            self._values[mine] = theirs
            self._partners.add(theirs)

    def taken(self, partner: ir.Node) -> bool:
        """Whether a node of the second graph has a partner."""
        return partner in self._taken

    def readers(self, node: ir.Node, pairs: Mapping[ir.Node, ir.Node]) -> tuple[list[ir.Node], list[ir.Node]]:
        """The nodes without a partner that read what this one reads, sizes and constants apart, with the same operator,
        in both graphs; none where what it reads has no partner."""
        read = self._data(self.one, node)
        wanted = [self._values[value] for value in read if value in self._values]
        if not read or len(wanted) < len(read):
            return [], []

        def found(plain: Plain, inputs: Sequence[ir.Value]) -> list[ir.Node]:
            key, kind = _places(node, inputs), self.one.kinds[node]
            users = {use.node for use in inputs[0].uses()}
            alike = [n for n in users if plain.kinds.get(n) == kind]
            fitting = [n for n in alike if _places(n, self._data(plain, n)) == key]
            return sorted(fitting, key=lambda n: plain.place[n])

        mine = [n for n in found(self.one, read) if n not in pairs]
        return mine, [n for n in found(self.other, wanted) if n not in self._taken]

    def _data(self, plain: Plain, node: ir.Node) -> list[ir.Value]:
        """What a node reads that an input reaches other than by its size; where there is none, all it reads."""
        read = list(plain.inputs(node))
        return [value for value in read if value not in self._sizes] or read

    def agree(self, node: ir.Node, partner: ir.Node) -> bool:
        """Whether nothing that the two read is the pair of something else: input by input, and however many nodes
        without a partner lie between. What counts steps is never one with what computes on them."""
        if {self._counts(node), self._counts(partner)} == {True, False}:
            return False
        mine, theirs = (
            [self._sources(each, first) for each in n.inputs] for n, first in ((node, True), (partner, False))
        )
        orders = (theirs, theirs[::-1]) if _either_way(node) else (theirs,)
        if any(all(_meet(a, b) for a, b in zip(mine, order, strict=False)) for order in orders):
            return True
        together = [frozenset().union(*(each for each in group if each)) for group in (mine, theirs)]
        return together[0] == together[1]  # in another order

    def _counts(self, node: ir.Node) -> bool | None:
        """Whether a node computes a size; None where it may, of an input that holds lengths."""
        if self._sizes.issuperset(node.outputs):
            return True
        types = {value.dtype for value in (*node.inputs, *node.outputs) if value is not None}
        return False if any(dtype is not None and dtype.is_floating_point() for dtype in types) else None

    def alike(self, node: ir.Node, partner: ir.Node) -> bool:
        """Whether all that the two are made of is pairs, and the same ones."""
        mine, theirs = (
            [self._sources(value, first, through=True) for value in plain.inputs(n)]
            for n, plain, first in ((node, self.one, True), (partner, self.other, False))
        )
        if None in (*mine, *theirs):
            return False
        return frozenset().union(*filter(None, mine)) == frozenset().union(*filter(None, theirs))

    def _sources(self, value: ir.Value | None, first: bool, *, through: bool = False) -> _Sources | None:
        """The paired values that a value is or is made of, looked for once between two pairs."""
        if value is None:
            return None
        if (value, first, through) not in self._told:
            self._told[value, first, through] = self._walked(value, first, through)
        return self._told[value, first, through]

    def _walked(self, value: ir.Value, first: bool, through: bool) -> _Sources | None:
        """The paired values, as the second graph has them, behind nodes without a partner; None where those are too
        many. A product among them is one None, unless what it reads is asked for too."""
        plain = self.one if first else self.other
        found: set[ir.Value | None] = set()
        stack, seen = [value], set[ir.Node]()
        while stack:
            current = stack.pop()
            if current is None or current in self._sizes:
                continue
            partner = self._values.get(current) if first else current if current in self._partners else None
            if partner is not None:
                found.add(partner)
                continue
            maker = current.producer()
            if maker is not None and maker in plain.place and maker not in seen:
                seen.add(maker)
                if len(seen) > _FARTHEST:
                    return None
                if not through and _multiplies(plain, maker):
                    found.add(None)
                    continue
                stack += plain.inputs(maker)
        return frozenset(found)


def fed(one: Plain, other: Plain) -> dict[ir.Value, ir.Value]:
    """The inputs of the first graph, each with the second's: by name; where none is shared, by their order."""
    inputs = [[v for v in plain.model.graph.inputs if v.const_value is None] for plain in (one, other)]
    named = {value.name: value for value in inputs[1]}
    found = {value: named[value.name] for value in inputs[0] if value.name in named}
    return found or (dict(zip(*inputs, strict=True)) if len(inputs[0]) == len(inputs[1]) else {})


def _multiplies(plain: Plain, node: ir.Node) -> bool:
    """Whether a node multiplies what it reads with a matrix: what stands behind it does not stand in front of it."""
    if node.op_type in _TABLES:
        return False
    held = (value.const_value for value in plain.weights(node))
    return any(each is not None and each.size >= _MATRIX and sum(n != 1 for n in each.shape) > 1 for each in held)


def _meet(mine: _Sources | None, theirs: _Sources | None) -> bool:
    return not mine or not theirs or not mine.isdisjoint(theirs)


def _places(node: ir.Node, read: Iterable[ir.Value]) -> list[int]:
    """What is read, comparable between nodes of one graph."""
    found = [id(value) for value in read]
    return sorted(found) if _either_way(node) else found


def exchanged(
    one: Plain, other: Plain, pairs: Mapping[ir.Node, ir.Node], attributes: tuple[Sequence[object], Sequence[object]]
) -> dict[ir.Node, ir.Node]:
    """Of paired nodes that read the same and stand in each other's place, the node that stands in theirs: two
    projections whose weights were exchanged are one by their weights, and what reads them is not.

    Args:
        one: the first graph.
        other: the second.
        pairs: by node of the first, the node of the second with its weights.
        attributes: of the nodes of each graph.
    """
    mine, theirs = (_purposes(plain, each) for plain, each in zip((one, other), attributes, strict=True))
    alike: dict[tuple[object, ...], list[ir.Node]] = {}
    for node, partner in pairs.items():
        if mine[node] != theirs[partner]:
            alike.setdefault((one.kinds[node], *map(id, one.inputs(node))), []).append(node)
    return {
        node: pairs[twin]
        for group in alike.values()
        for node in group
        for twin in group
        if mine[node] == theirs[pairs[twin]] and mine[twin] == theirs[pairs[node]]
    }


def _purposes(plain: Plain, attributes: Sequence[object]) -> dict[ir.Node, int]:
    """Of each node, a hash of the operators that read it and at which input."""
    own = {node: hash((plain.kinds[node], each)) for node, each in zip(plain.nodes, attributes, strict=True)}
    found = own
    for _ in range(_DEEPEST):
        found = {
            node: hash(
                (
                    own[node],
                    *sorted(
                        (0 if _either_way(use.node) else use.idx, found[use.node])
                        for value in node.outputs
                        for use in value.uses()
                        if use.node in own
                    ),
                )
            )
            for node in plain.nodes
        }
    return found


def in_one_order(node: ir.Node, partner: ir.Node) -> list[tuple[ir.Value | None, ir.Value | None]]:
    """The inputs of two nodes that are one, place by place; of those that may change places, the constants last."""
    mine, theirs = list(node.inputs), list(partner.inputs)
    if _either_way(node):
        for inputs in (mine, theirs):
            inputs.sort(key=lambda value: value is not None and value.const_value is not None)
    return list(zip(mine, theirs, strict=False))


def _either_way(node: ir.Node) -> bool:
    return node.op_type in _EITHER_WAY and not node.domain
