"""CTC logits to text, tags and timed words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddable.errors import MisuseError
from paddable.runtime.speech.answers import finite
from paddable.runtime.speech.ctc import greedy
from paddable.runtime.speech.heard import Heard
from paddable.runtime.speech.rich_tags import parse_tags, strip_tags
from paddable.runtime.speech.segments import FRAME_SECONDS, timed_words
from paddable.runtime.speech.text import Vocabulary

__all__ = ["CtcDecoder", "CtcLayout"]


@dataclass(frozen=True)
class CtcLayout:
    """How a family spells its logits.

    Attributes:
        blank: blank class; -1 is the last one.
        tag_rows: rows of the prompt in front of the speech, one rich tag each (4 for SenseVoice, else 0).
        languages: value of the input ``language`` for each name; empty where the model has no such input.
        text_norms: value of the input ``textnorm``, likewise.
        lead: seconds by which a frame begins before its place, as FunASR counts: half a frame for SenseVoice, whose
            frame i is centred on 60 i ms; 0 for Fun-ASR-Nano.
        frame: seconds from one frame to the next; in a bundle None where the lengths of its graphs tell it.
        output: the graph's output that holds them.
        axes: its layout, a letter an axis: B of size 1, T frames, V classes.
    """

    blank: int = 0
    tag_rows: int = 0
    languages: Mapping[str, int] = field(default_factory=dict)
    text_norms: Mapping[str, int] = field(default_factory=dict)
    lead: float = FRAME_SECONDS / 2
    frame: float | None = FRAME_SECONDS
    output: str = "ctc_logits"
    axes: str = "BTV"

    def __post_init__(self) -> None:
        if not set(self.axes) <= set("B1TV") or self.axes.count("T") != 1 or self.axes.count("V") != 1:
            raise ValueError(f"the axes {self.axes!r} are not one of frames and one of classes")


@dataclass(frozen=True)
class CtcDecoder:
    """Best class of each frame.

    Attributes:
        vocabulary: what the classes write.
        layout: where blank, tags and prompts are.
    """

    vocabulary: Vocabulary
    layout: CtcLayout = CtcLayout()

    def prompts(self, language: str, itn: bool, hotwords: Sequence[str] = ()) -> dict[str, NDArray[np.int64]]:
        """The inputs that say how to write; raises ``MisuseError`` for what the model does not know."""
        if hotwords:
            raise MisuseError("hotwords", why="this model takes none", fix="leave them out, or take a SeACo Paraformer")
        layout = self.layout
        if layout.languages and language not in layout.languages:
            raise MisuseError(f"language {language!r}", fix=f"choose {', '.join(layout.languages)}")
        if not layout.languages and language != "auto":
            raise MisuseError(f"language {language!r}", why="this model finds the language itself", fix="leave it out")
        values = {
            "language": layout.languages.get(language),
            "textnorm": layout.text_norms.get("withitn" if itn else "woitn"),
        }
        return {name: np.array([value], np.int64) for name, value in values.items() if value is not None}

    def read(self, outputs: Mapping[str, NDArray[Any]], offset: float) -> Heard:
        """What the logits say, or their probabilities or logarithms; raises ``PaddableError`` for NaN."""
        layout = self.layout
        order = [layout.axes.index(axis) for axis in ("T", "V", *layout.axes.replace("T", "").replace("V", ""))]
        rows = outputs[layout.output].transpose(order)
        rows = rows.reshape(rows.shape[:2])
        finite(rows.max(axis=1), layout.output)
        logits: NDArray[Any] = rows
        if rows.min(initial=0) == -np.inf:  # the logarithm of 0 is no fault beside a number
            logits = np.maximum(rows, np.finfo(rows.dtype).min)
        head, body = logits[: layout.tag_rows], logits[layout.tag_rows :]
        tags = parse_tags(self.vocabulary.text(int(row.argmax()) for row in head))
        tokens = greedy(body, layout.blank % logits.shape[1])
        text = strip_tags(self.vocabulary.text(token.id for token in tokens))
        words = timed_words(tokens, self.vocabulary, len(body), offset, layout.lead, layout.frame or FRAME_SECONDS)
        return Heard(text, tuple(words), tags)
