"""What two nodes read, as far as it tells whether they are one."""

from __future__ import annotations

from collections.abc import Collection, Set

import onnx_ir as ir

from paddable.divergence.flow import in_one_order
from paddable.divergence.moving import MOVING
from paddable.divergence.parting import Parting
from paddable.divergence.regions import made_of_sizes
from paddable.divergence.side import Side

__all__ = ["made_of_lengths", "misnamed", "origin", "reads_alike", "through_mask"]


def reads_alike(parting: Parting, node: ir.Node, partner: ir.Node) -> bool:
    """Whether nothing that the two read is the partner of another value: else they were paired for want of a better
    one, and what they hold has nothing in common.

    Args:
        parting: both runs.
        node: of the first graph.
        partner: of the second.
    """
    values = parting.matching.values()
    theirs = set(values.values())
    folded = {n for each in parting.layers.values() for n in (each.one.node, *each.one.front, *each.one.behind)}
    if node in folded:
        return True
    pairs = [(a, b) for a, b in in_one_order(node, partner) if a is not None and b is not None]
    sizes = [made_of_sizes(side.plain, constants=True) for side in (parting.one, parting.other)]
    computed = [
        (a, b)
        for a, b in pairs
        if a.const_value is None and b.const_value is None and not (a in sizes[0] and b in sizes[1])
    ]
    read = [(origin(a, values), origin(b, theirs)) for a, b in computed]
    return not read or any(
        (a not in values and b not in theirs) or {values[x] for x in _behind(a, values)} & _behind(b, theirs)
        for a, b in read
    )


def misnamed(parting: Parting, node: ir.Node, partner: ir.Node) -> bool:
    """Whether two nodes share their name alone: what they read and what reads them is one of other nodes,
    as where a module has one operator more and an exporter counts on.

    Args:
        parting: both runs.
        node: of the first graph.
        partner: of the second.
    """
    pairs = parting.matching.pairs
    if parting.matching.by.get(node) != "name" or any(value.size >= _WEIGHT for value in _held(node)):
        return False
    after = {pairs[use.node] for value in node.outputs for use in value.uses() if use.node in pairs}
    behind = {use.node for value in partner.outputs for use in value.uses()}
    if not after or not behind or not after.isdisjoint(behind):
        return False
    values = parting.matching.values()
    if any(a in values and values[a] is b for a, b in in_one_order(node, partner) if a is not None):
        return False
    masked = parting.one.metadata is not None or parting.other.metadata is not None
    return not masked or not reads_alike(parting, node, partner)


def _held(node: ir.Node) -> list[ir.TensorProtocol]:
    return [value.const_value for value in node.inputs if value is not None and value.const_value is not None]


_WEIGHT = 16
"""Elements from which a constant tells what a node is."""


def _behind(value: ir.Value, paired: Collection[ir.Value]) -> set[ir.Value]:
    """The paired values that it is made of by nodes without a partner, such as a mask that padding needs; or itself."""
    found, seen, left = set[ir.Value](), set[ir.Value](), [value]
    while left:
        each = left.pop()
        if each in paired:
            found.add(each)
        elif each not in seen and (maker := each.producer()) is not None:
            seen.add(each)
            left += [read for read in maker.inputs if read is not None]
    return found


def origin(value: ir.Value, paired: Collection[ir.Value]) -> ir.Value:
    """The value that is moved, or cast, without a partner until it is read.

    Args:
        value: what is read.
        paired: the values that have a partner.
    """
    while value not in paired:
        maker = value.producer()
        if maker is None or maker.op_type not in MOVING | {"Cast"} or maker.inputs[0] is None:
            break
        value = maker.inputs[0]
    return value


def made_of_lengths(side: Side) -> set[ir.Value]:
    """What a padded graph makes of its lengths and of constants alone, such as a remedy's masks and places;
    nothing of a native one."""
    metadata = side.metadata
    if metadata is None:
        return set()
    return made_of_sizes(side.plain, constants=True, given=(*metadata.length_inputs, *metadata.mask_inputs))


def through_mask(value: ir.Value | None, paired: Collection[ir.Value], masks: Set[ir.Value]) -> ir.Value | None:
    """The value that a remedy fills, or puts in another order, by lengths until it is read.

    Args:
        value: what is read.
        paired: the values that have a partner.
        masks: what is made of lengths.
    """
    while value is not None and value not in paired:
        maker = value.producer()
        if maker is None or maker.op_type not in ("Cast", "Gather", "GatherElements", "Mul", "Where"):
            break
        data = [each for each in maker.inputs if each is not None and each not in masks and each.const_value is None]
        if len(data) != 1 or (maker.op_type != "Cast" and not masks & set(maker.inputs)):
            break
        value = data[0]
    return value
