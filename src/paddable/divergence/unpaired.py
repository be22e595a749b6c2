"""Nodes at a fork that only one graph has, and which of them stands for which."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import onnx_ir as ir

from paddable.divergence.fork import Fork
from paddable.divergence.moving import MOVING
from paddable.divergence.origins import misnamed, origin
from paddable.divergence.pads import pads_of
from paddable.divergence.parting import Parting
from paddable.divergence.plain import Plain
from paddable.divergence.regions import made_of_sizes
from paddable.divergence.remedies import of_the_model
from paddable.divergence.side import Side

__all__ = ["Unpaired", "unpaired"]

_TYPES = frozenset({"Cast", "DequantizeLinear", "QuantizeLinear"})
"""Operators that store the same numbers otherwise: what that does to them is precision."""


@dataclass(frozen=True)
class Unpaired:
    """Nodes without a partner.

    Attributes:
        extra: of the first graph. In a padded graph a remedy's nodes are normal: there only one that reads what a
            missing node reads, and so stands for it; of two padded graphs, the model's own nodes.
        missing: of the second graph.
        last: behind the last missing node none of the second graph has a partner: what is paired lies in front of it.
    """

    extra: Sequence[ir.Node]
    missing: Sequence[ir.Node]
    last: bool

    def but_for(self, found: Collection[tuple[str, str]]) -> Unpaired:
        """The same without nodes that a remedy stands for, unless they are all there is.

        Args:
            found: names and operators of nodes with a finding.
        """
        extra, missing = (
            [node for node in each if (node.name, node.op_type) not in found] for each in (self.extra, self.missing)
        )
        return Unpaired(extra, missing, self.last) if extra or missing else self


def unpaired(
    parting: Parting, fork: Fork, others: Sequence[ir.Node], *, sizes: bool = False, remedied: bool = False
) -> Unpaired:
    """The nodes at a fork that only one graph has. Casts are no difference, nor is what one has folded.

    Args:
        parting: both runs.
        fork: where they part.
        others: the nodes of the second graph that make the partner of the fork's value.
        sizes: also nodes that compute from sizes and constants alone, which one exporter folds and another does not.
        remedied: what a remedy does at this fork is right: what else a padded graph has here, its lengths apart, is its
            own.
    """
    one, other = parting.one.plain, parting.other.plain
    layers = [layer for each in parting.layers.values() for layer in (each.one, each.other)]
    here = set(fork.nodes)
    folded = {node for layer in layers for node in (*layer.front, *layer.behind)}
    pairs = {a: b for a, b in parting.matching.pairs.items() if a not in here or not misnamed(parting, a, b)}
    mine, theirs = folded | pairs.keys(), folded | set(pairs.values())
    extra = [node for node in fork.nodes if node not in mine and node.op_type not in _TYPES]
    missing = [node for node in others if node not in theirs and node.op_type not in _TYPES]
    settled = _in_pads(parting)
    extra, missing = ([node for node in nodes if node not in settled] for nodes in (extra, missing))
    if not sizes:
        left, right = (made_of_sizes(plain, constants=True) for plain in (one, other))
        extra = [node for node in extra if not left.issuperset(node.outputs)]
        missing = [node for node in missing if not right.issuperset(node.outputs)]
    partners = parting.matching.values()
    back = {theirs: mine for mine, theirs in partners.items()}
    own = of_the_model(parting.one, extra), of_the_model(parting.other, missing)
    padded = parting.one.metadata is not None, parting.other.metadata is not None
    if all(padded) and bool(extra) == bool(own[0]) and bool(missing) == bool(own[1]):
        extra, missing = own  # none of them stands where the other graph has a remedy alone
    else:
        if padded[1]:
            missing = _beside_remedies(parting.other, missing, extra, one, back, remedied)
        if padded[0]:
            extra = _beside_remedies(parting.one, extra, missing, other, partners, remedied)
    extra, missing = _but_for_right(parting, extra, missing)
    behind = others[others.index(missing[-1]) + 1 :] if missing else others
    return Unpaired(extra, missing, bool(missing) and theirs.isdisjoint(behind))


def _but_for_right(
    parting: Parting, extra: list[ir.Node], missing: list[ir.Node]
) -> tuple[list[ir.Node], list[ir.Node]]:
    """The same without what is read elsewhere too, and right there, such as a mask of all blocks, unless it is all."""
    there = {
        theirs: parting.errors[mine] for mine, theirs in parting.matching.values().items() if mine in parting.errors
    }
    mine = [node for node in extra if not _right(parting.one, node, parting.errors, parting.tolerance)]
    theirs = [node for node in missing if not _right(parting.other, node, there, parting.tolerance)]
    return (mine, theirs) if mine or theirs else (extra, missing)


def _right(side: Side, node: ir.Node, errors: Mapping[ir.Value, float], tolerance: float) -> bool:
    """Whether a value that agrees is made of a node's result."""
    sizes = made_of_sizes(side.plain, constants=True)
    stack, seen = list(node.outputs), set[ir.Node]()
    while stack:
        for use in stack.pop().uses():
            if use.node in seen or use.node not in side.plain.place:
                continue
            seen.add(use.node)
            for value in use.node.outputs:
                if value not in errors:
                    stack.append(value)
                elif value not in sizes and errors[value] <= tolerance:
                    return True
    return False


def _beside_remedies(
    side: Side,
    nodes: Sequence[ir.Node],
    others: Sequence[ir.Node],
    there: Plain,
    partners: Mapping[ir.Value, ir.Value],
    remedied: bool,
) -> list[ir.Node]:
    """Of the nodes that a padded graph alone has, those that are no remedy's: what stands for a node that it lacks, or,
    where it lacks none and the remedy is right, what has nothing to do with lengths."""
    metadata = side.metadata
    if metadata is not None and remedied and not others:
        lengths = made_of_sizes(side.plain, constants=True, given=(*metadata.length_inputs, *metadata.mask_inputs))
        return [node for node in nodes if lengths.isdisjoint((*side.plain.inputs(node), *node.outputs))]
    paired = set(partners.values())
    read = [[origin(value, paired) for value in there.inputs(node)] for node in others]
    found = [
        node for node in nodes if [partners.get(origin(value, partners)) for value in side.plain.inputs(node)] in read
    ]
    return [node for node in found if node.op_type not in MOVING] or found


def _in_pads(parting: Parting) -> set[ir.Node]:
    """Pads of which the other graph has the zeros in its convolution."""
    found: set[ir.Node] = set()
    for node, partner in parting.matching.pairs.items():
        if node.op_type == partner.op_type == "Conv":
            mine, theirs = pads_of(node), pads_of(partner)
            if mine is not None and theirs is not None and mine[0] == theirs[0]:
                found |= {*mine[1], *theirs[1]}
    return found
