"""Recognition around a session that answers with a fixed path."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from paddable.audio import FrontEnd
from paddable.errors import MisuseError, PaddableError, UnreadableError
from paddable.families.fsmn_vad.spec import VadOptions
from paddable.runtime.speech.ctc_decoder import CtcDecoder, CtcLayout
from paddable.runtime.speech.detection import Detector
from paddable.runtime.speech.pipelines import Recogniser
from paddable.runtime.speech.rich_tags import RichTags
from paddable.runtime.speech.sound_input import SoundInput
from paddable.runtime.speech.text import Vocabulary

TABLE = ("", "<|en|>", "<|NEUTRAL|>", "<|Speech|>", "<|withitn|>", " hello", " world", "你")
VOCABULARY = Vocabulary(tuple(piece.encode() for piece in TABLE))
SENSE_VOICE = CtcLayout(0, 4, {"auto": 0, "en": 4}, {"withitn": 14, "woitn": 15})


class Parrot:
    """Says "hello world" to everything, one word a second, and remembers what it heard."""

    def __init__(self, tags: tuple[int, ...] = (1, 2, 3, 4), vocabulary: int = len(TABLE)) -> None:
        self.tags, self.vocabulary = tags, vocabulary
        self.heard: list[dict[str, Any]] = []

    def run(self, inputs: dict[str, Any]) -> dict[str, np.ndarray]:
        self.heard.append(inputs)
        sound = inputs.get("audio", inputs.get("speech"))
        frames = FrontEnd().length(sound.shape[1]) if "audio" in inputs else sound.shape[1]
        body = [5 if i == 0 else 6 if i == 2 else 0 for i in range(frames)]
        return {"ctc_logits": np.eye(self.vocabulary, dtype=np.float32)[[*self.tags, *body]][None]}


class Ear:
    """Posteriors: speech where the waveform is loud."""

    def run(self, inputs: dict[str, Any]) -> dict[str, np.ndarray]:
        frames = np.lib.stride_tricks.sliding_window_view(inputs["audio"][0], 400)[::160]
        quiet = (np.abs(frames).max(axis=1) < 0.1).astype(np.float32)
        return {"posteriors": np.stack([quiet, 1 - quiet], 1)[None]}


@pytest.fixture
def parrot() -> Parrot:
    return Parrot()


@pytest.fixture
def recogniser(parrot: Parrot) -> Recogniser:
    return Recogniser(parrot, CtcDecoder(VOCABULARY, SENSE_VOICE))


NOISE = np.random.default_rng(0).uniform(-0.5, 0.5, 16_000).astype(np.float32)


def test_text_tags_and_times(recogniser: Recogniser) -> None:
    transcript = recogniser.transcribe(NOISE, timestamps=True)
    assert transcript.text == "hello world"
    assert transcript.tags == RichTags("en", "NEUTRAL", "Speech", True)
    assert [tuple(word) for word in transcript.words] == [("hello", 0.0, 0.03), ("world", 0.09, 0.15)]
    assert transcript.segments[0].text == "hello world" and transcript.seconds == 1.0


def test_prompts(recogniser: Recogniser, parrot: Parrot) -> None:
    recogniser.transcribe(NOISE, language="en", itn=False)
    heard = parrot.heard[0]
    assert heard["language"].tolist() == [4] and heard["textnorm"].tolist() == [15]
    assert heard["language"].dtype == np.int64 and heard["audio"].dtype == np.float32
    assert heard["audio"].shape == (1, 16_000)


def test_features_in_numpy(recogniser: Recogniser, parrot: Parrot) -> None:
    replace(recogniser, sound_input=SoundInput.of_features(FrontEnd())).transcribe(NOISE)
    assert parrot.heard[0]["speech"].shape == (1, 17, 560)


def test_blank_at_the_end_and_no_prompt() -> None:
    class Nano(Parrot):
        def run(self, inputs: dict[str, Any]) -> dict[str, np.ndarray]:
            assert set(inputs) == {"audio"}
            return {"ctc_logits": np.eye(9, dtype=np.float32)[[8, 7, 7, 8, 7]][None]}

    transcript = Recogniser(Nano(), CtcDecoder(VOCABULARY, CtcLayout(blank=-1))).transcribe(NOISE)
    assert transcript.text == "你你" and transcript.tags == RichTags()


@pytest.mark.parametrize("value", [-np.inf, np.inf, np.nan])
def test_the_logarithm_of_0_is_read_and_a_row_of_nothing_else_is_refused(value: float) -> None:
    class Certain(Parrot):
        def run(self, inputs: dict[str, Any]) -> dict[str, np.ndarray]:
            return {"ctc_logits": rows[None]}

    recogniser = Recogniser(Certain(), CtcDecoder(VOCABULARY, CtcLayout()))
    with np.errstate(divide="ignore"):
        rows = np.log(np.eye(len(TABLE), dtype=np.float32)[[5, 0, 6]])
    assert recogniser.transcribe(NOISE).text == "hello world"
    rows[1] = value
    with pytest.raises(PaddableError, match="the model answers NaN or infinity in ctc_logits"):
        recogniser.transcribe(NOISE)


def test_no_word_ends_behind_the_sound() -> None:
    class Last(Parrot):
        def run(self, inputs: dict[str, Any]) -> dict[str, np.ndarray]:
            return {"ctc_logits": np.eye(len(TABLE), dtype=np.float32)[[0] * 16 + [5]][None]}

    layout = CtcLayout(lead=0.0)  # the last of 17 frames of 60 ms reaches 1.02 s
    (word,) = Recogniser(Last(), CtcDecoder(VOCABULARY, layout)).transcribe(NOISE, timestamps=True).words
    assert (word.start, word.end) == (0.96, 1.0)


@pytest.mark.parametrize("samples", [0, 160, 399])
def test_less_than_a_frame_is_an_empty_transcript(recogniser: Recogniser, parrot: Parrot, samples: int) -> None:
    transcript = recogniser.transcribe(np.zeros(samples, np.float32), timestamps=True)
    assert (transcript.text, transcript.words, transcript.segments) == ("", (), ())
    assert transcript.seconds == samples / 16_000 and not parrot.heard


def test_an_answer_that_is_not_a_number_is_not_silence(parrot: Parrot, recogniser: Recogniser) -> None:
    class Lost(Parrot):
        def run(self, inputs: dict[str, Any]) -> dict[str, np.ndarray]:
            return {name: array * np.nan for name, array in super().run(inputs).items()}

    class Deaf(Ear):
        def run(self, inputs: dict[str, Any]) -> dict[str, np.ndarray]:
            return {name: array + np.inf for name, array in super().run(inputs).items()}

    with pytest.raises(PaddableError, match="the model answers NaN or infinity in ctc_logits"):
        replace(recogniser, session=Lost()).transcribe(NOISE)
    with pytest.raises(PaddableError, match="in posteriors"):
        replace(recogniser, detector=Detector(Deaf()), max_seconds=0.5).transcribe(NOISE)
    assert not parrot.heard


def test_files_and_arrays_of_other_rates(recogniser: Recogniser, parrot: Parrot, tmp_path: Path) -> None:
    soundfile.write(tmp_path / "phone.wav", np.stack([NOISE[:8_000]] * 2, 1), 8_000)
    recogniser.transcribe(tmp_path / "phone.wav")
    recogniser.transcribe(NOISE[:8_000], rate=8_000)
    assert [heard["audio"].shape for heard in parrot.heard] == [(1, 16_000)] * 2


def test_languages_that_are_not_there(recogniser: Recogniser) -> None:
    with pytest.raises(MisuseError, match="language 'fr'; choose auto, en"):
        recogniser.transcribe(NOISE, language="fr")
    with pytest.raises(MisuseError, match="language 'en'"):
        replace(recogniser, decoder=CtcDecoder(VOCABULARY)).transcribe(NOISE, language="en")


def test_long_recordings_are_cut_at_pauses(recogniser: Recogniser, parrot: Parrot) -> None:
    long = np.concatenate([NOISE, NOISE, np.zeros(32_000, np.float32), NOISE])
    detector = Detector(Ear(), VadOptions(schedule=None))
    transcript = replace(recogniser, detector=detector, max_seconds=2.6).transcribe(long, timestamps=True)
    assert transcript.text == "hello world hello world"
    starts = [word.start for word in transcript.words if word.text == "hello"]
    assert starts[0] == 0.0 and 3.5 < starts[1] < 4.1
    assert all(heard["audio"].shape[1] <= 2.6 * 16_000 for heard in parrot.heard)


def test_no_stretch_is_longer_than_the_session_takes(recogniser: Recogniser, parrot: Parrot) -> None:
    detector = Detector(Ear(), VadOptions(schedule=None))
    replace(recogniser, detector=detector, max_seconds=1.0).transcribe(np.tile(NOISE, 5))
    lengths = [heard["audio"].shape[1] for heard in parrot.heard]
    assert max(lengths) <= 16_000 and sum(lengths) > 4.9 * 16_000


def test_without_a_detector_the_session_decides(recogniser: Recogniser, parrot: Parrot) -> None:
    replace(recogniser, max_seconds=0.5).transcribe(NOISE)
    assert parrot.heard[0]["audio"].shape == (1, 16_000)


def test_a_bad_file_does_not_stop_the_others(recogniser: Recogniser, tmp_path: Path) -> None:
    soundfile.write(tmp_path / "good.wav", NOISE, 16_000)
    (tmp_path / "bad.wav").write_text("text")
    files = [tmp_path / "bad.wav", tmp_path / "good.wav", tmp_path / "absent.wav"]
    seen: list[tuple[str, int, int]] = []
    results = dict(recogniser.transcribe_many(files, progress=lambda *step: seen.append(step)))
    assert isinstance(results[files[0]], UnreadableError) and isinstance(results[files[2]], UnreadableError)
    assert results[files[1]].text == "hello world"
    assert [step[1:] for step in seen if step[0] == "files"] == [(0, 3), (1, 3), (2, 3), (3, 3)]
    assert ("good.wav", 1, 1) in seen


@pytest.mark.parametrize("error", [IndexError("string index out of range"), MemoryError(), KeyError("x")])
def test_one_bad_file_never_stops_the_others(
    recogniser: Recogniser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    recognise = Recogniser.transcribe

    def failing(self: Recogniser, sound: Any, **options: Any) -> Any:
        if Path(sound).stem == "b":
            raise error
        return recognise(self, sound, **options)

    monkeypatch.setattr(Recogniser, "transcribe", failing)
    for name in "abc":
        soundfile.write(tmp_path / f"{name}.wav", NOISE, 16_000)
    results = [result for _, result in recogniser.transcribe_many([tmp_path / f"{name}.wav" for name in "abc"])]
    assert results[0].text == results[2].text == "hello world"
    assert isinstance(results[1], PaddableError) and results[1].where == str(tmp_path / "b.wav")


def test_ctrl_c_still_ends_them_all(recogniser: Recogniser, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Recogniser, "transcribe", interrupted)
    with pytest.raises(KeyboardInterrupt):
        list(recogniser.transcribe_many(["a.wav", "b.wav"]))


def test_an_option_that_there_is_not_is_refused_before_any_file_is_read(recogniser: Recogniser) -> None:
    with pytest.raises(MisuseError, match="transcribe has no option 'lang'; its options are language, itn, hotwords"):
        next(iter(recogniser.transcribe_many(["a.wav"], lang="en")))
