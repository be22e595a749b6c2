"""What installed packages add to Paddable: the objects that their entry points name."""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from paddable.errors import MisuseError

__all__ = ["plugins"]


@cache  # a look at every installed package; they stay as they are while a program runs
def plugins(group: str) -> tuple[Any, ...]:
    """The objects of a group of entry points, loaded once.

    Raises:
        MisuseError: a package's object cannot be loaded; names the package.
    """
    return tuple(_loaded(entry) for entry in entry_points(group=group))


def _loaded(entry: EntryPoint) -> Any:
    try:
        return entry.load()
    except Exception as error:  # whatever the package's own code raises
        raise MisuseError(
            f"{entry.value} cannot be loaded: {type(error).__name__}: {error}",
            where=f"the installed package {entry.dist.name}" if entry.dist else f"the entry point {entry.name}",
            why=f"it adds to Paddable as an entry point of {entry.group}",
            fix="mend the package, or uninstall it",
        ) from error
