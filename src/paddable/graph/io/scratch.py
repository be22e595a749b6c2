"""Folders for graphs that are written, read and thrown away, on Windows too, where no file can go while it is open."""

from __future__ import annotations

import gc
import os
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import wraps
from inspect import signature
from pathlib import Path
from typing import ParamSpec, TypeVar

import onnx

from paddable.bundle.given import path_given
from paddable.errors import PaddableError

__all__ = ["as_file", "free_graphs", "letting_go", "on_disk", "scratch_folder"]

P = ParamSpec("P")
T = TypeVar("T")

_MAPS_LOCK = os.name == "nt"
"""Whether the system refuses to write, move or delete a file that is mapped."""


_SMALL = 64 << 20
"""Bytes that may wait until Python itself looks for what nobody uses any more."""


def free_graphs(folder: Path) -> None:
    """Free the graphs that nobody uses any more, and with them the maps of their files.

    The nodes and values of a graph point at each other, so that Python frees them when it looks for such circles only:
    a walk over everything in memory, which takes longer than a small model is worth.

    Args:
        folder: where their files are.
    """
    if _MAPS_LOCK or sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) >= _SMALL:
        gc.collect()


@contextmanager
def scratch_folder(beside: str | os.PathLike[str] | None = None) -> Iterator[Path]:
    """A folder that is gone with everything in it when the block ends.

    Args:
        beside: the folder that it lies in; the system's for temporary files by default.
    """
    with tempfile.TemporaryDirectory(prefix=".paddable.", dir=beside, ignore_cleanup_errors=True) as name:
        try:
            yield Path(name)
        finally:
            free_graphs(Path(name))


@contextmanager
def as_file(model: str | os.PathLike[str] | onnx.ModelProto, name: str) -> Iterator[Path]:
    """The file of a model; one in memory is written to a scratch folder under ``name``, and gone after the block."""
    if isinstance(model, (str, os.PathLike)):
        yield Path(model)
        return
    with scratch_folder() as folder:
        onnx.save(model, folder / name)
        yield folder / name


def on_disk(*names: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """A function of the library whose arguments of these names are paths, and may be given as models in memory.

    The function raises ``MisuseError`` where one of them is neither.
    """

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        taken = signature(function)

        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> T:
            given = taken.bind(*args, **kwargs)
            with ExitStack() as stack:
                for name in names:
                    model = given.arguments.get(name, taken.parameters[name].default)
                    if model is taken.parameters[name].default:
                        continue
                    if isinstance(model, onnx.ModelProto):
                        model = stack.enter_context(as_file(model, f"{name}.onnx"))
                    given.arguments[name] = path_given(model, name, wanted="a path or an onnx.ModelProto")
                return function(*given.args, **given.kwargs)

        return call

    return decorate


def letting_go(function: Callable[P, T]) -> Callable[P, T]:
    """A function of the library that, on Windows, has no file open any more when it has answered or refused."""

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        if not _MAPS_LOCK:
            return function(*args, **kwargs)
        try:
            return function(*args, **kwargs)
        except PaddableError as error:
            told: BaseException | None = error
            while told is not None:  # an error holds the variables of every function that it came through
                traceback.clear_frames(told.__traceback__)
                told = told.__context__
            raise
        finally:
            gc.collect()

    return call
