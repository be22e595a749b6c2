"""A batch norm that one graph has as a node and the other in its weights: with which epsilon it was folded in."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from paddable.divergence.layers import LINEAR, Layers, but_for_rounding
from paddable.gates.engine import Array

__all__ = ["epsilons", "folded_epsilon", "trains"]


def folded_epsilon(variance: Array, epsilon: float, mine: Array, theirs: Array) -> float | None:
    """The epsilon with which a batch norm makes the second weight where it makes the first with its own; None where no
    one number does.

    Args:
        variance: of each channel.
        epsilon: its own.
        mine: a weight with the batch norm folded in, the channels of the result first.
        theirs: the other one.
    """
    one, other = (each.astype(np.float64).reshape(len(variance), -1) for each in (mine, theirs))
    wide = variance.astype(np.float64)
    with np.errstate(all="ignore"):
        factor = (one * other).sum(1) / (one * one).sum(1)
        found = (wide + epsilon) / factor**2 - wide
    found = found[np.isfinite(found)]
    for digits in (1, 2, 3) if found.size and np.median(found) > 0 else ():
        guess = float(f"{np.median(found):.{digits}g}")
        again = one * np.sqrt((wide + epsilon) / (wide + guess)).reshape(-1, 1)
        if guess != epsilon and (again == but_for_rounding(again, other)).all():
            return guess
    return None


def epsilons(both: Layers) -> tuple[float, float] | None:
    """The epsilons of a batch norm in the first graph and in the second, where they are what differs."""
    norm = both.norm
    variance = norm.inputs[4] if norm is not None and len(norm.inputs) > 4 else None
    if norm is None or variance is None or variance.const_value is None or both.one.weight.ndim < 2:
        return None
    given = norm.attributes.get("epsilon")
    own = given.as_float() if given is not None else 1e-5
    first = norm in both.one.behind
    weights = both.one.weight, both.other.weight.reshape(both.one.weight.shape)
    mine, theirs = (np.moveaxis(each, LINEAR[both.one.node.op_type], 0) for each in weights)
    if (mine == but_for_rounding(mine, theirs, half=both.half)).all():
        return None
    numbers = variance.const_value.numpy()
    held = folded_epsilon(numbers, own, *((mine, theirs) if first else (theirs, mine)))
    return None if held is None else (own, held) if first else (held, own)


def trains(node: ir.Node) -> bool:
    """Whether a node is a batch norm that takes its input's own mean and variance."""
    mode = node.attributes.get("training_mode")
    return node.op_type == "BatchNormalization" and mode is not None and mode.as_int() == 1
