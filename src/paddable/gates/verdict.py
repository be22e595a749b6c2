"""What a precision does to the answers: finite or not, error, cosine, and whether the best class stays the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from paddable.gates.engine import Array
from paddable.gates.oracle import scale

__all__ = ["Difference", "difference", "differences"]


@dataclass(frozen=True)
class Difference:
    """One float output against fp32.

    Attributes:
        finite: every number that is finite in fp32 is finite.
        error: largest difference, of scale.
        cosine: in float64, over all finite numbers.
        agreement: share of frames whose best class is that of fp32; None where the last axis holds no classes.
    """

    finite: bool
    error: float
    cosine: float
    agreement: float | None

    def to_json(self) -> dict[str, Any]:
        """As plain data: errors to three digits, cosines to seven; an infinite error is written as text."""
        error = float(f"{self.error:.3g}") if np.isfinite(self.error) else "inf"
        told = {"finite": self.finite, "error": error, "cosine": round(self.cosine, 7)}
        return told if self.agreement is None else {**told, "agreement": round(self.agreement, 5)}


def differences(got: Mapping[str, Array], want: Mapping[str, Array]) -> dict[str, Difference]:
    """By float output that has any number; where ``got`` has more rows or steps, those of ``want`` are compared."""
    found = {}
    for name, array in want.items():
        if array.dtype.kind == "f" and array.size and name in got:
            valid = got[name][tuple(slice(size) for size in array.shape)]
            found[name] = difference(valid, array)
    return found


def difference(got: Array, want: Array) -> Difference:
    """One output against fp32, of the same shape."""
    a, b = got.astype(np.float64), want.astype(np.float64)
    known = np.isfinite(b)
    both = known & np.isfinite(a)
    finite = bool(both.sum() == known.sum())
    error = float(np.abs(a[both] - b[both]).max(initial=0.0)) / scale(want) if finite else float("inf")
    length = float(np.linalg.norm(a[both]) * np.linalg.norm(b[both]))
    cosine = float(a[both] @ b[both]) / length if length else float(np.array_equal(a[both], b[both]))
    classes = want.ndim > 2 and want.shape[-1] > 1
    agreement = float((a.argmax(-1) == b.argmax(-1)).mean()) if classes else None
    return Difference(finite, error, cosine, agreement)
