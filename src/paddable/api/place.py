"""The place that a result goes to: checked before any work is done, and told by its name when the system refuses it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from paddable.bundle import demand_folder, refuse_inside_a_bundle
from paddable.bundle.cannot_write import CannotWrite
from paddable.errors import MisuseError, exists_already
from paddable.graph.io.scratch import scratch_folder

__all__ = ["demand_place", "scratch", "writing_to"]


def demand_place(place: Path, native: Path | None, force: bool) -> None:
    """Refuse a place that holds something else, before any work is done.

    Args:
        place: the file or directory to write.
        native: the model that it is made from; it is never replaced, ``force`` or not.
        force: replace a file that exists.

    Raises:
        MisuseError: it would replace the native model, lies inside a bundle or in no folder, or exists already.
    """
    if native is not None and place.exists() and place.samefile(native):
        raise MisuseError(
            "it would replace the native model", where=str(place), why="native is the oracle", fix="name another file"
        )
    refuse_inside_a_bundle(place)
    demand_folder(place)
    if place.suffix == ".onnx" and place.exists() and not force:
        raise exists_already(place)


@contextmanager
def writing_to(place: Path | None) -> Iterator[None]:
    """A block that writes the result, or something temporary on the way to it.

    Raises:
        CannotWrite: the system refused a file in the block; it names ``place``, as the user did, or the folder for
            temporary files where there is none.
    """
    where = place if place is not None else "the folder for temporary files"
    try:
        yield
    except CannotWrite as error:
        raise CannotWrite(error.what, where=str(where), why=error.why, fix=error.fix) from None
    except OSError as error:
        if error.errno is None:  # not the system's
            raise
        raise CannotWrite.because(error, where) from None


@contextmanager
def scratch(place: Path | None) -> Iterator[Path]:
    """A folder for what is judged before it has a name: beside the result, since a temporary file system may be small.

    Raises:
        CannotWrite: as of ``writing_to``.
    """
    beside = None
    if place is not None:
        beside = next((folder for folder in place.absolute().parents if folder.is_dir()), None)
    with writing_to(place), scratch_folder(beside) as folder:
        yield folder
