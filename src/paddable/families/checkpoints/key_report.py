"""Long lists of parameter names, readable: equal names that differ in one number become one line."""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["summarise_keys"]


def summarise_keys(keys: Iterable[str]) -> str:
    """Joins names, folding runs of block numbers.

    >>> summarise_keys(["a.0.weight", "a.1.weight", "a.2.weight", "b"])
    'a.{0-2}.weight, b'
    """
    folded: dict[tuple[str, str], list[int]] = {}
    plain: list[str] = []
    for key in keys:
        match = re.search(r"(?<=\.)\d+(?=\.)", key)
        if match:
            folded.setdefault((key[: match.start()], key[match.end() :]), []).append(int(match.group()))
        else:
            plain.append(key)
    lines = [f"{head}{_numbers(numbers)}{tail}" for (head, tail), numbers in folded.items()]
    return ", ".join([*lines, *plain])


def _numbers(numbers: list[int]) -> str:
    numbers = sorted(numbers)
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    text = ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)
    return text if len(numbers) == 1 else "{" + text + "}"
