"""What the gates found as a page shows it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from paddable.gates.report import GateReport, Row

__all__ = ["about_gates", "about_refusal", "gate_rows", "range_rows"]

_NEAREST = 12
"""Layers in half that the page lists."""


def about_gates(gates: GateReport) -> dict[str, Any]:
    """The parts of a page that the gates fill: ``gates``, ``failing`` and ``sweep``."""
    return {
        "gates": gate_rows(gates.summary(), gates),
        "failing": _failing(gates),
        "sweep": _sweep(gates),
    }


def about_refusal(gates: GateReport) -> dict[str, Any]:
    """The parts of a page that tell why nothing was written: the gates, what a precision does, and its ranges."""
    tables = {"Each precision on examples": _example_rows(gates), "Measured ranges": range_rows(gates)}
    found = [{"title": title, "rows": rows} for title, rows in tables.items() if rows]
    return {**about_gates(gates), **({"tables": found, "tables_title": "Figures"} if found else {})}


def gate_rows(summary: Mapping[str, Any], gates: GateReport | None = None) -> list[dict[str, Any]]:
    """A row a gate.

    Args:
        summary: as it stands in a file's metadata.
        gates: the whole report, where it is there.
    """
    if not {"L", "C", "J"} <= summary.keys():
        return []
    one, whole, junk = summary["L"], summary["C"], summary["J"]
    worst = [row.tolerance for row in gates.rows] if gates is not None else []
    rows: list[dict[str, Any]] = [
        {
            "gate": "L, each operator alone",
            "judged": one["sites"],
            "failing": one["failing"],
            "figures": f"bit-equal; {one['not_judged']} could not be judged alone"
            if one["not_judged"]
            else "bit-equal",
        },
        {
            "gate": "C, whole against native",
            "judged": whole["rows"],
            "failing": whole["failing"],
            "figures": f"error {whole['error']} of scale, native's own noise {whole['noise']}"
            + (f", allowed {min(worst):.2g} and more" if worst else ""),
        },
        {
            "gate": "J, junk in the container",
            "judged": junk["rows"],
            "failing": junk["failing"],
            "figures": "bit-equal for every filling" if not junk["failing"] else "depends on the padding",
        },
    ]
    if gates is not None and gates.domain:
        rows.append(
            {
                "gate": "Domain, just outside",
                "judged": len(gates.domain),
                "failing": sum(check.ok is False for check in gates.domain),
                "figures": "native fails there, or the converted model gives zeros and length 0",
            }
        )
    for precision, told in (gates.precision if gates is not None else {}).items():
        for output, figures in told.items() if isinstance(told, Mapping) else ():
            words = ", ".join(f"{k} {v}" for k, v in figures.items()) if isinstance(figures, Mapping) else str(figures)
            rows.append({"gate": f"{precision}, {output}", "judged": None, "failing": None, "figures": words})
    return rows


def range_rows(gates: GateReport, names: Collection[str] | None = None) -> list[dict[str, Any]]:
    """What a precision keeps in fp32 and why, then the layers that are nearest to the end of half.

    Args:
        gates: the report.
        names: of nodes and values in the files: what is in none of them is left out.
    """
    rows: list[dict[str, Any]] = []
    for precision, told in gates.ranges.items():
        stays = told.get("stays", ())
        if isinstance(stays, Mapping):  # products that an int8 weight would damage
            stays = [{"node": name, "why": why} for name, why in stays.items()]
        layers = [layer for layer in (*stays, *told.get("layers", ())) if names is None or layer["node"] in names]
        near = sorted((layer for layer in layers if "why" not in layer), key=lambda one: float(one["headroom"] or 0))
        for layer in (*(layer for layer in layers if "why" in layer), *near[:_NEAREST]):
            rows.append(
                {
                    "node": layer["node"],
                    "operator": layer.get("op", ""),
                    "in": f"{precision}: stays in fp32" if "why" in layer else precision,
                    "peak": layer.get("peak"),
                    "headroom": layer.get("headroom"),
                    "why": layer.get("why", ""),
                }
            )
    return rows


def _example_rows(gates: GateReport) -> list[dict[str, Any]]:
    """What each precision does to the answers on examples, what failed first."""
    rows = [
        {"precision": precision, **{name: value for name, value in row.items() if not isinstance(value, Mapping)}}
        for precision, told in gates.examples.items()
        for row in told
    ]
    return sorted(rows, key=lambda row: bool(row["ok"]))[:40]


def _failing(gates: GateReport) -> list[dict[str, Any]]:
    rows = [
        {"gate": "L", "node": site.node, "length": "", "error": "", "why": site.detail}
        for site in gates.sites
        if site.ok is False
    ]
    for row in (row for row in gates.rows if not row.ok):
        rows.append(
            {
                "gate": "J" if row.junk is False else "C",
                "node": row.output,
                "length": f"{row.length} in {row.container}",
                "error": f"{row.error:.2g}",
                "why": row.note or _why(row),
            }
        )
    return rows[:20]


def _why(row: Row) -> str:
    if row.junk is False:
        return "depends on what the padding holds"
    if not row.length_right:
        return "its length output is wrong"
    return f"{row.tolerance:.2g} is allowed" if row.error > row.tolerance else "it is not 0 past its length"


def _sweep(gates: GateReport) -> list[dict[str, Any]]:
    """Per graph the worst output at each length."""
    graphs: dict[str, dict[int, tuple[float, float]]] = {}
    for row in gates.rows:
        if isinstance(row.length, int):
            found = graphs.setdefault(row.model, {})
            if row.length not in found or row.error > found[row.length][0]:
                found[row.length] = row.error, row.tolerance
    return [
        {"name": name, "points": [[n, _digits(e), _digits(t)] for n, (e, t) in sorted(found.items())]}
        for name, found in graphs.items()
    ]


def _digits(value: float) -> float | str:
    return float(f"{value:.3g}") if abs(value) < float("inf") else str(value)
