"""Recognisers on a session: a file or a waveform to a transcript."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddable.audio.kaldi import SAMPLE_RATE
from paddable.audio.read import as_waveform, read_audio
from paddable.errors import MissingExtraError, MisuseError, PaddableError
from paddable.runtime.session.rows import Prepared
from paddable.runtime.speech.detection import Detector, Session
from paddable.runtime.speech.gathering import Gathering, Recording, RowSession, Sound, as_told, name_of
from paddable.runtime.speech.heard import Decoder, Heard
from paddable.runtime.speech.punctuation import Punctuator
from paddable.runtime.speech.rich_tags import RichTags
from paddable.runtime.speech.segments import Word, split_segments
from paddable.runtime.speech.sound_input import SoundInput
from paddable.runtime.speech.transcript import Transcript

__all__ = ["Recogniser"]


_ASKED: Mapping[str, Any] = {"language": "auto", "itn": True, "hotwords": ()}
"""What ``transcribe`` hands the decoder, and what it is by default."""


@dataclass(frozen=True)
class Recogniser:
    """A session, and everything around it.

    Attributes:
        session: the input that ``sound_input`` fills; outputs that the decoder reads.
        decoder: outputs to text and words.
        sound_input: how the graph takes sound: as it is, or as features.
        detector: cuts recordings longer than ``max_seconds``; None leaves them to the session, which may refuse them.
        max_seconds: longest stretch that the session takes; None for any.
        punctuator: writes punctuation into the text of a recording; None leaves it as it was recognised.
        rows: the session where stretches of many recordings may share a run; None runs them one by one.
    """

    session: Session
    decoder: Decoder
    sound_input: SoundInput = field(default_factory=SoundInput)
    detector: Detector | None = None
    max_seconds: float | None = None
    punctuator: Punctuator | None = None
    rows: RowSession | None = None

    def transcribe(
        self,
        sound: str | Path | NDArray[Any],
        *,
        rate: int = SAMPLE_RATE,
        language: str = "auto",
        itn: bool = True,
        timestamps: bool = False,
        hotwords: Sequence[str] = (),
        progress: Callable[[int, int], None] | None = None,
    ) -> Transcript:
        """Recognises one recording.

        Args:
            sound: a file, or samples [S] or [S, channels].
            rate: samples per second of an array; a file says it itself.
            language: ``auto``, or one that the model knows.
            itn: punctuation and digits, where the model has the choice.
            timestamps: words and segments with times.
            hotwords: words that are likely, where the model takes some.
            progress: told after each stretch how many seconds are done, and how many there are.

        Returns:
            The transcript; an empty one for less than 25 ms of sound, of one sample at least.

        Raises:
            UnreadableError: the file cannot be read, or holds NaN.
            MisuseError: an unknown language, hotwords that the model does not take, or a recording too long for every
                container and no detector.
            PaddableError: the model answers NaN.
        """
        prompts = self.decoder.prompts(language, itn, hotwords)
        own = self.sound_input.rate
        audio = self._heard_of(sound, rate)
        heard: list[tuple[Heard, int]] = []
        for begin, end in self._stretches(audio):
            with self._telling_its_length(end - begin):
                answers = self.session.run({**self.sound_input(audio[begin:end]), **prompts})
            heard.append((self.decoder.read(answers, begin / own), end))
            if progress:
                progress(end // own, len(audio) // own)
        return self._transcript(heard, len(audio), timestamps)

    def transcribe_many(
        self,
        sounds: Iterable[Sound],
        *,
        progress: Callable[[str, int, int], None] | None = None,
        **options: Any,
    ) -> Iterator[tuple[Sound, Transcript | PaddableError]]:
        """Recognises files, and gives them back in their order; a file that fails, whatever it raises, gives its error
        in place of a transcript, and the others go on. Stretches of several files share a run where that is faster.

        Args:
            sounds: files, or samples as ``transcribe`` takes them.
            progress: told ``files``, how many are done and how many there are; and for each file its name, the seconds
                that are done and those there are.
            options: of ``transcribe``.

        Raises:
            MisuseError: one file in place of several, an unknown option or language, or hotwords that the model does
                not take: no file would be recognised.
            MissingExtraError: no provider, or no package, that all of them need.
        """
        if unknown := sorted({*options} - {*_ASKED, "timestamps", "rate"}):
            raise MisuseError(
                f"transcribe has no option {unknown[0]!r}", fix=f"its options are {', '.join(_ASKED)}, timestamps"
            )
        if isinstance(sounds, (str, Path, np.ndarray)):
            raise MisuseError(
                "transcribe_many takes several sounds, and this is one", fix="give a list, or use transcribe"
            )
        sounds = list(sounds)
        prompts = self.decoder.prompts(*(options.get(name, usual) for name, usual in _ASKED.items()))
        if self.rows is not None:
            yield from self._gathered(self.rows, sounds, prompts, options, progress)
            return
        for done, sound in enumerate(sounds):
            inside = None
            if progress:
                progress("files", done, len(sounds))
                inside = partial(progress, Path(name_of(sound)).name)
            try:
                yield sound, self.transcribe(sound, progress=inside, **options)
            except MissingExtraError:  # no file would be recognised
                raise
            except Exception as error:  # a fault of ours, or no memory: it is told of this file, not of the others
                yield sound, as_told(error, name_of(sound))
        if progress:
            progress("files", len(sounds), len(sounds))

    def _gathered(
        self,
        session: RowSession,
        sounds: Sequence[Sound],
        prompts: Mapping[str, NDArray[np.int64]],
        options: Mapping[str, Any],
        progress: Callable[[str, int, int], None] | None,
    ) -> Iterator[tuple[Sound, Transcript | PaddableError]]:
        """``transcribe_many`` where stretches may share a run."""

        def stretches(recording: Recording) -> Iterator[tuple[int, int, Prepared]]:
            audio = self._heard_of(recording.sound, options.get("rate", SAMPLE_RATE))
            recording.samples = len(audio)
            for begin, end in self._stretches(audio):
                with self._telling_its_length(end - begin):
                    row = session.prepare({**self.sound_input(audio[begin:end]), **prompts})
                yield begin, end, row

        gathering = Gathering(session, self.sound_input.rate, stretches, self.decoder.read, progress)
        if progress:
            progress("files", 0, len(sounds))
        for done, recording in enumerate(gathering.recordings(sounds)):
            if recording.error is not None:
                yield recording.sound, recording.error
            else:
                try:
                    heard = [recording.heard[number] for number in range(recording.stretches)]
                    result: Transcript | PaddableError = self._transcript(
                        heard, recording.samples, options.get("timestamps", False)
                    )
                except Exception as error:
                    result = as_told(error, name_of(recording.sound))
                yield recording.sound, result
            if progress:
                progress("files", done + 1, len(sounds))

    def _heard_of(self, sound: Sound, rate: int) -> NDArray[np.float32]:
        """Samples at the rate of the graph."""
        own = self.sound_input.rate
        waveform = read_audio(sound, own) if isinstance(sound, (str, Path)) else as_waveform(sound, rate, own)
        return waveform.samples

    def _transcript(self, heard: Sequence[tuple[Heard, int]], samples: int, timestamps: bool) -> Transcript:
        """Of what was heard in each stretch, with the sample at which that ends."""
        own = self.sound_input.rate
        words: list[Word] = []
        for part, end in heard if timestamps else ():
            words += (word._replace(end=min(word.end, end / own)) for word in part.words)
        text = " ".join(filter(None, (part.text for part, _ in heard)))
        if self.punctuator is not None:
            text, words = self.punctuator.timed(text, words)
        tags = heard[0][0].tags if heard else RichTags()
        return Transcript(text, tags, tuple(words), tuple(split_segments(words)), samples / own)

    def _stretches(self, audio: NDArray[np.float32]) -> Iterator[tuple[int, int]]:
        """Sample ranges to recognise: everything at once, or what the detector finds, never longer than the session
        takes."""
        rate, shortest = self.sound_input.rate, self.sound_input.shortest
        if len(audio) < shortest:
            return
        limit = len(audio) if self.max_seconds is None else int(self.max_seconds * rate)
        if len(audio) <= limit or self.detector is None:
            yield 0, len(audio)
            return
        if rate != SAMPLE_RATE:
            raise MisuseError(
                f"a detector beside a model of {rate} Hz", why=f"it hears {SAMPLE_RATE} Hz", fix="leave it out"
            )
        for begin_seconds, end_seconds in self.detector.segments(audio):
            begin, end = int(begin_seconds * rate), min(int(end_seconds * rate), len(audio))
            for start in range(begin, end, limit):
                if min(start + limit, end) - start >= shortest:
                    yield start, min(start + limit, end)

    @contextmanager
    def _telling_its_length(self, samples: int) -> Iterator[None]:
        """An error of a stretch that is too long says what to do about it."""
        try:
            yield
        except MisuseError as error:
            fits = self.max_seconds is None or samples <= self.max_seconds * self.sound_input.rate
            if fits or self.detector is not None:
                raise
            raise MisuseError(
                error.what,
                fix="add a `detector` that cuts it where nobody speaks, or make the bundle again with "
                f"paddable export --containers {math.ceil(samples / self.sound_input.rate)}s",
            ) from error
