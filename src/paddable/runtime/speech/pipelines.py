"""CTC recognisers on a session: a file or a waveform to a transcript."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddable.audio.features import FrontEnd
from paddable.audio.kaldi import FRAME, SAMPLE_RATE
from paddable.audio.read import as_waveform, read_audio
from paddable.errors import MisuseError, PaddableError
from paddable.runtime.speech.answers import finite
from paddable.runtime.speech.ctc import CtcToken, greedy
from paddable.runtime.speech.detection import Detector, Session
from paddable.runtime.speech.rich_tags import RichTags, parse_tags, strip_tags
from paddable.runtime.speech.segments import split_segments, timed_words
from paddable.runtime.speech.text import Vocabulary
from paddable.runtime.speech.transcript import Transcript

__all__ = ["CtcLayout", "Recogniser"]


@dataclass(frozen=True)
class CtcLayout:
    """How a family spells its logits.

    Attributes:
        blank: blank class; -1 is the last one.
        tag_rows: rows of the prompt in front of the speech, one rich tag each (4 for SenseVoice, else 0).
        languages: value of the input ``language`` for each name; empty where the model has no such input.
        text_norms: value of the input ``textnorm``, likewise.
    """

    blank: int = 0
    tag_rows: int = 0
    languages: Mapping[str, int] = field(default_factory=dict)
    text_norms: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Recogniser:
    """A session, and everything around it.

    Attributes:
        session: input ``audio`` [1, S], or ``speech`` [1, T, C] where ``front_end`` is given; output ``ctc_logits``.
        vocabulary: what the classes write.
        layout: where blank, tags and prompts are.
        front_end: computes features in numpy, None where the graph does.
        detector: cuts recordings longer than ``max_seconds``; None leaves them to the session, which may refuse them.
        max_seconds: longest stretch that the session takes; None for any.
    """

    session: Session
    vocabulary: Vocabulary
    layout: CtcLayout = CtcLayout()
    front_end: FrontEnd | None = None
    detector: Detector | None = None
    max_seconds: float | None = None

    def transcribe(
        self,
        sound: str | Path | NDArray[Any],
        *,
        rate: int = SAMPLE_RATE,
        language: str = "auto",
        itn: bool = True,
        timestamps: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> Transcript:
        """Recognises one recording.

        Args:
            sound: a file, or samples [S] or [S, channels].
            rate: samples per second of an array; a file says it itself.
            language: a name of ``layout.languages``.
            itn: punctuation and digits, where the model has the choice.
            timestamps: words and segments with times.
            progress: told after each stretch how many seconds are done, and how many there are.

        Returns:
            The transcript; an empty one for less than 25 ms of sound.

        Raises:
            UnreadableError: the file cannot be read, or holds NaN.
            MisuseError: an unknown language, or a recording too long for every container and no detector.
            PaddableError: the model answers NaN.
        """
        prompts = self._prompts(language, itn)
        waveform = read_audio(sound) if isinstance(sound, (str, Path)) else as_waveform(sound, rate)
        audio, words, texts, tags = waveform.samples, [], [], None
        for begin, end in self._stretches(audio):
            stretch_tags, tokens, frames = self._recognise(audio[begin:end], prompts)
            tags = tags or stretch_tags
            texts.append(strip_tags(self.vocabulary.text(token.id for token in tokens)))
            if timestamps:
                words += timed_words(tokens, self.vocabulary, frames, begin / SAMPLE_RATE)
            if progress:
                progress(end // SAMPLE_RATE, len(audio) // SAMPLE_RATE)
        return Transcript(
            " ".join(filter(None, texts)),
            tags or RichTags(),
            tuple(words),
            tuple(split_segments(words)),
            len(audio) / SAMPLE_RATE,
        )

    def transcribe_many(
        self,
        sounds: Iterable[str | Path],
        *,
        progress: Callable[[str, int, int], None] | None = None,
        **options: Any,
    ) -> Iterator[tuple[str | Path, Transcript | PaddableError]]:
        """Recognises files one after the other; a bad file gives its error in place of a transcript, and the others go
        on.

        Args:
            sounds: files.
            progress: told ``files``, how many are done and how many there are; and for each file its name, the seconds
                that are done and those there are.
            options: of ``transcribe``.
        """
        sounds = list(sounds)
        for done, sound in enumerate(sounds):
            inside = None
            if progress:
                progress("files", done, len(sounds))
                inside = partial(progress, Path(sound).name)
            try:
                yield sound, self.transcribe(sound, progress=inside, **options)
            except PaddableError as error:
                yield sound, error
        if progress:
            progress("files", len(sounds), len(sounds))

    def _prompts(self, language: str, itn: bool) -> dict[str, NDArray[np.int64]]:
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

    def _stretches(self, audio: NDArray[np.float32]) -> Iterator[tuple[int, int]]:
        """Sample ranges to recognise: everything at once, or what the detector finds, never longer than the session
        takes."""
        if len(audio) < FRAME:
            return
        limit = len(audio) if self.max_seconds is None else int(self.max_seconds * SAMPLE_RATE)
        if len(audio) <= limit or self.detector is None:
            yield 0, len(audio)
            return
        for begin_seconds, end_seconds in self.detector.segments(audio):
            begin, end = int(begin_seconds * SAMPLE_RATE), min(int(end_seconds * SAMPLE_RATE), len(audio))
            for start in range(begin, end, limit):
                if min(start + limit, end) - start >= FRAME:
                    yield start, min(start + limit, end)

    def _recognise(
        self, audio: NDArray[np.float32], prompts: Mapping[str, NDArray[np.int64]]
    ) -> tuple[RichTags, list[CtcToken], int]:
        sound = {"speech": self.front_end(audio)[None]} if self.front_end else {"audio": audio[None]}
        logits = finite(self.session.run({**sound, **prompts})["ctc_logits"][0], "ctc_logits")
        head, body = logits[: self.layout.tag_rows], logits[self.layout.tag_rows :]
        blank = self.layout.blank % logits.shape[1]
        tags = parse_tags(self.vocabulary.text(int(row.argmax()) for row in head))
        return tags, greedy(body, blank), len(body)
