"""A bundle appears whole or not at all."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from paddable.bundle import new_directory
from paddable.bundle.manifest import MANIFEST
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
    with pytest.raises(MisuseError, match="`force=True`"), new_directory(tmp_path / "out"):
        raise AssertionError("it must be refused before the work, not after")
    assert names(tmp_path / "out") == ["precious"]


def test_an_empty_directory_holds_nothing_to_lose(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    with new_directory(tmp_path / "out") as beside:
        (beside / "a").write_text("1")
    assert names(tmp_path) == ["out"]
    assert names(tmp_path / "out") == ["a"]


def test_force_replaces_no_folder_of_another_kind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("out", "out/inside"):
        (tmp_path / name).mkdir()
    (tmp_path / "out" / "precious").write_text("1")
    with pytest.raises(MisuseError, match=r"not ours.*inside, precious would be lost; it has no bundle.json"):
        replace_bundle(tmp_path / "out")
    (tmp_path / "out" / MANIFEST).write_text("{}")
    monkeypatch.chdir(tmp_path / "out")
    with pytest.raises(MisuseError, match="it is the folder that you are in"):
        replace_bundle(Path("."))
    assert names(tmp_path / "out") == [MANIFEST, "inside", "precious"]


def replace_bundle(path: Path) -> None:
    with new_directory(path, force=True):
        raise AssertionError("it must be refused before the work, not after")


def test_force_replaces(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "old").write_text("1")
    with new_directory(tmp_path / "out", force=True, mark="old") as beside:
        (beside / "new").write_text("1")
        assert names(tmp_path / "out") == ["old"]
    assert names(tmp_path) == ["out"]
    assert names(tmp_path / "out") == ["new"]


def test_a_failure_under_force_keeps_the_old_directory(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "old").write_text("1")
    with pytest.raises(KeyboardInterrupt), new_directory(tmp_path / "out", force=True, mark="old"):
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
    with pytest.raises(OSError, match="denied"), new_directory(tmp_path / "out", force=True, mark="old"):
        pass
    assert names(tmp_path) == ["out"]
    assert names(tmp_path / "out") == ["old"]


def replace(path: Path) -> None:
    with new_directory(path, force=True, mark="weights") as beside:
        (beside / "weights").write_text("new")


@pytest.fixture
def open_files(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of files that Windows would not delete, since a program has them open."""
    held, unlink = [], os.unlink

    def deny(path: str, *args: object, **kwargs: object) -> None:
        if Path(path).name in held:
            raise PermissionError(errno.EACCES, "Sharing violation", path)
        unlink(path, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "unlink", deny)
    monkeypatch.setattr("paddable.bundle.directory._PAUSE", 0)
    return held


def test_what_an_open_file_kept_is_swept_by_the_next_call(tmp_path: Path, open_files: list[str]) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "weights").write_text("1")
    open_files.append("weights")
    replace(tmp_path / "out")
    assert (tmp_path / "out" / "weights").read_text() == "new"
    (left,) = set(names(tmp_path)) - {"out"}
    assert left.startswith(".out.") and left.endswith(".old")
    open_files.clear()
    replace(tmp_path / "out")
    assert names(tmp_path) == ["out"]


def test_a_file_that_is_open_for_a_moment_keeps_nothing(
    tmp_path: Path, open_files: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "weights").write_text("1")
    open_files.append("weights")
    monkeypatch.setattr("paddable.bundle.directory.time.sleep", lambda _: open_files.clear())
    replace(tmp_path / "out")
    assert names(tmp_path) == ["out"]


def test_one_that_another_process_is_replacing_is_left(tmp_path: Path) -> None:
    for half in (".out.a.old", ".out.b.old/out", ".other.c.old/other"):
        (tmp_path / half).mkdir(parents=True)
    replace(tmp_path / "out")  # b: its process has moved it away, and would put it back if it fails
    assert {".out.a.old", ".out.b.old", ".other.c.old"} <= set(names(tmp_path))


def test_a_directory_that_cannot_be_moved_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "weights").write_text("1")
    rename = Path.rename

    def deny(path: Path, target: Path) -> Path:
        if path.name == "out":
            raise PermissionError(errno.EACCES, "Access is denied")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", deny)
    with pytest.raises(MisuseError, match="cannot be replaced; Access is denied: a program may have it open"):
        replace(tmp_path / "out")
    assert names(tmp_path) == ["out"] and (tmp_path / "out" / "weights").read_text() == "1"


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
