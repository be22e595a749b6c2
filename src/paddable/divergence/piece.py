"""The nodes of one run at a fork, which can be run again with other numbers in what they read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from paddable.divergence.measure import measure
from paddable.divergence.parting import Parting
from paddable.divergence.regions import Block, from_facts, from_sizes, of_output
from paddable.divergence.side import Side
from paddable.gates.engine import Array
from paddable.padding.facts.facts import Facts

__all__ = ["Piece", "apart", "piece_at"]


@dataclass(frozen=True)
class Piece:
    """The nodes of one run between the values that agree and one that does not.

    Attributes:
        side: the run.
        nodes: them.
        inputs: what they read and do not make.
        valid: of each input, where it is valid; without those of which that is not known.
        value: what they make.
        made: it.
        kept: where it is valid.
        again: what the nodes make of other inputs; a node whose result is among these is left out.
    """

    side: Side
    nodes: Sequence[ir.Node]
    inputs: Mapping[ir.Value, Array]
    valid: Mapping[ir.Value, Array]
    value: ir.Value
    made: Array
    kept: Array
    again: Callable[[Mapping[ir.Value, Array], Sequence[ir.Value]], dict[ir.Value, Array]]


def piece_at(
    parting: Parting,
    side: Side,
    nodes: Sequence[ir.Node],
    read: Sequence[ir.Value],
    value: ir.Value,
    pair: tuple[ir.Value, ir.Value],
) -> Piece | None:
    """What a run has at a fork; None where its value is no array or its valid part is not known.

    Args:
        parting: both runs.
        side: the one.
        nodes: the nodes there.
        read: what they read and do not make.
        value: what they make.
        pair: it and its partner, that of the first run first.
    """
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
        left = [node for node in nodes if feeds.keys().isdisjoint(node.outputs)]
        answers = side.run(pieces.cut(left, named, asked), named)
        return {each: answers[str(each.name)] for each in asked}

    return Piece(side, nodes, inputs, valid, value, held[value], kept, again)


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


def apart(mine: Array, theirs: Array) -> float:
    """The error between two arrays, relative to the scale of the second; infinite where they cannot be compared."""
    found = measure(Block(mine, None, 1), Block(theirs, None, 1))
    return np.inf if found is None else found.error
