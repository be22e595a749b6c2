"""Mean and variance normalisation as FunASR ships it: ``am.mvn``, a Kaldi nnet in text form."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddable.errors import UnreadableError

__all__ = ["Cmvn", "read_am_mvn"]

_FIX = "take am.mvn from the model's own folder"


class Cmvn(NamedTuple):
    """Normalised feature = (feature + shift) * scale; both float32 [D]."""

    shift: NDArray[np.float32]
    scale: NDArray[np.float32]


def read_am_mvn(path: str | Path, size: int | None = None) -> Cmvn:
    """Reads ``am.mvn``: the numbers in brackets after ``<AddShift>`` and after ``<Rescale>``.

    Args:
        path: the file.
        size: channels of a feature, where they are known.

    Raises:
        UnreadableError: the file is absent, has no such section, the two sections differ in length or from ``size``, or
            a number is not finite in float32, or a scale not above 0.
    """
    path = Path(path)
    try:
        words = path.read_text(encoding="utf-8").split()
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableError("cannot be read as text", where=str(path), why=str(error)) from error
    shift, scale = (_vector(words, tag, path) for tag in ("<AddShift>", "<Rescale>"))
    if len(shift) != len(scale):
        raise UnreadableError(
            f"<AddShift> has {len(shift)} numbers and <Rescale> {len(scale)}",
            where=str(path),
            why="each feature needs one of both",
        )
    if size not in (None, len(shift)):
        raise UnreadableError(f"{len(shift)} numbers, expected {size}: one for each channel", where=str(path), fix=_FIX)
    _refuse_lost(shift, ~np.isfinite(shift), "<AddShift>", path)
    _refuse_lost(scale, ~(np.isfinite(scale) & (scale > 0)), "<Rescale>", path)
    return Cmvn(shift, scale)


def _vector(words: list[str], tag: str, path: Path) -> NDArray[np.float32]:
    try:
        start = words.index("[", words.index(tag)) + 1
        with np.errstate(over="ignore"):  # an infinity is refused by its number
            return np.array(words[start : words.index("]", start)], np.float32)
    except ValueError as error:
        raise UnreadableError(
            f"no list of numbers after {tag}",
            where=str(path),
            why="the features cannot be normalised",
            fix=_FIX,
        ) from error


def _refuse_lost(values: NDArray[np.float32], lost: NDArray[np.bool_], tag: str, path: Path) -> None:
    if lost.any():
        place = int(np.flatnonzero(lost)[0])
        expected = "a finite number" if tag == "<AddShift>" else "a finite number above 0"
        raise UnreadableError(
            f"number {place + 1} after {tag} is {values[place]}, expected {expected}",
            where=str(path),
            why="the feature would be lost, and with it every answer",
            fix=_FIX,
        )
