"""The generated pages are those of the rules and facts; ``python -m paddable.providers.document docs`` writes them."""

from __future__ import annotations

from pathlib import Path

from paddable.providers.document import pages

DOCS = Path(__file__).parents[2] / "docs"


def test_pages_are_current() -> None:
    for name, text in pages().items():
        assert (DOCS / name).read_text(encoding="utf-8") == text, (
            f"{name}: run python -m paddable.providers.document docs"
        )


def test_no_page_is_left_over() -> None:
    generated = {name.removeprefix("lint/") for name in pages() if name.startswith("lint/")}
    assert {path.name for path in (DOCS / "lint").iterdir()} == generated
