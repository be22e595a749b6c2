"""What installed packages add to Paddable: the objects that their entry points name."""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points
from typing import Any

__all__ = ["plugins"]


@cache  # a look at every installed package; they stay as they are while a program runs
def plugins(group: str) -> tuple[Any, ...]:
    """The objects of a group of entry points, loaded once."""
    return tuple(entry.load() for entry in entry_points(group=group))
