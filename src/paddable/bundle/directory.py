"""A directory that appears whole or not at all: filled beside its place, then renamed."""

from __future__ import annotations

import glob
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from paddable.bundle.manifest import MANIFEST
from paddable.errors import MisuseError, exists_already

__all__ = ["demand_folder", "new_directory", "refuse_inside_a_bundle", "refuse_what_is_there"]


@contextmanager
def new_directory(path: str | os.PathLike[str], *, force: bool = False, mark: str = MANIFEST) -> Iterator[Path]:
    """A directory to fill. Leaving the block puts it at ``path``; an error in the block leaves nothing behind.

    Args:
        path: where the directory goes.
        force: replace what is at ``path``. It stays until the new directory is complete.
        mark: the file that tells a directory of this kind from others, which are not replaced.

    Yields:
        The directory to write to, on the same file system as ``path``.

    Raises:
        MisuseError: something is at ``path`` that is not to be replaced, it lies in a bundle, or its parent is no
            directory.
    """
    final = Path(os.path.abspath(path))
    refuse_what_is_there(path, force, mark)
    demand_folder(path)
    final.parent.mkdir(parents=True, exist_ok=True)
    _sweep(final)
    beside = Path(tempfile.mkdtemp(prefix=f".{final.name}.", suffix=".partial", dir=final.parent))
    beside.chmod(0o777 & ~_umask())  # mkdtemp makes it private; a bundle is not
    try:
        yield beside
        refuse_what_is_there(path, force, mark)
        if final.exists():
            _swap(beside, final)
        else:
            beside.rename(final)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def refuse_what_is_there(path: str | os.PathLike[str], force: bool, mark: str = MANIFEST) -> None:
    """Raise ``MisuseError`` where a directory cannot go: before the work that would fill it, and again after it."""
    refuse_inside_a_bundle(path)
    final = Path(path)
    if final.is_dir() and not (there := sorted(each.name for each in final.iterdir())):
        return  # an empty directory holds nothing that could be lost
    if os.path.lexists(final) and not force:
        raise exists_already(final)
    if os.path.lexists(final) and not final.is_dir():
        raise MisuseError(
            "it exists and is not a directory", where=str(final), fix="choose another place, or remove it"
        )
    if os.path.lexists(final) and mark not in there:
        raise MisuseError(
            "it holds files that are not ours, and is not replaced",
            where=str(path),
            why=f"{', '.join(there[:3])}{' and more' if len(there) > 3 else ''} would be lost; it has no {mark}",
            fix="choose another place, or empty it yourself",
        )
    if os.path.lexists(final) and Path.cwd().is_relative_to(final.resolve()):
        raise MisuseError("it is the folder that you are in", where=str(path), fix="choose another place")


def demand_folder(path: str | os.PathLike[str]) -> None:
    """Raise ``MisuseError`` for a place below a file, where no folder can be made."""
    if not next(folder for folder in Path(path).absolute().parents if folder.exists()).is_dir():
        raise MisuseError("the parent is not a directory", where=str(path), fix="choose another place")


def refuse_inside_a_bundle(path: str | os.PathLike[str]) -> None:
    """Raise ``MisuseError`` for a result that would be put into an existing bundle."""
    for folder in Path(os.path.abspath(path)).parents:
        if (folder / MANIFEST).is_file():
            raise MisuseError(
                "it would lie inside a bundle",
                where=str(path),
                why=f"{folder} holds the files that its {MANIFEST} lists, and is replaced as a whole",
                fix="choose a place beside it",
            )


def _swap(beside: Path, final: Path) -> None:
    """Put ``beside`` where ``final`` is. If that fails, ``final`` is back as it was."""
    old = Path(tempfile.mkdtemp(prefix=f".{final.name}.", suffix=_OLD, dir=final.parent))
    try:
        _move_away(final, old)
        try:
            beside.rename(final)
        except BaseException:
            (old / final.name).rename(final)
            raise
    finally:
        _remove(old)


def _move_away(final: Path, old: Path) -> None:
    try:
        final.rename(old / final.name)
    except PermissionError as error:  # on Windows, where a program has a file of it open
        raise MisuseError(
            "it cannot be replaced",
            where=str(final),
            why=f"{error.strerror}: a program may have it open; it is as it was",
            fix="close what uses it, such as a model that is loaded from it, or choose another place",
        ) from error


_OLD = ".old"
_TRIES, _PAUSE = 4, 0.1
"""Virus scanners and indexers of Windows hold a new file open for a moment."""


def _remove(old: Path) -> None:
    """Delete what was replaced; a file that stays open keeps it, and the next call for the same place sweeps it."""
    for left in reversed(range(_TRIES)):
        shutil.rmtree(old, ignore_errors=True)
        if not old.exists() or not left:
            return
        time.sleep(_PAUSE)


def _sweep(final: Path) -> None:
    """Delete what earlier replacements of ``final`` had to leave. One at work has moved nothing or misses ``final``."""
    for old in final.parent.glob(f".{glob.escape(final.name)}.*{_OLD}"):
        if final.exists() and (old / final.name).exists():
            shutil.rmtree(old, ignore_errors=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
