"""Many recordings at once: their stretches wait for others of their size and share a run; answers keep their order.

A stretch is what one run hears: a short recording, or a part of a long one that a detector cut. It waits until its
container is full or, so that no result is long in coming and memory stays bounded, until ``AHEAD`` seconds were read
behind it; then smaller ones fill up the run.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeAlias

from numpy.typing import NDArray

from paddable.errors import MissingExtraError, PaddableError
from paddable.runtime.session.rows import Groups, Prepared
from paddable.runtime.speech.heard import Heard

__all__ = ["AHEAD", "Gathering", "Recording", "RowSession", "Sound", "as_told", "name_of"]

Sound: TypeAlias = str | Path | NDArray[Any]
"""A file, or samples."""

AHEAD = 600.0
"""Seconds of sound that are read behind a stretch until it is run with fewer others than would fit; 38 MB at 16 kHz."""


class RowSession(Protocol):
    """A session in which several rows may share a run."""

    def prepare(self, inputs: Mapping[str, Any], /) -> Prepared:
        """Checks one row; raises what its run would."""
        ...

    def gathers(self, place: int, /) -> int:
        """How many rows of a place are worth waiting for."""
        ...

    def fits(self, row: Prepared, place: int, /) -> bool:
        """Whether a row fits a place that is larger than its own."""
        ...

    def answer_prepared(self, rows: Sequence[Prepared], /) -> Sequence[Mapping[str, NDArray[Any]]]:
        """The answer of each."""
        ...


@dataclass(eq=False)
class Recording:
    """A file or an array of samples, and what was heard of it so far.

    Attributes:
        sound: the file, or the samples.
        samples: how many it has; 0 before it is read.
        heard: by stretch, in the order in which they were heard.
        stretches: how many there are so far.
        is_read: whether all of them are known.
        reached: samples, to the end of the last one that was heard.
        error: why there is no transcript.
    """

    sound: Sound
    samples: int = 0
    heard: dict[int, tuple[Heard, int]] = field(default_factory=dict)
    stretches: int = 0
    is_read: bool = False
    reached: int = 0
    error: PaddableError | None = None

    @property
    def is_done(self) -> bool:
        """Whether nothing is left to hear."""
        return self.is_read and (self.error is not None or len(self.heard) == self.stretches)

    def fail(self, error: Exception) -> None:
        """Keep the first error; what all recordings lack is nobody's own."""
        if isinstance(error, MissingExtraError):
            raise error
        self.error = self.error or as_told(error, name_of(self.sound))


class _Stretch(NamedTuple):
    recording: Recording
    number: int
    begin: int
    end: int
    row: Prepared
    read_at: float


class Gathering:
    """Runs stretches of many recordings.

    Args:
        session: what runs them.
        rate: samples a second.
        stretches: of a recording: reads it, says how many samples it has, and gives begin, end and row of each.
        read: answers and begin in seconds to what was heard.
        progress: told a recording's name, the seconds that are done and those there are.
    """

    def __init__(
        self,
        session: RowSession,
        rate: int,
        stretches: Callable[[Recording], Iterable[tuple[int, int, Prepared]]],
        read: Callable[[Mapping[str, NDArray[Any]], float], Heard],
        progress: Callable[[str, int, int], None] | None = None,
    ) -> None:
        self._session, self._rate = session, rate
        self._stretches, self._read, self._progress = stretches, read, progress
        self._groups = Groups[_Stretch](session.gathers, lambda stretch, place: session.fits(stretch.row, place))
        self._seconds = 0.0

    def recordings(self, sounds: Iterable[Sound]) -> Iterator[Recording]:
        """Each recording once all of it is heard or it has failed, in the order of ``sounds``."""
        begun: deque[Recording] = deque()
        for sound in sounds:
            recording = Recording(sound)
            begun.append(recording)
            for stretch in self._prepared(recording):
                self._add(stretch)
                while begun[0].is_done:
                    yield begun.popleft()
            while begun and begun[0].is_done:
                yield begun.popleft()
        while begun:
            if not begun[0].is_done:
                self._run(self._groups.take(max(self._groups.waiting)))
            while begun and begun[0].is_done:
                yield begun.popleft()

    def _prepared(self, recording: Recording) -> Iterator[_Stretch]:
        """The stretches of a recording; an error is the recording's, and ends it."""
        found = iter(self._stretches(recording))
        while True:
            try:
                begin, end, row = next(found)
            except StopIteration:
                break
            except Exception as error:
                recording.fail(error)
                break
            self._seconds += (end - begin) / self._rate
            recording.stretches += 1
            yield _Stretch(recording, recording.stretches - 1, begin, end, row, self._seconds)
        recording.is_read = True

    def _add(self, stretch: _Stretch) -> None:
        self._run(self._groups.add(stretch.row.place, stretch))
        while waiting := self._groups.waiting:
            oldest = min(waiting, key=lambda place: waiting[place][0].read_at)
            if self._seconds - waiting[oldest][0].read_at <= AHEAD:
                break
            self._run(self._groups.take(oldest))

    def _run(self, stretches: Sequence[_Stretch]) -> None:
        group = [stretch for stretch in stretches if stretch.recording.error is None]
        try:
            answers = self._session.answer_prepared([stretch.row for stretch in group]) if group else ()
        except Exception:  # whose fault it is, each of them alone will show
            for stretch in group:
                try:
                    (answer,) = self._session.answer_prepared([stretch.row])
                except Exception as error:
                    stretch.recording.fail(error)
                else:
                    self._hear(stretch, answer)
            return
        for stretch, answer in zip(group, answers, strict=True):
            self._hear(stretch, answer)

    def _hear(self, stretch: _Stretch, answer: Mapping[str, NDArray[Any]]) -> None:
        recording = stretch.recording
        try:
            heard = self._read(answer, stretch.begin / self._rate)
        except Exception as error:
            recording.fail(error)
            return
        recording.heard[stretch.number] = (heard, stretch.end)
        recording.reached = max(recording.reached, stretch.end)
        if self._progress:
            done, whole = recording.reached // self._rate, recording.samples // self._rate
            self._progress(Path(name_of(recording.sound)).name, done, whole)


def name_of(sound: Sound) -> str:
    """What errors and progress call it."""
    return os.fspath(sound) if isinstance(sound, (str, Path)) else "samples"


def as_told(error: Exception, sound: str) -> PaddableError:
    """An error of a file as its reader is told; one of ours stays what it is."""
    if isinstance(error, PaddableError):
        return error
    if isinstance(error, MemoryError):
        return PaddableError("out of memory", where=sound, fix="cut the recording, or add a detector that does")
    told = PaddableError(
        f"{type(error).__name__}: {error}",
        where=sound,
        why="this is a fault of Paddable, not of your file",
        fix="report it with the file",
    )
    told.__cause__ = error
    return told
