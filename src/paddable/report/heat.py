"""Error over time and depth: a row a layer, a column a stretch of time, the end of the valid part drawn."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from paddable.report.axes import picture, short
from paddable.report.html import number, text

__all__ = ["heat", "scale"]

_WIDTH, _LEFT, _TOP = 450, 138, 10
_COLUMNS = 80

LEVELS = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1)
"""Errors at which the shade changes."""


def heat(data: Mapping[str, Any]) -> str:
    """One map.

    Args:
        data: ``name``, and ``rows`` of ``label``, ``errors`` along the valid part, and ``reach``: its share of the
            container; how many steps are ``valid``, and how many the container has at its ``end``.
    """
    rows: Sequence[Mapping[str, Any]] = data["rows"]
    height = max(4.0, min(14.0, 420 / max(1, len(rows))))
    bottom = _TOP + height * len(rows)
    across = _WIDTH - _LEFT - 6
    paths: dict[int, list[str]] = {}
    drawn = [f'<rect class="void" x="{_LEFT}" y="{_TOP}" width="{across}" height="{bottom - _TOP:.1f}"/>']
    for index, row in enumerate(rows):
        y = _TOP + index * height
        errors = row["errors"]
        count = min(_COLUMNS, len(errors))
        if not count:
            continue
        wide = row["reach"] * across / count
        bins = [
            max(_plain(e) for e in errors[_edge(i, count, errors) : _edge(i + 1, count, errors)]) for i in range(count)
        ]
        start = 0
        for i in range(1, count + 1):
            if i == count or _level(bins[i]) != _level(bins[start]):
                x = _LEFT + start * wide
                cell = f"M{x:.1f} {y:.1f}h{(i - start) * wide:.1f}v{height:.1f}h-{(i - start) * wide:.1f}z"
                paths.setdefault(_level(bins[start]), []).append(cell)
                start = i
    drawn += [f'<path class="l{level}" d="{"".join(cells)}"/>' for level, cells in sorted(paths.items())]
    every = max(1, math.ceil(14 / height))
    for index in range(0, len(rows), every):
        y = _TOP + (index + 0.5) * height + 4
        drawn.append(f'<text x="{_LEFT - 6}" y="{y:.1f}" text-anchor="end">{text(short(rows[index]["label"]))}</text>')
    edge = _LEFT + across * max((row["reach"] for row in rows), default=1.0)
    drawn.append(f'<path class="mark" d="M{edge:.1f} {_TOP - 4}V{bottom + 4:.1f}"/>')
    drawn.append(f'<text x="{_LEFT}" y="{bottom + 18:.1f}">0</text>')
    told = f"valid part ends, {data['valid']}" if "valid" in data else "valid part ends"
    full = edge > _WIDTH - 24
    half_wide = 3.3 * len(told)
    x = _WIDTH - 6 - 2 * half_wide if full else max(_LEFT + 14, min(edge - half_wide, _WIDTH - 60 - 2 * half_wide))
    drawn.append(f'<text class="name" x="{x:.1f}" y="{bottom + 18:.1f}">{text(told)}</text>')
    if "end" in data and not full:
        drawn.append(f'<text x="{_WIDTH - 6}" y="{bottom + 18:.1f}" text-anchor="end">{text(data["end"])}</text>')
    worst = max((_plain(e) for row in rows for e in row["errors"]), default=0.0)
    return picture(
        f"{data['name']}: error by layer and time, at most {number(worst)}", "".join(drawn), _WIDTH, bottom + 26
    )


def scale() -> str:
    """What the shades mean."""
    drawn = []
    for level in range(len(LEVELS) + 1):
        drawn.append(f'<rect class="l{level}" x="{level * 60}" y="4" width="60" height="12"/>')
    for index, edge in enumerate(LEVELS):
        drawn.append(f'<text x="{(index + 1) * 60}" y="30" text-anchor="middle">{edge:g}</text>')
    return picture("Shades: error relative to scale, from below 1e-6 to above 0.1", "".join(drawn), 430, 34)


def _edge(i: int, count: int, errors: Sequence[Any]) -> int:
    return i * len(errors) // count


def _level(error: float) -> int:
    return sum(error > edge for edge in LEVELS)


def _plain(value: Any) -> float:
    found = float(value)
    return math.inf if math.isnan(found) else found
