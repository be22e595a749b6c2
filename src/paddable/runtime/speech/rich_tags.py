"""SenseVoice's rich tags: ``<|zh|><|NEUTRAL|><|Speech|><|withitn|>``."""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["RichTags", "parse_tags", "strip_tags"]

_TAG = re.compile(r"<\|([^|<>]*)\|>")
_LANGUAGES = {"zh", "en", "yue", "ja", "ko", "nospeech"}
_EMOTIONS = {"HAPPY", "SAD", "ANGRY", "NEUTRAL", "FEARFUL", "DISGUSTED", "SURPRISED", "EMO_UNKNOWN"}
_EVENTS = {"Speech", "BGM", "Applause", "Laughter", "Cry", "Sneeze", "Breath", "Cough", "Sing", "Speech_Noise"} | {
    "GBG",
    "Event_UNK",
}


class RichTags(NamedTuple):
    """What the model says beside the words; None where it says nothing.

    Attributes:
        language: zh, en, yue, ja, ko, or nospeech.
        emotion: HAPPY, SAD, ANGRY, NEUTRAL, FEARFUL, DISGUSTED, SURPRISED or EMO_UNKNOWN.
        event: Speech, BGM, Applause, Laughter, ...
        itn: whether the text has punctuation and digits.
    """

    language: str | None = None
    emotion: str | None = None
    event: str | None = None
    itn: bool | None = None


def parse_tags(text: str) -> RichTags:
    """The first tag of each kind in a text; unknown tags are passed over."""
    names = _TAG.findall(text)

    def first(kind: set[str]) -> str | None:
        return next((name for name in names if name in kind), None)

    norm = first({"withitn", "woitn"})
    return RichTags(first(_LANGUAGES), first(_EMOTIONS), first(_EVENTS), None if norm is None else norm == "withitn")


def strip_tags(text: str) -> str:
    """The text without any tag."""
    return _TAG.sub("", text).strip()
