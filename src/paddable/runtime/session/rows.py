"""Several rows in one run of a graph, where that is measured to be faster than one by one."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import NamedTuple, TypeVar

from paddable.errors import PaddableError
from paddable.runtime.session.request import Request

__all__ = ["Pace", "Paces", "Prepared"]

T = TypeVar("T")

_TRIES = 3
"""Runs of all rows together whose median counts."""


class Prepared(NamedTuple):
    """One row that was checked and waits for others.

    Attributes:
        request: the row.
        place: the container that it belongs to; rows of one place may share a run.
    """

    request: Request
    place: int


@dataclass(frozen=True)
class Pace:
    """What a full group of rows took.

    Attributes:
        alone: seconds, one by one.
        together: seconds in one run; infinite where that failed.
        load: what a single run's time grows with, summed over the group: its steps, or the runs.
    """

    alone: float
    together: float
    load: float

    @property
    def is_faster(self) -> bool:
        """Whether full groups are run together."""
        return self.together < self.alone

    def pays(self, load: float) -> bool:
        """Whether a group of this load is faster together; the time of that is the same however few there are."""
        return self.is_faster and self.together < self.alone * load / self.load


class Paces:
    """The pace of each container, measured at its first full group.

    Args:
        clock: seconds.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock, self._measuring = clock, threading.Lock()
        self.found: dict[int, Pace] = {}

    def measured(
        self,
        place: int,
        loads: Sequence[float],
        alone: Callable[[int], T],
        together: Callable[[], object],
    ) -> list[T] | None:
        """The answers of a full group, after it was run both ways; None where another thread measures.

        Args:
            place: the container.
            loads: see ``Pace``, of each row.
            alone: runs the row of this number by itself.
            together: runs all.
        """
        if not self._measuring.acquire(blocking=False):
            return None
        try:
            alone(0)  # opens the graphs, and takes what only a first run costs
            failed = self._failed(together)
            answers, single, several = [], list[float](), list[float]()
            for number, load in enumerate(loads):
                if len(several) < _TRIES and not failed:  # in turn, so that a busy moment meets both
                    several.append(self._timed(together)[0])
                seconds, answer = self._timed(partial(alone, number))
                single.append(seconds / load)
                answers.append(answer)
            whole = sum(loads)
            self.found[place] = Pace(median(single) * whole, math.inf if failed else median(several), whole)
            return answers
        finally:
            self._measuring.release()

    def _timed(self, work: Callable[[], T]) -> tuple[float, T]:
        start = self._clock()
        answer = work()
        return self._clock() - start, answer

    @staticmethod
    def _failed(together: Callable[[], object]) -> bool:
        try:
            together()
        except PaddableError:  # no memory for all of them, say; one by one they are answered as ever
            return True
        return False
