"""How far one value is from another: one number, and one for each step of time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from paddable.divergence.fills import filled
from paddable.divergence.regions import Block
from paddable.gates.engine import Array
from paddable.gates.oracle import FLOOR, scale

__all__ = ["Measure", "measure"]

_COLUMNS = 160
"""Steps of time that a profile keeps: as many as a page can show."""


@dataclass(frozen=True)
class Measure:
    """Two values compared on their valid part.

    Attributes:
        error: largest difference relative to the second's scale; infinite where one of them is not finite and the
            other is.
        largest: largest absolute finite value of each.
        finite: whether each is finite everywhere.
        profile: the error at steps of time, evenly taken over the valid part; empty without a time axis.
        reach: share of the container's steps that are valid.
        bytes: of both values.
        half: whether each is in half precision.
        nan: share of the numbers that are NaN in both, where nothing can be compared.
    """

    error: float
    largest: tuple[float, float]
    finite: tuple[bool, bool]
    profile: tuple[float, ...]
    reach: float
    bytes: int
    half: tuple[bool, bool] = (False, False)
    nan: float = 0.0


def measure(mine: Block | None, theirs: Block | None, *, fills: bool = False, classes: bool = False) -> Measure | None:
    """Compare two blocks; None where one is missing or their shapes differ in more than axes of size 1.

    Args:
        mine: the first run's.
        theirs: the second's.
        fills: numbers of the second that are far from all others stand for nothing: the scale is that of the others.
        classes: whole numbers are classes: those that differ are others, by 1, however far apart.
    """
    if mine is None or theirs is None:
        return None
    a, b = mine.array, theirs.array
    if a.shape != b.shape:
        if [n for n in a.shape if n != 1] != [n for n in b.shape if n != 1]:
            return None
        a, mine = a.reshape(b.shape), theirs
    if a.dtype.kind not in "fiub" or b.dtype.kind not in "fiub":
        return None
    half = a.dtype == np.float16, b.dtype == np.float16
    kind: type[np.floating[Any]] = (
        np.float32 if {a.dtype.itemsize, b.dtype.itemsize} <= {2, 4} and a.dtype.kind == "f" else np.float64
    )
    x: Array = a.astype(kind, copy=False)
    y: Array = b.astype(kind, copy=False)
    with np.errstate(invalid="ignore", over="ignore"):
        gap: Array = np.asarray(np.subtract(x, y))  # of one number it is no array
        np.abs(gap, out=gap)
    peaks = _peak(x), _peak(y)
    finite = math.isfinite(peaks[0]), math.isfinite(peaks[1])
    nan = 0.0
    if not all(finite):
        lost = np.isnan(x) & np.isnan(y)
        nan = float(lost.mean())
        same = (x == y) | lost
        gap = np.where(same, 0, np.where(np.isfinite(x) & np.isfinite(y), gap, np.inf))
    size = max(FLOOR, peaks[1]) if finite[1] and y.size else scale(y)
    unit = size
    apart = filled(y) if fills and finite[1] and y.dtype.kind == "f" else None
    if apart is not None:
        far, unit = apart
        gap = np.where(far, gap * (unit / size), gap)
    if classes:
        gap, unit = (gap != 0).astype(kind), 1.0
    error = float(gap.max(initial=0.0)) / unit
    profile: tuple[float, ...] = ()
    if mine.time is not None and gap.size:
        others = tuple(axis for axis in range(gap.ndim) if axis != mine.time)
        along = gap.max(axis=others) / unit if error else np.zeros(gap.shape[mine.time])
        starts = np.unique(np.linspace(0, len(along), min(_COLUMNS, len(along)) + 1).astype(int)[:-1])
        profile = tuple(float(value) for value in np.maximum.reduceat(along, starts))
    reach = 1.0
    if theirs.time is not None or mine.time is not None:
        block = mine if mine.time is not None else theirs
        valid = block.array.shape[block.time or 0]
        reach = valid / max(valid, mine.physical, theirs.physical)
    largest = max(FLOOR, peaks[0]) if finite[0] and x.size else scale(x)
    return Measure(error, (largest, size), finite, profile, reach, a.nbytes + b.nbytes, half, nan)


def _peak(array: Array) -> float:
    """The largest absolute value, without a copy; NaN where there is one."""
    return float(max(array.max(initial=0.0), -array.min(initial=0.0), key=lambda each: (np.isnan(each), each)))
