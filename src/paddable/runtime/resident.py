"""How much memory this process holds."""

from __future__ import annotations

from pathlib import Path

__all__ = ["resident"]

_ROLLUP = Path("/proc/self/smaps_rollup")


def resident() -> int | None:
    """Bytes of physical memory, pages that several mappings share counted once; None where the system does not tell.

    Linux alone tells it to a process without a library.
    """
    try:
        lines = _ROLLUP.read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:")), None)
