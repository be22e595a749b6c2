"""Paraformer's outputs to text and timed words, by FunASR's own rules.

The model says how many tokens there are and which. When they were said follows from weights (``us_alphas`` of BiCIF,
else ``fires``): scaled so that they add up to the tokens, they are summed from the left, and each time the sum passes 1
a token begins. After FunASR's ``ts_prediction_lfr6_standard`` and ``sentence_postprocess``.

Legend: T features, U token rows, V classes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddable.errors import MisuseError
from paddable.runtime.speech.answers import finite
from paddable.runtime.speech.heard import Heard
from paddable.runtime.speech.segments import FRAME_SECONDS, Word
from paddable.runtime.speech.text import Vocabulary
from paddable.several import several

__all__ = ["CifDecoder", "CifLayout", "join_tokens", "token_times", "written_words"]

_THRESHOLD = np.float32(1 - 1e-4)
_SHIFT = 1.5  # steps that a token begins before its fire
_LONGEST = 12  # steps of a token; what is left before the next one is silence
_SILENCE = 5  # steps at either end that are silence rather than part of a token
_NOT_WRITTEN = {"<unk>", "<OOV>"}


@dataclass(frozen=True)
class CifLayout:
    """How a Paraformer spells its outputs.

    Attributes:
        blank: class that writes nothing.
        ends: classes of beginning and end, which write nothing either.
        upsampling: steps of ``us_alphas`` in one feature; None where the model has no such output.
        tail: what the model adds to the sum of its weights.
        hotwords: how many hotwords of how many tokens the model takes, the one that stands for none included; None
            where it takes none.
    """

    blank: int = 0
    ends: Sequence[int] = (1, 2)
    upsampling: int | None = 3
    tail: float = 0.45
    hotwords: Sequence[int] | None = None


@dataclass(frozen=True)
class CifDecoder:
    """Best class of each token.

    Attributes:
        vocabulary: what the classes write; ``@@`` at the end says that the word goes on.
        layout: which classes write nothing, and where the times are.
    """

    vocabulary: Vocabulary
    layout: CifLayout = CifLayout()

    def prompts(self, language: str, itn: bool, hotwords: str | Sequence[str] = ()) -> dict[str, NDArray[np.int64]]:
        """The hotwords, where the model takes some; it knows one way of writing.

        Raises:
            MisuseError: a language, or hotwords that the model does not take.
        """
        if language != "auto":
            raise MisuseError(f"language {language!r}", why="this model finds the language itself", fix="leave it out")
        if self.layout.hotwords is None:
            if hotwords:
                raise MisuseError(
                    "hotwords", why="this model takes none", fix="leave them out, or take a SeACo Paraformer"
                )
            return {}
        most, longest = self.layout.hotwords
        hotwords = several("hotwords", hotwords)
        if len(hotwords) >= most:
            raise MisuseError(f"{len(hotwords)} hotwords", fix=f"give {most - 1} at most")
        rows, lengths = np.zeros((most, longest), np.int64), np.zeros(most, np.int64)
        spelled = [self._tokens(word, longest) for word in hotwords]
        for row, tokens in enumerate([*spelled, [self.layout.ends[0]]] if spelled else []):
            rows[row, : len(tokens)], lengths[row] = tokens, len(tokens)
        return {"hotwords": rows, "hotword_lengths": lengths}

    def _tokens(self, word: str, longest: int) -> list[int]:
        """A hotword as FunASR cuts it: words of the table, and each Chinese character and digit by itself."""
        pieces: list[str] = []
        for part in word.lower().split():
            pieces += list(part) if part not in self._classes and _is_character(part) else [part]
        missing = [piece for piece in pieces if piece not in self._classes]
        if missing or not pieces:
            told = f"{', '.join(missing)} of the hotword {word!r}" if missing else "an empty hotword"
            raise MisuseError(f"{told} is not in the token table", fix="leave it out")
        if len(pieces) > longest:
            raise MisuseError(f"the hotword {word!r} has {len(pieces)} tokens", fix=f"give {longest} at most")
        return [self._classes[piece] for piece in pieces]

    @cached_property
    def _classes(self) -> dict[str, int]:
        spellings = enumerate(self.vocabulary.spellings)
        return {text: number for number, spelling in spellings if (text := spelling.decode("utf-8", "replace"))}

    def read(self, outputs: Mapping[str, NDArray[Any]], offset: float) -> Heard:
        """What ``logits`` [1, U, V], ``token_count`` [1] and the weights say.

        Raises:
            PaddableError: NaN or infinity among them.
        """
        count, layout = int(outputs["token_count"][0]), self.layout
        logits = finite(outputs["logits"][0, :count], "logits")
        weights, sums = self._weights(outputs, count)
        classes = [int(best) for best in logits.argmax(axis=1) if best not in (layout.blank, *layout.ends)]
        times = token_times(weights, sums, len(classes), FRAME_SECONDS / (layout.upsampling or 1))
        words = written_words(map(self._spelling, classes), times)
        text = join_tokens([word for word, _, _ in words])
        return Heard(text, tuple(Word(word, max(start, 0.0) + offset, end + offset) for word, start, end in words))

    def _weights(
        self, outputs: Mapping[str, NDArray[Any]], count: int
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """The weights that time the tokens, and the sums whose fires are the borders."""
        if self.layout.upsampling is None:  # FunASR takes the fires for weights and the weights for fires
            fires = finite(outputs["fires"][0], "fires")
            rest = np.float32(fires[-1] % 1 + self.layout.tail)
            alphas = finite(outputs["alphas"][0], "alphas")
            return np.append(fires, rest), np.append(alphas, np.float32(self.layout.tail))
        weights = np.asarray(finite(outputs["us_alphas"][0], "us_alphas"), np.float32)
        if (total := weights.sum()) > 0:
            weights = weights * np.float32(count / total)
        return weights, _running_sums(weights)

    def _spelling(self, token: int) -> str:
        text = self.vocabulary.spelling(token).decode("utf-8", errors="replace").strip()
        return "" if text in _NOT_WRITTEN or text == "\u2047" else text


def token_times(
    weights: NDArray[np.float32], sums: NDArray[np.float32], tokens: int, step_seconds: float
) -> list[tuple[float, float]]:
    """Begin and end of each token in seconds, to the millisecond.

    Args:
        weights: one a step.
        sums: running sums of the weights, 1 or more where a border is. They are made again, from weights that add up
            to one more than the tokens, where the borders are not one more than those.
        tokens: how many.
        step_seconds: length of a step.
    """
    if not tokens:
        return []
    borders = np.flatnonzero(sums >= _THRESHOLD) - _SHIFT
    if len(borders) != tokens + 1 and weights.sum() > 0:
        weights = weights / np.float32(weights.sum() / np.float32(tokens + 1))
        borders = np.flatnonzero(_running_sums(weights) >= _THRESHOLD) - _SHIFT
    times = [(begin, min(end, begin + _LONGEST)) for begin, end in pairwise(borders)]
    if times:
        last = borders[-1]
        end = (len(sums) + last) / 2 if len(sums) - last > _SILENCE else len(sums)
        # the pause that a long last token is cut at stays FunASR's: only then does silence, not the token, last on
        if borders[-1] - borders[-2] <= _LONGEST:
            times[-1] = (times[-1][0], end)
    times = times[:tokens]
    times += [times[-1][1:] * 2 if times else (0.0, float(len(sums)))] * (tokens - len(times))
    return [(int(begin * step_seconds * 1000) / 1000, int(end * step_seconds * 1000) / 1000) for begin, end in times]


def join_tokens(words: Sequence[str]) -> str:
    """Words as FunASR writes them: a space behind words of letters, none beside Chinese characters and digits."""
    text = ""
    for word in words:
        text = (text.removesuffix(" ") if _is_character(word) else text) + word + " " * _is_letters(word)
    return text.strip()


def _running_sums(weights: NDArray[np.float32]) -> NDArray[np.float32]:
    """The sum after each step, in float32 as FunASR adds; passing the threshold takes it away."""
    sums, total = np.empty_like(weights), np.float32(0)
    for step, weight in enumerate(weights):
        total = np.float32(total + weight)
        sums[step] = total
        if total >= _THRESHOLD:
            total = np.float32(total - _THRESHOLD)
    return sums


def written_words(spellings: Iterable[str], times: Sequence[tuple[float, float]]) -> list[tuple[str, float, float]]:
    """Words with times: pieces joined where one ends in ``@@``, and single letters to abbreviations in capitals."""
    words: list[tuple[str, float, float]] = []
    goes_on = False
    for spelling, (start, end) in zip(spellings, times, strict=True):
        if not spelling:
            continue
        text = spelling.removesuffix("@@")
        if goes_on and not _is_character(text):
            words[-1] = (words[-1][0] + text, words[-1][1], end)
        elif text:
            words.append((text, start, end))
        goes_on = spelling.endswith("@@") and bool(words)
    return _abbreviations(words)


def _abbreviations(words: Sequence[tuple[str, float, float]]) -> list[tuple[str, float, float]]:
    joined: list[tuple[str, float, float]] = []
    letters = 0  # single ones at the end of ``joined``
    for text, start, end in words:
        single = len(text) == 1 and text.isascii() and text.isalpha()
        if single and letters:
            joined[-1] = (joined[-1][0].upper() + text.upper(), joined[-1][1], end)
        else:
            joined.append((text, start, end))
        letters = letters + 1 if single else 0
    return joined


def _is_character(word: str) -> bool:
    """What FunASR calls Chinese: an ideograph, a digit or @."""
    return bool(word) and all("\u4e00" <= c <= "\u9fff" or "0" <= c <= "9" or c == "@" for c in word)


def _is_letters(word: str) -> bool:
    return bool(word) and all(c == "'" or (c.isalpha() and not _is_character(c)) for c in word)
