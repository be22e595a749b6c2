"""Nodes that stand beside what a model computes: those of a padded graph's remedies, and those that make sizes."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import onnx_ir as ir

from paddable.divergence.origins import made_of_lengths
from paddable.divergence.regions import made_of_sizes
from paddable.divergence.side import Side

__all__ = ["of_the_model", "size_makers"]


def of_the_model(side: Side, nodes: Sequence[ir.Node]) -> list[ir.Node]:
    """Those that no remedy put there: they bear no name that this compiler gives, and touch nothing that lengths make,
    or take lengths themselves.

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
        and (node.op_type in _TAKES_LENGTHS or lengths.isdisjoint((*side.plain.inputs(node), *node.outputs)))
    ]


_TAKES_LENGTHS = frozenset({"Attention", "DynamicQuantizeLSTM", "GRU", "LSTM", "MultiHeadAttention", "RNN"})
"""Operators of a model to which a remedy gives the lengths as one more input."""


def size_makers(side: Side, lengths: Collection[str]) -> set[ir.Node]:
    """Nodes that compute sizes, lengths and masks of these, and a remedy's own: how they lay out what they make is an
    exporter's habit.

    Args:
        side: a run.
        lengths: inputs that hold lengths in either graph.
    """
    sizes = made_of_sizes(side.plain, constants=True, given=lengths) | made_of_lengths(side)
    own = set(of_the_model(side, side.plain.nodes))
    return {node for node in side.plain.nodes if node not in own or sizes.issuperset(node.outputs)}
