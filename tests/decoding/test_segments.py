"""Tags, words with times, segments, subtitles."""

from __future__ import annotations

from pathlib import Path

import pytest

from paddable.errors import MisuseError
from paddable.runtime.speech.ctc import CtcToken
from paddable.runtime.speech.rich_tags import RichTags, parse_tags, strip_tags
from paddable.runtime.speech.segments import Segment, Word, split_segments, timed_words
from paddable.runtime.speech.subtitles import srt, vtt, write_text
from paddable.runtime.speech.text import Vocabulary
from paddable.runtime.speech.transcript import Transcript


def words(*pieces: str | bytes, frames: int = 1000, offset: float = 0.0) -> list[Word]:
    """Each piece lasts one frame, and one frame of blank follows."""
    spellings = tuple(piece if isinstance(piece, bytes) else piece.encode() for piece in pieces)
    tokens = [CtcToken(i, 2 * i, 2 * i + 1, 1.0) for i in range(len(pieces))]
    return timed_words(tokens, Vocabulary(spellings), frames, offset)


def texts(*pieces: str | bytes) -> list[str]:
    return [word.text for word in words(*pieces)]


def test_tags() -> None:
    text = "<|zh|><|NEUTRAL|><|Speech|><|withitn|>欢迎大家。"
    assert parse_tags(text) == RichTags("zh", "NEUTRAL", "Speech", True)
    assert strip_tags(text) == "欢迎大家。"
    assert parse_tags("<|nospeech|><|EMO_UNKNOWN|><|Event_UNK|><|woitn|>") == RichTags(
        "nospeech", "EMO_UNKNOWN", "Event_UNK", False
    )
    assert parse_tags("<|SPECIAL_TOKEN_1|> a < b | c > d") == RichTags()
    assert strip_tags("a < b | c > d") == "a < b | c > d"


def test_words_of_a_script_with_spaces() -> None:
    assert texts(" he", "llo", " wor", "ld", "!", " don", "'", "t") == ["hello", "world!", "don't"]


def test_characters_of_a_script_without_spaces() -> None:
    assert texts("你", "好", "，", "世", "界", "。") == ["你", "好，", "世", "界。"]


def test_mixed_scripts() -> None:
    assert texts("用", "chat", "gpt", "写", " ok") == ["用", "chatgpt", "写", "ok"]


def test_a_class_that_writes_nothing_does_not_part_a_word() -> None:
    assert texts(" hel", "", "lo", "", " world", "") == ["hello", "world"]
    assert texts("", " a") == ["a"] and texts("") == []
    assert texts("你", "", "好") == ["你", "好"]
    assert split_segments(words(" hel", "", "lo"))[0].text == "hello"


def test_a_space_of_its_own_begins_a_word() -> None:
    assert texts(" ", "a", "b", " ", "c") == ["ab", "c"]


def test_bytes_of_one_character_are_one_word() -> None:
    raw = "好".encode()
    (word,) = words(raw[:1], raw[1:2], raw[2:])
    assert word == Word("好", 0.0, 0.27)


def test_bytes_that_are_no_character() -> None:
    assert texts(b"\xff", " a") == ["\ufffd", "a"]


def test_tags_among_the_tokens_are_no_words() -> None:
    assert texts("<|HAPPY|>", " yes") == ["yes"]


def test_times_are_on_the_grid_of_60_ms_and_inside_the_recording() -> None:
    first, second, third = words(" a", " b", " c", frames=5)
    assert (first.start, first.end) == (0.0, 0.03)  # frame 0 is centred on 0
    assert (second.start, second.end) == (0.09, 0.15)
    assert (third.start, third.end) == (0.21, 0.27)
    assert words(" a", " b", frames=5, offset=10.0)[1] == Word("b", 10.09, 10.15)


def test_a_family_says_where_its_frames_begin() -> None:
    tokens = [CtcToken(0, 2, 3, 1.0), CtcToken(1, 9, 12, 1.0)]
    spelled = Vocabulary((b" a", b" b"))
    assert [word[1:] for word in timed_words(tokens, spelled, 11)] == [(0.09, 0.15), (0.51, 0.63)]
    assert [word[1:] for word in timed_words(tokens, spelled, 11, lead=0.0)] == [(0.12, 0.18), (0.54, 0.66)]


def test_segments_end_with_sentences_pauses_and_time() -> None:
    spoken = [Word("a", 0, 1), Word("b.", 1, 2), Word("c", 2.1, 3), Word("d", 5, 6)]
    assert [segment.text for segment in split_segments(spoken)] == ["a b.", "c", "d"]
    steady = [Word(str(i), i, i + 1) for i in range(10)]
    segments = split_segments(steady, max_seconds=4)
    assert [segment.text for segment in segments] == ["0 1 2 3", "4 5 6 7", "8 9"]
    assert [(segment.start, segment.end) for segment in segments] == [(0, 4), (4, 8), (8, 10)]
    assert split_segments([]) == []


def test_no_space_beside_wide_characters() -> None:
    spoken = [Word("你", 0, 1), Word("好", 1, 2), Word("ok", 2, 3), Word("go", 3, 4)]
    assert split_segments(spoken)[0].text == "你好ok go"


CUES = [Segment("a < b", 0.0, 1.5, ()), Segment("c", 3_599.9996, 3_661.25, ())]


def test_srt() -> None:
    assert srt(CUES) == "1\n00:00:00,000 --> 00:00:01,500\na < b\n\n2\n01:00:00,000 --> 01:01:01,250\nc\n"
    assert srt([]) == ""


def test_vtt() -> None:
    wanted = "WEBVTT\n\n00:00:00.000 --> 00:00:01.500\na &lt; b\n\n01:00:00.000 --> 01:01:01.250\nc\n"
    assert vtt(CUES) == wanted


def transcript(timed: bool = True) -> Transcript:
    spoken = (Word("你", 0.0, 0.5),) if timed else ()
    return Transcript("你", RichTags("zh"), spoken, tuple(split_segments(spoken)), 1.0)


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("txt", "你\n"),
        ("srt", "1\n00:00:00,000 --> 00:00:00,500\n你\n"),
        ("vtt", "WEBVTT\n\n00:00:00.000 --> 00:00:00.500\n你\n"),
    ],
)
def test_files(tmp_path: Path, kind: str, content: str) -> None:
    transcript().write(tmp_path / f"a.{kind}", kind)
    assert (tmp_path / f"a.{kind}").read_text(encoding="utf-8") == content
    assert [path.name for path in tmp_path.iterdir()] == [f"a.{kind}"]


def test_json() -> None:
    plain = transcript().to_json()
    assert plain["language"] == "zh" and plain["seconds"] == 1.0
    assert plain["segments"][0]["words"] == [{"text": "你", "start": 0.0, "end": 0.5}]


def test_subtitles_need_times(tmp_path: Path) -> None:
    with pytest.raises(MisuseError, match="timestamps"):
        transcript(timed=False).write(tmp_path / "a.srt", "srt")
    with pytest.raises(MisuseError, match="doc"):
        transcript().write(tmp_path / "a.doc", "doc")
    assert not list(tmp_path.iterdir())


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(UnicodeEncodeError):
        write_text(path, "\ud800")
    assert path.read_text() == "old" and len(list(tmp_path.iterdir())) == 1


def test_a_word_goes_on_behind_a_combining_mark_and_a_symbol() -> None:
    assert [word.text for word in words(" d\u032a", "o", " $", "5", ",", "x")] == ["d\u032ao", "$5,", "x"]
