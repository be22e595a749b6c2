"""A loaded model: a session, and what the family that its bundle names does with sound or codes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddable.audio.kaldi import SAMPLE_RATE
from paddable.audio.read import as_waveform, read_audio
from paddable.bundle import Bundle, Metadata, read_entries
from paddable.bundle.state import STEP_METADATA_KEY, StepSpec
from paddable.errors import MisuseError, PaddableError, UnreadableError
from paddable.runtime.description import Place
from paddable.runtime.families import abilities_of, detector_of, punctuator_of, recogniser_of
from paddable.runtime.session.graph import GraphSession, Opening
from paddable.runtime.session.request import Request
from paddable.runtime.session.session import Container, Session, Unjudged
from paddable.runtime.speech.detection import Detector
from paddable.runtime.speech.pipelines import Recogniser
from paddable.runtime.speech.punctuation import Punctuator
from paddable.runtime.speech.qwen3_asr import Qwen3AsrEncoding
from paddable.runtime.speech.transcript import Transcript
from paddable.runtime.streaming.state_buffers import StateBuffers
from paddable.runtime.streaming.step_graph import StepGraph
from paddable.runtime.streaming.stream import Stream

__all__ = ["Home", "Model"]

Sound = str | Path | NDArray[Any]


@dataclass(frozen=True)
class Home:
    """Where a model came from.

    Attributes:
        bundle: what ``bundle.json`` says.
        folder: the directory of its files.
        opening: how its files are opened on the chosen provider.
    """

    bundle: Bundle
    folder: Path
    opening: Opening


class Model(Session):
    """A session that also knows its family.

    ``run`` takes and gives tensors, whatever the model is; codes out of range are refused, as in a stream. The methods
    below belong to families; one that the model does not have is an error that names those it has.

    Args:
        containers: the graphs, at least one.
        metadata: what is ragged; None for a graph that Paddable did not make.
        home: the bundle; None for a single file.
        native: opens the native graph, where that is to be run; see `Session`.
        place: where the graphs run.
    """

    def __init__(
        self,
        containers: Sequence[Container],
        metadata: Metadata | None,
        home: Home | None = None,
        native: Callable[[], GraphSession] | None = None,
        place: Place | None = None,
    ) -> None:
        super().__init__(containers, metadata, native, place)
        self._home = home
        self._idle_buffers: deque[StateBuffers] = deque()

    def __repr__(self) -> str:
        if self._home is None:
            return f"<paddable model: {self.describe()}>"
        does = [*abilities_of(self._home.bundle), "run"]
        kind = f"{self._home.bundle.family}, " if self._home.bundle.family else ""
        return f"<paddable model {str(self._home.folder)!r}: {kind}{' and '.join(does)}; {self.describe()}>"

    def transcribe(
        self,
        sound: Sound,
        *,
        rate: int = SAMPLE_RATE,
        language: str = "auto",
        itn: bool = True,
        timestamps: bool = False,
        hotwords: Sequence[str] = (),
        detector: Model | None = None,
        punctuator: Model | None = None,
    ) -> Transcript:
        """Recognise one recording (sense-voice, fun-asr-nano, paraformer).

        Args:
            sound: a file, or samples [S] or [S, channels] as floats in [-1, 1] or signed integers.
            rate: samples per second of an array; a file says it itself.
            language: ``auto``, or one that the model knows.
            itn: punctuation and digits, where the model has the choice.
            timestamps: words and segments with times.
            hotwords: words that are likely (paraformer of the kind SeACo).
            detector: an fsmn-vad model that cuts recordings longer than the largest container.
            punctuator: a ct-punc model that writes punctuation into the text.

        Returns:
            The transcript; an empty one for less than 25 ms of sound. A file without a sample is an error.

        Raises:
            UnreadableError: the file cannot be read, or holds NaN.
            MisuseError: an unknown language, hotwords that the model does not take, a recording longer than the largest
                container and no detector, or a model that recognises nothing.
        """
        recogniser = self._with(detector, punctuator)
        return recogniser.transcribe(
            sound, rate=rate, language=language, itn=itn, timestamps=timestamps, hotwords=hotwords
        )

    def transcribe_many(
        self,
        sounds: Iterable[Sound],
        *,
        progress: Callable[[str, int, int], None] | None = None,
        detector: Model | None = None,
        punctuator: Model | None = None,
        **options: Any,
    ) -> Iterator[tuple[Sound, Transcript | PaddableError]]:
        """Recognise files, given back in their order; a bad file gives its error in place of a transcript.

        Where the bundle holds containers of several rows (``export(..., rows=8)``), stretches of several files share a
        run if that is faster here, and up to ten minutes of sound are read ahead.

        Args:
            sounds: files.
            progress: told ``files``, how many are done and how many there are; and for each file its name, the seconds
                that are done and those there are.
            detector: as in ``transcribe``.
            punctuator: as in ``transcribe``.
            options: of ``transcribe``.

        Raises:
            MisuseError: the model recognises nothing.
        """
        return self._with(detector, punctuator).transcribe_many(sounds, progress=progress, **options)

    def speech_segments(self, sound: Sound, *, rate: int = SAMPLE_RATE) -> list[tuple[float, float]]:
        """Begin and end of each stretch of speech, in seconds (fsmn-vad). Arguments and errors as in ``transcribe``."""
        return self._detector.segments(_samples(sound, rate))

    def punctuate(self, text: str) -> str:
        """The text with punctuation, capital letters and an end (ct-punc); empty for nothing but spaces."""
        return self._punctuator.punctuate(text)

    def encode(self, sound: Sound, *, rate: int = SAMPLE_RATE) -> NDArray[np.float32]:
        """Embeddings of one clip for the language model: float32 [L, E], 13 rows a second (qwen3-asr).

        Arguments and errors as in ``transcribe``; a clip needs at least one sample, and embeddings of NaN or infinity
        are an error.
        """
        self._demand("encode")
        return Qwen3AsrEncoding(Unjudged(self)).encode(_samples(sound, rate))

    def stream(self) -> Stream:
        """A new stream, independent of the others (qwen3-tts-codec): codes in any chunking, audio at once.

        ``warm_up`` of the stream takes planning and capture before the first chunk; buffers and captured graphs of a
        stream that is gone serve the next one.

        Raises:
            MisuseError: the bundle holds no step graph.
        """
        self._demand("stream")
        return Stream(self._step_graphs, self._idle_buffers)

    def close(self) -> None:
        """Give the memory of all graphs back, and let go of their files. The model opens them again when it is used.

        A stream that is still held keeps its step graphs.
        """
        self._idle_buffers.clear()
        self.__dict__.pop("_step_graphs", None)
        super().close()

    def _with(self, detector: Model | None, punctuator: Model | None) -> Recogniser:
        return replace(
            self._recogniser,
            detector=None if detector is None else detector._detector,
            punctuator=None if punctuator is None else punctuator._punctuator,
        )

    @cached_property
    def _recogniser(self) -> Recogniser:
        home = self._demand("transcribe")
        return recogniser_of(home.bundle, home.folder, Unjudged(self))

    @cached_property
    def _detector(self) -> Detector:
        return detector_of(self._demand("speech_segments").bundle, Unjudged(self))

    @cached_property
    def _punctuator(self) -> Punctuator:
        home = self._demand("punctuate")
        return punctuator_of(home.bundle, home.folder, Unjudged(self))

    @cached_property
    def _step_graphs(self) -> list[StepGraph]:
        home = self._demand("stream")
        names = home.bundle.step_graphs
        return [StepGraph(home.opening.open(home.folder / name, static=True)) for name in names]

    @cached_property
    def _step(self) -> StepSpec | None:
        """What a step graph of the bundle says of the input, read without opening it."""
        if self._home is None or not self._home.bundle.step_graphs:
            return None
        file = self._home.folder / self._home.bundle.step_graphs[0]
        text = read_entries(file).get(STEP_METADATA_KEY)
        if text is None:
            raise UnreadableError("no step graph", where=str(file), fix="make the bundle again")
        return StepSpec.from_json(text)

    def _refuse_values(self, request: Request) -> None:
        if (spec := self._step) is None or self.metadata is None:
            return
        symbol = self.metadata.inputs[spec.input][spec.axis]
        for row in request.rows:
            x = {**request.shared, **row.arrays}[spec.input]
            spec.check_range(x[(slice(None),) * spec.axis + (slice(row.steps[symbol]),)])  # behind it anything may lie

    def _demand(self, ability: str) -> Home:
        if self._home is None:
            raise MisuseError(
                f"a single file has no method {ability}",
                why="front end, labels and settings lie in the bundle",
                fix="load the directory that paddable export wrote",
            )
        does = abilities_of(self._home.bundle)
        if ability not in does:
            family = self._home.bundle.family
            raise MisuseError(
                f"this model has no method {ability}",
                where=str(self._home.folder),
                why=f"it is of the family {family}" if family else "it was converted from a file of no known family",
                fix=f"it has {', '.join(does)} and run" if does else "call run",
            )
        return self._home


def _samples(sound: Sound, rate: int) -> NDArray[np.float32]:
    waveform = read_audio(sound) if isinstance(sound, (str, Path)) else as_waveform(sound, rate)
    return waveform.samples
