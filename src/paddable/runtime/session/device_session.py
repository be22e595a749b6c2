"""An ONNX Runtime session and the device that it runs on: its memory, and one run at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from typing import Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from paddable.errors import PaddableError
from paddable.runtime.session.explained import explained

__all__ = ["DeviceSession", "first_line"]

T = TypeVar("T")


class DeviceSession:
    """A session with its device.

    Args:
        session: an ``onnxruntime.InferenceSession``.
        device: where its tensors live, as ONNX Runtime names it.
        device_id: which of them.
        bind: whether runs should read and write buffers that stay on the device.
        captured: whether the provider captures the graph at its first run and replays it from then on.
        several_at_once: whether the provider runs the session for several threads at a time.
    """

    def __init__(
        self,
        session: Any,
        device: str = "cpu",
        device_id: int = 0,
        *,
        bind: bool = False,
        captured: bool = False,
        several_at_once: bool = False,
    ) -> None:
        self.session, self.device, self.device_id = session, device, device_id
        self.bind, self.captured, self.several_at_once = bind, captured, several_at_once
        self._lock = threading.Lock()
        # The CUDA provider keeps a captured graph for the thread that captured it. The first thread that runs the
        # session has one, since handing work to another thread takes 0.2 ms; a worker has one for all others.
        self._worker = ThreadPoolExecutor(1, "paddable-captured") if captured else None
        self._this_thread, self._first_is_known = threading.local(), False

    def beside_others(self, work: Callable[[], T]) -> T:
        """As ``exclusively``, but other threads do not wait where the session runs several at once."""
        return self._told(work, nullcontext() if self.several_at_once else self._lock)

    def exclusively(self, work: Callable[[], T]) -> T:
        """What ``work`` returns, while nothing else runs on the session.

        Raises:
            PaddableError: ONNX Runtime failed; the message is its own, with the likeliest cause if it is known.
        """
        return self._told(work, self._lock)

    def in_each_thread(self, work: Callable[[], T]) -> T:
        """As ``exclusively``, in every thread that will ever run the session: nobody waits for a capture afterwards."""
        answer = self.exclusively(work)
        if self._worker is not None and self._is_first():
            self._told(lambda: self._by_worker(work), self._lock)
        return answer

    def _told(self, work: Callable[[], T], alone: AbstractContextManager[Any]) -> T:
        try:
            with alone:
                return work() if self._worker is None or self._is_first() else self._by_worker(work)
        except PaddableError:
            raise
        except Exception as error:
            raise PaddableError(f"onnxruntime: {first_line(error)}", **explained(error)) from error

    def _is_first(self) -> bool:
        """Whether this is the first thread that runs the session."""
        if not self._first_is_known:
            self._first_is_known = self._this_thread.is_first = True
        return hasattr(self._this_thread, "is_first")

    def _by_worker(self, work: Callable[[], T]) -> T:
        assert self._worker is not None
        return self._worker.submit(work).result()

    def buffer(self, shape: list[int] | tuple[int, ...], dtype: DTypeLike) -> Any:
        """An ``OrtValue`` of our own on the device, contents undefined."""
        make = import_module("onnxruntime").OrtValue.ortvalue_from_shape_and_type
        return make(list(shape), np.dtype(dtype).type, self.device, self.device_id)

    def read(self, value: Any) -> NDArray[Any]:
        """The contents of an ``OrtValue`` as an array of its own."""
        array: NDArray[Any] = value.numpy()
        return array.copy() if self.device == "cpu" else array  # on the CPU it would be a view of the buffer


def first_line(error: Exception) -> str:
    """What ONNX Runtime says, without what follows the first line."""
    return str(error).strip().split("\n", 1)[0] or type(error).__name__
