"""One graph on one execution provider: opened as the provider wants it, one run at a time."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddable.bundle.providers import SessionAdvice
from paddable.errors import MissingExtra, Misuse, PaddableError, Unreadable
from paddable.runtime.dtypes import DTYPES
from paddable.runtime.flavours import import_onnxruntime

__all__ = ["GraphSession", "open_session"]


class GraphSession:
    """An ONNX Runtime session with a lock.

    Args:
        path: the ``.onnx`` file.
        advice: the provider, and what it wants.
        allow_fallback: whether the CPU may take the provider's place; never silently otherwise.
        threads: threads inside an operator; None leaves the choice to ONNX Runtime.

    Attributes:
        dtypes: numpy type of each input.
        shapes: shape of each input; a symbolic dimension is a name or None.
        outputs: names of the outputs, in order.

    Raises:
        MissingExtra: no ONNX Runtime is installed, or the installed one lacks the provider.
        Misuse: the provider is there and could not be used.
        Unreadable: the file is no model that ONNX Runtime can load.
    """

    def __init__(
        self, path: Path, advice: SessionAdvice, *, allow_fallback: bool = False, threads: int | None = None
    ) -> None:
        self._lock = threading.Lock()
        self._session = open_session(path, advice, allow_fallback=allow_fallback, threads=threads)
        self.dtypes: dict[str, np.dtype[Any]] = {
            node.name: DTYPES.get(node.type, np.dtype(object)) for node in self._session.get_inputs()
        }
        self.shapes: dict[str, list[int | str | None]] = {
            node.name: list(node.shape) for node in self._session.get_inputs()
        }
        self.outputs: list[str] = [node.name for node in self._session.get_outputs()]

    @property
    def providers(self) -> list[str]:
        """The providers in use, first choice first."""
        return list(self._session.get_providers())

    def run(self, feeds: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """All outputs by name.

        Raises:
            PaddableError: ONNX Runtime failed; the message is its own.
        """
        try:
            with self._lock:
                values = self._session.run(None, dict(feeds))
        except Exception as error:
            raise PaddableError(f"onnxruntime: {_first_line(error)}") from error
        return dict(zip(self.outputs, values, strict=True))


def open_session(path: Path, advice: SessionAdvice, *, allow_fallback: bool = False, threads: int | None = None) -> Any:
    """An ``onnxruntime.InferenceSession`` as the provider wants it; arguments and errors as of ``GraphSession``."""
    ort = import_onnxruntime()
    available = ort.get_available_providers()
    if advice.execution_provider not in available and not allow_fallback:
        raise MissingExtra(
            f"the provider {advice.name!r} ({advice.execution_provider}) is not in this onnxruntime",
            why=f"it offers {', '.join(available)}",
            fix=f'install its flavour alone, pip install "paddable[{advice.extra}]", or pass allow_fallback=True',
        )
    wanted: list[Any] = [
        (advice.execution_provider, dict(advice.options)),
        *(companion for companion in advice.companions if companion != advice.execution_provider),
    ]
    providers = wanted if advice.execution_provider in available else ["CPUExecutionProvider"]
    try:
        session = ort.InferenceSession(os.fspath(path), _options(ort, advice, threads), providers=providers)
    except Exception as error:
        raise Unreadable(f"onnxruntime cannot load it: {_first_line(error)}", where=str(path)) from error
    # ONNX Runtime goes on with the CPU, after a line in the log, when a provider fails to start.
    if advice.execution_provider not in session.get_providers() and not allow_fallback:
        raise Misuse(
            f"the provider {advice.name!r} is installed and did not start",
            where=str(path),
            why="the session would run on the CPU",
            fix="see onnxruntime's own message above, or pass allow_fallback=True",
        )
    return session


def _options(ort: Any, advice: SessionAdvice, threads: int | None) -> Any:
    options = ort.SessionOptions()
    options.enable_mem_pattern = advice.memory_pattern
    if advice.sequential:
        options.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
    if threads is not None:
        options.intra_op_num_threads = threads
    for key, value in advice.config.items():
        options.add_session_config_entry(key, value)
    return options


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n", 1)[0] or type(error).__name__
