"""The tests that `.ci/judges windows` runs can be collected there: Wine has neither torch nor transformers."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = re.findall(r"\btests/(\w+)(?= |$)", (ROOT / ".ci/judges.d/windows").read_text(), re.M)
ABSENT = {"torch", "transformers", "onnxscript", "hypothesis"}


def test_the_folders_of_the_bench_are_found() -> None:
    assert {"windows", "runtime", "bundle", "decoding", "audio", "cli"} <= set(FOLDERS)


@pytest.mark.parametrize("file", sorted(f for name in FOLDERS for f in (ROOT / "tests" / name).glob("*.py")), ids=str)
def test_what_the_bench_lacks_is_imported_by_those_who_skip(file: Path) -> None:
    asked: set[str] = set()
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            assert asked or not ABSENT & {name.partition(".")[0] for name in names}, f"line {node.lineno}"
        asked |= set(re.findall(r'importorskip\("(\w+)', ast.unparse(node).replace("'", '"')))
