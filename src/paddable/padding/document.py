"""Writes the pages of ``docs/padding``: ``python -m paddable.padding.document docs/padding``.

What a code means comes from ``catalogue.py``. An operator is listed under a code that the docstring of its rule file
names, or that its rules ask for in quotes; what follows is the docstring's ``Needs:``.
"""

from __future__ import annotations

import inspect
import sys
from pathlib import Path
from types import ModuleType

from paddable.padding.catalogue import CODES, Code
from paddable.padding.deduce.registry import find_rule, known_operators
from paddable.padding.rules.refused import ADVICE, CONTRIBUTED

__all__ = ["pages"]


def pages() -> dict[str, str]:
    """File name to text of every page."""
    found = {f"{code}.md": _page(code, entry) for code, entry in CODES.items()}
    rows = "\n".join(f"| [{code}]({code}.md) | {entry.name} | {entry.what} |" for code, entry in CODES.items())
    found["README.md"] = (
        "# Findings of the compiler\n\nMade from the rules by `python -m paddable.padding.document "
        "docs/padding`.\n\n"
        f"| code | name | what |\n|---|---|---|\n{rows}\n"
    )
    return found


def _page(code: str, entry: Code) -> str:
    parts = [
        f"# {code}: {entry.name}",
        f"## What it is\n\n{entry.what}",
        f"## Why it matters\n\n{entry.why}",
        f"## Example\n\n{entry.example}",
        f"## Remedy\n\n{entry.remedy}",
        f"## Where it can be found\n\n{_where(code)}",
    ]
    return "\n\n".join(parts) + "\n"


def _where(code: str) -> str:
    if code == "PAD190":
        contributed = {f"com.microsoft.{op}": advice for op, advice in CONTRIBUTED.items()}
        listed = "\n".join(
            f"| {op} | {advice} |" for op, advice in (*sorted(ADVICE.items()), *sorted(contributed.items()))
        )
        return (
            f"Any operator whose rule finds no proof; always, over time:\n\n| operator | instead |\n|---|---|\n{listed}"
        )
    rows = []
    for module, operators in _modules().items():
        said = inspect.getdoc(module) or ""
        if code in said or f'"{code}"' in inspect.getsource(module):
            rows.append(f"- {', '.join(operators)}: {_need(said)}")
    if code in ("PAD105", "PAD106"):
        rows.append("- every operator that reads a shifted value, or a number computed from a shape, as data")
    return "\n".join(rows)


def _need(said: str) -> str:
    """What a rule file says that its operators need of the padding, else its first sentences."""
    _, found, rest = said.partition("\nNeeds: ")
    about = rest.split("\nRefuses:")[0].split("\n\n")[0] if found else said.split("\n\n")[0]
    return about.replace("\n", " ")


def _modules() -> dict[ModuleType, list[str]]:
    grouped: dict[ModuleType, list[str]] = {}
    for domain, op_type in known_operators():
        function = find_rule(domain, op_type)
        module = inspect.getmodule(function)
        if module is not None:
            grouped.setdefault(module, []).append(f"{domain}.{op_type}" if domain else op_type)
    return dict(sorted(grouped.items(), key=lambda item: item[0].__name__))


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (folder / name).write_text(text, encoding="utf-8")
