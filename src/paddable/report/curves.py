"""Errors as curves: over the depth of the graph, and over lengths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from paddable.report.axes import BOTTOM, HEIGHT, LEFT, RIGHT, WIDTH, LogAxis, Span, picture, short
from paddable.report.html import number, text

__all__ = ["depth", "lengths", "ranges"]

HALF_MAX = 65504.0


def depth(data: Mapping[str, Any]) -> str:
    """Error along the graph, one curve a run; logarithmic.

    Args:
        data: ``series`` of ``name``, ``points`` [place, error] and the place of its ``fork``; ``nodes``; ``tolerance``.
    """
    series = data["series"]
    across = Span(0, max(1, data["nodes"] - 1))
    up = LogAxis.over([_float(e) for line in series for _, e in line["points"]] + [data["tolerance"], 1e-8])
    drawn = [up.lines(), _rule(up, data["tolerance"], "allowed")]
    for position, line in enumerate(series):
        kind = "main" if position == len(series) - 1 else "plain"
        places = [f"{across.at(x)} {up.at(_float(e))}" for x, e in line["points"]]
        if len(places) == 1:
            x, y = places[0].split()
            drawn.append(f'<circle class="dot {kind}" cx="{x}" cy="{y}" r="3"/>')
        elif places:
            drawn.append(f'<path class="{kind}" d="M{"L".join(places)}"/>')
        if line.get("fork") is not None:
            x, e = line["fork"]
            drawn.append(f'<circle class="mark" cx="{across.at(x)}" cy="{up.at(_float(e))}" r="6"/>')
    drawn.append(_ticks([(across.at(place), label) for place, label in data.get("ticks", [])]))
    drawn.append(_legend([line["name"] for line in series]))
    told = "; ".join(
        f"{s['name']}: at most {number(max((_float(e) for _, e in s['points']), default=0))}" for s in series
    )
    return picture(f"Error along the graph. {told}", "".join(drawn), height=HEIGHT + 22)


def lengths(data: Sequence[Mapping[str, Any]]) -> str:
    """Error at each length that was tried, one row of dots a graph; what each is allowed above them.

    Args:
        data: of each graph ``name`` and ``points`` [length, error, tolerance].
    """
    points = [point for graph in data for point in graph["points"]]
    across = Span(min(p[0] for p in points), max(p[0] for p in points))
    up = LogAxis.over([_float(v) for p in points for v in p[1:]] + [1e-8, 1e-4])
    drawn = [up.lines()]
    rules = ([f"{across.at(n)} {up.at(_float(t))}" for n, _, t in sorted(graph["points"])] for graph in data)
    drawn += [f'<path class="rule" d="M{line}"/>' for line in dict.fromkeys("L".join(places) for places in rules)]
    for position, graph in enumerate(data):
        kind = "dot" if position == len(data) - 1 else "dot plain"
        drawn += [
            f'<circle class="{kind}" cx="{across.at(n)}" cy="{up.at(_float(e))}" r="3"/>'
            for n, e, *_ in graph["points"]
        ]
    for value, anchor in ((across.low, "start"), (across.high, "end")):
        drawn.append(
            f'<text x="{across.at(value)}" y="{HEIGHT - 8}" text-anchor="{anchor}">{number(int(value))}</text>'
        )
    drawn.append(f'<text x="{WIDTH / 2}" y="{HEIGHT - 8}" text-anchor="middle">valid steps</text>')
    worst = max((_float(p[1]) for p in points), default=0.0)
    return picture(f"Error at {len(points)} lengths, at most {number(worst)} of scale", "".join(drawn))


def ranges(data: Sequence[Mapping[str, Any]]) -> str:
    """The largest absolute value along the graph against what half precision holds."""
    up = LogAxis.over([_float(row["largest"]) for row in data] + [HALF_MAX], least=-6, most=12)
    across = Span(0, max(1, len(data) - 1))
    places = [f"{across.at(i)} {up.at(_float(row['largest']))}" for i, row in enumerate(data)]
    drawn = [up.lines(), _rule(up, HALF_MAX, "end of half, 65,504"), f'<path class="main" d="M{"L".join(places)}"/>']
    drawn.append(_ticks([(across.at(i), row["layer"]) for i, row in enumerate(data) if row.get("layer")]))
    most = max((_float(row["largest"]) for row in data), default=0.0)
    return picture(f"Largest absolute value along the graph: {number(most)}", "".join(drawn))


def _ticks(places: Sequence[tuple[float, str]]) -> str:
    """Where the layers begin, with their names as far as there is room; the ends of the graph where none is known."""
    y, right = HEIGHT - 8, WIDTH - RIGHT
    if not places:
        return f'<text x="{LEFT}" y="{y}">first node</text><text x="{right}" y="{y}" text-anchor="end">output</text>'
    drawn, room = [], 0.0
    for x, path in places:
        label = short(path)
        drawn.append(f'<path class="axis" d="M{x} {HEIGHT - BOTTOM}v6"/>')
        wide = 6.6 * len(label)
        start = min(x, right - wide)
        if start >= room:
            drawn.append(f'<text x="{start:.1f}" y="{y}">{text(label)}</text>')
            room = start + wide + 10
    return "".join(drawn)


def _rule(up: LogAxis, value: float, label: str) -> str:
    y = up.at(value)
    words = f'<text x="{WIDTH - RIGHT}" y="{y - 5}" text-anchor="end">{text(label)}</text>'
    return f'<path class="rule" d="M{LEFT} {y}H{WIDTH - RIGHT}"/>{words}'


def _legend(names: Sequence[str]) -> str:
    drawn, x = [], LEFT
    for position, name in enumerate(names):
        kind = "main" if position == len(names) - 1 else "plain"
        drawn.append(f'<path class="{kind}" d="M{x} {HEIGHT + 10}h22"/>')
        drawn.append(f'<text class="name" x="{x + 28}" y="{HEIGHT + 14}">{text(name)}</text>')
        x += 50 + 7 * len(name)
    return "".join(drawn)


def _float(value: Any) -> float:
    return float(value)
