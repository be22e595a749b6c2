"""What was heard in one stretch of sound, and what hears it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from paddable.runtime.speech.rich_tags import RichTags
from paddable.runtime.speech.segments import Word

__all__ = ["Decoder", "Heard"]


class Heard(NamedTuple):
    """One stretch of sound.

    Attributes:
        text: what was said, without tags.
        words: the same with times, in seconds.
        tags: language, emotion, event.
    """

    text: str
    words: tuple[Word, ...]
    tags: RichTags = RichTags()


class Decoder(Protocol):
    """Turns the outputs of a model into what was said."""

    def prompts(self, language: str, itn: bool, hotwords: Sequence[str]) -> dict[str, NDArray[np.int64]]:
        """Inputs beside the sound; raises ``MisuseError`` for a language or hotwords that the model does not know."""
        ...

    def read(self, outputs: Mapping[str, NDArray[Any]], offset: float) -> Heard:
        """What the outputs of one stretch say; ``offset`` seconds are added to all times."""
        ...
