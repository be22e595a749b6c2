"""Labels in every published form, and what each class writes.

- ``tokens.txt``, ``vocab.txt``, ``units.txt``: a label a line, with its class behind or in front of it (k2, WeNet,
  sherpa-onnx), or in order;
- ``vocab.json``: label to class (transformers), with ``tokenizer_config.json`` beside it;
- ``tokens.json``: labels in order;
- ``tokenizer.json``: of transformers, with its pieces;
- ``*.model``: SentencePiece, and ``*.vocab``, the text of it: a piece and its score a line, in order.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paddable.bundle.foreign import HEAD, POINTER, foreign
from paddable.errors import MisuseError, UnreadableError, arguments
from paddable.extras import import_extra

__all__ = ["Labels", "Written", "read_labels", "written"]

_SPACE = "\u2581"
_BYTE = re.compile(r"<0x([0-9A-Fa-f]{2})>")
_DISAMBIGUATION = re.compile(r"#\d+")
"""Labels of icefall's decoding graphs, which are no classes of the model."""

_BLANKS = ("<blk>", "<blank>", "[blank]", "[BLANK]", "<BLANK>", "<ctc>", "<eps>", "blank")
_PADS = ("<pad>", "[PAD]")
_SILENT = {*_BLANKS, *_PADS, "<s>", "</s>", "<sos/eos>", "<sos>", "<eos>"}
_BOUNDARIES = ("|", "<space>", "<SPACE>", "[SPACE]", "<sp>", "<wb>", _SPACE, " ")


@dataclass(frozen=True)
class Labels:
    """Labels as their file has them.

    Attributes:
        path: the file.
        names: by class.
        tokenizer: what transformers says of its tokenizer; None for labels of other origin.
    """

    path: Path
    names: Mapping[int, str]
    tokenizer: Mapping[str, Any] | None = None

    @property
    def count(self) -> int:
        """Classes that they name, from 0 to the last one."""
        return max(self.names, default=-1) + 1

    @property
    def told(self) -> str:
        """How many, and which number between them is nobody's."""
        hole = next((place for place in range(self.count) if place not in self.names), None)
        among = (
            ""
            if hole is None
            else f" ({self.path.name} has {len(self.names)}, up to {self.count - 1} and without {hole})"
        )
        return f"{self.count} labels{among}"

    def place(self, name: str) -> int | None:
        """The class of a label."""
        return next((place for place, other in self.names.items() if other == name), None)


@dataclass(frozen=True)
class Written:
    """What the classes of a model write.

    Attributes:
        texts: for each class its text, or its byte.
        blank: the blank class.
        found: how blank and word boundary were found.
    """

    texts: Sequence[str | int]
    blank: int
    found: tuple[str, ...]


def read_labels(path: Path) -> Labels:
    """Reads a file of labels.

    Raises:
        UnreadableError: absent, empty, or in no known form.
        MissingExtraError: a SentencePiece model without sentencepiece installed.
    """
    if not path.is_file():
        what = "it is a directory" if path.is_dir() else "no such file"
        raise UnreadableError(what, where=str(path), fix="give the file with the labels of the model")
    try:
        names, tokenizer = _model(path) if path.suffix == ".model" else _text(path)
    except UnicodeDecodeError as error:
        model = path.suffix == ".onnx" or error.object.startswith(b"\x08")  # as exporters begin a model
        why = "are the model and the labels swapped?" if model else "save it as UTF-8"
        raise UnreadableError("the labels are not text in UTF-8", where=str(path), why=why) from error
    except (OSError, ValueError, RuntimeError, RecursionError) as error:
        raise UnreadableError("no readable labels", where=str(path), why=str(error).replace("\n", " ")) from error
    names = {place: name for place, name in names.items() if not _DISAMBIGUATION.fullmatch(name)}
    if not names:
        raise UnreadableError("there is no label in it", where=str(path))
    return Labels(path, names, tokenizer)


def written(labels: Labels, classes: int, blank: str | None, boundary: str | None) -> Written:
    """What each class of a model writes.

    Args:
        labels: of the model, or of all its classes but the blank.
        classes: of the model.
        blank: its class or label, where it is known.
        boundary: the label between words, ``none``, or None where it is to be found.

    Raises:
        UnreadableError: they name another number of classes.
        MisuseError: the blank is not to be found, or the label that was named is not there.
    """
    names = dict(labels.names)
    place, how = _blank(labels, classes, blank)
    if len(names) == labels.count == classes - 1 and place not in names:
        how += f"; the {classes - 1} labels are those of the other classes"
    elif len(names) == labels.count == classes - 1 and blank is not None:  # the labels leave the blank out
        names = {other + (other >= place): name for other, name in names.items()}
    lacking = [other for other in range(classes) if other not in names and other != place]
    if lacking or labels.count > classes:
        first = (
            f"class {lacking[0]} has none" if lacking else f"{names[labels.count - 1]!r} is class {labels.count - 1}"
        )
        raise UnreadableError(
            f"{len(names)} labels for {classes} classes: {first}",
            where=str(labels.path),
            why="text would be lost or wrong",
            fix="take the labels from the release that the model is from",
        )
    said = labels.tokenizer
    verbatim = said is not None and not any(name.startswith(_SPACE) for name in names.values())
    space, told = _boundary(labels, boundary)
    texts: list[str | int] = []
    for other in range(classes):
        if other == place:
            texts.append("")
        elif names[other] in space:
            texts.append(str((said or {}).get("replace_word_delimiter_char", " ")))
        elif verbatim:
            texts.append(names[other].lower() if (said or {}).get("do_lower_case") else names[other])
        else:
            texts.append(_of_piece(names[other]))
    return Written(texts, place, (f"blank: class {place}, {how}", f"word boundary: {told}"))


def _of_piece(piece: str) -> str | int:
    if piece in _SILENT:
        return ""
    if piece == "<unk>":
        return " \u2047 "  # what SentencePiece itself writes
    byte = _BYTE.fullmatch(piece)
    return int(byte[1], 16) if byte else piece.replace(_SPACE, " ")


def _blank(labels: Labels, classes: int, asked: str | None) -> tuple[int, str]:
    if asked is not None:
        place = labels.place(asked)
        if place is None and re.fullmatch(r"-?\d+", asked) and -classes <= int(asked) < classes:
            place = int(asked) % classes
        if place is None:
            raise MisuseError(
                f"{arguments(blank=asked)} is neither a label nor a class below {classes}", where=str(labels.path)
            )
        return place, "as asked"
    pad = (labels.tokenizer or {}).get("pad_token")
    pad = pad.get("content") if isinstance(pad, Mapping) else pad  # older files keep a token with its properties
    for name in (*([pad] if isinstance(pad, str) else []), *_BLANKS):
        if (place := labels.place(name)) is not None:
            return place, f"which is labelled {name!r}"
    if labels.count == classes - 1:
        return classes - 1, "the one behind the last label, as NeMo has it"
    for name in _PADS:
        if (place := labels.place(name)) is not None:
            return place, f"which is labelled {name!r}, as wav2vec2 has it"
    raise MisuseError(
        f"which of the {classes} classes is the blank?",
        where=str(labels.path),
        why=f"no label is called {', '.join((*_BLANKS[:2], *_PADS))}",
        fix=f"say {arguments(blank=0)}, {arguments(blank=classes - 1)}, or its label",
    )


def _boundary(labels: Labels, asked: str | None) -> tuple[set[str], str]:
    """The labels that write the space between words, and how they were found."""
    if asked == "none":
        return set(), "none, as asked"
    if asked is not None:
        if labels.place(asked) is None:
            raise MisuseError(f"{arguments(word_boundary=asked)} is no label", where=str(labels.path))
        return {asked}, f"{asked!r}, as asked"
    if labels.tokenizer is not None:
        said = labels.tokenizer.get("word_delimiter_token", "|")
        said = said.get("content") if isinstance(said, Mapping) else said
        if isinstance(said, str) and labels.place(said) is not None:
            told = "tokenizer_config.json says" if "word_delimiter_token" in labels.tokenizer else "transformers has it"
            return {said}, f"{said!r}, as {told}"
    pieces = sum(name.startswith(_SPACE) and name != _SPACE for name in labels.names.values())
    if pieces:
        return set(), f"{_SPACE!r} in front of {pieces} label{'s' if pieces > 1 else ''}"
    there = [name for name in _BOUNDARIES if labels.place(name) is not None]
    if there:
        return set(there), " and ".join(map(repr, there))
    return set(), f"none among the labels; if one is, say {arguments(word_boundary='LABEL')}"


def _model(path: Path) -> tuple[dict[int, str], None]:
    sentencepiece = import_extra("sentencepiece", where=str(path))
    model = sentencepiece.SentencePieceProcessor(model_proto=path.read_bytes())
    return {i: model.id_to_piece(i) for i in range(model.get_piece_size())}, None


def _text(path: Path) -> tuple[dict[int, str], Mapping[str, Any] | None]:
    text = path.read_text(encoding="utf-8-sig")
    if (other := foreign(text[:HEAD].encode())) not in ("", "text", "JSON"):
        raise ValueError(f"it is {other}" + ("; fetch it with git lfs pull" if other == POINTER else ""))
    if path.suffix != ".json":
        return _lines(text), None
    said = json.loads(text)
    if isinstance(said, dict) and isinstance(said.get("model"), dict) and "vocab" in said["model"]:
        vocabulary = said["model"]["vocab"]
        names = {i: row[0] for i, row in enumerate(vocabulary)} if isinstance(vocabulary, list) else _turned(vocabulary)
        return names | {each["id"]: each["content"] for each in said.get("added_tokens", ())}, None
    if isinstance(said, list) and all(isinstance(name, str) for name in said):
        return dict(enumerate(said)), None
    if isinstance(said, dict) and any(isinstance(value, dict) for value in said.values()):
        raise ValueError(f"labels of several languages ({', '.join(list(said)[:3])}, ...); cut out the one you need")
    if not isinstance(said, dict):
        raise ValueError("neither a list of labels nor labels with their classes")
    beside = {name: _beside(path, name) for name in ("added_tokens.json", "tokenizer_config.json")}
    return _turned({**said, **beside["added_tokens.json"]}), beside["tokenizer_config.json"]


def _beside(path: Path, name: str) -> dict[str, Any]:
    file = path.with_name(name)
    said = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    if not isinstance(said, dict):
        raise ValueError(f"{name} beside it is no JSON object")
    return said


def _turned(classes: Mapping[str, Any]) -> dict[int, str]:
    for name, place in classes.items():
        if type(place) is not int or place < 0:
            raise ValueError(f"{name!r} has no whole number as its class, but {place!r}")
    return _turned_pairs((name, str(place)) for name, place in classes.items())


def _turned_pairs(pairs: Iterable[tuple[str, str]]) -> dict[int, str]:
    """Labels by their class; one of nothing but spaces is a space."""
    turned: dict[int, str] = {}
    for name, text in pairs:
        if int(text) in turned:
            raise ValueError(f"{turned[int(text)]!r} and {name!r} have the same class, {text}")
        turned[int(text)] = name
    return turned


_NUMBER = r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?"
_BEHIND = re.compile(rf"(?P<name>.*)(?P<gap>\s)(?P<number>{_NUMBER})\s*", re.DOTALL)
_BEFORE = re.compile(rf"\s*(?P<number>{_NUMBER})(?P<gap>\s)(?P<name>.*)", re.DOTALL)
_SEPARATED = re.compile(rf".+[,;]\s*{_NUMBER}\s*|{_NUMBER}\s*[,;].+")


def _lines(text: str) -> dict[int, str]:
    """A label a line; where any line has a number too, each has one: its class, or SentencePiece's score."""
    lines = text.replace("\r", "").rstrip("\n").split("\n") if text.strip() else []
    rows = [(f"line {i}, {line[:40]!r}", line) for i, line in enumerate(lines, 1) if line.strip()]
    separated = [place for place, line in rows if _SEPARATED.fullmatch(line)]
    if len(separated) * 2 >= len(rows) > 0:
        raise ValueError(f"{separated[0]}: a comma is part of a label; put a space or a TAB in front of its class")
    numbered = max(([form.fullmatch(line) for _, line in rows] for form in (_BEHIND, _BEFORE)), key=_labelled)
    if not _labelled(numbered):
        if "" in lines:
            raise ValueError(f"line {lines.index('') + 1} is empty: a label a line, or a label and its class")
        return dict(enumerate(lines))
    found = []
    for (place, _), match in zip(rows, numbered, strict=True):
        if match is None:
            raise ValueError(f"{place}: it has no class, and others have one; number every line or none")
        name = match["name"].rstrip() or match["name"].strip(" \t") or " "
        found.append((place, name, match["number"], match["gap"]))
    if all(gap == "\t" and float(number) <= 0 for *_, number, gap in found) and any(
        float(number) for *_, number, _ in found
    ):
        return {i: name for i, (_, name, *_) in enumerate(found)}  # scores are logarithms, or count down
    for place, _, number, _ in found:
        if not (number.isascii() and number.isdigit()):
            raise ValueError(f"{place}: {number} is no class; classes are whole numbers from 0")
    return _turned_pairs((name, number) for _, name, number, _ in found)


def _labelled(matches: Sequence[re.Match[str] | None]) -> int:
    """Lines that have a label and a number; a number behind spaces alone may be a label."""
    return sum(match is not None and bool(match["name"].strip()) for match in matches)
