"""Segments as txt, srt and vtt, and files that are whole or not there."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from paddable.bundle.new_file import new_file
from paddable.runtime.speech.segments import Segment

__all__ = ["srt", "vtt", "write_text"]


def srt(segments: Sequence[Segment]) -> str:
    """SubRip: numbered cues, commas before milliseconds."""
    cues = (
        f"{number}\n{_clock(cue.start, ',')} --> {_clock(cue.end, ',')}\n{cue.text}\n"
        for number, cue in enumerate(segments, 1)
    )
    return "\n".join(cues)


def vtt(segments: Sequence[Segment]) -> str:
    """WebVTT: a header, points before milliseconds, the three characters of markup escaped."""
    cues = (f"{_clock(cue.start, '.')} --> {_clock(cue.end, '.')}\n{_escape(cue.text)}\n" for cue in segments)
    return "\n".join(["WEBVTT\n", *cues])


def write_text(path: str | Path, text: str) -> None:
    """A failure leaves the old file or none."""
    with new_file(path) as beside:
        beside.write_text(text, encoding="utf-8")


def _clock(seconds: float, point: str) -> str:
    milliseconds = round(seconds * 1000)
    minutes, milliseconds = divmod(milliseconds, 60_000)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02}:{minutes:02}:{milliseconds // 1000:02}{point}{milliseconds % 1000:03}"


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
