"""How many elements the largest value of a native model has in a container."""

from __future__ import annotations

import math
from collections.abc import Mapping

from paddable.lengths import Length
from paddable.padding.analysis import Analysis
from paddable.padding.facts.facts import Facts
from paddable.padding.facts.numbers import Product

__all__ = ["largest_value"]


def largest_value(analysis: Analysis, container: Mapping[str, int]) -> tuple[str, int]:
    """Name and number of elements."""
    counted = ((name, _elements(value, container)) for name, value in analysis.values.items())
    return max(counted, key=lambda item: item[1])


def _elements(value: Facts, container: Mapping[str, int]) -> int:
    sizes = (value.size(axis) for axis in range(value.rank))
    return math.prod(max(0, _at(size, container)) for size in sizes)


def _at(size: Length | Product, container: Mapping[str, int]) -> int:
    factors = size.factors if isinstance(size, Product) else (size,)
    scale = size.scale if isinstance(size, Product) else 1
    return scale * math.prod(
        factor.evaluate({symbol: container.get(symbol, 1) for symbol in factor.symbols}) for factor in factors
    )
