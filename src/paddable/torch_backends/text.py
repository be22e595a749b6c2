"""Rows of text in columns, for reports that stand on no other library."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["columns"]


def columns(rows: Sequence[Sequence[str]], between: str = "  ") -> str:
    """Rows one below the other, columns as wide as their longest text; those empty below their head are left out."""
    kept = [i for i in range(len(rows[0])) if any(row[i] for row in rows[1:])]
    widths = {i: max(len(row[i]) for row in rows) for i in kept}
    return "\n".join(between.join(row[i].ljust(widths[i]) for i in kept).rstrip() for row in rows)
