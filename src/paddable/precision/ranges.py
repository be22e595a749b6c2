"""What half would change by more than rounding, told from the ranges of values on examples.

Half ends at 65504, has all its 11 bits from 2^-14 on, and counts to 2048. A value is kept in fp32 where

- it *overflows*: it comes within a factor of ``MARGIN`` of the end, since the next recording may be louder;
- it *underflows*: all its numbers lie below 2^-14 in some example, so that none has 11 bits;
- it *loses integers*: it holds whole numbers beyond 2048.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

__all__ = ["COUNTS", "LARGEST", "MARGIN", "SMALLEST_NORMAL", "Range", "beyond_half", "merged"]

LARGEST, SMALLEST_NORMAL, LAST_INTEGER = 65504.0, 2.0**-14, 2048.0

COUNTS = "loses integers"
"""How the reason of a value begins that counts beyond half."""

MARGIN = 4.0
"""How much louder than the examples another input may be before half is infinite."""


@dataclass(frozen=True)
class Range:
    """Of one value, over one example or several.

    Attributes:
        low: smallest finite number, 0 among them.
        high: largest finite number, 0 among them.
        quietest: the smallest of the examples' peaks, those that are all zeros aside; 0 where all are.
        whole: every number is an integer.
    """

    low: float
    high: float
    quietest: float
    whole: bool

    @property
    def peak(self) -> float:
        """Largest finite magnitude."""
        return max(-self.low, self.high)

    @property
    def headroom(self) -> float:
        """How much louder it may become before half is infinite."""
        return LARGEST / self.peak if self.peak else float("inf")

    def why_beyond_half(self) -> str:
        """Why half cannot hold it; nothing where it can."""
        if self.headroom < MARGIN:
            return f"overflows: it reaches {self.peak:.2g}, half ends at {LARGEST:.0f}"
        if self.whole and self.peak > LAST_INTEGER:
            return f"{COUNTS}: it counts to {self.peak:.0f}, half to {LAST_INTEGER:.0f}"
        if 0 < self.quietest < SMALLEST_NORMAL:
            return f"underflows: it reaches {self.quietest:.1g}, half has fewer digits below {SMALLEST_NORMAL:.1g}"
        return ""


def merged(examples: Iterable[Mapping[str, Range]]) -> dict[str, Range]:
    """Ranges by value over several examples."""
    found: dict[str, Range] = {}
    for ranges in examples:
        for name, new in ranges.items():
            old = found.get(name)
            if old is not None:
                quiet = [peak for peak in (old.quietest, new.quietest) if peak]
                low, high = min(old.low, new.low), max(old.high, new.high)
                new = Range(low, high, min(quiet, default=0.0), old.whole and new.whole)
            found[name] = new
    return found


def beyond_half(ranges: Mapping[str, Range]) -> dict[str, str]:
    """Names of the values that stay in fp32, each with its reason."""
    reasons = {name: found.why_beyond_half() for name, found in ranges.items()}
    return {name: why for name, why in reasons.items() if why}
