"""Writes the pages of the targets' rules and tables: ``python -m paddable.providers.document docs``.

Pages of rules are made as those of the general lint; a test keeps pages, rules and tables together.
"""

from __future__ import annotations

import sys
from pathlib import Path

from paddable.lint.document import page, table
from paddable.lint.rule import BaseRule
from paddable.providers.cuda.rules import CUDA_RULES
from paddable.providers.directml.fixes import FIXES
from paddable.providers.directml.rules import RULES
from paddable.providers.fixes import TABLE_FIXES
from paddable.providers.fixing import name_of
from paddable.providers.rules import TABLE_RULES
from paddable.providers.tables import TARGETS

__all__ = ["pages"]

_RULES_HEADER = """# Lint for a target

`paddable lint model.onnx --target NAME` asks these rules besides those of `docs/lint`. A code never changes its
meaning. How to add a rule: `src/paddable/providers/README.md`.
"""

_TABLES_HEADER = """# Targets

What is known of each execution provider, and who found it. A fact that nobody measured says so. Placement is
described in [directml.md](directml.md) and [cuda.md](cuda.md).
"""


def pages() -> dict[str, str]:
    """Every generated page, by path below ``docs``."""
    rules: list[type[BaseRule]] = [*map(type, RULES), *map(type, TABLE_RULES), *map(type, CUDA_RULES)]
    listed = sorted(rules, key=lambda rule: rule.code)
    fixes = "\n".join(
        f"| {fix.rule.code} | {name_of(fix)} |"
        for fix in (*FIXES, *(f for fixes in TABLE_FIXES.values() for f in fixes))
    )
    index = f"{_RULES_HEADER}\n{table(listed)}\n## Fixes\n\n| rule | fix |\n|---|---|\n{fixes}\n"
    return {
        "rules/README.md": index,
        "targets/README.md": _tables(),
        **{f"rules/{rule.name}.md": page(rule) for rule in listed},
    }


def _tables() -> str:
    parts = [_TABLES_HEADER]
    for target in TARGETS.values():
        facts = [f"Shapes: {target.shapes}. {target.shapes_fact}"]
        if target.highest_opset is not None:
            facts.append(f"Loads up to opset {target.highest_opset}")
        facts += [f"{op}: {fact}" for op, fact in target.unsupported.items()]
        facts += [str(fact) for fact in target.facts]
        advice = target.advice
        settings = {**advice.options, **advice.static_options, **advice.config}
        facts.append(f"Session: `{advice.execution_provider}`, options {settings or 'none'} ({advice.source})")
        parts.append(f"## {target.name}\n\n" + "\n".join(f"- {fact}" for fact in facts) + "\n")
    return "\n".join(parts)


def main(folder: Path) -> None:
    """Write every page below a folder."""
    for name, text in pages().items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs"))
