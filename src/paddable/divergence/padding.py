"""Whether what lies in the padding parts two runs: it is changed, and what the valid part does is looked at.

Rounding, and nodes that only one graph has, part runs at the same places. Nothing read off the graphs tells them apart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from paddable.divergence.fork import Fork, region
from paddable.divergence.measure import measure
from paddable.divergence.parting import Parting
from paddable.divergence.regions import Block, from_facts, from_sizes, made_of_sizes, of_output
from paddable.divergence.side import Side
from paddable.errors import PaddableError
from paddable.gates.engine import Array
from paddable.padding.facts.facts import Facts

__all__ = ["Trial", "try_padding"]

_FELT = 0.1
"""Share of the error that changed padding must make for the padding to be its cause."""


@dataclass(frozen=True)
class Trial:
    """What came of it.

    Attributes:
        felt: what lies in the padding makes the difference; None where that could not be tried.
        replaced: a mask that one run puts on valid steps too, and in which share of their numbers; by side.
    """

    felt: bool | None
    replaced: tuple[tuple[ir.Node, float] | None, tuple[ir.Node, float] | None] = (None, None)


@dataclass(frozen=True)
class _Piece:
    """The nodes of one run between the values that agree and one that does not.

    Attributes:
        side: the run.
        nodes: them.
        inputs: what they read and do not make.
        valid: of each input, where it is valid; without those of which that is not known.
        value: what they make.
        made: it.
        kept: where it is valid.
        again: what the nodes make of other inputs.
    """

    side: Side
    nodes: Sequence[ir.Node]
    inputs: Mapping[ir.Value, Array]
    valid: Mapping[ir.Value, Array]
    value: ir.Value
    made: Array
    kept: Array
    again: Callable[[Mapping[ir.Value, Array], Sequence[ir.Value]], dict[ir.Value, Array]]


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
        mine = _piece(parting, parting.one, fork.nodes, fork.inputs, fork.value, (fork.value, partner))
        theirs = _piece(parting, parting.other, others, read, partner, (fork.value, partner))
        if mine is None or theirs is None:
            return Trial(None)
        replaced = _replaced(parting, mine), _replaced(parting, theirs)
        error = min(1.0, _error(mine.made[mine.kept], theirs.made[theirs.kept]))
        felt = [_moves(piece, error) for piece in (mine, theirs) if piece.side.container != piece.side.steps]
        if True in felt:
            return Trial(not _right_on_the_same(parting, mine, theirs, error), replaced)
        return Trial(None if None in felt else False, replaced)
    except PaddableError:  # a piece that does not run alone
        return Trial(None)


def _piece(
    parting: Parting,
    side: Side,
    nodes: Sequence[ir.Node],
    read: Sequence[ir.Value],
    value: ir.Value,
    pair: tuple[ir.Value, ir.Value],
) -> _Piece | None:
    """What a run has at a fork; None where its value is no array or its valid part is not known."""
    if value in side.plain.sequences or any(each in side.plain.sequences for each in read):
        return None
    first = side is parting.one
    computed = [each for each in read if each.producer() is not None]
    pieces = parting.ran[0 if first else 1]
    held = pieces.again([*computed, value])
    fed = {each: side.feeds[str(each.name)] for each in read if each.producer() is None and each.name in side.feeds}
    values = parting.matching.values()
    back = {theirs: mine for mine, theirs in values.items()}
    inputs = {**fed, **{each: held[each] for each in computed if each in held}}
    valid = {}
    for each, array in inputs.items():
        both = (each, values.get(each)) if first else (back.get(each), each)
        found = _valid(parting, side, array, _facts(parting, each, *both))
        if found is not None:
            valid[each] = found
    if value.is_graph_output() and side.metadata is not None:
        kept = np.zeros(held[value].shape, bool)
        of_output(str(value.name), kept, side.metadata, side.container, side.steps)[...] = True
    else:
        known = _valid(parting, side, held[value], _facts(parting, value, *pair))
        if known is None:
            return None
        kept = known

    def again(feeds: Mapping[ir.Value, Array], asked: Sequence[ir.Value]) -> dict[ir.Value, Array]:
        named = {str(each.name): array for each, array in feeds.items()}
        answers = side.run(pieces.cut(nodes, named, asked), named)
        return {each: answers[str(each.name)] for each in asked}

    return _Piece(side, nodes, inputs, valid, value, held[value], kept, again)


def _facts(parting: Parting, value: ir.Value, mine: ir.Value | None, theirs: ir.Value | None) -> Facts | None:
    known = parting.known
    if value.producer() is None:
        return known.facts.get(value.name or "")
    if known.native is None or mine is None or theirs is None:
        return None
    return known.facts.get(known.native(mine, theirs) or "")


def _valid(parting: Parting, side: Side, array: Array, facts: Facts | None) -> Array | None:
    """Where a value is valid; None where that is not known."""
    marks = np.zeros(array.shape, bool)
    block: Block | None
    if facts is not None:
        block = from_facts(marks, facts, side.frame(parting.known.single_row))
    elif parting.known.native is None:
        block = from_sizes(marks, side.metadata, side.container, side.steps)
    else:
        return None
    if block is None:
        return None
    block.array[...] = True
    return marks


def _moves(piece: _Piece, error: float) -> bool | None:
    """Whether the valid part changes with what lies in the padding of what is read; None where nothing could be
    changed, though there may be some."""
    feeds = {
        value: _changed(array, piece.valid[value]) if value in piece.valid else array
        for value, array in piece.inputs.items()
    }
    if all(feeds[value] is array for value, array in piece.inputs.items()):
        return False if all(value in piece.valid and piece.valid[value].all() for value in piece.inputs) else None
    made = piece.again(feeds, [piece.value])[piece.value]
    return _error(made[piece.kept], piece.made[piece.kept]) > _FELT * error


def _changed(array: Array, valid: Array) -> Array:
    """The array with numbers of its valid part in its padding, so that neither its scale nor its type changes; of truth
    values, the other ones."""
    if array.dtype.kind == "b" and not valid.all():
        return np.where(valid, array, ~array)
    numbers = array[valid]
    numbers = numbers[np.isfinite(numbers)] if array.dtype.kind == "f" else numbers
    if valid.all() or array.dtype.kind not in "fiu" or not numbers.size:
        return array
    if array.dtype.kind == "f" and (numbers == numbers[0]).all():
        numbers = numbers + 1
    changed = array.copy()
    changed[~valid] = np.resize(numbers[::-1], int((~valid).sum()))
    return changed


def _right_on_the_same(parting: Parting, mine: _Piece, theirs: _Piece, error: float) -> bool:
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
    return _error(made[padded.kept], native.made[native.kept]) <= max(parting.tolerance, _FELT * error)


def _replaced(parting: Parting, piece: _Piece) -> tuple[ir.Node, float] | None:
    """The first mask of a padded run that replaces numbers of valid steps."""
    metadata = piece.side.metadata
    if metadata is None:
        return None
    lengths = made_of_sizes(piece.side.plain, constants=True, given=(*metadata.length_inputs, *metadata.mask_inputs))
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
        if wrong and node.op_type == "Where":
            return node, wrong
        if wrong and node.op_type != "Cast":
            lost.add(value)
    return None


_SHOWING = frozenset({"Cast", "Gather", "GatherElements", "Where"})
"""What a remedy puts between a value and its reader; it leaves valid steps as they are, or in another order."""


def _error(mine: Array, theirs: Array) -> float:
    found = measure(Block(mine, None, 1), Block(theirs, None, 1))
    return np.inf if found is None else found.error
