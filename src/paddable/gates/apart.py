"""Native in a process of its own, for runs that may end it: ONNX Runtime's LSTM over a batch of 0 does.

One child serves all of them; the next run after a dead one starts another. A child costs NumPy's and ONNX Runtime's
import and native's session, about half a second of CPU for a small model.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
import onnx

from paddable.gates import child
from paddable.gates.engine import Array, EngineError, Source
from paddable.runtime.session.layout import left_out

__all__ = ["Apart", "ProcessEndedError"]

_SERIALISED = 2**31 - 1
"""Bytes of the largest protobuf."""

_OPTIMISED, _PLAIN = "ORT_ENABLE_ALL", "ORT_DISABLE_ALL"


class ProcessEndedError(EngineError):
    """The run ended the process that it was in."""


class Apart:
    """One model in a child process; a context, which ends the child.

    Args:
        model: a file, or a serialised model.
    """

    def __init__(self, model: Source) -> None:
        self._model = model
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def open(self) -> None:
        """Open the model, which the optimiser of ONNX Runtime may not survive either.

        Raises:
            ProcessEndedError: it ended the child.
            EngineError: the model does not load.
        """
        answer = self._ask(None, _OPTIMISED)
        if isinstance(answer, str):
            raise EngineError(f"onnxruntime cannot load it: {answer[:300]}", where="native")
        if answer is None:
            plainly = " with its optimiser, and not without" if self._ask(None, _PLAIN) == {} else ""
            raise ProcessEndedError(f"onnxruntime ends the process when it opens the model{plainly}", where="native")

    def run(self, feeds: Mapping[str, Array], *, either: bool = False) -> dict[str, Array]:
        """All outputs by name.

        Args:
            feeds: the inputs.
            either: where it fails, try again without the optimiser.

        Raises:
            ProcessEndedError: the run ended the child; the message names the operator, where it can be found.
            EngineError: the run failed.
        """
        answer = self._ask(feeds, _OPTIMISED)
        if either and isinstance(answer, str):
            answer = self._ask(feeds, _PLAIN)
        if answer is None:
            at = self._fatal(feeds)
            raise ProcessEndedError(f"onnxruntime ends the process{at}", where="native")
        if isinstance(answer, str):
            raise EngineError(f"onnxruntime: {answer[:300]}", where="native")
        return answer

    def _ask(self, feeds: Mapping[str, Array] | None, level: str) -> dict[str, Array] | str | None:
        """Outputs, the text of a failure, or None where the child died; without feeds it opens the model, no more."""
        process = self._process = self._process or _started(self._model)
        assert process.stdin is not None and process.stdout is not None
        try:
            # NumPy makes scalars of rank 0
            arrays = None if feeds is None else {name: np.asarray(value) for name, value in feeds.items()}
            pickle.dump((level, arrays), process.stdin)
            process.stdin.flush()
            answer: dict[str, Array] | str = pickle.load(process.stdout)
        except (EOFError, OSError, pickle.UnpicklingError):  # Windows has no BrokenPipeError for it
            self._end()
            return None
        return answer

    def _fatal(self, feeds: Mapping[str, Array]) -> str:
        """Which node ends the process: of the graph's beginnings, the shortest that does, by halving."""
        model = onnx.load_from_string(self._model) if isinstance(self._model, bytes) else onnx.load(self._model)
        if model.ByteSize() > _SERIALISED:
            return ""
        lasting, fatal = 0, len(model.graph.node)
        while fatal - lasting > 1:
            middle = (lasting + fatal) // 2
            with Apart(_beginning(model, middle)) as part:
                if part._ask(feeds, _PLAIN) is None:
                    fatal = middle
                else:
                    lasting = middle
        with Apart(_beginning(model, fatal)) as part:
            if part._ask(feeds, _PLAIN) is not None:  # only the whole graph, or the optimiser's form of it
                return ""
        node = model.graph.node[fatal - 1]
        return f" in {node.op_type} {node.name}".rstrip()

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        process.wait()


def _started(model: Source) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-P", os.fspath(Path(child.__file__))]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, close_fds=True
    )
    assert process.stdin is not None
    pickle.dump(_sent(model), process.stdin)
    return process


def _sent(model: Source) -> tuple[str | bytes, str, list[str]]:
    """What the child opens, the folder of its weights, and the optimisers that it leaves out: ``model_file`` says why a
    name beyond ASCII is read here."""
    without = left_out(model)
    if isinstance(model, bytes):
        return model, "", without
    if str(model.absolute()).isascii():
        return os.fspath(model.absolute()), "", without
    return model.read_bytes(), os.fspath(model.parent.absolute()), without


def _beginning(model: onnx.ModelProto, count: int) -> bytes:
    """The first nodes of a graph, as a model of its own."""
    part = onnx.ModelProto()
    part.CopyFrom(model)
    nodes = list(model.graph.node)[:count]
    del part.graph.node[:], part.graph.output[:]
    part.graph.node.extend(nodes)
    part.graph.output.extend(onnx.ValueInfoProto(name=name) for name in nodes[-1].output if name)
    return bytes(part.SerializeToString())
