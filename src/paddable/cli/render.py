"""Reports on the terminal. What a report says is its ``to_json()``; this module only lays it out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from paddable.findings import Finding

__all__ = ["Report", "show", "show_findings", "show_json", "show_sections"]


class Report(Protocol):
    """What the library's functions return."""

    def to_json(self) -> dict[str, Any]:
        """The whole report as plain data."""


def show_json(payload: Mapping[str, Any]) -> None:
    """One JSON object on stdout."""
    print(json.dumps(payload, indent=2, ensure_ascii=False, allow_nan=False))


def show(report: Report, *, as_json: bool) -> None:
    """A report whose sections are tables."""
    payload = report.to_json()
    if as_json:
        show_json(payload)
    else:
        show_sections(payload)


def show_findings(findings: Iterable[Finding]) -> None:
    """One line a finding: code, place, leak and remedy."""
    for finding in findings:
        print(finding)


def show_sections(payload: Mapping[str, Any]) -> None:
    """Lay out plain data: a list of records or a mapping becomes a table, anything else a line."""
    for title, section in payload.items():
        if isinstance(section, Mapping) and section:
            _table(title, ("", ""), section.items())
        elif isinstance(section, Sequence) and section and all(isinstance(row, Mapping) for row in section):
            columns = list(dict.fromkeys(key for row in section for key in row))
            _table(title, columns, ([row.get(column) for column in columns] for row in section))
        elif section not in (None, "", [], {}, ()):
            print(f"{title}: {_cell(section)}")


def _table(title: str, columns: Sequence[str], rows: Iterable[Iterable[Any]]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(title), title_justify="left", box=box.SIMPLE_HEAD, show_header=any(columns))
    for column in columns:
        table.add_column(Text(column), overflow="fold")
    for row in rows:
        table.add_row(*(Text(_cell(value)) for value in row))
    Console(highlight=False, soft_wrap=False).print(table)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3g}"
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {_cell(item)}" for key, item in value.items())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(_cell(item) for item in value)
    return str(value)
