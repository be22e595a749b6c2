"""Bundles with small random weights, made on Linux by ``make.py``; the tests run on Windows' CPython under Wine."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def made() -> Path:
    folder = os.environ.get("PADDABLE_WINDOWS_BENCH")
    if folder is None:
        pytest.skip("PADDABLE_WINDOWS_BENCH names no folder of tests/windows/make.py; .ci/judges windows makes one")
    return Path(folder)


@pytest.fixture(scope="session")
def expected(made: Path) -> dict[str, Any]:
    """What the bundles answered on Linux."""
    found: dict[str, Any] = json.loads((made / "expected.json").read_text(encoding="utf-8"))
    return found
