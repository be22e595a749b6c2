"""Writes the pages of the rules and the facts: ``python -m paddable.providers.document docs``.

A page is the rule's docstring, its evidence and its cases; a test keeps pages, rules and facts together.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from paddable.linter.fixing import name_of
from paddable.linter.registry import codes_of
from paddable.linter.rule import Rule
from paddable.linter.rules import BUILT_IN as GENERAL_RULES
from paddable.providers.provider import Provider
from paddable.providers.registry import BUILT_IN as PROVIDERS
from paddable.providers.rules import FACT_RULES

__all__ = ["pages"]

_RULES_HEADER = """# What lint says

`paddable lint model.onnx` asks the rules about any graph. With `--target NAME` it also asks those of that execution
provider: each tests the facts that are known of it, which [targets](../targets/README.md) lists, or where its nodes
run. It exits with 1 if a finding of severity error is left, and with 0 if there are only warnings and notes. An error
breaks the model, or its conversion, whatever runs it; what breaks one provider only is an error for that `--target`, a
warning without one, a note for another. A code never changes its meaning. A fix is applied by
`paddable lint --target NAME --fix`, and taken back where the numbers move.

How to add a rule, a fix or a provider: [add a provider](../guides/add_a_provider.md).
"""

_FACTS_HEADER = """# Targets

What is known of each execution provider, and who found it. A fact that nobody measured says so. Placement is
described in [directml.md](directml.md) and [cuda.md](cuda.md).
"""


def pages() -> dict[str, str]:
    """Every generated page, by path below ``docs``."""
    listed: list[type[Rule[Any]]] = [*GENERAL_RULES, *FACT_RULES, *(rule for p in PROVIDERS for rule in p.rules)]
    return {
        "lint/README.md": _index(),
        "targets/README.md": _facts(),
        **{f"lint/{rule.name}.md": _page(rule) for rule in listed},
    }


def _page(rule: type[Rule[Any]]) -> str:
    """The Markdown page of one rule."""
    cases = [_case("No finding", source) for source in rule.VALID] + [
        _case("Finding", source) for source in rule.INVALID
    ]
    evidence = "\n".join(f"- {entry}" for entry in rule.evidence)
    return (
        f"# {rule.name} ({', '.join(codes_of(rule))})\n\n"
        f"Severity: {rule.severity}.\n\n"
        f"{inspect.cleandoc(rule.__doc__ or '')}\n\n"
        f"## Evidence\n{evidence}\n\n"
        f"## Cases\nAs ONNX text; each is a test.\n\n" + "\n".join(cases)
    )


def _case(title: str, source: str) -> str:
    return f"{title}:\n\n```\n{inspect.cleandoc(source)}\n```\n"


def _index() -> str:
    """Every rule, in the room that it is listed in."""
    parts = [
        _RULES_HEADER,
        _table("Any graph", GENERAL_RULES),
        _table("Any provider", FACT_RULES),
        *(_table(f"`--target {record.name}`", record.rules) for record in PROVIDERS if record.rules),
    ]
    return "\n".join(parts)


def _table(title: str, listed: Sequence[type[Rule[Any]]]) -> str:
    fixes = {fix.rule: name_of(fix) for record in PROVIDERS for fix in record.fixes}
    rows = [
        f"| {', '.join(codes_of(rule))} | [{rule.name}]({rule.name}.md) | {rule.severity} | {fixes.get(rule, '')} |"
        for rule in sorted(listed, key=lambda rule: rule.code)
    ]
    return "\n".join([f"## {title}\n", "| code | rule | severity | fix |", "|---|---|---|---|", *rows]) + "\n"


def _facts() -> str:
    return "\n".join([_FACTS_HEADER, *map(_facts_of, PROVIDERS)])


def _facts_of(record: Provider) -> str:
    """A list of what is known of one provider, and how to open a session there."""
    facts = record.facts
    shapes, *others = facts.listed()
    lines = [f"Shapes: {facts.shapes}. {shapes}"]
    if facts.highest_opset is not None:
        lines.append(f"Loads up to opset {facts.highest_opset}")
    lines += [f"{op}: {fact}" for op, fact in facts.unsupported.items()]
    lines += others
    advice = record.advice
    settings = {**advice.options, **advice.static_options, **advice.config}
    lines.append(f"Session: `{advice.execution_provider}`, options {settings or 'none'} ({advice.source})")
    return f"## {record.name}\n\n" + "\n".join(f"- {line}" for line in lines) + "\n"


def main(folder: Path) -> None:
    """Write every page below a folder."""
    for name, text in pages().items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs"))
