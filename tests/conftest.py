"""What every test may ask for."""

from __future__ import annotations

import gc
import os
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]

pytest.register_assert_rewrite("tests.padding")  # an example that fails shows what it found


def pytest_collection_finish() -> None:
    """What collecting made lives to the end, so no collection of garbage has to pass over it again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def shared() -> Path:
    """The shared folder: cases, recorded speech and the zoo. Tests that use it carry the marker ``shared``."""
    folder = Path(os.environ.get("PADDABLE_SHARED", REPOSITORY.parent / "shared"))
    if not folder.is_dir():
        pytest.skip(f"no shared folder at {folder}; PADDABLE_SHARED names another place")
    return folder


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the checkout."""
    return REPOSITORY
