"""A folder beside the place of a result: files are written there, judged there, and then take their names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import onnx_ir as ir

from paddable.api.place import scratch, writing_to
from paddable.bundle import new_directory
from paddable.errors import exists_already
from paddable.graph.io.scratch import free_graphs
from paddable.graph.io.write import Stored, write_model, write_shared

__all__ = ["Stage", "staging"]

_LENT = ".lent-"


class Stage:
    """The folder, and which weights lie in it: each is written once.

    What is *kept* becomes the result. What is *lent* is for the gates alone: it reads the weights of what is kept, and
    is gone when the stage closes.

    Attributes:
        folder: the folder.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._kept: dict[str, Stored] = {}  # by data file: a file that is kept reads no other's
        self._lent_weights = Stored(self._kept.values())
        self._numbers = count()

    def keep(self, models: Mapping[str, ir.Model], data_file: str, *, keep_traces: bool = True) -> None:
        """Write models by file name. Weights that lie nowhere yet are added to the data file."""
        stored = self._kept.setdefault(data_file, Stored())
        write_shared(models, self.folder / data_file, keep_traces=keep_traces, stored=stored)

    def keep_one(self, model: ir.Model, name: str, *, external_data: bool | None, keep_traces: bool) -> Path:
        """Write a model alone, as ``write_model`` does."""
        stored = self._kept.setdefault(f"{name}.data", Stored())
        return write_model(
            model, self.folder / name, external_data=external_data, keep_traces=keep_traces, stored=stored
        )

    def lend(self, model: ir.Model) -> Path:
        """A file of a model that is not part of the result."""
        path = self.folder / f"{_LENT}{next(self._numbers)}.onnx"
        write_shared({path.name: model}, path.with_name(path.name + ".data"), stored=self._lent_weights)
        return path

    @contextmanager
    def lending(self, model: ir.Model) -> Iterator[Path]:
        """The same, as what compares a fix takes it; it stays until the stage closes, since its readers may be open."""
        yield self.lend(model)

    def take_back(self) -> None:
        """Let go of every file, since Windows neither moves nor deletes one that is open, and remove what was lent."""
        free_graphs(self.folder)
        for path in self.folder.glob(f"{_LENT}*"):
            path.unlink(missing_ok=True)


@contextmanager
def staging(place: Path | None, *, force: bool = False) -> Iterator[Stage]:
    """A stage. Leaving the block puts what is kept at ``place``; an error in the block leaves nothing behind.

    Args:
        place: a file, whose data file goes beside it, or a directory; None keeps nothing.
        force: replace what is there.

    Raises:
        CannotWrite: the system refuses a file; it names ``place``.
        MisuseError: something is at ``place`` already.
    """
    if place is not None and place.suffix != ".onnx":
        with writing_to(place), new_directory(place, force=force) as folder:
            stage = Stage(folder)
            yield stage
            stage.take_back()
        return
    with scratch(place) as folder:
        stage = Stage(folder)
        yield stage
        stage.take_back()
        if place is not None:
            place.parent.mkdir(parents=True, exist_ok=True)
            files = {file: place.with_name(file.name) for file in sorted(folder.iterdir(), reverse=True)}
            for final in files.values():
                if final.is_dir() or (final.exists() and not force):
                    raise exists_already(final)
            for file, final in files.items():  # the data file first: the model file is never without it
                file.replace(final)
