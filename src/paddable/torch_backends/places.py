"""Where in the user's model an operator is called: the module, and the line."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterable
from pathlib import Path
from types import FrameType

import torch

from paddable.findings import Source

__all__ = ["Modules", "call_site", "call_site_of", "warn_at_call_site"]

_NOT_THE_USERS = (*(f"{Path(file).parent}{os.sep}" for file in (__file__, torch.__file__)), "<frozen")
"""How the files of this package, of torch and of Python's own import begin."""
_CALL = torch.nn.Module._call_impl.__code__
"""What runs for every call of a module, with it as ``self``."""


def call_site() -> Source | None:
    """The innermost line outside of torch and of this package."""
    frame = _users_frame()
    return Source(_short(frame.f_code.co_filename), frame.f_lineno) if frame else None


def call_site_of(error: BaseException) -> Source | None:
    """The innermost of those lines that an exception came through."""
    trace, found = error.__traceback__, None
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if not file.startswith(_NOT_THE_USERS):
            found = Source(_short(file), trace.tb_lineno)
        trace = trace.tb_next
    return found


def warn_at_call_site(text: str) -> None:
    """Warn of what the user's line does: a filter for warnings of this package does not concern it."""
    frame = _users_frame()
    if frame is None:
        warnings.warn(text, stacklevel=2)
        return
    known, module = frame.f_globals.setdefault("__warningregistry__", {}), frame.f_globals.get("__name__", "")
    warnings.warn_explicit(text, UserWarning, frame.f_code.co_filename, frame.f_lineno, module, known)


def _users_frame() -> FrameType | None:
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_NOT_THE_USERS):
        frame = frame.f_back
    return frame


def _short(file: str) -> str:
    """The path from its package's folder on, as ``funasr/models/sanm/attention.py``."""
    parts = Path(file).parts
    for folder in ("site-packages", "dist-packages"):
        if folder in parts:
            return "/".join(parts[parts.index(folder) + 1 :])
    try:
        return Path(file).relative_to(Path.cwd()).as_posix()
    except ValueError:
        return "/".join(parts[-2:])


class Modules:
    """Knows the dotted path of the module that is running, from the outermost one that was called.

    It reads the frames of Python, when it is asked: hooks would make every call of every module slower.

    Args:
        root: the module from which paths are counted; the outermost one that is called when None.
    """

    def __init__(self, root: torch.nn.Module | None = None) -> None:
        self._names: dict[int, str] = _names(root) if root is not None else {}

    @property
    def path(self) -> str:
        """Of the innermost module; empty outside of every module, and in the root."""
        frame: FrameType | None = sys._getframe(1)
        frames = []
        while frame is not None:
            frames.append(frame)
            frame = frame.f_back
        return self._path(reversed(frames))

    def path_of(self, error: BaseException) -> str:
        """Of the innermost module that an exception came through."""
        trace, frames = error.__traceback__, []
        while trace is not None:
            frames.append(trace.tb_frame)
            trace = trace.tb_next
        return self._path(frames)

    def _path(self, frames: Iterable[FrameType]) -> str:
        path = ""
        for frame in frames:
            if frame.f_code is not _CALL:
                continue
            module = frame.f_locals["self"]
            if id(module) not in self._names:
                self._names.update({key: f"{path}.{name}".strip(".") for key, name in _names(module).items()})
                self._names[id(module)] = self._names[id(module)] or type(module).__name__
            path = self._names[id(module)]
        return path


def _names(root: torch.nn.Module) -> dict[int, str]:
    return {id(module): name for name, module in root.named_modules()}
