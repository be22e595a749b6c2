"""Axes of a picture: where a number lies on it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from paddable.report.html import text

__all__ = ["BOTTOM", "HEIGHT", "LEFT", "RIGHT", "WIDTH", "LogAxis", "Span", "picture", "short"]

WIDTH, HEIGHT = 720, 240
LEFT, RIGHT, TOP, BOTTOM = 64, 16, 12, 34

LETTERS = 18
"""Of a label."""

_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Span:
    """A linear axis from left to right."""

    low: float
    high: float
    left: float = LEFT
    right: float = WIDTH - RIGHT

    def at(self, value: float) -> float:
        """The place of a value."""
        share = (value - self.low) / (self.high - self.low) if self.high > self.low else 0.5
        return round(self.left + share * (self.right - self.left), 1)


@dataclass(frozen=True)
class LogAxis:
    """A logarithmic axis from bottom to top, of whole decades."""

    low: int
    high: int
    top: float = TOP
    bottom: float = HEIGHT - BOTTOM

    @classmethod
    def over(cls, values: Iterable[float], least: int = -9, most: int = 1) -> LogAxis:
        """The decades that hold some values, those outside ``least`` to ``most`` set to the border."""
        found = [math.log10(v) for v in values if v > 0 and math.isfinite(v)]
        low = max(least, math.floor(min(found, default=-7)))
        high = min(most, math.ceil(max(found, default=0)))
        return cls(low, max(high, low + 2))

    def at(self, value: float) -> float:
        """The place of a value; 0 lies on the bottom, infinity on the top."""
        if not value > 0:
            return self.bottom
        power = self.high if not math.isfinite(value) else min(self.high, max(self.low, math.log10(value)))
        return round(self.bottom - (power - self.low) / (self.high - self.low) * (self.bottom - self.top), 1)

    def lines(self, right: float = WIDTH - RIGHT) -> str:
        """A line and a label for each decade, or for every other."""
        step = 1 if self.high - self.low <= 6 else 2
        drawn = []
        for power in range(self.low, self.high + 1, step):
            y = self.at(10.0**power)
            label = "10" + str(power).translate(_SUPERSCRIPT)
            drawn.append(f'<path class="axis" d="M{LEFT} {y}H{right}"/>')
            drawn.append(f'<text x="{LEFT - 8}" y="{y + 4}" text-anchor="end">{label}</text>')
        return "".join(drawn)


def picture(label: str, body: str, width: float = WIDTH, height: float = HEIGHT) -> str:
    """An SVG with a name for those who do not see it."""
    return f'<svg viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{text(label)}">{body}</svg>'


def short(label: str) -> str:
    """The last parts of a path, as many as there is room for; a word is cut at its end alone, and a number keeps the
    word that it counts."""
    if len(label) <= LETTERS:
        return label
    parts = label.split(".")
    kept = 1
    while kept < len(parts) and len(".".join(parts[-kept - 1 :])) < LETTERS:
        kept += 1
    told, before = ".".join(parts[-kept:]), parts[-kept - 1] if kept < len(parts) else ""
    if before and parts[-kept].isdigit():
        told = f"{_cut(before, LETTERS - 2 - len(told))}.{told}"
    return ("…" if before else "") + _cut(told, LETTERS - (1 if before else 0))


def _cut(word: str, room: int) -> str:
    return word if len(word) <= room else word[: max(1, room - 1)] + "…"
