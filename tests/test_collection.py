"""Every test file is collected: pytest passes over a folder called ``build`` or ``dist``, and over its tests."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


def _test_files(repository: Path) -> set[str]:
    command = ["git", "ls-files", "tests/**/test_*.py", "tests/test_*.py"]
    listed = subprocess.run(command, cwd=repository, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    return {name for name in listed.stdout.split() if (repository / name).exists()}


def _collected(repository: Path, request: pytest.FixtureRequest) -> set[str]:
    """What this run collected if it was asked for everything, as CI asks; else what such a run would."""
    config = request.config
    asked = [(repository / name).resolve() for name in config.args]
    if asked == [repository / "tests"] and not config.option.keyword and not config.option.markexpr:
        return {item.nodeid.partition("::")[0] for item in request.session.items}
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    found = subprocess.run(command, cwd=repository, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout[-2000:]
    return {line.partition("::")[0] for line in found.stdout.splitlines() if "::" in line}


def test_every_test_file_is_collected(repository: Path, request: pytest.FixtureRequest) -> None:
    files = _test_files(repository)
    assert len(files) > 100
    assert sorted(files - _collected(repository, request)) == []


def test_every_rule_file_has_a_test_file_of_its_name(repository: Path) -> None:
    rules = {file.name for file in (repository / "src/paddable/padding/rules").glob("[a-z]*.py")}
    tests = {file.name.removeprefix("test_") for file in (repository / "tests/padding/rules").glob("test_*.py")}
    assert sorted(rules - tests) == []
