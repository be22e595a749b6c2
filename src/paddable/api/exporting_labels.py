"""The token table of a checkpoint, found and compared with the classes that its weights have, or made."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path

from paddable.errors import UnreadableError
from paddable.runtime.speech.text import read_vocabulary

__all__ = ["labels_of", "write_labels"]

_SPECIAL = 1 / 20
"""Of the classes, those that a tiktoken file may leave out: it lists no special tokens, times and blank. Fun-ASR-Nano
has about 1 680 of them among 60 515 classes."""


def labels_of(folder: Path, patterns: Sequence[str], classes: int) -> Path:
    """The first file of a folder that fits a pattern; patterns go before names.

    Args:
        folder: the checkpoint.
        patterns: of file names, best first.
        classes: CTC classes, the blank included.

    Raises:
        UnreadableError: no such file, a damaged one, or one of another model: a list of pieces names every class, a
            tiktoken file all but the special ones.
        MissingExtraError: a SentencePiece model without sentencepiece installed.
    """
    path = next((found for pattern in patterns for found in sorted(folder.glob(pattern))), None)
    if path is None:
        raise UnreadableError(
            "no token table in it",
            where=str(folder),
            why="without one the model's classes are numbers, not text",
            fix=f"put {' or '.join(patterns)} of the model beside its weights",
        )
    rows = len(read_vocabulary(path))
    least = math.ceil(classes * (1 - _SPECIAL)) if path.suffix == ".tiktoken" else classes
    if not least <= rows <= classes:
        expected = str(classes) if least == classes else f"{least} to {classes}"
        raise UnreadableError(
            f"{rows} rows, expected {expected} for the {classes} classes of the weights",
            where=str(path),
            why="text would be lost or wrong",
            fix="take the table from the release that the weights are from",
        )
    return path


def write_labels(writes: Sequence[str | int], folder: Path) -> Path:
    """labels.json in a folder: for each class the text that it writes, or its byte."""
    path = folder / "labels.json"
    path.write_text(json.dumps({"writes": list(writes)}, ensure_ascii=False) + "\n", encoding="utf-8")
    return path
