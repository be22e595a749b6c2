"""A model and its sample, from a function in a Python file: ``model.py:build``."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import torch

from paddable.errors import MisuseError, UnreadableError

__all__ = ["build_model"]


def build_model(place: str) -> tuple[torch.nn.Module, Any]:
    """Call the function that a text names, and check what it returns.

    The file is imported as ``python model.py`` would: its folder stays on ``sys.path``, for what is imported later.

    Args:
        place: ``FILE.py:FUNCTION``. The function takes no argument and returns the module and its sample, which is a
            tensor, a tuple of positional arguments, or a dict of arguments by name.

    Raises:
        MisuseError: the text names no file or no function, or the function returns something else.
        UnreadableError: the file cannot be imported, or the function raises; ``sys.exit()`` is an exception too.
    """
    file, _, name = place.rpartition(":")
    path = Path(file)
    if not file or not name.isidentifier():
        raise MisuseError(f"{place!r} names no function in a file", fix="write FILE.py:FUNCTION, as in model.py:build")
    if not path.is_file():
        raise MisuseError("no such file", where=file, fix="give the path of a Python file")
    function = getattr(_imported(path), name, None)
    if not callable(function):
        raise MisuseError(f"no function is called {name}", where=file, fix=f"define {name}() in it")
    try:
        built = function()
    except (Exception, SystemExit) as error:
        raise UnreadableError(
            f"{name}() failed: {type(error).__name__}: {error}", where=_line_in(path, error), fix="mend the function"
        ) from error
    if not (isinstance(built, tuple) and len(built) == 2 and isinstance(built[0], torch.nn.Module)):
        raise MisuseError(
            f"{name}() returned {type(built).__name__}",
            where=file,
            fix="return (module, sample): a torch.nn.Module, and a tensor, a tuple or a dict to call it with",
        )
    return built


def _imported(path: Path) -> Any:
    name = path.stem if path.stem not in sys.modules else f"{path.stem} of {path.resolve().parent}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise MisuseError("this is no Python file", where=str(path), fix="give a file that ends in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses and pickle look for it
    sys.path.insert(0, str(path.resolve().parent))
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise UnreadableError(
            f"it cannot be imported: {type(error).__name__}: {error}",
            where=_line_in(path, error),
            fix="run it with python to see why",
        ) from error
    return module


def _line_in(path: Path, error: BaseException) -> str:
    """The last line of the file that the error came through."""
    trace, line = error.__traceback__, None
    while trace is not None:
        if Path(trace.tb_frame.f_code.co_filename).name == path.name:
            line = trace.tb_lineno
        trace = trace.tb_next
    return f"{path}:{line}" if line else str(path)
