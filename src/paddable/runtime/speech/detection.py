"""Voice activity detection on a session: a waveform of any length to speech segments in seconds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from paddable.audio.features import FrontEnd
from paddable.audio.kaldi import FRAME, SAMPLE_RATE, SHIFT
from paddable.errors import MisuseError
from paddable.families.fsmn_vad.spec import VadOptions
from paddable.runtime.speech.answers import finite
from paddable.runtime.speech.vad import frame_decibels, silence_share, speech_segments

__all__ = ["Detector", "Session"]

_NEIGHBOURS = 2
"""Frames on either side that are stacked into a feature."""


class Session(Protocol):
    """Anything that runs a model on inputs by name and gives the valid parts of its outputs by name."""

    def run(self, inputs: dict[str, Any], /) -> dict[str, NDArray[Any]]:
        """Runs the model once."""
        ...


@dataclass(frozen=True)
class Detector:
    """FSMN-VAD.

    Attributes:
        session: input ``audio`` [1, S], or ``speech`` [1, T, C] where ``front_end`` is given; output ``posteriors``
            [1, T, K].
        options: thresholds.
        front_end: computes features in numpy, None where the graph does.
        window_seconds: longer recordings are run in windows of so many seconds; None where the session takes any
            length.
        context: frames of the past that a posterior depends on; windows overlap by as many.
    """

    session: Session
    options: VadOptions = field(default_factory=VadOptions)
    front_end: FrontEnd | None = None
    window_seconds: float | None = None
    context: int = 78  # four memories of 19 frames, and two frames of a stacked feature

    def segments(self, audio: NDArray[np.float32]) -> list[tuple[float, float]]:
        """Begin and end of each stretch of speech, in seconds.

        Args:
            audio: float32 [S] in [-1, 1] at 16 kHz; below 400 samples there is no frame and no speech.
        """
        silence = np.concatenate([silence_share(piece, self.options) for piece in self._pieces(audio)])
        found = speech_segments(silence, frame_decibels(audio), self.options)
        return [(begin / 1000, end / 1000) for begin, end in found]

    def posteriors(self, audio: NDArray[np.float32]) -> NDArray[np.float32]:
        """Class posteriors float32 [T, K], T = (S - 400) // 160 + 1.

        Raises:
            MisuseError: longer than a window, and the window is too short to go on from the one before.
            PaddableError: the model answers NaN.
        """
        return np.concatenate(list(self._pieces(audio)))

    def _pieces(self, audio: NDArray[np.float32]) -> Iterator[NDArray[np.float32]]:
        """The posteriors, a window at a time: those of an hour would take more memory than its samples."""
        frames = max(0, (len(audio) - FRAME) // SHIFT + 1)
        if frames == 0:
            yield np.zeros((0, max(self.options.silence_classes) + 1), np.float32)
        limit = frames if self.window_seconds is None else (int(self.window_seconds * SAMPLE_RATE) - FRAME) // SHIFT + 1
        if limit < frames and limit <= self.context + _NEIGHBOURS:
            raise MisuseError(
                f"{frames} frames of 10 ms do not fit the largest container, {limit} frames",
                why=f"a window has to hold the {self.context} frames that a posterior depends on, and more",
                fix="make the bundle again with a longer one: paddable export --containers",
            )
        done = 0
        while done < frames:
            first = max(0, done - self.context)
            last = min(frames, first + limit)
            piece = self._run(audio[first * SHIFT : (last - 1) * SHIFT + FRAME])
            # the last features of a window that goes on miss their right neighbours
            keep = last if last == frames else last - _NEIGHBOURS
            yield piece[done - first : keep - first]
            done = keep

    def _run(self, audio: NDArray[np.float32]) -> NDArray[np.float32]:
        inputs = {"speech": self.front_end(audio)[None]} if self.front_end else {"audio": audio[None]}
        return np.asarray(finite(self.session.run(inputs)["posteriors"][0], "posteriors"), np.float32)
