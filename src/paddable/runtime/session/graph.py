"""One graph on one execution provider: opened as the provider wants it, one run at a time."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from paddable.errors import MissingExtraError, MisuseError, with_extra
from paddable.providers.session_advice import SessionAdvice
from paddable.runtime.session.buffers import Buffers
from paddable.runtime.session.device_session import DeviceSession
from paddable.runtime.session.dtypes import DTYPES
from paddable.runtime.session.flavours import import_onnxruntime
from paddable.runtime.session.model_file import open_session
from paddable.runtime.session.not_opened import why_not_opened
from paddable.runtime.session.saturation import asked_here

__all__ = ["GraphSession", "Opening"]

T = TypeVar("T")
Array = NDArray[Any]
_CPU = "CPUExecutionProvider"


@dataclass(frozen=True)
class Opening:
    """How to open the graphs of a model.

    Attributes:
        advice: the provider, and what it wants.
        allow_fallback: whether the CPU may take the provider's place; never silently otherwise.
        threads: threads inside an operator; None leaves the choice to ONNX Runtime.
        device_id: which device of the provider's kind.
        allow_mixed: whether several installed flavours of ONNX Runtime are taken as they are.
    """

    advice: SessionAdvice
    allow_fallback: bool = False
    threads: int | None = None
    device_id: int = 0
    allow_mixed: bool = False

    def available(self) -> list[str]:
        """The providers that ONNX Runtime offers here, by its own names.

        Raises:
            MissingExtraError: no ONNX Runtime is installed, or the installed one lacks the provider.
        """
        advice = self.advice
        found: list[str] = import_onnxruntime(allow_mixed=self.allow_mixed).get_available_providers()
        if advice.execution_provider not in found and not self.allow_fallback:
            raise MissingExtraError(
                f"the provider {advice.name!r} ({advice.execution_provider}) is not in this onnxruntime",
                why=f"it offers {', '.join(found)}",
                fix=f"{with_extra(advice.extra)}, whose flavour replaces this one, or choose `provider='cpu'`"
                if advice.extra
                else "choose `provider='cpu'`",
            )
        return found

    def open(self, path: Path, *, static: bool) -> DeviceSession:
        """Open one file.

        Args:
            path: the ``.onnx`` file.
            static: whether every shape in it is fixed.

        Raises:
            MissingExtraError: no ONNX Runtime is installed, or the installed one lacks the provider.
            MisuseError: the provider is there and does not start, has no such device, or cannot capture the graph.
            UnreadableError: the file is not a model that ONNX Runtime can load.
        """
        ort, advice = import_onnxruntime(allow_mixed=self.allow_mixed), self.advice
        available = self.available()
        here = advice.execution_provider in available
        wanted: list[Any] = [(advice.execution_provider, self._provider_options(static)), *advice.companions]
        try:
            session = open_session(
                path,
                self._session_options(ort),
                providers=wanted if here else [_CPU],
                enable_fallback=0,  # ONNX Runtime's own way to the CPU, after a line on stdout
            )
        except Exception as error:
            raise why_not_opened(error, path, advice, wanted[0] if here else None, self.device_id) from error
        # A provider that does not start, for want of a library, is left out after a line in the log.
        used = session.get_providers()
        if advice.execution_provider not in used:
            if not self.allow_fallback:
                raise MisuseError(
                    f"the provider {advice.name!r} ({advice.execution_provider}) is installed and did not start",
                    where=str(path),
                    why=f"the session would run on {', '.join(used)}; onnxruntime offers {', '.join(available)}",
                    fix="see onnxruntime's own message above, or choose `provider='cpu'`",
                )
            return DeviceSession(session, bind=static, several_at_once=True)
        captured = static and bool(advice.static_options)
        on_cpu = used[0] == _CPU
        return DeviceSession(
            session,
            advice.device,
            self.device_id,
            bind=static and (advice.bind or on_cpu),
            captured=captured,
            several_at_once=on_cpu and not advice.one_run_at_a_time,
        )

    def _provider_options(self, static: bool) -> dict[str, str]:
        options = {**self.advice.options, **(self.advice.static_options if static else {})}
        # DirectML without a number asks DXCore, which older Windows 10 lacks; with one, also 0, it asks DXGI.
        return {**options, "device_id": str(self.device_id)} if self.advice.device != "cpu" else options

    def _session_options(self, ort: Any) -> Any:
        options = ort.SessionOptions()
        options.enable_mem_pattern = self.advice.memory_pattern
        if self.advice.sequential:
            options.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
        if self.threads is not None:
            options.intra_op_num_threads = self.threads
        for key, value in asked_here(self.advice.config).items():
            options.add_session_config_entry(key, value)
        return options


class GraphSession:
    """A graph from arrays to arrays.

    Args:
        path: the ``.onnx`` file.
        opening: how to open it; errors as of ``Opening.open``.
        static: whether every shape in it is fixed.

    Attributes:
        dtypes: numpy type of each input.
        shapes: shape of each input; a symbolic dimension is a name or None.
        outputs: names of the outputs, in order.
        providers: the providers in use, first choice first.
        opened: seconds that it took to open.
        warmed: seconds that a first run took whose answer nobody waited for; None before.
    """

    warmed: float | None

    def __init__(self, path: Path, opening: Opening, *, static: bool = False) -> None:
        start = time.perf_counter()
        self._on = opening.open(path, static=static)
        self.opened, self.warmed = time.perf_counter() - start, None
        session = self._on.session
        self._idle: deque[Buffers] = deque()
        self.dtypes: dict[str, np.dtype[Any]] = {
            node.name: DTYPES.get(node.type, np.dtype(object)) for node in session.get_inputs()
        }
        self.shapes: dict[str, list[int | str | None]] = {node.name: list(node.shape) for node in session.get_inputs()}
        self.outputs: list[str] = [node.name for node in session.get_outputs()]
        self.providers: list[str] = list(session.get_providers())

    @property
    def captured(self) -> bool:
        """Whether the provider records the graph once and replays it."""
        return self._on.captured

    def run(self, feeds: Mapping[str, Array]) -> dict[str, Array]:
        """All outputs by name, as arrays of their own; errors as of ``answer``."""
        return self.answer(lambda _: feeds, lambda outputs, _: {name: array.copy() for name, array in outputs.items()})

    def warm_up(self, feeds: Mapping[str, Array]) -> None:
        """Run once in every thread that will ever run the graph, so that no caller waits for a plan or a capture."""
        self._on.in_each_thread(partial(self._answer, lambda _: feeds, lambda *_: None))

    def answer(
        self, prepare: Callable[[Mapping[str, Array]], Mapping[str, Array]], keep: Callable[[dict[str, Array], bool], T]
    ) -> T:
        """Run the graph on memory that is kept for it.

        Each thread that runs at the same time has buffers of its own; a device has one set, and threads take turns.

        Args:
            prepare: gets the input buffers by name, none where a shape is open, and returns all inputs: buffers that it
                wrote, or arrays of its own. What earlier calls wrote is still in the buffers.
            keep: gets the outputs and whether a later run writes over them; what it returns is the answer, which must
                hold no view of such an output.

        Raises:
            PaddableError: ONNX Runtime failed; the message is its own.
        """
        return self._on.beside_others(partial(self._answer, prepare, keep))

    def _answer(
        self, prepare: Callable[[Mapping[str, Array]], Mapping[str, Array]], keep: Callable[[dict[str, Array], bool], T]
    ) -> T:
        try:
            buffers = self._idle.pop()
        except IndexError:
            buffers = Buffers(self._on)
        try:
            return keep(buffers.run(prepare(buffers.inputs)), buffers.reused)
        finally:
            self._idle.append(buffers)
