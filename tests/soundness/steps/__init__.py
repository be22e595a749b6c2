"""What a random graph is made of: each step takes the stream ``[batch, channels, time]`` or ``[batch, time, channels]``
(float, one ragged axis) and returns a stream. A step that does not apply returns it unchanged.
"""

from __future__ import annotations

from collections.abc import Callable

from ..builder import Builder, Tensor

__all__ = ["STEPS", "Step", "step"]

Step = Callable[[Builder, Tensor], Tensor]
STEPS: dict[str, Step] = {}


def step(function: Step) -> Step:
    """Register a step under its own name."""
    STEPS[function.__name__] = function
    return function


from . import (  # noqa: E402, F401
    attention,
    contraction,
    length,
    movement,
    normalisation,
    order,
    own,
    padding,
    pairs,
    places,
    pointwise,
    recurrent,
    reduction,
    window,
)
