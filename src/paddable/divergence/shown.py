"""A probe as a page shows it: its layers thinned to what a picture can hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from paddable.divergence.result import Layer, ProbeReport

__all__ = ["about_probe", "depth", "heat", "nearest_rows", "ranges"]

_POINTS = 400
"""Places of a curve; each shows the largest of the values that it stands for."""

HALF_MAX = 65504.0
_NEAREST = 12
"""Layers that are listed by their headroom."""

_FEW, _TICKS = 3, 10
"""Parts of the model that tell its depth, at least and at most."""

_ROWS = 48
"""Layers of a heat map."""


def about_probe(report: ProbeReport) -> dict[str, Any]:
    """The data of a page about a probe."""
    fork = report.fork
    return {
        "command": "probe",
        "title": f"{report.one} against {report.other}",
        "ok": report.ok,
        "verdict": report.verdict.rstrip(".") + ".",
        "facts": {
            "Run in question": report.one,
            "Compared with": report.other,
            **{f"Valid {name}": f"{count:,}" for name, count in report.steps.items()},
            "Nodes paired": f"{report.matched['paired']:,} of {report.matched['nodes']:,}",
            "Values compared": f"{report.matched['compared values']:,}",
            **{f"Error of {name}": f"{error:.2g}" for name, error in list(report.outputs.items())[:4]},
            **({"Chosen": "; ".join(report.notes)} if report.notes else {}),
        },
        "fork": fork.to_json() if fork is not None else None,
        "depth": depth({"this run": report}),
        "heat": heat({report.one: report}),
        "ranges": ranges(report),
        "range_rows": nearest_rows(report),
        "versions": dict(report.versions),
    }


def depth(reports: Mapping[str, ProbeReport]) -> dict[str, Any] | None:
    """Error along the graph of each run, at places from 0 to 1000."""
    series = []
    for name, report in reports.items():
        layers = report.layers
        if not layers:
            continue
        fork = report.fork
        told = _telling(layers)
        at = next((i for i, layer in enumerate(layers) if fork is not None and layer.value == fork.value), None)
        points = [
            [round(1000 * i / max(1, len(layers) - 1)), _digits(max((layers[k].error for k in group), default=0.0))]
            for i, group in _groups(len(layers))
            if any(k in told for k in group)
        ]
        series.append(
            {
                "name": name,
                "points": points,
                "fork": None if at is None else [round(1000 * at / max(1, len(layers) - 1)), _digits(layers[at].error)],
                "largest": _digits(max((*report.outputs.values(), *(layer.error for layer in layers)))),
                "output": _digits(max(report.outputs.values(), default=0.0)),
                "where": fork.node if fork is not None else "",
            }
        )
    if not series:
        return None
    last = [report for report in reports.values() if report.layers][-1]
    ticks = [[round(1000 * i / max(1, len(last.layers) - 1)), label] for i, label in _starts(last.layers)]
    return {"series": series, "nodes": 1001, "ticks": ticks, "tolerance": last.tolerance}


def heat(reports: Mapping[str, ProbeReport]) -> dict[str, Any] | None:
    """Error by layer and time of each run; only layers with a time axis."""
    maps = []
    for name, report in reports.items():
        timed = [layer for layer in report.layers if layer.profile]
        if timed:
            rows = (
                [timed[round(i * (len(timed) - 1) / (_ROWS - 1))] for i in range(_ROWS)]
                if len(timed) > _ROWS
                else timed
            )
            maps.append({"name": name, "rows": [_row(layer) for layer in rows], **_times(report)})
    return {"maps": maps} if maps else None


def ranges(report: ProbeReport | None) -> list[dict[str, Any]] | None:
    """The largest absolute value along the graph, of the run that is compared with."""
    if report is None or not report.layers:
        return None
    layers = report.layers
    starts = dict(_starts(layers))
    rows = []
    for i, group in _groups(len(layers)):
        label = next((starts[k] for k in group if k in starts), None)
        peak = _digits(max(layers[k].largest[1] for k in group))
        rows.append({"value": layers[i].value, "largest": peak} | ({"layer": label} if label else {}))
    return rows


def nearest_rows(report: ProbeReport | None) -> list[dict[str, Any]]:
    """The layers that come nearest to the end of half precision: one row a module, of its largest value."""
    found: dict[str, Layer] = {}
    for layer in sorted(report.layers if report is not None else (), key=lambda layer: -layer.largest[1]):
        found.setdefault(_path(layer) or layer.node, layer)
    return [
        {
            "layer": _path(layer),
            "node": layer.node,
            "operator": layer.op,
            "peak": _digits(layer.largest[1]),
            "headroom": _digits(HALF_MAX / layer.largest[1]),
        }
        for layer in list(found.values())[:_NEAREST]
        if layer.largest[1]
    ]


def _path(layer: Layer) -> str:
    """The module, or what the node's name says of one."""
    return layer.module or ".".join(part for part in layer.node.split("/")[:-1] if part)


def _starts(layers: Sequence[Layer]) -> list[tuple[int, str]]:
    """Where the parts of the model begin, a few of them: at the first depth of the module paths at which
    none is half of it."""
    found: list[tuple[int, str]] = []
    for deep in range(1, 6):
        found, last = [], ""
        for index, layer in enumerate(layers):
            path = ".".join(_path(layer).split(".")[:deep])
            if path and path != last:
                last = path
                found.append((index, path))
        edges = [*(index for index, _ in found), len(layers)]
        if len(found) >= _FEW and max(b - a for a, b in pairwise(edges)) <= len(layers) / 2:
            break
    if len(found) <= _TICKS:
        return found
    return [found[round(i * (len(found) - 1) / (_TICKS - 1))] for i in range(_TICKS)]


def _times(report: ProbeReport) -> dict[str, str]:
    """What the time axis of a map is numbered with: the valid steps and those of the container."""
    name = next(iter(report.steps), None)
    if name is None:
        return {}
    valid, most = report.steps[name], max(size.get(name, 0) for size in report.containers)
    return {"valid": f"{name} = {valid:,}", **({"end": f"{most:,}"} if most > valid else {})}


def _telling(layers: Sequence[Layer]) -> set[int]:
    """The layers that a logarithmic curve can show: behind the first error, one without any is a mask or a constant."""
    first = next((i for i, layer in enumerate(layers) if layer.error), len(layers))
    return {i for i, layer in enumerate(layers) if i <= first or layer.error}


def _row(layer: Layer) -> dict[str, Any]:
    return {
        "label": layer.module or layer.node or layer.value,
        "errors": [_digits(error, 2) for error in layer.profile],
        "reach": round(layer.reach, 4),
    }


def _groups(count: int) -> Sequence[tuple[int, range]]:
    """Runs of indices, each with its first."""
    if count <= _POINTS:
        return [(i, range(i, i + 1)) for i in range(count)]
    edges = [round(i * count / _POINTS) for i in range(_POINTS + 1)]
    return [(a, range(a, b)) for a, b in pairwise(edges) if a < b]


def _digits(value: float, digits: int = 3) -> float | str:
    return float(f"{value:.{digits}g}") if abs(value) < float("inf") else str(value)
