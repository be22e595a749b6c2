"""The text of a Python file that builds a module, written and run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

__all__ = ["built"]


def built(folder: Path, text: str) -> Any:
    """Write ``model.py``, and return what its ``build()`` does: the module and its sample."""
    (folder / "model.py").write_text(text)
    scope: dict[str, Any] = {}
    exec(compile(text, str(folder / "model.py"), "exec"), scope)
    return scope["build"]()
