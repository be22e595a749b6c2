"""Records as tables that a terminal of any width can show.

A table that is too wide is not squeezed until its words break. In this order: a column that says the same in every row
is told once; sentences are folded; rows that share their first column become a table of their own under it; and what
is still too wide is written out, a paragraph a row.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["cell", "show_records"]

_BETWEEN = 3  # columns of the terminal between two of the table, and around it
_SENTENCE = 24  # narrower than this, a folded sentence is a ladder


def show_records(title: str, records: Sequence[Mapping[str, Any]], *, header: bool = True) -> None:
    """Print records that share keys."""
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=False)
    columns = list(dict.fromkeys(key for record in records for key in record))
    print(title)
    _show(_Table(columns, [[cell(record.get(column)) for column in columns] for record in records], header), console)
    print()


@dataclass(frozen=True)
class _Table:
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    header: bool = True

    def column(self, index: int) -> list[str]:
        return [row[index] for row in self.rows]

    def without(self, *dropped: int) -> _Table:
        kept = [i for i in range(len(self.columns)) if i not in dropped]
        return _Table([self.columns[i] for i in kept], [[row[i] for i in kept] for row in self.rows], self.header)

    def width(self, index: int) -> int:
        head = len(self.columns[index]) if self.header else 0
        return max(head, *(len(line) for text in self.column(index) for line in text.split("\n")))

    def folds(self, index: int) -> bool:
        return self.width(index) > _SENTENCE and any(" " in text for text in self.column(index))

    def least(self) -> int:
        """Width with every sentence folded."""
        indices = range(len(self.columns))
        return sum(_BETWEEN + (_SENTENCE if self.folds(i) else self.width(i)) for i in indices)

    def natural(self) -> int:
        return sum(_BETWEEN + self.width(i) for i in range(len(self.columns)))


def _show(table: _Table, console: Console) -> None:
    if table.natural() <= console.width or len(table.columns) == 1:
        return _draw(table, console)
    same = [i for i in range(len(table.columns)) if len(table.rows) > 1 and len(set(table.column(i))) == 1]
    if same:
        told = "; ".join(f"{table.columns[i]} {table.rows[0][i]}" for i in same if table.rows[0][i])
        _write(f"all: {told}" if told else "", console)
        return _show(table.without(*same), console) if len(same) < len(table.columns) else None
    if table.least() <= console.width:
        return _draw(table, console)
    first = dict.fromkeys(table.column(0))
    if len(first) < len(table.rows):
        for value in first:
            _write(f"{table.columns[0]} {value}", console)
            rows = [row for row in table.rows if row[0] == value]
            _show(_Table(table.columns, rows, table.header).without(0), console)
        return None
    for head, *rest in table.rows:
        told = "; ".join(f"{name} {text}" for name, text in zip(table.columns[1:], rest, strict=True) if text)
        _write(f"{head}: {told}", console)
    return None


def _draw(table: _Table, console: Console) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    drawn = Table(box=box.SIMPLE_HEAD, show_header=table.header)
    for index, name in enumerate(table.columns):
        drawn.add_column(Text(name), overflow="fold", no_wrap=not table.folds(index) and table.least() <= console.width)
    for row in table.rows:
        drawn.add_row(*(Text(text) for text in row))
    console.print(drawn)


def _write(text: str, console: Console) -> None:
    for line in textwrap.wrap(text, console.width - 2, subsequent_indent="    ", break_on_hyphens=False):
        print(f"  {line}")


def cell(value: Any) -> str:
    """A value of plain data as a person reads it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3g}"
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {cell(item)}" for key, item in value.items())
    if isinstance(value, Sequence) and not isinstance(value, str):
        between = "; " if any(isinstance(item, Mapping) for item in value) else ", "
        return between.join(cell(item) for item in value)
    return str(value)
