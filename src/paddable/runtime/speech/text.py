"""Token tables: from CTC classes to text.

Every published table comes down to bytes for each class, so one class serves them all: SentencePiece models,
tokens.json (the same pieces as a list), tiktoken rank files, and labels.json, which ``export ctc`` makes of any other:
``{"writes": [...]}``, for each class the text that it writes, or its byte as a number.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from paddable.bundle.conform import conforms
from paddable.errors import UnreadableError
from paddable.extras import import_extra

__all__ = ["Vocabulary", "read_pieces", "read_vocabulary"]

_SPACE = "\u2581"
_SILENT = {"<s>", "</s>", "<pad>", "<blank>", "<blk>"}
_BYTE = re.compile(r"<0x([0-9A-Fa-f]{2})>")


@dataclass(frozen=True)
class Vocabulary:
    """What each class writes.

    Attributes:
        spellings: bytes of each class; a character may be spread over several classes, and a space in front begins a
            word.
    """

    spellings: tuple[bytes, ...]

    @classmethod
    def of(cls, writes: Iterable[str | int]) -> Vocabulary:
        """Of the text that each class writes, or its byte."""
        return cls(tuple(bytes([each]) if isinstance(each, int) else each.encode() for each in writes))

    def __len__(self) -> int:
        return len(self.spellings)

    def spelling(self, token: int) -> bytes:
        """Bytes of a class; none past the table (timestamps, and the blank at the end of tiktoken tables)."""
        return self.spellings[token] if 0 <= token < len(self.spellings) else b""

    def text(self, tokens: Iterable[int]) -> str:
        """The classes as text; bytes that form no character become U+FFFD."""
        return b"".join(self.spelling(token) for token in tokens).decode("utf-8", errors="replace").strip()


def read_vocabulary(path: str | Path) -> Vocabulary:
    """Reads ``tokens.json``, ``*.model`` (SentencePiece) or ``*.tiktoken``.

    Raises:
        UnreadableError: absent, damaged, or of another kind.
        MissingExtraError: a SentencePiece model without sentencepiece installed.
    """
    path = Path(path)
    if not path.is_file():
        raise UnreadableError("no such file", where=str(path))
    readers: dict[str, Callable[[Path], Iterable[bytes]]] = {
        ".json": _read_pieces,
        ".model": _read_sentencepiece,
        ".tiktoken": _read_tiktoken,
    }
    reader = readers.get(path.suffix)
    if reader is None:
        raise UnreadableError(
            f"a token table of kind {path.suffix or path.name!r}", where=str(path), fix=f"give {', '.join(readers)}"
        )
    try:
        return Vocabulary(tuple(reader(path)))
    except (ValueError, RuntimeError, binascii.Error) as error:
        raise UnreadableError(
            "not a readable token table", where=str(path), why=str(error).replace("\n", " ")
        ) from error


def read_pieces(path: Path) -> list[str]:
    """The rows of ``tokens.json`` as they stand there.

    Raises:
        UnreadableError: absent, or no list of strings.
    """
    try:
        return _listed(path)
    except (OSError, ValueError, RecursionError) as error:
        why = str(error).replace("\n", " ")
        raise UnreadableError("not a readable token table", where=str(path), why=why) from error


def _listed(path: Path) -> list[str]:
    pieces = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(pieces, list) or not all(isinstance(piece, str) for piece in pieces):
        raise ValueError("not a list of strings")
    return pieces


def _read_pieces(path: Path) -> Iterable[bytes]:
    said = json.loads(path.read_text(encoding="utf-8"))
    if isinstance(said, dict) and conforms(said.get("writes"), Sequence[str | int]):
        return Vocabulary.of(said["writes"]).spellings
    return _piece_spellings(_listed(path))


def _read_sentencepiece(path: Path) -> list[bytes]:
    sentencepiece = import_extra("sentencepiece", where=str(path))
    model = sentencepiece.SentencePieceProcessor(model_proto=path.read_bytes())
    return _piece_spellings([model.id_to_piece(i) for i in range(model.get_piece_size())])


def _piece_spellings(pieces: Sequence[str]) -> list[bytes]:
    return [_piece_spelling(piece) for piece in pieces]


def _piece_spelling(piece: str) -> bytes:
    if piece in _SILENT:
        return b""
    if piece == "<unk>":
        return " \u2047 ".encode()  # what SentencePiece itself writes
    byte = _BYTE.fullmatch(piece)
    return bytes([int(byte.group(1), 16)]) if byte else piece.replace(_SPACE, " ").encode()


def _read_tiktoken(path: Path) -> list[bytes]:
    rows = [line.split() for line in path.read_text(encoding="ascii").splitlines() if line.strip()]
    if any(len(row) != 2 for row in rows):
        raise ValueError("a line is not '<base64> <rank>'")
    ranked = {int(rank): base64.b64decode(token, validate=True) for token, rank in rows}
    if sorted(ranked) != list(range(len(rows))):
        raise ValueError("the ranks are not 0, 1, 2, ...")
    return [ranked[i] for i in range(len(ranked))]
