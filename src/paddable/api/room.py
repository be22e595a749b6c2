"""Whether there is room for a container: sizes that can be indexed, and that the gates can run on this machine."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence

from paddable.errors import MisuseError
from paddable.lengths import Length
from paddable.padding.analysis import Analysis
from paddable.padding.facts.facts import Facts
from paddable.padding.facts.numbers import Product

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
        name, count = max(
            ((name, _elements(value, container)) for name, value in analysis.values.items()), key=lambda item: item[1]
        )
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
                fix="take a smaller container, or convert without comparing (--no-verify)",
            )


def _elements(value: Facts, container: Mapping[str, int]) -> int:
    sizes = (value.size(axis) for axis in range(value.rank))
    return math.prod(max(0, _at(size, container)) for size in sizes)


def _at(size: Length | Product, container: Mapping[str, int]) -> int:
    factors = size.factors if isinstance(size, Product) else (size,)
    scale = size.scale if isinstance(size, Product) else 1
    return scale * math.prod(
        factor.evaluate({symbol: container.get(symbol, 1) for symbol in factor.symbols}) for factor in factors
    )


def _memory() -> int | None:
    """Bytes of this machine's memory; None where the system does not tell."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None
