"""The pages of docs/padding say what the rules say."""

import re
from pathlib import Path

import paddable.graph.rules as rules  # registers them
from paddable.graph.rules.codes import CODES
from paddable.graph.rules.document import pages

DOCS = Path(__file__).parents[3] / "docs" / "padding"


def test_pages_are_up_to_date() -> None:
    assert rules.known_operators()
    stale = [name for name, text in pages().items() if (DOCS / name).read_text(encoding="utf-8") != text]
    assert not stale, f"run: python -m paddable.graph.rules.document docs/padding ({', '.join(stale)})"


def test_every_code_that_a_rule_uses_has_a_page() -> None:
    folder = Path(rules.__file__).parent
    used = {word for file in folder.glob("*.py") for word in _codes(file.read_text(encoding="utf-8"))}
    assert used and used <= set(CODES)


def _codes(text: str) -> set[str]:
    return set(re.findall(r'"(PAD1\d\d)"', text))
