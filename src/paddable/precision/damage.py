"""What stays in fp32 because fewer bits would damage it, by measure and not by name.

A precision gives for each node that it would change the same node in its bits, its *twin*. Both are run on what native
has there on examples, and their difference decides (``gates.damage``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import onnx_ir as ir

from paddable.graph.names import Names

__all__ = ["Twins", "worth_keeping"]

Twins = Callable[[ir.Model, Names], Sequence[tuple[ir.Node, list[ir.Node]]]]
"""From a model and its names: each node that would be changed, and its twin behind what that reads; in no graph yet."""


def worth_keeping(damage: Mapping[str, float], bits: int, most: float) -> dict[str, str]:
    """Names of the answers whose nodes stay as they are by measured damage, each with its reason.

    Args:
        damage: by answer, the energy of what fewer bits change over that of the answer; infinite where it is not known.
        bits: how many, for the reason.
        most: amplitude from which on a node stays.
    """
    return {
        name: f"{bits} bits move it by {share**0.5:.0%} (root mean square)"
        if share < math.inf
        else "its numbers are too large to measure what fewer bits do"
        for name, share in damage.items()
        if not share**0.5 < most
    }
