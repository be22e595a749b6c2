"""What a precision does to the answers: finite or not, error, cosine, and whether the best class stays the same.

A user may say what they have to reach: ``cosine=0.9999`` and ``agreement=0.99`` at least, ``error=0.01`` at most.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from paddable.errors import MisuseError
from paddable.gates.engine import Array
from paddable.gates.oracle import scale

__all__ = ["Difference", "difference", "differences", "parse_accept"]

_MEASURES = ("cosine", "error", "agreement")


def parse_accept(texts: Sequence[str]) -> dict[str, float]:
    """What answers have to reach, from texts such as ``cosine=0.9999``.

    Raises:
        MisuseError: another measure, or no number.
    """
    found = {}
    for text in texts:
        name, _, number = text.partition("=")
        try:
            found[name] = float(number)
        except ValueError:
            found[name] = math.nan
        if name not in _MEASURES or not math.isfinite(found[name]):
            raise MisuseError(
                f"{text!r} cannot be accepted",
                why=f"it takes {', '.join(_MEASURES)}, and a number",
                fix="write it like cosine=0.9999",
            )
    return found


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

    def misses(self, accept: Mapping[str, float]) -> str:
        """Why it is not accepted; nothing where it is."""
        if not self.finite:
            return "it is not finite, and in fp32 it is"
        for name, least in accept.items():
            seen = getattr(self, name)
            if seen is not None and (seen > least if name == "error" else seen < least):
                return f"{name} is {seen:.6g}, {least:g} is asked for"
        return ""

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
