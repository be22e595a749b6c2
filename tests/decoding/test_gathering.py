"""Many recordings: their stretches share runs, and each answer comes back in its place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from paddable.audio.read import Waveform
from paddable.errors import MissingExtraError, MisuseError, PaddableError, UnreadableError
from paddable.runtime.session.request import Request
from paddable.runtime.session.rows import Prepared
from paddable.runtime.speech import pipelines
from paddable.runtime.speech.ctc_decoder import CtcDecoder, CtcLayout
from paddable.runtime.speech.pipelines import Recogniser
from paddable.runtime.speech.text import Vocabulary

RATE = 16_000
LAYOUT = CtcLayout(0, 0)
DECODER = CtcDecoder(Vocabulary(tuple(f" {letter}".encode() for letter in "_abcdefgh")), LAYOUT)


class Choir:
    """Says for each stretch the letter of its first sample; places are whole seconds, four rows share a run.

    Args:
        slow: places at which rows are not worth waiting for.
    """

    def __init__(self, slow: Sequence[int] = ()) -> None:
        self.slow, self.runs, self.waiting, self.most = slow, list[list[int]](), 0.0, 0.0

    def run(self, inputs: Mapping[str, Any]) -> dict[str, np.ndarray]:
        return self.answer_prepared([self.prepare(inputs)])[0]

    def prepare(self, inputs: Mapping[str, Any]) -> Prepared:
        sound = inputs["audio"][0]
        if len(sound) > 30 * RATE:
            raise MisuseError("it does not fit")
        self.waiting += len(sound) / RATE
        self.most = max(self.most, self.waiting)
        return Prepared(Request([], {"audio": sound}, True, {}), len(sound) // RATE)

    def gathers(self, place: int) -> int:
        return 1 if place in self.slow else 4

    def fits(self, row: Prepared, place: int) -> bool:
        return row.place < place

    def answer_prepared(self, rows: Sequence[Prepared]) -> list[dict[str, np.ndarray]]:
        assert len(rows) <= self.gathers(max(row.place for row in rows))
        sounds = [row.request.shared["audio"] for row in rows]
        self.waiting -= sum(map(len, sounds)) / RATE
        if len(rows) > 1 and any(sound[0] == 8 for sound in sounds):
            raise PaddableError("no memory for all")
        self.runs.append([int(sound[0]) for sound in sounds])
        scores = [np.eye(9, dtype=np.float32)[[int(sound[0])]][None] for sound in sounds]
        return [
            {"ctc_logits": np.full_like(one, np.nan) if sound[0] == 7 else one}
            for one, sound in zip(scores, sounds, strict=True)
        ]


@pytest.fixture
def choir(monkeypatch: pytest.MonkeyPatch) -> Choir:
    """A recording is its first letter again and again, for as many seconds as its name ends with."""

    def read(sound: Any, rate: int) -> Waveform:
        name = str(sound)
        if name == "bad":
            raise UnreadableError("no sound", where=name)
        if name == "odd":
            raise KeyError("x")
        letter = np.float32("_abcdefgh".index(name[0]))
        return Waveform(np.broadcast_to(letter, int(float(name[1:]) * RATE)), rate)

    monkeypatch.setattr(pipelines, "read_audio", read)
    return Choir()


def recogniser(choir: Choir, **parts: Any) -> Recogniser:
    return Recogniser(choir, DECODER, rows=choir, **parts)


def texts(found: Any) -> list[str]:
    return [result.text if not isinstance(result, PaddableError) else str(result.what) for _, result in found]


def test_each_comes_back_in_its_place(choir: Choir) -> None:
    names = ["a1", "b2", "c1", "bad", "d1", "e1", "odd", "f0.01", "a2", "g1", "b1"]
    seen: list[tuple[str, int, int]] = []
    found = list(recogniser(choir).transcribe_many(names, progress=lambda *step: seen.append(step)))
    assert [sound for sound, _ in found] == names
    expected = ["a", "b", "c", "no sound", "d", "e", "KeyError: 'x'", "", "a", None, "b"]
    assert [text if want is not None else None for text, want in zip(texts(found), expected, strict=True)] == expected
    assert "NaN" in texts(found)[9]  # of g alone, whatever shared its run
    assert choir.runs == [[1, 3, 4, 5], [2, 1, 7, 2]]  # what is left at the end shares the run of the longest
    assert [step[1:] for step in seen if step[0] == "files"] == [(done, len(names)) for done in range(len(names) + 1)]
    assert ("b2", 2, 2) in seen


def test_they_are_those_of_one_by_one(choir: Choir) -> None:
    names = ["a1", "b2", "c1.5", "d1.2", "f0.01", "e1", "a3"]
    one = recogniser(choir)
    together = [result for _, result in one.transcribe_many(names, timestamps=True)]
    assert together == [one.transcribe(name, timestamps=True) for name in names]


def test_a_run_that_fails_is_done_again_one_by_one(choir: Choir) -> None:
    assert texts(recogniser(choir).transcribe_many(["a1", "h1", "b1", "c1"])) == ["a", "h", "b", "c"]
    assert choir.runs == [[1], [8], [2], [3]]


def test_where_rows_are_slower_nobody_waits(choir: Choir) -> None:
    choir.slow = [1]
    names = recogniser(choir).transcribe_many(["a1", "b2", "c1"])
    assert next(names)[1].text == "a" and choir.runs == [[1]]
    assert texts(names) == ["b", "c"]


def test_one_of_a_rare_size_holds_nobody_up_for_long(choir: Choir, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paddable.runtime.speech.gathering.AHEAD", 10.0)
    names = recogniser(choir).transcribe_many(["a9", *["b1"] * 100])
    assert next(names)[1].text == "a"
    assert len(choir.runs) <= 4 and choir.most < 20
    assert texts(names) == ["b"] * 100


class Ear:
    """Speech of 2 s, 3 s and 5 s by turns."""

    def segments(self, audio: np.ndarray) -> list[tuple[float, float]]:
        return [(begin, begin + (2, 3, 5)[begin // 6 % 3]) for begin in range(0, len(audio) // RATE - 5, 6)]


def test_an_hour_takes_no_more_memory_than_minutes(choir: Choir) -> None:
    one = recogniser(choir, detector=Ear(), max_seconds=30.0)
    found = list(one.transcribe_many(["a3600", "b1", "c3600"]))
    assert texts(found) == [" ".join("a" * 600), "b", " ".join("c" * 600)]
    assert choir.most < 60 and sum(len(run) < 4 for run in choir.runs) <= 4  # at the end, and the one of 1 s
    assert [result.seconds for _, result in found] == [3600, 1, 3600]


def test_what_is_too_long_says_what_to_do(choir: Choir) -> None:
    found = dict(recogniser(choir, max_seconds=30.0).transcribe_many(["a31", "b1"]))
    assert isinstance(found["a31"], MisuseError) and "--containers 31s" in found["a31"].fix
    assert found["b1"].text == "b"


def test_ctrl_c_ends_them_all_and_what_was_given_back_stays(choir: Choir, monkeypatch: pytest.MonkeyPatch) -> None:
    names = recogniser(choir).transcribe_many(["a1", "a1", "a1", "a1", "b1"])
    assert next(names)[1].text == "a"

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(choir, "answer_prepared", interrupted)
    with pytest.raises(KeyboardInterrupt):
        list(names)


def test_an_unknown_language_is_told_before_any_file(choir: Choir, tmp_path: Path) -> None:
    with pytest.raises(MisuseError, match="language 'fr'"):
        next(recogniser(choir).transcribe_many(["a1"], language="fr"))


def test_samples_are_taken_as_well_as_files(choir: Choir) -> None:
    sounds = [np.full(RATE, letter, np.float32) for letter in (1, 2)]
    assert texts(recogniser(choir).transcribe_many(["c1", *sounds])) == ["c", "a", "b"]
    assert texts(recogniser(choir).transcribe_many([None])) == texts(Recogniser(choir, DECODER).transcribe_many([None]))


@pytest.mark.parametrize("sound", ["a1", Path("a1"), np.zeros(9)], ids=str)
def test_one_sound_in_place_of_several_is_refused(choir: Choir, sound: Any) -> None:
    with pytest.raises(MisuseError, match="takes several sounds, and this is one"):
        next(iter(recogniser(choir).transcribe_many(sound)))


def test_what_all_of_them_lack_is_told_once(choir: Choir, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(*_: Any) -> None:
        raise MissingExtraError("no such provider")

    monkeypatch.setattr(Choir, "answer_prepared", absent)
    for one in (recogniser(choir), Recogniser(choir, DECODER)):
        with pytest.raises(MissingExtraError, match="no such provider"):
            list(one.transcribe_many(["a1", "b1"]))
