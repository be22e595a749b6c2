"""Several rows in one run of a graph, where that is measured to be faster than one by one."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Generic, NamedTuple, TypeVar

from paddable.errors import PaddableError
from paddable.runtime.session.request import Request

__all__ = ["Groups", "Pace", "Paces", "Prepared"]

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
        load: what a single run's time grows with, summed over the group: steps, of the row or of its container.
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


class Groups(Generic[T]):
    """What waits for others of its container; the larger the container, the larger its number.

    Args:
        most: how many of a container are worth waiting for.
        fits: whether one fits a container that is larger than its own.
    """

    def __init__(self, most: Callable[[int], int], fits: Callable[[T, int], bool]) -> None:
        self._most, self._fits = most, fits
        self.waiting: dict[int, list[T]] = {}

    def add(self, place: int, one: T) -> list[T]:
        """The group of a container, if this one makes it full; else nothing."""
        group = self.waiting.setdefault(place, [])
        group.append(one)
        return self.waiting.pop(place) if len(group) >= self._most(place) else []

    def take(self, place: int) -> list[T]:
        """The group of a container, filled up with what waits for smaller ones: a run takes the same time."""
        group = self.waiting.pop(place)
        for smaller in sorted((other for other in self.waiting if other < place), reverse=True):
            fitting = [one for one in self.waiting[smaller] if self._fits(one, place)]
            taken = fitting[: max(0, self._most(place) - len(group))]
            group += taken
            left = [one for one in self.waiting[smaller] if all(one is not other for other in taken)]
            self.waiting[smaller] = left
            if not left:
                del self.waiting[smaller]
        return group


class Paces:
    """The pace of each container, measured at its first full group.

    Args:
        clock: seconds.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock, self._measuring = clock, threading.Lock()
        self._spent: dict[int, float] = {}
        self.found: dict[int, Pace] = {}

    def has_spent(self, place: int, seconds: float) -> bool:
        """Whether so much time went into single runs of a container: a graph of rows is opened after that."""
        return self._spent.get(place, 0.0) >= seconds

    def one_by_one(self, place: int, count: int, alone: Callable[[int], T]) -> list[T]:
        """The answers of rows that run alone, whose time counts."""
        seconds, answers = self._timed(lambda: list(map(alone, range(count))))
        self._spent[place] = self._spent.get(place, 0.0) + seconds
        return answers

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
