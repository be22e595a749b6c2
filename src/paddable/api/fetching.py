"""A checkpoint by its name: a folder or file that is here, or a repository of Hugging Face or ModelScope."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from paddable.api.opened import Progress
from paddable.errors import MisuseError, PaddableError, UnreadableError, arguments
from paddable.families.spec import HUBS, FamilySpec

__all__ = ["Checkpoint", "Repository", "checkpoint_at"]

_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
_ADDRESS = re.compile(
    r"https?://(?:www\.)?(?P<hub>huggingface\.co|hf\.co|modelscope\.cn|modelscope\.ai)/(?:models/)?"
    rf"(?P<name>{_NAME.pattern})(?:/(?:tree|blob)/(?P<revision>[^/?#]+))?"
)


@dataclass(frozen=True)
class Repository:
    """A repository, and what of it is wanted.

    Attributes:
        hub: a key of ``HUBS``.
        name: ``owner/name``.
        revision: a branch, a tag or a commit; None for the main branch.
        offline: take what was fetched before, and ask nobody.
    """

    hub: str
    name: str
    revision: str | None
    offline: bool

    def __str__(self) -> str:
        at = f" at {self.revision}" if self.revision else ""
        return f"{self.name}{at} of {HUBS[self.hub]}"


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint on this machine.

    Attributes:
        path: its folder or file.
        source: what bundle.json says of where it came from; None for what was here already.
    """

    path: Path
    source: Mapping[str, Any] | None = field(default=None)


def checkpoint_at(
    given: str | os.PathLike[str],
    spec: FamilySpec,
    *,
    hub: str | None = None,
    revision: str | None = None,
    offline: bool = False,
    progress: Progress | None = None,
) -> Checkpoint:
    """What a name stands for, fetched where it has to be. What is here already goes first.

    Args:
        given: a path, ``owner/name``, or the address of a repository's page.
        spec: the family, which says which files it needs.
        hub: a key of ``HUBS``; Hugging Face by default.
        revision: a branch, a tag or a commit.
        offline: take what was fetched before.
        progress: told ``download (MB)``, and how many of how many megabytes are here.

    Raises:
        MisuseError: a name or revision that the hub does not have, or what belongs to a hub beside a path.
        UnreadableError: the hub cannot be reached, gives no access, or the repository holds no such model.
        MissingExtraError: the client of the hub is not installed.
    """
    path = Path(given)
    text = given if isinstance(given, str) else path.as_posix()
    address = _ADDRESS.match(text)
    if hub not in (None, *HUBS):
        raise MisuseError(f"{arguments(hub=hub)} is no hub", fix=f"choose {', '.join(HUBS)}")
    if path.exists() or not (address or _NAME.fullmatch(text)):
        if hub or revision or offline:
            asked = {"hub": hub, "revision": revision, "offline": offline}
            told = arguments(**{name: value for name, value in asked.items() if value})
            raise MisuseError(f"{told} for a path", where=text, fix="leave it out, or give a repository: owner/name")
        return Checkpoint(path)
    local = f"there is no folder or file {text} here" if hub is None and not address else ""
    if address:
        hub = hub or ("modelscope" if "modelscope" in address["hub"] else "huggingface")
        text, revision = address["name"], revision or address["revision"]
    wanted = Repository(hub or "huggingface", text, revision, offline)
    fetch = import_module(f"paddable.api.fetching_{wanted.hub}").fetch
    for patterns in spec.downloads:
        every = (*patterns, *spec.labels)
        try:
            folder, source = fetch(wanted, *_both(every), progress)
        except PaddableError as error:  # a slip in a path looks like the name of a repository
            why = "; ".join(part for part in (error.why, local) if part)
            raise type(error)(error.what, where=error.where, why=why, fix=error.fix) from error
        if any(folder.rglob(patterns[0])):
            return Checkpoint(folder, {"hub": wanted.hub, "repository": wanted.name, **source})
    raise UnreadableError(
        f"it holds no {' and no '.join(patterns[0] for patterns in spec.downloads)}",
        where=str(wanted),
        why=f"{spec.name} needs {spec.files}",
        fix="give the repository of the original checkpoint",
    )


def _both(patterns: Sequence[str]) -> tuple[list[str], list[str]]:
    """Patterns of files to take, and of files to leave."""
    return [each for each in patterns if each[0] != "!"], [each[1:] for each in patterns if each[0] == "!"]
