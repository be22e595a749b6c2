"""Where in the user's model an operator is called: the module, and the line."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from types import FrameType
from typing import Any

import torch
from torch.nn.modules import module as torch_module

from paddable.findings import Source

__all__ = ["Modules", "call_site", "warn_at_call_site"]

_OURS = str(Path(__file__).parent)
_TORCH = str(Path(torch.__file__).parent)


def call_site() -> Source | None:
    """The innermost line outside of torch and of this package."""
    frame = _users_frame()
    return Source(_short(frame.f_code.co_filename), frame.f_lineno) if frame else None


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
    while frame is not None and frame.f_code.co_filename.startswith((_TORCH, _OURS, "<")):
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

    Args:
        root: the module from which paths are counted; the outermost one that is called when None.
    """

    def __init__(self, root: torch.nn.Module | None = None) -> None:
        self._names: dict[int, str] = _names(root) if root is not None else {}
        self._stack: list[str] = []
        self._hooks: list[Any] = []

    @property
    def path(self) -> str:
        """Of the innermost module; empty outside of every module, and in the root."""
        return self._stack[-1] if self._stack else ""

    def _enter(self, module: torch.nn.Module, inputs: Any) -> None:
        if id(module) not in self._names:
            above = self.path
            self._names.update({key: f"{above}.{name}".strip(".") for key, name in _names(module).items()})
            self._names[id(module)] = self._names[id(module)] or type(module).__name__
        self._stack.append(self._names[id(module)])

    def _leave(self, module: torch.nn.Module, inputs: Any, output: Any) -> None:
        if self._stack:
            self._stack.pop()

    def __enter__(self) -> Modules:
        self._hooks = [
            torch_module.register_module_forward_pre_hook(self._enter),
            torch_module.register_module_forward_hook(self._leave, always_call=True),
        ]
        return self

    def __exit__(self, *raised: object) -> None:
        for hook in self._hooks:
            hook.remove()
        self._hooks = []


def _names(root: torch.nn.Module) -> dict[int, str]:
    return {id(module): name for name, module in root.named_modules()}
