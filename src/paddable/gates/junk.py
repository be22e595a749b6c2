"""What stands in padding while the gates look: five fillings a type (design, section 1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["FILLINGS", "draw", "fill", "fillings"]

Array = NDArray[Any]

FILLINGS = 5
"""Number of fillings; types with fewer values repeat theirs."""

Filling = Callable[[tuple[int, ...], np.dtype[Any], np.random.Generator], Array]


def fill(which: int, shape: tuple[int, ...], dtype: np.dtype[Any], rng: np.random.Generator, limit: int) -> Array:
    """Junk of one kind.

    Args:
        which: 0 to ``FILLINGS - 1``.
        shape: of the result.
        dtype: floats get 0, 3.7, ±1e30 (half: ±6e4), NaN and ±inf; integers 0, -1 (unsigned: 1), the least, the
            greatest and random valid values; bool both values.
        rng: of the random values.
        limit: valid integers lie in ``[0, limit)``.
    """
    return (
        fillings(dtype)[which % FILLINGS](shape, dtype, rng)
        if dtype.kind == "f"
        else _other(which, shape, dtype, rng, limit)
    )


def fillings(dtype: np.dtype[Any]) -> list[Filling]:
    """The fillings of a float type; the first three are finite."""
    huge = 6e4 if dtype.itemsize == 2 else 1e30
    return [_all(0.0), _all(3.7), _alternating(huge), _all(np.nan), _alternating(np.inf)]


def draw(
    rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any], low: float = -np.inf, high: float = np.inf
) -> Array:
    """Random valid data: standard normal floats brought between the bounds, integers in ``[low, high]``."""
    if dtype.kind == "b":
        return np.asarray(rng.integers(0, 2, shape)).astype(dtype)
    if dtype.kind in "iu":
        least = 0 if low == -np.inf else int(low)
        most = least + 7 if high == np.inf else int(high)
        return np.asarray(rng.integers(least, max(least, most) + 1, shape)).astype(dtype)
    values = rng.standard_normal(shape)
    if (low > -1 and low != -np.inf) or (high < 1 and high != np.inf):  # few normal values would lie inside
        bottom = low if low != -np.inf else high - 2
        top = min(high, bottom + 2) if high != np.inf else bottom + 2
        values = bottom + (max(top, bottom) - bottom) * rng.random(shape)
    return np.clip(values, low, high).astype(dtype)


def _other(which: int, shape: tuple[int, ...], dtype: np.dtype[Any], rng: np.random.Generator, limit: int) -> Array:
    if dtype.kind == "b":
        return np.full(shape, bool(which % 2), dtype)
    if dtype.kind not in "iu":
        return np.full(shape, "", dtype)
    info = np.iinfo(dtype)
    if which % FILLINGS == 4:
        return np.asarray(rng.integers(0, max(1, limit), shape)).astype(dtype)
    return np.full(shape, [0, -1 if info.min < 0 else 1, info.min, info.max][which % FILLINGS], dtype)


def _all(value: float) -> Filling:
    return lambda shape, dtype, rng: np.full(shape, value, dtype)


def _alternating(value: float) -> Filling:
    def make(shape: tuple[int, ...], dtype: np.dtype[Any], rng: np.random.Generator) -> Array:
        flat = np.full(int(np.prod(shape)), value, dtype)
        flat[1::2] = -value
        return flat.reshape(shape)

    return make
