"""A polite request to end (SIGTERM: ``kill``, ``timeout``, a service manager) unwinds the program, as Ctrl-C does.

By default it ends the process on the spot, and what lies half-written beside its place stays there.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["Interrupted", "Stop", "unwinding"]


class Interrupted(Exception):
    """Ctrl-C in a command that has left something behind; the message says what."""


class Stop:
    """What an interrupted command ends with: 128 + the signal, as shells report it."""

    code: int = 128 + signal.SIGINT


@contextmanager
def unwinding() -> Iterator[Stop]:
    """Raises ``KeyboardInterrupt`` in the block when SIGTERM comes; a second one ends the process at once.

    Does nothing outside the main thread, which alone may set handlers, and where SIGTERM is handled or ignored already.
    """
    stop = Stop()
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
        yield stop
        return

    def end(number: int, _: object) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        stop.code = 128 + number
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, end)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
