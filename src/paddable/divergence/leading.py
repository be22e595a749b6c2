"""Whether nodes that only one graph has are why two runs part, before the padding is looked at."""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir as ir

from paddable.divergence.fork import Fork
from paddable.divergence.parting import Parting
from paddable.divergence.quantised import beside_rounding, in_codes
from paddable.divergence.unpaired import Unpaired

__all__ = ["is_padded", "leads"]


def is_padded(parting: Parting) -> bool:
    """Whether one of the runs has steps behind the valid ones: only there is padding to read."""
    return any(side.container != side.steps for side in (parting.one, parting.other))


def leads(parting: Parting, fork: Fork, others: Sequence[ir.Node], lacking: Unpaired) -> bool:
    """Whether nodes that one graph lacks come before the padding that is read: a remedy puts others in their place, and
    where nothing but masks lies between what is compared, nothing is.

    Args:
        parting: both runs.
        fork: where they part.
        others: the nodes of the second graph that make the partner of the fork's value.
        lacking: nodes that only one graph has.
    """
    if parting.one.metadata is not None and parting.other.metadata is not None:
        nodes = (*fork.nodes, *others)
        beside = beside_rounding(lacking, nodes) if any(map(in_codes, nodes)) else lacking
        return bool(beside.extra or beside.missing)
    if parting.other.metadata is not None or not is_padded(parting):
        return False
    if parting.one.metadata is None:
        return True
    carried = {value for value in fork.inputs if value in parting.measures or value.name in parting.other.feeds}
    for node in fork.nodes:
        if carried.isdisjoint(node.inputs):
            continue
        if node not in parting.matching.pairs and node.op_type not in ("Cast", "Where"):
            return False
        carried.update(node.outputs)
    return True
