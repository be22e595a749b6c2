"""Whether what lies in the padding parts two runs: it is changed, and what the valid part does is looked at.

Rounding, and nodes that only one graph has, part runs at the same places. Nothing read off the graphs tells them apart.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from paddable.divergence.fork import Fork, region
from paddable.divergence.origins import made_of_lengths
from paddable.divergence.parting import Parting
from paddable.divergence.piece import Piece, apart, piece_at
from paddable.divergence.quantised import in_codes
from paddable.divergence.regions import made_of_sizes
from paddable.divergence.repaired import Repair, repaired
from paddable.errors import PaddableError
from paddable.gates.engine import Array

__all__ = ["Trial", "try_padding"]

_FELT = 0.1
"""Share of the error that changed padding must make for the padding to be its cause."""

_FAR, _LARGEST = 8.0, 1e3
"""How far above all others the padding's numbers are put, in the scale of these; and what counts as that at most, so
that neither half precision ends nor a mask of -1e4 lets them through."""


@dataclass(frozen=True)
class Trial:
    """What came of it.

    Attributes:
        felt: what lies in the padding makes the difference; None where that could not be tried.
        replaced: a mask that one run puts on valid steps too, and in which share of their numbers; by side.
        repair: what is wrong in a remedy: put right, the runs agree.
    """

    felt: bool | None
    replaced: tuple[tuple[ir.Node, float] | None, tuple[ir.Node, float] | None] = (None, None)
    repair: Repair | None = None


def try_padding(parting: Parting, fork: Fork, others: Sequence[ir.Node]) -> Trial:
    """Change what lies in the padding of what is read at a fork.

    Args:
        parting: both runs.
        fork: where they part.
        others: the nodes of the second graph that make the partner of the fork's value.
    """
    partner = parting.partner(fork.value)
    if partner is None or not others:
        return Trial(None)
    compared = {theirs: mine for mine, theirs in parting.matching.values().items() if mine in parting.measures}
    _, read = region(parting.other.plain, partner, lambda value: value in compared)
    try:
        mine = piece_at(parting, parting.one, fork.nodes, fork.inputs, fork.value, (fork.value, partner))
        theirs = piece_at(parting, parting.other, others, read, partner, (fork.value, partner))
        if mine is None or theirs is None:
            return Trial(None)
        replaced = _replaced(parting, mine), _replaced(parting, theirs)
        error = min(1.0, apart(mine.made[mine.kept], theirs.made[theirs.kept]))
        repair = repaired(parting, *_in_front_of_masks(parting, fork, partner, mine, theirs))
        if repair is not None:
            return Trial(True, replaced, repair)
        felt = [_moves(piece, error) for piece in (mine, theirs) if piece.side.container != piece.side.steps]
        if True in felt:
            return Trial(not _right_on_the_same(parting, mine, theirs, error), replaced)
        return Trial(None if None in felt else False, replaced)
    except PaddableError:  # a piece that does not run alone
        return Trial(None)


def _in_front_of_masks(
    parting: Parting, fork: Fork, partner: ir.Value, mine: Piece, theirs: Piece
) -> tuple[Piece, Piece]:
    """The two pieces with the masks that their values are read through: of two padded graphs these are paired."""
    if mine.side.metadata is None or theirs.side.metadata is None:
        return mine, theirs
    compared = parting.measures.keys()
    back = {theirs for a, theirs in parting.matching.values().items() if a in compared}

    def longer(piece: Piece, known: Collection[ir.Value]) -> Piece:
        masks = made_of_lengths(piece.side)

        def stays(value: ir.Value) -> bool:
            maker = value.producer()
            masked = maker is not None and maker.op_type == "Where" and maker.inputs[0] in masks
            return value in known and value not in masks and not masked

        nodes, read = region(piece.side.plain, piece.value, stays)
        return piece_at(parting, piece.side, nodes, read, piece.value, (fork.value, partner)) or piece

    return longer(mine, compared), longer(theirs, back)


def _moves(piece: Piece, error: float) -> bool | None:
    """Whether the valid part changes with what lies in the padding of what is read; None where nothing could be
    changed, though there may be some.

    A mean does not move with numbers like its own, nor a softmax of scores that are all alike: so numbers far above
    all others are tried too, and far below; unless scales in 8 bits would grow with them.
    """
    for far in (0.0,) if any(map(in_codes, piece.nodes)) else (0.0, _FAR, -_FAR):
        feeds = {
            value: _changed(array, piece.valid[value], far) if value in piece.valid else array
            for value, array in piece.inputs.items()
        }
        if all(feeds[value] is array for value, array in piece.inputs.items()):
            return False if all(value in piece.valid and piece.valid[value].all() for value in piece.inputs) else None
        made = piece.again(feeds, [piece.value])[piece.value]
        if apart(made[piece.kept], piece.made[piece.kept]) > _FELT * error:
            return True
    return False


def _changed(array: Array, valid: Array, far: float) -> Array:
    """The array with numbers of its valid part in its padding, so that its type stays; of truth values, the other ones.

    Args:
        array: the values.
        valid: where they are.
        far: what is added to them, times their scale, where they are floats.
    """
    if array.dtype.kind == "b" and not valid.all():
        return np.where(valid, array, ~array)
    numbers = array[valid]
    numbers = numbers[np.isfinite(numbers)] if array.dtype.kind == "f" else numbers
    if valid.all() or array.dtype.kind not in "fiu" or not numbers.size:
        return array
    if array.dtype.kind == "f" and (numbers == numbers[0]).all():
        numbers = numbers + 1
    if array.dtype.kind == "f":
        scale = max(1.0, float(np.abs(numbers).max()))
        numbers = numbers + np.asarray(min(scale, _LARGEST) * far, array.dtype)
    changed = array.copy()
    changed[~valid] = np.resize(numbers[::-1], int((~valid).sum()))
    return changed


def _right_on_the_same(parting: Parting, mine: Piece, theirs: Piece, error: float) -> bool:
    """Whether the native run's nodes give its result with what lies in the padding behind their inputs: then that is
    as it has to be, such as zeros for a convolution."""
    padded, native = (mine, theirs) if mine.side.metadata is not None else (theirs, mine)
    if native.side.metadata is not None or native.side.container != native.side.steps:
        return False
    values = parting.matching.values()
    partners = {**values, **{theirs: mine for mine, theirs in values.items()}}
    named = {value.name: array for value, array in padded.inputs.items() if value.producer() is None}
    feeds = {
        value: named.get(value.name) if value.producer() is None else padded.inputs.get(partners.get(value, value))
        for value in native.inputs
    }
    found = {value: array for value, array in feeds.items() if array is not None}
    if len(found) < len(feeds):
        return False
    try:
        made = native.again(found, [native.value])[native.value]
    except PaddableError:  # it holds sizes of its own
        return False
    if made.shape != padded.made.shape:
        return False
    return apart(made[padded.kept], native.made[native.kept]) <= max(parting.tolerance, _FELT * error)


def _replaced(parting: Parting, piece: Piece) -> tuple[ir.Node, float] | None:
    """The first mask of a padded run that replaces numbers of valid steps."""
    metadata = piece.side.metadata
    if metadata is None:
        return None
    given = {*metadata.length_inputs, *metadata.mask_inputs}
    lengths = made_of_sizes(piece.side.plain, constants=True, given=given)
    paired = {*parting.matching.pairs, *parting.matching.pairs.values()}
    moved: dict[ir.Value, tuple[ir.Node, ir.Value]] = {}
    valid = dict(piece.valid)
    for node in piece.nodes:
        data = [value for value in piece.side.plain.inputs(node) if value not in lengths]
        if node.op_type in _SHOWING and node not in paired and len(data) == 1 and data[0] in valid:
            moved[node.outputs[0]] = node, data[0]
            valid[node.outputs[0]] = valid[data[0]]
    if all(node.op_type != "Where" for node, _ in moved.values()):
        return None
    got = {**piece.inputs, **piece.again(piece.inputs, list(moved))}
    lost: set[ir.Value] = set()
    for value, (node, source) in moved.items():
        before, after, marks = got[source], got[value], valid[value]
        if source in lost or after.shape != marks.shape or before.shape != marks.shape:
            lost.add(value)
            continue
        wrong = float((after[marks] != before[marks]).mean()) if marks.any() else 0.0
        if wrong and node.op_type == "Where" and given & {read.name for read in _made_from(piece, node.inputs[0])}:
            return node, wrong
        if wrong and node.op_type != "Cast":
            lost.add(value)
    return None


def _made_from(piece: Piece, condition: ir.Value | None) -> Sequence[ir.Value]:
    """The inputs of the graph that a condition is made of: none of lengths where it is the model's own, as of attention
    that looks back only."""
    return region(piece.side.plain, condition, lambda _: False)[1] if condition is not None else ()


_SHOWING = frozenset({"Cast", "Gather", "GatherElements", "Where"})
"""What a remedy puts between a value and its reader; it leaves valid steps as they are, or in another order."""
