"""What a recogniser says about one recording, and how it is written."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paddable.errors import MisuseError
from paddable.runtime.speech.rich_tags import RichTags
from paddable.runtime.speech.segments import Segment, Word
from paddable.runtime.speech.subtitles import srt, vtt, write_text

__all__ = ["FORMATS", "Transcript"]


@dataclass(frozen=True)
class Transcript:
    """Text of one recording.

    Attributes:
        text: all of it, without tags.
        tags: language, emotion, event; those of the first stretch of speech.
        words: words with times, empty where timestamps were not asked for.
        segments: subtitle-sized pieces of the words.
        seconds: length of the recording.
    """

    text: str
    tags: RichTags
    words: tuple[Word, ...]
    segments: tuple[Segment, ...]
    seconds: float

    def to_json(self) -> dict[str, Any]:
        """Plain data; times in seconds."""
        return {
            "text": self.text,
            **self.tags._asdict(),
            "seconds": round(self.seconds, 3),
            "segments": [
                {"start": cue.start, "end": cue.end, "text": cue.text, "words": [word._asdict() for word in cue.words]}
                for cue in self.segments
            ],
        }

    def write(self, path: str | Path, kind: str) -> None:
        """Writes txt, json, srt or vtt, whole or not at all.

        Raises:
            MisuseError: another format, or subtitles of a transcript without timestamps.
        """
        if kind not in FORMATS:
            raise MisuseError(f"format {kind!r}", where=str(path), fix=f"choose {', '.join(FORMATS)}")
        if kind in ("srt", "vtt") and self.text and not self.words:
            raise MisuseError(f"{kind} needs timestamps", where=str(path), fix="transcribe with timestamps")
        write_text(path, FORMATS[kind](self))


FORMATS: dict[str, Callable[[Transcript], str]] = {
    "txt": lambda transcript: transcript.text + "\n",
    "json": lambda transcript: json.dumps(transcript.to_json(), ensure_ascii=False, indent=1) + "\n",
    "srt": lambda transcript: srt(transcript.segments),
    "vtt": lambda transcript: vtt(transcript.segments),
}
