"""What PyInstaller asks a package for: the folder of its hooks (entry point ``pyinstaller40``)."""

from __future__ import annotations

from pathlib import Path

__all__ = ["hook_directories"]


def hook_directories() -> list[str]:
    """The folder that holds ``hook-paddable.py``."""
    return [str(Path(__file__).parent)]
