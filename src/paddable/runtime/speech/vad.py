"""FSMN-VAD posteriors to speech segments, by FunASR's own rules.

A frame is speech when P(speech) >= P(silence) + threshold. Its votes in a sliding window of 200 ms (open at 150 ms of
speech, close at 150 ms) turn into transitions. A segment opens 400 ms before its transition (window plus look-back)
and closes when silence has lasted ``max_end_silence``; it keeps ``look_ahead`` of that silence, and it is cut at
``max_segment``. After FunASR's ``FsmnVADStreaming`` in its offline mode, dynamic silence schedule included.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from paddable.families.fsmn_vad.spec import VadOptions, refuse_other_classes

__all__ = ["frame_decibels", "silence_share", "speech_segments"]

_BLOCK_MS = 60_000  # FunASR reads a minute of samples at a time and looks at the schedule in between,
_WAITING = 4  # with two frames that do not fit into the minute, and two that wait for the right neighbours of a feature
_SCHEDULED_THRESHOLD = 0.5
_FRAME, _SHIFT = 400, 160
_AT_ONCE = 4_096  # frames whose energy is summed at a time


def silence_share(posteriors: NDArray[np.float32], options: VadOptions) -> NDArray[np.float64]:
    """P(silence) of each frame, float64 [T], from posteriors [T, K]; all that the segments depend on.

    Raises:
        UnreadableError: the options name a class that the model does not have.
    """
    refuse_other_classes(options, posteriors.shape[1], where="settings of the detector")
    share: NDArray[np.float64] = posteriors[:, list(options.silence_classes)].astype(np.float64).sum(axis=1)
    return share


def speech_segments(
    silence: NDArray[np.float64], decibels: Sequence[float] | NDArray[np.float64], options: VadOptions
) -> list[tuple[int, int]]:
    """Segments of one recording.

    Args:
        silence: P(silence) of each frame, of ``silence_share``.
        decibels: one value a frame, of ``frame_decibels``.
        options: thresholds.

    Returns:
        Begin and end in milliseconds.
    """
    detector = _Detector(options)
    block = _BLOCK_MS // options.frame
    for frame, share in enumerate(silence):
        if frame == 0 or (frame + _WAITING) % block == 0:
            detector.begin_block()
        detector.step(frame, detector.is_speech(float(share), float(decibels[frame])), last=frame == len(silence) - 1)
    return [(begin * options.frame, end * options.frame) for begin, end in detector.segments]


def frame_decibels(audio: NDArray[np.float32]) -> NDArray[np.float64]:
    """Energy of each 25 ms frame in dB, 10 log10(sum of squares + 1e-6); float64 [T]."""
    frames = max(0, (len(audio) - _FRAME) // _SHIFT + 1)
    decibels = np.empty(frames)
    for first in range(0, frames, _AT_ONCE):  # an hour at once would take ten times the memory of its samples
        last = min(first + _AT_ONCE, frames)
        samples = audio[first * _SHIFT : (last - 1) * _SHIFT + _FRAME].astype(np.float64)
        energy = np.concatenate([[0.0], np.cumsum(samples**2)])
        starts = np.arange(last - first) * _SHIFT
        decibels[first:last] = 10 * np.log10(energy[starts + _FRAME] - energy[starts] + 1e-6)
    return decibels


class _Detector:
    """The state between two frames. Frames are counted from the beginning of the recording."""

    def __init__(self, options: VadOptions) -> None:
        self.options = options
        self.segments: list[list[int]] = []
        self.votes = _Votes(options)
        self.end_silence = options.max_end_silence - options.close_votes
        self.threshold = options.threshold
        self.noise = -100.0
        self.inside = False
        self.silent_frames = 0
        self.confirmed = 0  # last frame known to be speech
        self.free = 0  # first frame that no segment has taken and no silence has passed
        self.speech_ms = 0
        self.counting = False
        self.segments_before_block = 0

    def begin_block(self) -> None:
        """Once a minute: the longer the speech, the shorter the silence that ends it."""
        if self.options.schedule is None:
            return
        closed = len(self.segments) - self.inside
        if closed > self.segments_before_block:
            self.speech_ms, self.counting = 0, False
        self.segments_before_block = closed
        if self.inside or self.counting:
            self.speech_ms, self.counting = self.speech_ms + _BLOCK_MS, True
        silence = next(silence for limit, silence in self.options.schedule if self.speech_ms <= limit)
        self.end_silence, self.threshold = max(silence - self.options.close_votes, 0), _SCHEDULED_THRESHOLD

    def is_speech(self, silence: float, decibel: float) -> bool:
        """One frame on its own; silent frames move the noise floor."""
        options = self.options
        if decibel < options.least_decibel:
            return False
        if 1.0 - silence >= silence**options.ratio + self.threshold:
            return decibel - self.noise >= options.least_snr
        weight = options.noise_frames - 1
        self.noise = decibel if self.noise < -99.9 else (decibel + self.noise * weight) / options.noise_frames
        return False

    def step(self, frame: int, speech: bool, *, last: bool) -> None:
        """Takes one frame."""
        was_speech, is_speech = self.votes.push(speech)
        self.silent_frames = self.silent_frames + 1 if not (was_speech or is_speech) else 0
        if not self.inside:
            self._outside(frame, opens=is_speech)
        elif self.silent_frames * self.options.frame >= self.end_silence and self.silent_frames:
            self._close(frame - self._silence_dropped())
        elif last or self._length(frame) > self.options.max_segment // self.options.frame:
            self._close(frame)
        elif not self.silent_frames:
            self._extend(frame)
        elif self.options.extend and self.silent_frames <= self.options.look_ahead // self.options.frame:
            self._take(frame)

    def _outside(self, frame: int, *, opens: bool) -> None:
        earliest = frame - self.votes.size
        if self.options.extend:
            earliest -= self.options.look_back // self.options.frame
        if not opens:
            self.free = max(self.free, earliest)
            return
        self.inside = True
        start = max(self.free, earliest)
        self.segments.append([start, start])
        self.confirmed = start
        self._mark(start)
        self._extend(frame)

    def _extend(self, frame: int) -> None:
        """Takes every frame up to this one."""
        for earlier in range(self.confirmed + 1, frame):
            self._take(earlier)
        self._take(frame)

    def _take(self, frame: int) -> None:
        self.confirmed = frame
        self._mark(frame)

    def _mark(self, frame: int) -> None:
        self.segments[-1][1] = frame + 1
        self.free = max(self.free, frame) + 1

    def _close(self, frame: int) -> None:
        for earlier in range(self.confirmed + 1, frame):
            self._take(earlier)
        self._mark(frame)
        self.inside, self.silent_frames, self.confirmed = False, 0, 0
        self.votes = _Votes(self.options)

    def _length(self, frame: int) -> int:
        return frame - self.segments[-1][0] + 1

    def _silence_dropped(self) -> int:
        dropped = self.end_silence // self.options.frame
        return max(0, dropped - self.options.look_ahead // self.options.frame - 1) if self.options.extend else dropped


class _Votes:
    """Sliding window over the frames' own decisions, with hysteresis."""

    def __init__(self, options: VadOptions) -> None:
        self.size = options.window // options.frame
        self.opens_at, self.closes_at = options.open_votes // options.frame, options.close_votes // options.frame
        self.recent: deque[bool] = deque([False] * self.size, self.size)
        self.speech = False

    def push(self, speech: bool) -> tuple[bool, bool]:
        """Whether the window was speech, and whether it is now."""
        before = self.speech
        self.recent.append(speech)
        votes = sum(self.recent)
        self.speech = votes > self.closes_at if before else votes >= self.opens_at
        return before, self.speech
