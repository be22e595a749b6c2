"""Punctuation on a session: a text without to a text with, as FunASR's ``CTTransformer.inference`` writes it.

A text is cut into words (of ASCII letters) and single other characters. Twenty at a time are added to those whose
sentence has not ended, and the model says what follows each; what stands before the last end of a sentence is done.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from paddable.errors import UnreadableError
from paddable.runtime.speech.answers import finite
from paddable.runtime.speech.detection import Session
from paddable.runtime.speech.segments import Word

__all__ = ["PunctuationLayout", "Punctuator", "rows_of", "split_words"]

_STEP = 20
"""Words that are looked at in one go, besides those of the sentence at hand."""

_LONG = 200
"""Words of a sentence from which on it is cut at its last comma."""

_NOTHING = "_"
_ENDS = ("。", "？")
_NARROW = {"，": ",", "。": ".", "？": "?"}
"""Marks behind a word of ASCII letters."""


@dataclass(frozen=True)
class PunctuationLayout:
    """What bundle.json says of the model.

    Attributes:
        marks: what may follow a word; ``_`` is nothing.
        sentence_end: the mark that ends a sentence where the model does not.
    """

    marks: list[str] = field(default_factory=lambda: ["<unk>", _NOTHING, "，", "。", "？", "、"])
    sentence_end: int = 3


@dataclass(frozen=True)
class Punctuator:
    """CT-Transformer.

    Attributes:
        session: input ``text`` i64[1, N]; output ``scores`` f32[1, N, P].
        rows: row of the token table by word; ``<unk>`` serves every other word.
        layout: marks.
        longest: words that the session takes; None for any number. FunASR takes any: a sentence without an end or a
            comma within so many words is cut, without a mark.
    """

    session: Session
    rows: Mapping[str, int]
    layout: PunctuationLayout = field(default_factory=PunctuationLayout)
    longest: int | None = None

    def punctuate(self, text: str) -> str:
        """The text with punctuation, capital letters and an end; empty where it holds nothing but spaces."""
        return self.timed(text, [])[0]

    def timed(self, text: str, words: Sequence[Word]) -> tuple[str, list[Word]]:
        """A text and its words with punctuation.

        Args:
            text: without punctuation.
            words: with times. Together they spell the text, spaces aside; otherwise they stay as they are.
        """
        tokens = split_words(text)
        pieces = self._written(tokens)
        return "".join(pieces).strip(), _regrouped(words, tokens, pieces)

    def _written(self, tokens: Sequence[str]) -> list[str]:
        """Each token with the space before it and the mark behind it."""
        pieces = [piece for stretch in self._stretches(tokens) for piece in self._stretch_written(*stretch)]
        if pieces:
            pieces[-1] = _ended(pieces[-1])
        return pieces

    def _stretches(self, tokens: Sequence[str]) -> Iterator[tuple[list[str], list[str]]]:
        """Tokens and their marks, cut behind ends of sentences."""
        held: list[str] = []
        for start in range(0, len(tokens), self._step):
            held += tokens[start : start + self._step]
            marks = self._marks(held)
            if start + self._step >= len(tokens):
                yield held, marks
                return
            done = self._done(marks)
            if self.longest is not None and len(held) - done + self._step > self.longest:
                done = len(held)
            yield held[:done], marks[:done]
            held = held[done:]

    @property
    def _step(self) -> int:
        return _STEP if self.longest is None else min(_STEP, self.longest)

    def _marks(self, tokens: Sequence[str]) -> list[str]:
        unknown = self.rows["<unk>"]
        text = np.array([[self.rows.get(token, unknown) for token in tokens]], np.int64)
        scores = finite(self.session.run({"text": text})["scores"], "scores", "export the model again")
        return [self.layout.marks[best] for best in scores[0].argmax(axis=1)]

    def _done(self, marks: list[str]) -> int:
        """How many tokens are before the end of the last sentence, or of a part that is too long."""
        places = range(len(marks) - 2, 1, -1)
        end = next((i for i in places if marks[i] in _ENDS), None)
        if end is None and len(marks) > _LONG:
            end = next((i for i in places if marks[i] == "，"), None)
            if end is not None:
                marks[end] = self.layout.marks[self.layout.sentence_end]
        return 0 if end is None else end + 1

    @staticmethod
    def _stretch_written(tokens: Sequence[str], marks: Sequence[str]) -> Iterator[str]:
        for i, (token, mark) in enumerate(zip(tokens, marks, strict=True)):
            narrow = token[0].isascii()
            begins = i == 0 or marks[i - 1] in _ENDS
            apart = narrow and (i == 0 or tokens[i - 1][0].isascii())
            written = token.capitalize() if begins and narrow else token
            after = "" if mark == _NOTHING else _NARROW.get(mark, mark) if narrow else mark
            yield (" " if apart else "") + written + after


def split_words(text: str) -> list[str]:
    """Words of ASCII characters, and every other character by itself."""
    words: list[str] = []
    for part in text.split():
        word = ""
        for character in part:
            if character.isascii():
                word += character
                continue
            words += [word, character] if word else [character]
            word = ""
        words += [word] if word else []
    return words


def _regrouped(words: Sequence[Word], tokens: Sequence[str], pieces: Sequence[str]) -> list[Word]:
    """Words with what is written for the tokens that spell them; words of one token, such as 3 and 4 of 34, are one."""
    made: list[Word] = []
    at = done = 0
    while done < len(words):
        first, begin, spelling, spelled = words[done], at, "", ""
        while spelling != spelled or not spelling:
            if len(spelling) <= len(spelled) and done < len(words):
                spelling += words[done].text.replace(" ", "")
                done += 1
            elif len(spelled) < len(spelling) and at < len(tokens):
                spelled += tokens[at]
                at += 1
            else:
                return list(words)
        made.append(Word("".join(pieces[begin:at]).strip(), first.start, words[done - 1].end))
    return made if at == len(tokens) else list(words)


def _ended(text: str) -> str:
    """The last word of a text with the end of a sentence."""
    last = text[-1]
    if last in "，、":
        return text[:-1] + "。"
    if last == ",":
        return text[:-1] + "."
    if last in (".", "?") or last in _ENDS:
        return text
    return text + ("." if last.isascii() else "。")


def rows_of(pieces: Sequence[str], where: str) -> dict[str, int]:
    """Row of each word of a token table.

    Raises:
        UnreadableError: it has no row for unknown words.
    """
    rows = {piece: row for row, piece in enumerate(pieces)}
    if "<unk>" not in rows:
        raise UnreadableError("no <unk> in it", where=where, why="words outside the table have no row")
    return rows
