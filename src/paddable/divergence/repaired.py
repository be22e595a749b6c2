"""What is wrong in a remedy: a divisor, a comparison or the order of a Where's inputs; put right, the runs agree.

A remedy's nodes have no partners in native. What they ought to compute is known all the same: a mean divides by the
steps that are valid, and a mask holds as many.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from paddable.divergence.origins import made_of_lengths
from paddable.divergence.parting import Parting
from paddable.divergence.piece import Piece, apart
from paddable.errors import PaddableError
from paddable.gates.engine import Array

__all__ = ["Repair", "repaired"]


@dataclass(frozen=True)
class Repair:
    """A remedy's node that is wrong.

    Attributes:
        node: it.
        first: whether it is in the first graph.
        text: what is wrong in it.
        fix: what it ought to do.
    """

    node: ir.Node
    first: bool
    text: str
    fix: str


@dataclass(frozen=True)
class _Otherwise:
    """A node's result with one thing in it put right: which, how, and how far that is from what it does."""

    node: ir.Node
    made: Array
    text: str
    fix: str
    rank: int


def repaired(parting: Parting, mine: Piece, theirs: Piece) -> Repair | None:
    """The node of a padded run that makes the two agree where it is put right; None where none does.

    Args:
        parting: both runs.
        mine: the first run's nodes where they part.
        theirs: the second's.
    """
    held = [_held(piece) for piece in (mine, theirs)]
    stated = [array for arrays, lengths in held for value, array in arrays.items() if value in lengths]
    for (piece, other), (arrays, lengths) in zip(((mine, theirs), (theirs, mine)), held, strict=True):
        if piece.side.metadata is None or piece.side.container == piece.side.steps:
            continue
        sizes = _sizes(piece, stated)
        tried = [each for node in piece.nodes for each in _otherwise(node, arrays, lengths, sizes)]
        if other.side.metadata is not None:  # a wrong graph is no reason to change the right one
            tried = [each for each in tried if _holds(each, sizes)]
        right = [each for each in tried if _agrees(parting, piece, other, each.node.outputs[0], each.made)]
        if right:
            first = min(right, key=lambda each: each.rank)
            also = dict.fromkeys(each.node for each in right if each.rank == first.rank and each.node is not first.node)
            more = "".join(f", or {node.op_type} {node.name} is wrong so" for node in list(also)[:2])
            return Repair(first.node, piece is mine, first.text + more, first.fix)
    return None


def _held(piece: Piece) -> tuple[Mapping[ir.Value, Array], Set[ir.Value]]:
    """What the nodes of a padded run read and make of its lengths, and which values of the run are made of these."""
    if piece.side.metadata is None:
        return {}, set()
    lengths = made_of_lengths(piece.side)
    inner = {value for node in piece.nodes for value in node.outputs} & lengths
    read = [value for node in piece.nodes for value in piece.side.plain.inputs(node)]
    asked = [value for value in dict.fromkeys((*inner, *read)) if value not in piece.inputs]
    return {**piece.inputs, **(piece.again(piece.inputs, asked) if asked else {})}, lengths


def _agrees(parting: Parting, piece: Piece, other: Piece, value: ir.Value, made: Array) -> bool:
    """Whether the runs agree with another result of one node."""
    try:
        found = made if value is piece.value else piece.again({**piece.inputs, value: made}, [piece.value])[piece.value]
    except PaddableError:  # what reads it does not run with that
        return False
    if found.shape != piece.kept.shape:
        return False
    return apart(found[piece.kept], other.made[other.kept]) <= parting.tolerance


def _holds(each: _Otherwise, sizes: Sequence[tuple[int, int]]) -> bool:
    """Whether a result is right whatever the other run has: a divisor, or a mask of as many steps as are valid."""
    if each.made.dtype.kind != "b":
        return each.node.op_type != "Where"
    return int(each.made.sum()) in {valid for valid, _ in sizes}


def _sizes(piece: Piece, lengths: Sequence[Array]) -> list[tuple[int, int]]:
    """How many steps are valid, and of how many: of each axis that is padded, and of the symbols; and lengths as the
    graph makes them."""
    found = [(piece.side.steps[name], size) for name, size in piece.side.container.items() if name in piece.side.steps]
    for marks in piece.valid.values():
        for axis, size in enumerate(marks.shape):
            others = tuple(k for k in range(marks.ndim) if k != axis)
            found.append((int(marks.any(others).sum()), size))
    found += [(int(array.ravel()[0]), 0) for array in lengths if array.size == 1 and array.dtype.kind in "iuf"]
    return [(valid, size) for valid, size in dict.fromkeys(found) if valid > 0 and valid != size]


def _otherwise(
    node: ir.Node, held: Mapping[ir.Value, Array], lengths: Set[ir.Value], sizes: Sequence[tuple[int, int]]
) -> Iterator[_Otherwise]:
    """Results of a node with one thing in it put right."""
    read = [
        value.const_value.numpy() if value.const_value is not None else held.get(value)
        for value in node.inputs
        if value is not None
    ]
    arrays = [array for array in read if array is not None]
    if node.domain or len(arrays) < len(node.inputs):
        return
    told = f"{node.op_type} {node.name}".rstrip()
    if node.op_type in ("Div", "Mul") and len(arrays) == 2:
        for index, value in enumerate(node.inputs):
            constant = value is not None and (value in lengths or value.const_value is not None)
            if constant and arrays[index].size == 1 and (index or node.op_type == "Mul"):
                yield from _scaled(node, index, arrays, told, sizes)
    elif node.op_type in _COMPARES and not lengths.isdisjoint(node.outputs):
        made = _COMPARES[node.op_type](*arrays)
        for name, compare in _COMPARES.items():
            right = compare(*arrays)
            if not np.array_equal(right, made):
                text = f"the condition {told} is wrong for {int((made != right).sum())} of {made.size} steps"
                yield _Otherwise(node, right, text, f"it has to be {name}", 0 if name[:4] == node.op_type[:4] else 2)
    elif node.op_type == "Where" and node.inputs[0] in lengths:
        made = np.where(~arrays[0], *arrays[1:])
        yield _Otherwise(node, made, f"{told} has its inputs in the wrong order", "exchange inputs 1 and 2", 1)


def _scaled(
    node: ir.Node, index: int, read: Sequence[Array], told: str, sizes: Sequence[tuple[int, int]]
) -> Iterator[_Otherwise]:
    """A product or quotient with a number of steps that is not that of those that are valid."""
    held, other, value = read[index], read[1 - index], node.inputs[index]
    number = float(held.ravel()[0])
    rank = 0 if value is not None and value.const_value is not None else 3  # what computes it comes first
    for valid, size in sizes:
        share = valid / size if size else 0.0
        asked = (valid, number * share) if node.op_type == "Div" else (1 / valid, number / share if share else 0.0)
        for right in asked:
            factor = held.dtype.type(right)
            if factor in (0, number):
                continue
            made = np.asarray(other * factor if node.op_type == "Mul" else other / factor, other.dtype)
            name = value.name if value is not None else ""
            text = f"input {index} ({name}) of {told} is {number:.6g} where {right:.6g} makes the runs agree: "
            yield _Otherwise(node, made, f"{text}{valid} steps are valid", "divide by the number of valid steps", rank)


_COMPARES = {"Less": np.less, "LessOrEqual": np.less_equal, "Greater": np.greater, "GreaterOrEqual": np.greater_equal}
