"""Whether there is room for a container: sizes that can be indexed, and that the gates can run on this machine."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from paddable.errors import MisuseError
from paddable.gates.largest_value import largest_value
from paddable.padding.analysis import Analysis

__all__ = ["demand_room"]

_MOST_ELEMENTS = 2**31 - 1
_FLOAT = 4
_AT_ONCE = 4
"""Tensors of the largest size that live together in a gate: attention's scores, masked, weighed, and native's own."""


def demand_room(analysis: Analysis, containers: Sequence[Mapping[str, int]], *, run: bool) -> None:
    """Refuse containers whose tensors are too large, before anything of their size is made.

    Args:
        analysis: of the native model.
        containers: steps of each symbol; a symbolic one, ``{}``, has no size.
        run: the gates will run them on this machine.

    Raises:
        MisuseError: a tensor has more than 2^31 - 1 elements, or the gates would not fit this machine's memory.
    """
    memory = _memory() if run else None
    for container in containers:
        if not container:
            continue
        name, count = largest_value(analysis, container)
        told = ", ".join(f"{symbol}={steps}" for symbol, steps in container.items())
        where = f"container {told}, value {name}"
        if count > _MOST_ELEMENTS:
            raise MisuseError(
                f"it would have {count:,} elements",
                where=where,
                why=f"execution providers index with 32 bits, up to {_MOST_ELEMENTS:,}",
                fix="take a smaller container, and cut longer inputs into pieces",
            )
        if memory is not None and _AT_ONCE * count * _FLOAT > memory:
            raise MisuseError(
                f"it alone takes {count * _FLOAT / 1e9:.1f} GB, too much for gates with {memory / 1e9:.0f} GB",
                where=where,
                fix="take a smaller container, or convert without comparing (`verify=False`)",
            )


def _memory() -> int | None:
    """Bytes of this machine's memory; None where the system does not tell."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None
