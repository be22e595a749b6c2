"""A model by whatever name: ONNX Runtime reads paths in the code page of Windows, which may lack characters."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from paddable.runtime.session.layout import left_out

__all__ = ["open_session"]

_FOLDER_OF_WEIGHTS = "session.model_external_initializers_file_folder_path"


def open_session(model: Path | bytes, options: Any, **arguments: Any) -> Any:
    """An ``onnxruntime.InferenceSession``, without what of the optimiser would end the process (``layout``).

    Where its name has characters outside ASCII and ONNX Runtime fails, it is tried by its short name (Windows), and
    then as bytes, with the folder of its weights told beside.

    Args:
        model: the ``.onnx`` file, or a serialised model.
        options: ``onnxruntime.SessionOptions``.
        arguments: others of ``InferenceSession``.

    Raises:
        Exception: of ONNX Runtime's own classes, as of its last attempt.
    """
    create = import_module("onnxruntime").InferenceSession
    if without := left_out(model):
        arguments = {**arguments, "disabled_optimizers": without}
    if isinstance(model, bytes):
        return create(model, options, **arguments)
    path = model
    try:
        return create(os.fspath(path), options, **arguments)
    except Exception:
        if str(path.absolute()).isascii() or not path.is_file():
            raise
    for short in _short_name(path):
        try:
            return create(short, options, **arguments)
        except Exception:
            continue
    folder = next(_short_name(path.parent), os.fspath(path.parent))
    options.add_session_config_entry(_FOLDER_OF_WEIGHTS, folder)
    return create(path.read_bytes(), options, **arguments)


def _short_name(path: Path) -> Iterator[str]:
    """The path in the eight and three letters of old, where Windows keeps such a name for it."""
    kernel = getattr(getattr(ctypes, "windll", None), "kernel32", None)
    if kernel is None:
        return
    name = ctypes.create_unicode_buffer(32_768)
    if 0 < kernel.GetShortPathNameW(str(path.absolute()), name, len(name)) < len(name) and name.value.isascii():
        yield name.value
