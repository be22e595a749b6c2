"""docs/guides/add_a_precision.md runs to its end."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from paddable.cli.convert import convert
from paddable.errors import MisuseError
from paddable.precision import PRECISIONS, Precision, register_precision


def test_the_guide(repository: Path) -> None:
    text = (repository / "docs" / "guides" / "add_a_precision.md").read_text(encoding="utf-8")
    code = "\n".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL))
    before = dict(PRECISIONS)
    try:
        exec(compile(code, "add_a_precision.md", "exec"), {})
    finally:
        PRECISIONS.clear()
        PRECISIONS.update(before)


def test_the_help_offers_every_precision() -> None:
    offered = str(next(option.metavar for option in convert.params if option.name == "precision")).split("|")
    assert {*offered} == PRECISIONS.keys() - {"fp16-fast"}, "list it in cli/options.py"  # fp16-fast is --half fast


def test_a_name_is_taken_once() -> None:
    with pytest.raises(MisuseError, match="'fp16' already"):
        register_precision(Precision("fp16", None))
