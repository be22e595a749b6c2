"""A bundle appears whole or not at all."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from paddable.bundle import new_directory
from paddable.errors import MisuseError


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_it_appears_when_the_block_ends(tmp_path: Path) -> None:
    with new_directory(tmp_path / "deep" / "out") as beside:
        (beside / "a").write_text("1")
        assert not (tmp_path / "deep" / "out").exists()
    assert names(tmp_path / "deep") == ["out"]
    assert (tmp_path / "deep" / "out" / "a").read_text() == "1"


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))])
def test_nothing_is_left_of_a_failure(tmp_path: Path, error: BaseException) -> None:
    with pytest.raises(type(error)), new_directory(tmp_path / "out") as beside:
        (beside / "a").write_text("1")
        raise error
    assert names(tmp_path) == []


def test_an_existing_directory_is_kept_without_force(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "precious").write_text("1")
    with pytest.raises(MisuseError, match="--force"), new_directory(tmp_path / "out"):
        raise AssertionError("it must be refused before the work, not after")
    assert names(tmp_path / "out") == ["precious"]


def test_an_empty_directory_holds_nothing_to_lose(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    with new_directory(tmp_path / "out") as beside:
        (beside / "a").write_text("1")
    assert names(tmp_path) == ["out"]
    assert names(tmp_path / "out") == ["a"]


def test_force_replaces(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "old").write_text("1")
    with new_directory(tmp_path / "out", force=True) as beside:
        (beside / "new").write_text("1")
        assert names(tmp_path / "out") == ["old"]
    assert names(tmp_path) == ["out"]
    assert names(tmp_path / "out") == ["new"]


def test_a_failure_under_force_keeps_the_old_directory(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "old").write_text("1")
    with pytest.raises(KeyboardInterrupt), new_directory(tmp_path / "out", force=True):
        raise KeyboardInterrupt
    assert names(tmp_path) == ["out"]
    assert names(tmp_path / "out") == ["old"]


def test_a_failing_rename_puts_the_old_directory_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "old").write_text("1")
    rename = Path.rename

    def failing(path: Path, target: Path) -> Path:
        if path.name.endswith(".partial"):
            raise OSError(errno.EACCES, "denied")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(OSError, match="denied"), new_directory(tmp_path / "out", force=True):
        pass
    assert names(tmp_path) == ["out"]
    assert names(tmp_path / "out") == ["old"]


@pytest.mark.parametrize("force", [False, True])
def test_a_file_is_never_replaced_by_a_directory(tmp_path: Path, force: bool) -> None:
    (tmp_path / "out").write_text("precious")
    with pytest.raises(MisuseError), new_directory(tmp_path / "out", force=force):
        pass
    assert (tmp_path / "out").read_text() == "precious"


def test_a_parent_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("1")
    with pytest.raises(MisuseError, match="not a directory"), new_directory(tmp_path / "file" / "out"):
        pass
