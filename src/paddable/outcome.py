"""What the gates found, in a line: from the plain data of their report, for a terminal or an assertion."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["failures", "told_failed", "told_passed", "told_row"]

_FAULTS = {
    "length_right": "its length output is wrong",
    "zero_behind": "it is not 0 past its length",
    "junk": "it depends on what the padding holds",
}
"""What is told of a row where this is false."""


def told_row(row: Mapping[str, Any]) -> str:
    """A failing row in words; what is as it should be is left out."""
    told = [f"{name} {row[name]}" for name in ("output", "length", "container", "error") if name in row]
    if "tolerance" in row:
        told.append(f"{row['tolerance']} is allowed")
    told += [fault for name, fault in _FAULTS.items() if row.get(name) is False]
    return ", ".join([*told, *filter(None, [row.get("note")])])


def told_passed(summary: Mapping[str, Any]) -> str:
    """A line on what passed, from the numbers that a file keeps of it; empty where nothing was judged."""
    if "worst" in summary:  # one graph without lengths
        return f"passed: on {summary['inputs']} inputs at most {summary['worst']:.3g} of scale from native"
    if not summary:
        return ""
    answers, operators = summary["C"], summary["L"]
    return (
        f"passed: {answers['rows']:,} answers, at most {answers['error']:.3g} of scale from native; "
        f"{operators['sites']:,} operators, each alone"
    )


def failures(report: Mapping[str, Any]) -> Iterator[str]:
    """Each thing that failed, in words: operators, answers, the border of the lengths, examples, streams."""
    for site in report.get("failing_sites", ()):
        yield f"node {site['node']} ({site['op']}), {site['detail']}"
    for row in report.get("rows", ()):
        if not row.get("ok", True):
            yield told_row(row)
    for check in report.get("domain", ()):
        if check["ok"] is False:
            yield f"{check['symbol']}={check['at']}, {check['outcome']} ({check['why']})"
    for precision, rows in report.get("examples", {}).items():
        for row in rows:
            if not row["ok"]:
                yield f"output {row['output']} in {precision}, {row['example']}, {row['note']}"
    if not report.get("streams", {}).get("ok", True):
        yield "a stream differs from the whole"


def told_failed(report: Mapping[str, Any]) -> str:
    """A line on the first thing that failed, and how many there are."""
    first, *others = list(failures(report)) or ["a gate"]
    more = f", and {len(others):,} more" if others else ""
    return f"failed: {first}{more}; see where the two part with paddable probe"
