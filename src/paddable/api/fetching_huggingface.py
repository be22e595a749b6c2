"""Files of a repository of Hugging Face, by its own client: into its cache, resumed, one commit."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paddable.errors import MisuseError, UnreadableError, arguments
from paddable.extras import import_extra

if TYPE_CHECKING:
    from paddable.api.fetching import Repository
    from paddable.api.opened import Progress

__all__ = ["fetch"]


def fetch(
    wanted: Repository, patterns: Sequence[str], but: Sequence[str], progress: Progress | None
) -> tuple[Path, Mapping[str, Any]]:
    """The folder of the files, and the commit that they are of.

    Args:
        wanted: the repository.
        patterns: of the files.
        but: of those that fit ``patterns`` and are left out.
        progress: told how many megabytes are here.

    Raises:
        MisuseError: no such repository or revision.
        UnreadableError: no access, no connection, or nothing fetched before.
        MissingExtraError: huggingface_hub is not installed.
    """
    client = import_extra("huggingface_hub", where=str(wanted))
    errors, constants = (import_extra(f"huggingface_hub.{name}") for name in ("errors", "constants"))
    page = f"{constants.ENDPOINT}/{wanted.name}"
    try:
        folder = client.snapshot_download(
            wanted.name,
            revision=wanted.revision,
            allow_patterns=list(patterns),
            ignore_patterns=list(but),
            local_files_only=wanted.offline,
            tqdm_class=_bars(progress),
            library_name="paddable",
        )
    except errors.GatedRepoError as error:
        raise UnreadableError(
            "access to it is gated",
            where=str(wanted),
            why="its owner wants you to agree to conditions first",
            fix=f"agree at {page}, then log in with: hf auth login",
        ) from error
    except errors.RevisionNotFoundError as error:
        raise MisuseError("it has no such revision", where=str(wanted), fix=f"see {page}/commits") from error
    except (errors.RepositoryNotFoundError, errors.HFValidationError) as error:
        raise MisuseError(
            "there is no such repository, or it is private",
            where=str(wanted),
            fix=f"check the name at {page}; for a private one log in with: hf auth login",
        ) from error
    except errors.LocalEntryNotFoundError as error:
        if wanted.offline or constants.HF_HUB_OFFLINE:
            raise UnreadableError(
                "it was not fetched before, or not all of it",
                where=str(wanted),
                why="nobody is asked offline",
                fix="run it once with a connection",
            ) from error
        raise _unreachable(wanted, constants.ENDPOINT, error) from error
    except OSError as error:
        if error.errno is not None:  # of this machine: no space, no right to write
            raise
        raise _unreachable(wanted, constants.ENDPOINT, error) from error
    except Exception as error:
        if type(error).__module__.partition(".")[0] in ("httpx", "httpx2", "json", "requests", "huggingface_hub"):
            raise _unreachable(wanted, constants.ENDPOINT, error) from error
        raise
    return Path(folder), {"revision": os.path.basename(folder)}


def _unreachable(wanted: Repository, endpoint: str, error: Exception) -> UnreadableError:
    cause = error.__cause__ or error
    return UnreadableError(
        f"it cannot be fetched from {endpoint}",
        where=str(wanted),
        why=next((line for line in str(cause).splitlines() if line.strip()), type(cause).__name__),
        fix=f"try again, it goes on where it stopped; HF_ENDPOINT names a mirror, {arguments(hub='modelscope')} a hub",
    )


def _bars(progress: Progress | None) -> Any:
    """A progress bar that draws nothing and tells ``progress``."""
    tqdm: Any = import_extra("tqdm").tqdm

    class Bar(tqdm):  # type: ignore[misc]
        """Counts as tqdm does."""

        def __init__(self, *words: Any, **options: Any) -> None:
            for name in ("name", "disable", "file"):
                options.pop(name, None)
            super().__init__(*words, **options, disable=False, file=_Nothing())

        def display(self, *words: Any, **options: Any) -> None:
            """Tells the bytes."""
            if progress is not None and self.unit == "B" and self.total:
                progress("download (MB)", int(self.n) >> 20, max(int(self.total) >> 20, 1))

    return Bar


class _Nothing:
    """A file that takes everything."""

    def write(self, text: str) -> None:
        """Nothing."""

    def flush(self) -> None:
        """Nothing."""
