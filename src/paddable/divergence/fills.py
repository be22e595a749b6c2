"""Numbers that stand for nothing, such as -1e4 behind a mask that is added: a softmax takes what is so low for zero,
and its scale is none of what the softmax feels."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import onnx_ir as ir

from paddable.divergence.moving import MOVING
from paddable.divergence.plain import Plain
from paddable.gates.engine import Array

__all__ = ["fillable", "filled"]

_BLIND = frozenset(
    {"ArgMax", "ArgMin", "Exp", "LogSoftmax", "MaxPool", "ReduceLogSumExp", "ReduceMax", "ReduceMin", "Sigmoid"}
    | {"Softmax", "TopK"}
)
"""Operators that do not feel how far off a number is that is far off."""

_MASKING = frozenset({"Add", "Cast", "Clip", "Div", "Max", "Min", "Mul", "Sub", "Where", *MOVING})
"""What puts such numbers there, and carries them."""

_FAR = 4
"""Powers of two without a number, from which those above are none of the others' kind: an added fill of -1e4 has scores
up to 300 beside it."""

_LOWEST, _FELT = 6, 1e-2
"""The power of two from which an exponential takes a number for none, and what it feels of the others at least."""


def fillable(plain: Plain) -> set[ir.Value]:
    """Values that reach an operator that does not feel how far off a number is, through what masks and moves alone.

    Args:
        plain: a graph.
    """
    found: set[ir.Value] = set()
    for node in reversed(plain.nodes):
        if node.op_type in _BLIND or (node.op_type in _MASKING and not found.isdisjoint(node.outputs)):
            found.update(plain.inputs(node))
    return found


def filled(array: Array) -> tuple[Array, float] | None:
    """Which numbers are fills, and the largest absolute one of the others; None where none is one.

    Fills are all of one sign, and far from all others.

    Args:
        array: a value of floats, finite.
    """
    low, high = float(array.min(initial=0.0)), float(array.max(initial=0.0))
    if min(-low, high) * 2**_FAR > max(-low, high) or max(-low, high) < 2**_LOWEST:
        return None
    powers = np.frexp(array)[1]
    held = np.unique(powers)
    jumps = [int(k) for k, above in pairwise(held) if above - k > _FAR and above > _LOWEST]
    rest = float(np.abs(array[powers <= jumps[0]]).max()) if jumps else 0.0
    return (powers > jumps[0], rest) if rest >= max(_FELT, min(-low, high)) else None
