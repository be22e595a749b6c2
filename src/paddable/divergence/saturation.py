"""Products in 8 bits that saturate on some processors: the runs then part where nothing in the files does."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from pathlib import Path

from paddable.divergence.side import Side
from paddable.precision.convert import NO_SATURATION

__all__ = ["hint"]

_PROCESSOR = Path("/proc/cpuinfo")


def hint(sides: Sequence[Side]) -> str:
    """What to exclude first where another quantiser's file runs on an x86 processor without VNNI; empty elsewhere.

    Args:
        sides: both runs.
    """
    foreign = any(side.precision == "int8" and side.metadata is None and side.provider == "cpu" for side in sides)
    if not foreign or platform.machine().lower() not in ("amd64", "i386", "i686", "x86", "x86_64"):
        return ""
    try:
        told = _PROCESSOR.read_text(encoding="utf-8", errors="replace")
    except OSError:  # a system that does not tell
        told = None
    if told is not None and "vnni" in told:
        return ""
    which = "this processor has no VNNI, so" if told is not None else "on an x86 processor without VNNI,"
    entry = " and ".join(f"`{key}` = {value}" for key, value in NO_SATURATION.items())
    return (
        f"{which} products of signed weights in 8 bits may saturate, and that alone may part the runs: a session with "
        f"the entry {entry} excludes it"
    )
