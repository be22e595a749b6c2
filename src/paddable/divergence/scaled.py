"""Scales in front of a layer: one exporter folds them into its weights, another leaves them in a norm or a Mul."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np
import onnx_ir as ir

from paddable.divergence.folds import but_for_rounding
from paddable.divergence.parting import Parting
from paddable.gates.engine import Array

__all__ = ["scaled_behind"]

_MOVES = ("Reshape", "Squeeze", "Transpose", "Unsqueeze")


def scaled_behind(parting: Parting, changed: Collection[ir.Node]) -> set[ir.Node]:
    """Of nodes whose weights differ, those that only hold a scale at another place.

    A node undoes a scale in front of it where it reads another value than its partner and makes the same, and where its
    weight is its partner's times one factor for each place along an axis. What such nodes alone read is the other half.

    Args:
        parting: both runs.
        changed: the nodes.
    """
    half = {parting.one.precision, parting.other.precision} != {"fp32"}
    undo = {node for node in changed if _agrees(parting, node) and _reads_other(parting, node)}
    undo = {node for node in undo if _is_multiple(parting, node, half=half)}
    before = {node for node in changed if not _agrees(parting, node)}
    return undo | {node for node in before if (behind := list(_readers(parting, node))) and undo.issuperset(behind)}


def _agrees(parting: Parting, node: ir.Node) -> bool:
    measured = parting.measures.get(node.outputs[0])
    return measured is not None and measured.error <= parting.tolerance


def _reads_other(parting: Parting, node: ir.Node) -> bool:
    partners = parting.matching.values()
    for mine, theirs in zip(node.inputs, parting.matching.pairs[node].inputs, strict=False):
        if mine is None or theirs is None or mine.const_value is not None:
            continue
        measured = parting.measures.get(mine)
        if measured is not None and measured.error > parting.tolerance:
            return True
        if partners.get(mine) is not theirs and (mine.producer() is not None or theirs.producer() is not None):
            return True
    return False


def _is_multiple(parting: Parting, node: ir.Node, *, half: bool) -> bool:
    for mine, theirs in zip(node.inputs, parting.matching.pairs[node].inputs, strict=False):
        if mine is None or theirs is None or mine.const_value is None or theirs.const_value is None:
            continue
        x, y = mine.const_value.numpy(), theirs.const_value.numpy()
        if x.shape == y.shape and x.ndim > 1 and x.dtype.kind == y.dtype.kind == "f":
            return any(_multiple_along(x, y, axis, half=half) for axis in range(x.ndim))
    return False


def _multiple_along(x: Array, y: Array, axis: int, *, half: bool) -> bool:
    x, y = (each.astype(np.float64) for each in (x, y))
    others = tuple(n for n in range(y.ndim) if n != axis)
    if not all(y.shape[n] > 1 for n in others[:1]):
        return False
    size = (y * y).sum(axis=others, keepdims=True)
    factor = (x * y).sum(axis=others, keepdims=True) / np.where(size == 0, 1, size)
    return bool((x == but_for_rounding(x, factor * y, half=half)).all())


def _readers(parting: Parting, node: ir.Node) -> Iterator[ir.Node]:
    """The nodes that read what a node makes, seen through those that only move it."""
    for use in node.outputs[0].uses():
        if use.node.op_type in _MOVES:
            yield from _readers(parting, use.node)
        else:
            yield use.node
