"""The other pictures: a chain of nodes, accepted lengths, islands, and times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from paddable.report.axes import WIDTH, Span, picture
from paddable.report.html import number, text

__all__ = ["accepted", "flow", "islands", "times"]


def flow(title: str, nodes: Sequence[str], new: Sequence[str] = ()) -> str:
    """A chain of operators from left to right; those that were put in are marked.

    Args:
        title: such as ``before``.
        nodes: operators.
        new: which of them are new.
    """
    x, drawn = 0.0, [f'<text x="0" y="12">{text(title)}</text>']
    for index, name in enumerate(nodes):
        wide = max(46, 18 + 7.2 * len(name))
        if index:
            drawn.append(f'<path class="edge" d="M{x:.0f} 36h20"/><path class="head" d="M{x + 20:.0f} 32l7 4l-7 4z"/>')
            x += 27
        kind = "box new" if name in new else "box"
        drawn.append(f'<rect class="{kind}" x="{x:.0f}" y="22" width="{wide:.0f}" height="28" rx="4"/>')
        drawn.append(f'<text class="name" x="{x + wide / 2:.0f}" y="40" text-anchor="middle">{text(name)}</text>')
        x += wide
    return picture(f"{title}: {', then '.join(nodes)}", "".join(drawn), max(x + 2, 380), 54)


def accepted(data: Mapping[str, Any]) -> str:
    """Which lengths of a symbol are accepted, and where the containers end.

    Args:
        data: ``symbol``, ``min``, ``max`` (None: no end), ``step``, ``containers``.
    """
    sizes = [c for c in data["containers"] if c]
    end = max([*sizes, data["max"] or 0, data["min"] * 2, 1])
    across = Span(0, end * 1.04, 8, WIDTH - 40)
    first, last = across.at(data["min"]), across.at(data["max"] or end * 1.04)
    drawn = [f'<rect class="bar plain" x="{across.at(0)}" y="24" width="{across.at(end * 1.04) - 8:.1f}" height="10"/>']
    drawn.append(f'<rect class="bar" x="{first}" y="24" width="{last - first:.1f}" height="10"/>')
    if data["max"] is None:
        drawn.append(f'<path class="bar" d="M{last} 20l12 9l-12 9z"/>')
    drawn.append(f'<text class="name" x="{first}" y="16">{number(data["min"])}</text>')
    if data["max"] is not None:
        drawn.append(f'<text class="name" x="{last}" y="16" text-anchor="end">{number(data["max"])}</text>')
    room = 0.0
    for size in sorted(sizes):
        x = across.at(size)
        drawn.append(f'<path class="mark" d="M{x} 20v20"/>')
        if x - room > 56 or not room:
            anchor = "end" if x > WIDTH - 100 else "middle"
            drawn.append(f'<text x="{x}" y="54" text-anchor="{anchor}">{number(size)}</text>')
            room = x
    words = f"{data['symbol']}: from {data['min']} to {data['max'] or 'any length'} in steps of {data['step']}"
    return picture(words, "".join(drawn), WIDTH, 60)


def islands(data: Sequence[Mapping[str, Any]]) -> str:
    """Stretches of the graph on the provider, and those that fall back to the CPU, in the order of the nodes.

    Args:
        data: of each stretch ``provider``, ``nodes`` and whether it is ``home``.
    """
    total = sum(part["nodes"] for part in data) or 1
    x, drawn = 0.0, []
    for part in data:
        wide = max(2.0, part["nodes"] / total * WIDTH)
        kind = "bar" if part["home"] else "bar plain"
        drawn.append(f'<rect class="{kind}" x="{x:.1f}" y="4" width="{max(1.0, wide - 1):.1f}" height="18"/>')
        x += wide
    told = "; ".join(f"{part['nodes']} nodes on {part['provider']}" for part in data[:12])
    return picture(f"Where nodes run: {told}", "".join(drawn), max(WIDTH, x), 26)


def times(data: Sequence[Mapping[str, Any]]) -> str:
    """A bar a run.

    Args:
        data: of each run ``name`` and ``ms``; the native one is ``plain``.
    """
    most = max((row["ms"] for row in data), default=1.0) or 1.0
    drawn = []
    for index, row in enumerate(data):
        y = 6 + index * 26
        kind = "bar plain" if row.get("plain") else "bar"
        drawn.append(f'<text class="name" x="0" y="{y + 13}">{text(row["name"])}</text>')
        drawn.append(
            f'<rect class="{kind}" x="230" y="{y}" width="{max(1, row["ms"] / most * 390):.1f}" height="18"/>'
            f'<text x="{236 + row["ms"] / most * 390:.1f}" y="{y + 13}">{number(row["ms"])} ms</text>'
        )
    told = ", ".join(f"{row['name']} {number(row['ms'])} ms" for row in data)
    return picture(f"Time of one run: {told}", "".join(drawn), WIDTH, 10 + 26 * len(data))
