"""The pages of docs/padding say what the rules say."""

import re
from pathlib import Path

import paddable.padding.rules as rules  # registers them
from paddable.padding.catalogue import CODES
from paddable.padding.deduce.registry import known_operators
from paddable.padding.document import pages

DOCS = Path(__file__).parents[2] / "docs" / "padding"


def test_pages_are_up_to_date() -> None:
    assert known_operators()
    stale = [name for name, text in pages().items() if (DOCS / name).read_text(encoding="utf-8") != text]
    assert not stale, f"run: python -m paddable.padding.document docs/padding ({', '.join(stale)})"


def test_every_code_that_a_rule_uses_has_a_page() -> None:
    folder = Path(rules.__file__).parent
    used = {word for file in folder.glob("*.py") for word in _codes(file.read_text(encoding="utf-8"))}
    assert used and used <= set(CODES)


def _codes(text: str) -> set[str]:
    return set(re.findall(r'"(PAD1\d\d)"', text))
