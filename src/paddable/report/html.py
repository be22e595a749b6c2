"""Pieces of markup that every part of the page uses."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

__all__ = ["figure", "number", "scroll", "section", "sentence", "table", "text"]


def text(value: object) -> str:
    """Plain text as markup."""
    return escape(str(value))


def sentence(value: object) -> str:
    """The same with a capital in front."""
    told = str(value)
    return told[:1].upper() + told[1:]


def number(value: Any) -> str:
    """A number as people read it: whole, or with two to four digits."""
    if value is None:
        return "–"
    if isinstance(value, str):
        return {"inf": "∞", "nan": "NaN"}.get(value, value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}" if abs(value) >= 10_000 else str(value)
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "∞"
    return "0" if value == 0 else f"{value:.4g}" if 0.01 <= abs(value) < 1e5 else f"{value:.1e}".replace("e-0", "e-")


def section(name: str, title: str, body: str, lead: str = "") -> str:
    """A section with its heading, and a sentence that says what is seen."""
    told = f"<p>{lead}</p>" if lead else ""
    return f'<section aria-labelledby="{name}"><h2 id="{name}">{text(title)}</h2>{told}{body}</section>'


def figure(svg: str, caption: str) -> str:
    """A picture with what it says."""
    return f"<figure>{svg}<figcaption>{text(caption)}</figcaption></figure>"


def scroll(body: str, label: str) -> str:
    """What may be wider than a phone: it scrolls by itself, with the keyboard too."""
    return f'<div class="scroll" role="group" tabindex="0" aria-label="{text(label)}">{body}</div>'


def table(label: str, rows: Sequence[Mapping[str, Any]], code: Iterable[str] = ()) -> str:
    """Records as a table; columns of numbers stand right, and one that says nothing in any row is left out.

    Args:
        label: what the table is, for those who do not see it.
        rows: records with the same keys.
        code: columns that hold names of a graph.
    """
    if not rows:
        return ""
    names = list(dict.fromkeys(name for row in rows for name, value in row.items() if value not in ("", None)))
    kinds = {
        name: all(isinstance(row.get(name), int | float | None) and not isinstance(row.get(name), bool) for row in rows)
        for name in names
    }
    mono = set(code)
    head = "".join(f'<th scope="col"{" class=n" if kinds[name] else ""}>{text(sentence(name))}</th>' for name in names)
    body = []
    for row in rows:
        cells = []
        for name in names:
            value = row.get(name, "")
            if kinds[name]:
                cells.append(f'<td class="n">{number(value)}</td>')
            elif name in mono and value:
                cells.append(f'<td class="wrap"><code>{text(value)}</code></td>')
            else:
                cells.append(f'<td class="wrap">{text(number(value) if not isinstance(value, str) else value)}</td>')
        body.append(f"<tr>{''.join(cells)}</tr>")
    return scroll(f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>", label)
