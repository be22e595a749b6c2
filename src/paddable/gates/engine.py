"""ONNX Runtime on the CPU, as the gates use it: one thread, so that equal inputs give equal bits."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray

from paddable.bundle import Metadata
from paddable.errors import PaddableError
from paddable.precision import session_config
from paddable.runtime.session.model_file import open_session
from paddable.runtime.session.saturation import asked_here

__all__ = ["Array", "Engine", "EngineError", "Source", "asked_of"]

Array: TypeAlias = NDArray[Any]
Source: TypeAlias = "Path | bytes"

_TYPES = {"float": "float32", "double": "float64"}


class EngineError(PaddableError):
    """ONNX Runtime could not load or run a graph."""


class Engine:
    """One session.

    Args:
        model: a file, or a serialised model.
        optimise: whether ONNX Runtime may rewrite the graph; native with and without shows its rounding noise.
        where: the model's name in errors.
        config: session configuration entries.
        threads: of one operator; 0 takes every core.
        arena: whether the memory of a run is kept for the next. It grows to what the longest takes; without it the
            system clears new pages for every run, a third of the time of a small model.

    Attributes:
        dtypes: numpy type of each input.
        shapes: declared shape of each input; what is not an integer varies.
        outputs: names of the outputs, in order.
    """

    def __init__(
        self,
        model: Source,
        *,
        optimise: bool = True,
        where: str = "",
        config: Mapping[str, str] | None = None,
        threads: int = 1,
        arena: bool = False,
    ) -> None:
        options = ort.SessionOptions()
        for key, value in asked_here(config or {}).items():
            options.add_session_config_entry(key, value)
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        options.log_severity_level = 4
        options.enable_cpu_mem_arena = arena
        if not optimise:
            options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        self._where = where or (str(model) if isinstance(model, Path) else "model")
        try:
            self._session: Any = open_session(model, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # the classes are onnxruntime's own and have no common base
            raise EngineError(f"onnxruntime cannot load it: {_line(error)}", where=self._where) from None
        self.dtypes = {node.name: _dtype(node.type) for node in self._session.get_inputs()}
        self.shapes: dict[str, list[Any]] = {node.name: list(node.shape) for node in self._session.get_inputs()}
        self.outputs = [node.name for node in self._session.get_outputs()]

    def run(self, feeds: Mapping[str, Array]) -> dict[str, Array]:
        """All outputs by name.

        Raises:
            EngineError: the run failed.
        """
        try:
            arrays = {name: np.asarray(value) for name, value in feeds.items()}  # NumPy makes scalars of rank 0
            return dict(zip(self.outputs, self._session.run(None, arrays), strict=True))
        except Exception as error:
            raise EngineError(f"onnxruntime: {_line(error)}", where=self._where) from None

    def close(self) -> None:
        """Give the session and its files back; it runs no more."""
        self._session = None


def asked_of(metadata: Metadata) -> dict[str, str]:
    """What a graph's precision asks of a session, less what the advice of its file leaves out."""
    asked = session_config(metadata.precision)
    advised = [said.get("config", {}) for said in metadata.advice.values()]
    return {key: value for key, value in asked.items() if not advised or any(key in config for config in advised)}


def _dtype(name: str) -> np.dtype[Any]:
    inner = name.removeprefix("tensor(").removesuffix(")")
    if inner == "string":
        return np.dtype(object)
    try:
        return np.dtype(_TYPES.get(inner, inner))
    except TypeError:
        raise EngineError(f"an input of type {name} cannot be fed from numpy") from None


def _line(error: Exception) -> str:
    return (str(error).strip().split("\n", 1)[0] or type(error).__name__)[:300]
