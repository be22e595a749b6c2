"""A probe as a page shows it: its layers thinned to what a picture can hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from paddable.divergence.result import Layer, ProbeReport

__all__ = ["about_probe", "depth", "heat", "ranges"]

_POINTS = 400
"""Places of a curve; each shows the largest of the values that it stands for."""

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
        },
        "fork": fork.to_json() if fork is not None else None,
        "depth": depth({"this run": report}),
        "heat": heat({report.one: report}),
        "ranges": ranges(report),
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
                "largest": _digits(max(layer.error for layer in layers)),
                "output": _digits(max(report.outputs.values(), default=0.0)),
                "where": fork.node if fork is not None else "",
            }
        )
    if not series:
        return None
    return {"series": series, "nodes": 1001, "tolerance": next(iter(reports.values())).tolerance}


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
            maps.append({"name": name, "rows": [_row(layer) for layer in rows]})
    return {"maps": maps} if maps else None


def ranges(report: ProbeReport | None) -> list[dict[str, Any]] | None:
    """The largest absolute value along the graph, of the run that is compared with."""
    if report is None or not report.layers:
        return None
    layers = report.layers
    groups = _groups(len(layers))
    return [
        {"value": layers[i].value, "largest": _digits(max(layers[k].largest[1] for k in group))} for i, group in groups
    ]


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
