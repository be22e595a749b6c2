"""Pairs that cannot all be right: what is made from another node in one graph makes that node in the other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx_ir as ir

from paddable.divergence.plain import Plain
from paddable.gates.engine import Array

__all__ = ["contradicting"]


def contradicting(one: Plain, other: Plain, pairs: Sequence[tuple[ir.Node, ir.Node]]) -> set[int]:
    """Indices of the pairs to give up, those first that contradict most others: of a block that was moved past many,
    its own; of two places that exchanged their weights, both.

    Args:
        one: the first graph.
        other: the second.
        pairs: nodes of both that are one by their weights.
    """
    mine, theirs = _above(one, [node for node, _ in pairs]), _above(other, [partner for _, partner in pairs])
    against = mine & theirs.T
    against |= against.T
    dropped: set[int] = set()
    counts = against.sum(axis=1)
    while counts.any():
        worst = np.flatnonzero(counts == counts.max())
        dropped.update(map(int, worst))
        against[worst] = False
        against[:, worst] = False
        counts = against.sum(axis=1)
    return dropped


def _above(plain: Plain, nodes: Sequence[ir.Node]) -> Array:
    """Which of some nodes (columns) each of them (rows) is made from."""
    index = {node: k for k, node in enumerate(nodes)}
    held: dict[ir.Value, int] = {}
    found = np.zeros((len(nodes), len(nodes)), bool)
    for node in plain.nodes:
        bits = 0
        for value in plain.inputs(node):
            bits |= held.get(value, 0)
        k = index.get(node)
        if k is not None:
            row = np.frombuffer(bits.to_bytes(len(nodes) // 8 + 1, "little"), np.uint8)
            found[k] = np.unpackbits(row, count=len(nodes), bitorder="little")
            bits |= 1 << k
        held.update(dict.fromkeys(node.outputs, bits))
    return found
