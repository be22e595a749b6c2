"""From timed tokens to words, and from words to subtitle-sized segments."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from paddable.runtime.speech.ctc import CtcToken
from paddable.runtime.speech.rich_tags import strip_tags
from paddable.runtime.speech.text import Vocabulary

__all__ = ["FRAME_SECONDS", "Segment", "Word", "join_words", "split_segments", "timed_words"]

FRAME_SECONDS = 0.06
"""One step of the low-frame-rate encoders."""

_SENTENCE_ENDS = ".?!。？！"


class Word(NamedTuple):
    """A word, or one character of a script without spaces, with its punctuation; times in seconds."""

    text: str
    start: float
    end: float


class Segment(NamedTuple):
    """Words that belong together; times in seconds."""

    text: str
    start: float
    end: float
    words: tuple[Word, ...]


def timed_words(
    tokens: Iterable[CtcToken],
    vocabulary: Vocabulary,
    frames: int,
    offset: float = 0.0,
    lead: float = FRAME_SECONDS / 2,
    frame: float = FRAME_SECONDS,
) -> list[Word]:
    """Words with times.

    A token of frames [a, b) lasts from ``frame`` a - ``lead`` to ``frame`` b - ``lead``. A class that writes nothing is
    passed over: the word goes on behind it.

    Args:
        tokens: of ``ctc.greedy``.
        vocabulary: what the tokens write.
        frames: number of frames; no word ends later.
        offset: seconds to add.
        lead: seconds by which a frame begins before its place.
        frame: seconds from one frame to the next.
    """
    words: list[Word] = []
    previous = " "
    for spelling, start, end in _characters(tokens, vocabulary):
        if not spelling:
            continue
        text = strip_tags(spelling)
        if text:
            first, last = (offset + max(round(at * frame - lead, 6), 0.0) for at in (start, min(end, frames)))
            if words and _continues(previous, spelling):
                words[-1] = Word(words[-1].text + text, words[-1].start, last)
            else:
                words.append(Word(text, first, last))
        previous = spelling
    return words


def join_words(words: Sequence[Word]) -> str:
    """Text of some words: a space between them, except beside characters of a script without spaces."""
    text = ""
    for word in words:
        text += word.text if not text or _is_wide(text[-1]) or _is_wide(word.text[0]) else f" {word.text}"
    return text


def split_segments(words: Sequence[Word], max_gap: float = 0.8, max_seconds: float = 7.0) -> list[Segment]:
    """Cuts after the end of a sentence, at a pause longer than ``max_gap``, and before ``max_seconds`` are exceeded."""
    groups: list[list[Word]] = []
    for word in words:
        group = groups[-1] if groups else []
        cut = (
            not group
            or group[-1].text[-1] in _SENTENCE_ENDS
            or word.start - group[-1].end > max_gap
            or word.end - group[0].start > max_seconds
        )
        if cut:
            groups.append([word])
        else:
            group.append(word)
    return [Segment(join_words(group), group[0].start, group[-1].end, tuple(group)) for group in groups]


def _characters(tokens: Iterable[CtcToken], vocabulary: Vocabulary) -> Iterable[tuple[str, int, int]]:
    """Joins tokens until their bytes are whole characters."""
    pending, start = b"", 0
    for token in tokens:
        start = start if pending else token.start
        pending += vocabulary.spelling(token.id)
        try:
            text = pending.decode("utf-8")
        except UnicodeDecodeError as error:
            if error.reason == "unexpected end of data":
                continue
            text = pending.decode("utf-8", errors="replace")
        yield text, start, token.end
        pending = b""


def _continues(previous: str, spelling: str) -> bool:
    """Whether a piece goes on with the word before it: punctuation does, and so do letters without a space between."""
    if spelling.startswith(" ") or previous.endswith(" "):
        return False
    first, last = spelling[0], previous[-1]
    if unicodedata.category(first).startswith("P"):
        return True
    ended = unicodedata.category(last).startswith("P") and last not in "'’-"
    return not (_is_wide(first) or _is_wide(last) or ended)


def _is_wide(character: str) -> bool:
    return (
        unicodedata.east_asian_width(character) in "WF" and not "\uac00" <= character <= "\ud7a3"
    )  # Korean has spaces
