"""Folders for graphs that are written, read and thrown away, on Windows too, where no file can go while it is open."""

from __future__ import annotations

import gc
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["free_graphs", "scratch_folder"]


def free_graphs() -> None:
    """Free the graphs that nobody uses any more, and with them the maps of their files.

    The nodes and values of a graph point at each other, so that Python frees them when it looks for such circles only.
    """
    gc.collect()


@contextmanager
def scratch_folder(beside: str | os.PathLike[str] | None = None) -> Iterator[Path]:
    """A folder that is gone with everything in it when the block ends.

    Args:
        beside: the folder that it lies in; the system's for temporary files by default.
    """
    with tempfile.TemporaryDirectory(prefix=".paddable.", dir=beside, ignore_cleanup_errors=True) as name:
        try:
            yield Path(name)
        finally:
            free_graphs()
