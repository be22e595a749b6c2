"""The lengths that a file's metadata states as text, evaluated."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from paddable.lengths import Length, parse

__all__ = ["evaluate"]


def evaluate(text: str, steps: Mapping[str, int]) -> int:
    """The length ``text``, such as ``(T-80)//320+1``, where each symbol has so many steps.

    A row without a single step is a row that only fills the batch: everything in it has length 0.
    """
    if text in steps:
        return max(0, steps[text])
    return max(0, _parsed(text).evaluate(dict(steps))) if any(steps.values()) else 0


@cache
def _parsed(text: str) -> Length:
    return parse(text)
