"""Products in 8 bits that saturate on this processor: the runs then part where nothing in the files does."""

from __future__ import annotations

from collections.abc import Sequence

from paddable.divergence.side import Side
from paddable.precision.convert import NO_SATURATION
from paddable.runtime.session.saturation import saturates

__all__ = ["hint"]


def hint(sides: Sequence[Side]) -> str:
    """What to exclude first where another quantiser's file runs on a processor that saturates; empty elsewhere.

    Args:
        sides: both runs.
    """
    foreign = any(side.precision == "int8" and side.metadata is None and side.provider == "cpu" for side in sides)
    if not foreign or not saturates():
        return ""
    entry = " and ".join(f"`{key}` = {value}" for key, value in NO_SATURATION.items())
    return (
        "on this processor, products of signed weights in 8 bits saturate, and that alone may part the runs: "
        f"a session with the entry {entry} excludes it"
    )
