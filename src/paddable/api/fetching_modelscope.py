"""Files of a repository of ModelScope, by its own client: into its cache, resumed.

ModelScope names revisions, not commits, so each file's SHA-256 says what it was.
"""

from __future__ import annotations

import hashlib
import logging
import os
import socket
from collections.abc import Mapping, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import getproxies

from paddable.errors import MisuseError, UnreadableError, arguments
from paddable.extras import import_extra

if TYPE_CHECKING:
    from paddable.api.fetching import Repository
    from paddable.api.opened import Progress

__all__ = ["fetch"]

_BRANCH, _HOME = "master", "https://modelscope.cn"


def fetch(
    wanted: Repository, patterns: Sequence[str], but: Sequence[str], progress: Progress | None
) -> tuple[Path, Mapping[str, Any]]:
    """The folder of the files, their revision and SHA-256. Arguments and errors as those of Hugging Face."""
    import_extra("modelscope", where=str(wanted))
    if not wanted.offline:
        _demand_connection(wanted)
    client = import_extra("modelscope.hub.snapshot_download")
    page = f"https://modelscope.cn/models/{wanted.name}"
    revision = wanted.revision or _BRANCH
    logging.getLogger("modelscope_hub").setLevel(logging.ERROR)  # it warns of each try; the last one is told below
    try:
        folder = Path(
            client.snapshot_download(
                wanted.name,
                revision=revision,
                allow_patterns=list(patterns),
                ignore_patterns=list(but),
                local_files_only=wanted.offline,
                progress_callbacks=[_callback(progress)],
            )
        )
    except Exception as error:
        if isinstance(error, OSError) and error.errno is not None and type(error).__module__ == "builtins":
            raise  # of this machine: no space, no right to write
        status = getattr(getattr(error, "response", None), "status_code", None)
        said = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
        if wanted.offline:
            raise UnreadableError(
                "it was not fetched before, or not all of it",
                where=str(wanted),
                why="nobody is asked offline",
                fix="run it once with a connection",
            ) from error
        if status == 404:
            raise MisuseError(
                "there is no such repository or revision, or it is private",
                where=str(wanted),
                fix=f"check the name at {page}; for a private one log in with: modelscope login",
            ) from error
        if status in (401, 403):
            raise UnreadableError(
                "access to it is gated", where=str(wanted), fix=f"see {page}, then log in with: modelscope login"
            ) from error
        raise _unreachable(wanted, said) from error
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    names = {path.relative_to(folder).as_posix(): path for path in files}
    kept = {name: _sha256(path) for name, path in names.items() if any(fnmatch(name, pattern) for pattern in patterns)}
    return folder, {"revision": revision, "files": kept}


def _demand_connection(wanted: Repository) -> None:
    """The client tries for half a minute to reach a host that has no address. A proxy looks it up itself."""
    host = urlsplit(os.environ.get("MODELSCOPE_ENDPOINT") or _HOME).hostname
    try:
        if not getproxies():
            socket.getaddrinfo(host, None)
    except socket.gaierror as error:
        raise _unreachable(wanted, f"no address is found for {host}; is there a connection?") from error


def _unreachable(wanted: Repository, why: str) -> UnreadableError:
    return UnreadableError(
        "it cannot be fetched",
        where=str(wanted),
        why=why,
        fix=f"try again, it goes on where it stopped; {arguments(hub='huggingface')} is another hub",
    )


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _callback(progress: Progress | None) -> Any:
    base: Any = import_extra("modelscope.hub.callback").ProgressCallback

    class Told(base):  # type: ignore[misc]
        """Tells the bytes of one file."""

        here = 0

        def update(self, size: int) -> None:
            """So many bytes more."""
            self.here += size
            if progress is not None:
                name = os.path.basename(self.filename)
                progress(f"download {name} (MB)", self.here >> 20, max(int(self.file_size) >> 20, 1))

        def end(self) -> None:
            """Nothing is left to do."""

    return Told
