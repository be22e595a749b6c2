"""Of the nodes of a padded graph, those that its remedies are made of, and those of the model."""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir as ir

from paddable.divergence.origins import made_of_lengths
from paddable.divergence.side import Side

__all__ = ["of_the_model"]


def of_the_model(side: Side, nodes: Sequence[ir.Node]) -> list[ir.Node]:
    """Those that no remedy put there: they bear no name that this compiler gives, and touch nothing that lengths make.

    Args:
        side: a run.
        nodes: of its graph.
    """
    if side.metadata is None:
        return list(nodes)
    lengths = made_of_lengths(side)
    return [
        node
        for node in nodes
        if not (node.name or "").startswith("paddable/")
        and lengths.isdisjoint((*side.plain.inputs(node), *node.outputs))
    ]
