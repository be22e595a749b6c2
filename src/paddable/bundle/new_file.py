"""A file that appears whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["new_file"]


@contextmanager
def new_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A place beside ``path`` to write to. Leaving the block puts the file at ``path``; after an error what was there
    stays, or nothing.
    """
    place = Path(path)
    beside = place.with_name(f".{place.name}.{os.getpid()}.part")
    try:
        yield beside
        beside.replace(place)
    finally:
        beside.unlink(missing_ok=True)
