"""Reports on the terminal. What a report says is its ``to_json()``; this module only lays it out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from paddable.cli.flags import in_flags
from paddable.cli.grouping import lines_of
from paddable.cli.tables import cell, show_records
from paddable.findings import Finding

__all__ = ["Report", "show", "show_findings", "show_json", "show_page", "show_sections"]


class Report(Protocol):
    """What the library's functions return."""

    def to_json(self) -> dict[str, Any]:
        """The whole report as plain data."""


def show_json(payload: Mapping[str, Any]) -> None:
    """One JSON object on stdout."""
    print(json.dumps(in_flags(payload), indent=2, ensure_ascii=False, allow_nan=False))


def show(report: Report, *, as_json: bool) -> None:
    """A report whose sections are tables."""
    payload = report.to_json()
    if as_json:
        show_json(payload)
    else:
        show_sections(payload)


def show_page(report: Path | None) -> None:
    """Where the page is that ``--report`` asked for, if it did."""
    if report is not None:
        print(f"the page is {report}")


def show_findings(findings: Iterable[Finding]) -> None:
    """One line a kind of finding: code, place, leak and remedy; like ones are counted."""
    for line in lines_of(findings):
        print(line)


def show_sections(payload: Mapping[str, Any]) -> None:
    """Lay out plain data: a list of records or a mapping becomes a table, anything else a line."""
    for title, section in in_flags(payload).items():
        if isinstance(section, Mapping) and section:
            show_records(title, [{"": key, " ": value} for key, value in section.items()], header=False)
        elif isinstance(section, Sequence) and section and all(isinstance(row, Mapping) for row in section):
            show_records(title, section)
        elif section not in (None, "", [], {}, ()):
            print(f"{title}: {cell(section)}")
