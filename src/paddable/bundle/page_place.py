"""Where a report goes: a page may replace a page, and nothing else that anybody might miss."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from paddable.bundle.cannot_write import CannotWrite
from paddable.bundle.directory import refuse_inside_a_bundle
from paddable.bundle.new_file import new_file
from paddable.errors import MisuseError, arguments
from paddable.findings import portable_paths
from paddable.report import is_page, page

__all__ = ["demand_page", "write_page"]


def _portable(data: Any) -> Any:
    """The data with source files by their name, as in the graphs that are written: a page is passed on."""
    if isinstance(data, str):
        return portable_paths(data)
    if isinstance(data, Mapping):
        return {key: _portable(value) for key, value in data.items()}
    return [_portable(value) for value in data] if isinstance(data, list | tuple) else data


_ENDINGS = (".html", ".htm")


def demand_page(file: str | os.PathLike[str], kept: Iterable[str | os.PathLike[str] | None], *, force: bool) -> None:
    """Refuse a place for a page that holds something else, before any work is done.

    Args:
        file: of the page.
        kept: what the command reads or writes; it is never replaced, ``force`` or not.
        force: replace an HTML file that is no page of ours; what is no HTML file is never replaced.

    Raises:
        MisuseError: no name, or not that of an HTML file; a folder; a place in a bundle or in no folder; or a file that
            is not to be replaced.
    """
    path = Path(file)
    if path.name in ("", ".", "..") or path.is_dir():
        raise MisuseError("it names no file", where=f"`report`: {str(file)!r}", fix="name one, such as report.html")
    refuse_inside_a_bundle(path)
    if not path.parent.is_dir():
        raise MisuseError("no such folder", where=str(path.parent), fix="make it first, or choose another place")
    for other in (Path(each) for each in kept if each is not None):
        same = path.samefile(other) if path.exists() and other.exists() else path.absolute() == other.absolute()
        if same:
            raise MisuseError(
                "the page would replace what the command reads or writes", where=str(path), fix="name another file"
            )
    if path.exists() and not is_page(path):
        another_page = path.suffix.lower() in _ENDINGS
        if force and another_page:
            return
        way_on = f", or replace it with {arguments(force=True)}" if another_page else ""
        raise MisuseError("it exists already and is no page of ours", where=str(path), fix=f"name another file{way_on}")
    if path.suffix.lower() not in _ENDINGS:
        fix = f"name it {path.stem}.html"
        raise MisuseError("a page is HTML, and no browser shows it under this name", where=str(path), fix=fix)


def write_page(file: str | os.PathLike[str], data: Mapping[str, Any], *, force: bool = False) -> Path:
    """Write the page; it appears whole or not at all.

    Args:
        file: of the page, in a folder that exists.
        data: what it shows.
        force: replace a file that is no page of ours.

    Raises:
        MisuseError: of ``demand_page``, or the system refuses the file.
    """
    demand_page(file, (), force=force)
    path = Path(file)
    try:
        with new_file(path) as beside:
            beside.write_text(page(_portable(data)), encoding="utf-8")
    except OSError as error:
        raise CannotWrite.because(error, path) from None
    return path
