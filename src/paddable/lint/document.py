"""Writes the pages of the rules: ``python -m paddable.lint.document docs/lint``.

A page is the rule's docstring, its evidence and its cases; a test keeps pages and rules together.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Sequence
from pathlib import Path

from paddable.lint.registry import rules
from paddable.lint.rule import BaseRule

__all__ = ["page", "pages", "table"]

_HEADER = """# Lint without a target

`paddable lint model.onnx` asks these rules of any graph. It exits with 1 if a finding of severity error is left, and
with 0 if there are only warnings and notes. An error breaks the model, or its conversion, whatever runs it; what
breaks one execution provider only is an error for that `--target`, a warning without one, a note for another. A code
never changes its meaning. How to add a rule: one file in `src/paddable/lint/rules`, listed in its `__init__.py`,
then `python -m paddable.lint.document docs/lint`. A package of your own registers its rules through the entry
point group `paddable.lint`.
"""


def page(rule: type[BaseRule]) -> str:
    """The Markdown page of one rule."""
    cases = [_case("No finding", source) for source in rule.VALID] + [
        _case("Finding", source) for source in rule.INVALID
    ]
    evidence = "\n".join(f"- {entry}" for entry in rule.evidence)
    return (
        f"# {rule.name} ({rule.code})\n\n"
        f"Severity: {rule.severity}.\n\n"
        f"{inspect.cleandoc(rule.__doc__ or '')}\n\n"
        f"## Evidence\n{evidence}\n\n"
        f"## Cases\nAs ONNX text; each is a test.\n\n" + "\n".join(cases)
    )


def table(listed: Sequence[type[BaseRule]]) -> str:
    """A Markdown table of rules, with links to their pages."""
    rows = [f"| {rule.code} | [{rule.name}]({rule.name}.md) | {rule.severity} |" for rule in listed]
    return "\n".join(["| code | rule | severity |", "|---|---|---|", *rows]) + "\n"


def pages() -> dict[str, str]:
    """Every generated page by file name, the index included."""
    listed = [rule for rule in rules() if rule.__module__.startswith("paddable.")]
    return {"README.md": f"{_HEADER}\n{table(listed)}", **{f"{rule.name}.md": page(rule) for rule in listed}}


def _case(title: str, source: str) -> str:
    return f"{title}:\n\n```\n{inspect.cleandoc(source)}\n```\n"


def main(folder: Path) -> None:
    """Writes every page into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/lint"))
