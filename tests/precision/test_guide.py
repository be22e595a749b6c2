"""docs/guides/add_a_precision.md runs to its end."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

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


def test_a_name_is_taken_once() -> None:
    with pytest.raises(MisuseError, match="'fp16' already"):
        register_precision(Precision("fp16", None))
