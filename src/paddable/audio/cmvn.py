"""Mean and variance normalisation as FunASR ships it: ``am.mvn``, a Kaldi nnet in text form."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddable.errors import Unreadable

__all__ = ["Cmvn", "read_am_mvn"]


class Cmvn(NamedTuple):
    """Normalised feature = (feature + shift) * scale; both float32 [D]."""

    shift: NDArray[np.float32]
    scale: NDArray[np.float32]


def read_am_mvn(path: str | Path) -> Cmvn:
    """Reads ``am.mvn``: the numbers in brackets after ``<AddShift>`` and after ``<Rescale>``.

    Raises:
        Unreadable: the file is absent, has no such section, or the two sections differ in length.
    """
    path = Path(path)
    try:
        words = path.read_text(encoding="utf-8").split()
    except (OSError, UnicodeDecodeError) as error:
        raise Unreadable("cannot be read as text", where=str(path), why=str(error)) from error
    shift, scale = (_vector(words, tag, path) for tag in ("<AddShift>", "<Rescale>"))
    if len(shift) != len(scale):
        raise Unreadable(
            f"<AddShift> has {len(shift)} numbers and <Rescale> {len(scale)}",
            where=str(path),
            why="each feature needs one of both",
        )
    return Cmvn(shift, scale)


def _vector(words: list[str], tag: str, path: Path) -> NDArray[np.float32]:
    try:
        start = words.index("[", words.index(tag)) + 1
        return np.array(words[start : words.index("]", start)], np.float32)
    except ValueError as error:
        raise Unreadable(
            f"no list of numbers after {tag}",
            where=str(path),
            why="the features cannot be normalised",
            fix="take am.mvn from the model's own folder",
        ) from error
