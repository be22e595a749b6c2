"""The lengths that a model accepts, as sentences for a person."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["nearest_accepted", "told_domain"]


def told_domain(found: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Sentences about lengths that the model does not accept; none where every length from 1 on is accepted.

    Args:
        found: of each symbol ``min``, ``max``, ``step`` and, if known, what each comes from in ``limits``.
    """
    told = []
    for name, span in found.items():
        limits, first, step = span.get("limits", {}), span["min"], span["step"]
        if step > 1:
            told.append(
                f"{name}: of the lengths only every {_ordinal(step)} is accepted ({first}, {first + step}, "
                f"{first + 2 * step}, ...){_because(limits.get('step'))}; a Python branch that pads to a multiple may "
                "have been frozen at export: write it in tensor operations, or pad in front of the model"
            )
        if span["max"] is not None:
            told.append(f"{name}: the longest accepted length is {span['max']}{_because(limits.get('max'))}")
        if first > 1:
            told.append(f"{name}: the shortest accepted length is {first}{_because(limits.get('min'))}")
    return told


def nearest_accepted(steps: int, first: int, last: int | None, step: int) -> list[int]:
    """The accepted lengths nearest to a length: itself if it is one, those around it, or the end that it is beyond.

    Args:
        steps: the length.
        first: the shortest accepted one.
        last: a bound of the accepted ones; None for no end.
        step: between two accepted ones.
    """
    if steps <= first:
        return [first]
    below = first + (min(steps, steps if last is None else last) - first) // step * step
    if below == steps or (last is not None and below + step > last):
        return [below]
    return [below, below + step]


def _because(reason: str | None) -> str:
    return f": {reason}" if reason else ""


def _ordinal(number: int) -> str:
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
