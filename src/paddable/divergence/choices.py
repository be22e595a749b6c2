"""Choices among scores, such as the ids of an ArgMax: classes, so that they are equal or other ones.

Where the scores agree, two right graphs choose otherwise at a tie alone (`paddable.gates.chosen`). The first run takes
the second's choice there and computes on with it: what is made of it has to agree then.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
import onnx_ir as ir

from paddable.divergence.fills import filled
from paddable.divergence.known import Known, valid_blocks
from paddable.divergence.measure import measure
from paddable.divergence.moving import MOVING
from paddable.divergence.pieces import Pieces
from paddable.divergence.plain import Plain
from paddable.divergence.regions import Block
from paddable.divergence.side import Side
from paddable.errors import PaddableError
from paddable.gates.chosen import answer_of, apart, chooses, scored, told_ties, torn
from paddable.gates.engine import Array
from paddable.gates.oracle import scale

__all__ = ["Choices", "ids"]


def ids(plain: Plain) -> set[ir.Value]:
    """What holds choices, as they are chosen, moved, cut or cast.

    Args:
        plain: a graph.
    """
    found: set[ir.Value] = set()
    for node in plain.nodes:
        data = (
            node.inputs if node.op_type == "Concat" else node.inputs[1:] if node.op_type == "Where" else node.inputs[:1]
        )
        if node.op_type in _RANKING and chooses(node):
            found.add(answer_of(node))
        elif node.op_type in _CARRYING and not found.isdisjoint(data):
            found.update(node.outputs)
    return found


_RANKING = frozenset({"ArgMax", "ArgMin", "TopK"})
"""Operators whose choices are places in a list."""

_CARRYING = frozenset({"Cast", "Compress", "Where", *MOVING})
"""Operators behind which classes are still classes."""


@dataclass
class Choices:
    """The choices of both runs, as they are looked at.

    Attributes:
        one: the first run.
        other: the second.
        ran: both graphs as they run.
        known: which part of a value is valid.
        tolerance: the error up to which scores agree.
        told: by choice of the first graph that was taken from the second, a line on it.
    """

    one: Side
    other: Side
    ran: tuple[Pieces, Pieces]
    known: Known
    tolerance: float
    told: dict[ir.Value, str] = field(default_factory=dict)

    def ties(
        self,
        pairs: Iterable[tuple[ir.Value, ir.Value]],
        left: Mapping[ir.Value, Array],
        right: Mapping[ir.Value, Array],
    ) -> dict[ir.Value, Array]:
        """What nodes make whose choices fall the other way at ties alone, with the choices of the second run.

        Args:
            pairs: values of both graphs.
            left: the first run's arrays.
            right: the second's.
        """
        found: dict[ir.Value, Array] = {}
        for a, b in pairs:
            node, partner = a.producer(), b.producer()
            if a in self.told or node is None or partner is None or not (chooses(node) and chooses(partner)):
                continue
            if a is not answer_of(node) or b is not answer_of(partner) or left[a].dtype.kind not in "biu":
                continue
            taken = left[a].copy()
            blocks = valid_blocks(self.one, self.other, a, b, taken, right[b], self.known)
            if blocks[0] is None or blocks[1] is None or blocks[0].array.size != blocks[1].array.size:
                continue
            count = int(np.count_nonzero(blocks[0].array != blocks[1].array.reshape(blocks[0].array.shape)))
            scores = self._scores(node, partner) if count else None
            if scores is None:
                continue
            blocks[0].array[...] = blocks[1].array.reshape(blocks[0].array.shape)
            with np.errstate(invalid="ignore"):  # between two scores that a mask has put at -inf
                clear = apart(node, *scores, left[a], taken).any()
            if not clear:
                found |= {**self.ran[0].again(value for value in node.outputs if value.name), a: taken}
                name = f"{node.op_type} {node.name}".rstrip()
                self.told[a] = told_ties(name, count, blocks[0].array.size)
        return found

    def _scores(self, node: ir.Node, partner: ir.Node) -> tuple[list[Array], list[float]] | None:
        """The first run's scores, and how far the two runs are apart in each; None where they do not agree."""
        arrays, near = [], []
        for a, b in zip(node.inputs[: scored(node)], partner.inputs, strict=False):
            x, y = self._array(0, a), self._array(1, b)
            if a is None or b is None or x is None or y is None or x.dtype.kind != "f":
                return None
            blocks: tuple[Block | None, Block | None] = Block(x, None, 1), Block(y, None, 1)
            if a.const_value is None or b.const_value is None:
                blocks = valid_blocks(self.one, self.other, a, b, x, y, self.known)
            found = measure(*blocks, fills=True)
            if found is None or blocks[1] is None or not found.error <= self.tolerance:
                return None
            arrays.append(x)
            near.append(found.error * _unit(blocks[1].array, found.largest[1]))
        return arrays, near

    def _array(self, side: int, value: ir.Value | None) -> Array | None:
        if value is None:
            return None
        if value.const_value is not None:
            return value.const_value.numpy()
        try:
            return self.ran[side].again([value]).get(value)
        except PaddableError:  # it does not run alone
            return None

    def decided_by_ties(self, value: ir.Value) -> bool:
        """Whether a choice that could fall either way is among what makes a value of the first graph."""
        plain = self.one.plain
        stack, seen = [value], {value}
        while stack:
            node = stack.pop().producer()
            if node is None or node not in plain.place:
                continue
            if chooses(node) and (answer_of(node) in self.told or self._is_torn(node)):
                return True
            above = [each for each in plain.inputs(node) if each not in seen]
            seen.update(above)
            stack += above
        return False

    def _is_torn(self, node: ir.Node) -> bool:
        read = [self._array(0, each) for each in node.inputs[: scored(node)] if each is not None]
        arrays = [array for array in read if array is not None and array.dtype.kind == "f"]
        own = self._array(0, answer_of(node))
        if own is None or len(arrays) < scored(node):
            return False
        with np.errstate(invalid="ignore"):
            return torn(node, arrays, [self.tolerance * _unit(each, scale(each)) for each in arrays], own)


def _unit(array: Array, size: float) -> float:
    """The scale of the numbers that stand for something; that of all where none is a fill."""
    apart = filled(array) if np.isfinite(array).all() else None
    return size if apart is None else apart[1]
