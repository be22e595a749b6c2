"""Labels in every published form, and where their blank and word boundary are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from paddable.errors import MisuseError, PaddableError, UnreadableError
from paddable.families.ctc.labels import Labels, read_labels, written


def of(tmp_path: Path, name: str, content: Any, **beside: Any) -> Labels:
    path = tmp_path / name
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    path.write_text(text, encoding="utf-8")
    for other, said in beside.items():
        (tmp_path / f"{other}.json").write_text(json.dumps(said))
    return read_labels(path)


FORMS = {
    "k2": ("tokens.txt", "<blk> 0\n▁HE 1\nL 2\n#0 3\n"),
    "a tab": ("tokens.txt", "<blk>\t0\n▁HE\t1\nL\t2\n"),
    "Windows": ("tokens.txt", "\ufeff<blk> 0\r\n▁HE 1\r\nL 2\r\n\r\n"),
    "any order": ("units.txt", "L 2\n<blk> 0\n▁HE 1\n"),
    "class in front": ("vocab.txt", "0 <blk>\n1 ▁HE\n2 L\n"),
    "columns": ("tokens.txt", "<blk>  0\n▁HE    1\nL      2\n"),
    "SentencePiece's text": ("bpe.vocab", "<blk>\t0\n▁HE\t-1.5\nL\t-2.25e+00\n"),
    "SentencePiece's text of pairs": ("bpe.vocab", "<blk>\t0\n▁HE\t-0\nL\t-1\n"),
    "in order": ("vocab.txt", "<blk>\n▁HE\nL\n"),
    "a list": ("tokens.json", ["<blk>", "▁HE", "L"]),
    "a mapping": ("vocab.json", {"L": 2, "<blk>": 0, "▁HE": 1}),
    "a tokenizer": (
        "tokenizer.json",
        {"model": {"vocab": [["<blk>", 0.0], ["▁HE", -1.0]]}, "added_tokens": [{"id": 2, "content": "L"}]},
    ),
    "another tokenizer": ("tokenizer.json", {"model": {"vocab": {"<blk>": 0, "▁HE": 1, "L": 2}}}),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_every_form_says_the_same(form: str, tmp_path: Path) -> None:
    labels = of(tmp_path, *FORMS[form])
    assert labels.names == {0: "<blk>", 1: "▁HE", 2: "L"}
    found = written(labels, 3, None, None)
    assert (list(found.texts), found.blank) == (["", " HE", "L"], 0)
    assert found.found == ("blank: class 0, which is labelled '<blk>'", "word boundary: '▁' in front of 1 label")


def test_a_sentencepiece_model(tmp_path: Path) -> None:
    spm = pytest.importorskip("sentencepiece")
    (tmp_path / "text").write_text("low lower lowest\n" * 30)
    spm.SentencePieceTrainer.train(
        input=str(tmp_path / "text"), model_prefix=str(tmp_path / "bpe"), vocab_size=14, byte_fallback=False,
        minloglevel=2,
    )  # fmt: skip
    labels = read_labels(tmp_path / "bpe.model")
    assert labels.count == 14
    assert read_labels(tmp_path / "bpe.vocab").names == labels.names
    assert written(labels, 15, None, None).blank == 14  # NeMo: the blank is behind the pieces


@pytest.mark.parametrize(
    ("lines", "name"),
    [("<blk> 0\n  1\na 2\n", " "), ("<blk> 0\n 1\na 2\n", " "), ("<blk> 0\n1 1\na 2\n", "1"), ("9\n8\n7\n", "8")],
)
def test_a_space_and_a_digit_are_labels(lines: str, name: str, tmp_path: Path) -> None:
    assert of(tmp_path, "tokens.txt", lines).names[1] == name


def test_bytes_and_what_is_silent(tmp_path: Path) -> None:
    labels = of(tmp_path, "tokens.json", ["<blank>", "<0xE4>", "<s>", "<unk>", "▁a"])
    assert list(written(labels, 5, None, None).texts) == ["", 0xE4, "", " ⁇ ", " a"]


def test_a_vocabulary_of_transformers_is_written_as_it_stands(tmp_path: Path) -> None:
    vocabulary = {"<pad>": 0, "<s>": 1, "<unk>": 2, "|": 3, "A": 4}
    found = written(of(tmp_path, "vocab.json", vocabulary), 5, None, None)
    assert list(found.texts) == ["", "<s>", "<unk>", " ", "A"] and "as wav2vec2 has it" in found.found[0]
    assert found.found[1] == "word boundary: '|', as transformers has it"  # no tokenizer_config.json is there
    config = {
        "pad_token": {"content": "A"},
        "word_delimiter_token": "<s>",
        "do_lower_case": True,
        "replace_word_delimiter_char": "_",
    }
    found = written(of(tmp_path, "vocab.json", {**vocabulary, "B": 5}, tokenizer_config=config), 6, None, None)
    assert (found.blank, list(found.texts)) == (4, ["<pad>", "_", "<unk>", "|", "", "b"])
    assert found.found[1] == "word boundary: '<s>', as tokenizer_config.json says"


def test_labels_in_another_encoding_are_told_apart_from_a_model(tmp_path: Path) -> None:
    path = tmp_path / "tokens.txt"
    for content, told in (("<blk> 0\n你 1\n".encode("gbk"), "save it as UTF-8"), (b"\x08\x09\xff", "swapped")):
        path.write_bytes(content)
        with pytest.raises(UnreadableError, match=told):
            read_labels(path)


def test_added_tokens_count(tmp_path: Path) -> None:
    labels = of(tmp_path, "vocab.json", {"|": 0, "a": 1, "[PAD]": 2}, added_tokens={"<s>": 3})
    assert list(written(labels, 4, None, None).texts) == [" ", "a", "", "<s>"]


@pytest.mark.parametrize(
    ("names", "classes", "asked", "blank", "texts"),
    [
        (["a", "b"], 3, None, 2, ["a", "b", ""]),
        (["<pad>", "b"], 3, None, 2, ["", "b", ""]),  # the last class, and a label that is not it
        (["a", "b"], 3, "0", 0, ["", "a", "b"]),
        (["a", "b"], 3, "-1", 2, ["a", "b", ""]),
        (["a", "b", "c"], 3, "b", 1, ["a", "", "c"]),
        (["a", "b", "2"], 3, "2", 2, ["a", "b", ""]),
    ],
)
def test_the_blank(
    names: list[str], classes: int, asked: str | None, blank: int, texts: list[str], tmp_path: Path
) -> None:
    found = written(of(tmp_path, "tokens.json", names), classes, asked, None)
    assert (found.blank, list(found.texts)) == (blank, texts)


def test_the_word_boundary(tmp_path: Path) -> None:
    labels = of(tmp_path, "tokens.json", ["<blk>", "<space>", "a", "/"])
    assert list(written(labels, 4, None, None).texts) == ["", " ", "a", "/"]
    assert list(written(labels, 4, None, "/").texts) == ["", "<space>", "a", " "]
    assert written(of(tmp_path, "tokens.json", ["<blk>", "a"]), 2, None, None).found[1] == (
        "word boundary: none among the labels; if one is, say `word_boundary='LABEL'`"
    )


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("tokens.txt", "", "there is no label in it"),
        ("tokens.txt", "a\n\nb\n", "line 2 is empty"),
        ("tokens.txt", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n", "a Git LFS pointer"),
        ("tokens.json", '{"a": ', "no readable labels"),
        ("tokens.json", "7", "neither a list of labels"),
        ("tokens.json", [1, 2], "neither a list of labels"),
        ("vocab.json", {"a": "0"}, "no whole number as its class"),
        ("vocab.json", {"a": 0, "b": 0}, "'a' and 'b' have the same class, 0"),
        ("tokens.txt", "<blk> 0\na\nb 2\n", "line 2, 'a': it has no class, and others have one"),
        ("tokens.txt", "<blk> 0\n7\nb 2\n", "line 2, '7': it has no class"),
        ("tokens.txt", "0 <blk>\n1 5\n\na\n", "line 4, 'a': it has no class"),
        ("tokens.txt", "label,class\n<blk>,0\na,1\n", "line 2, '<blk>,0': a comma is part of a label"),
        ("tokens.txt", "<blk>, 0\na, 1\n", "line 1, '<blk>, 0': a comma is part of a label"),
        ("tokens.txt", "0;<blk>\n1;a\n", "line 1, '0;<blk>': a comma is part of a label"),
        ("tokens.txt", "<blk> -1\na 0\n", "line 1, '<blk> -1': -1 is no class; classes are whole numbers from 0"),
        ("tokens.txt", "<blk>\t-1\na\t0\nb\t1\n", ": -1 is no class"),
        ("tokens.txt", "<blk> 0.0\na 1.0\n", "line 1, '<blk> 0.0': 0.0 is no class"),
        ("tokens.json", '{"a": 0, "b": -1}', "'b' has no whole number as its class, but -1"),
        ("tokens.txt", "<!DOCTYPE html>\n<html>\n", "it is a web page"),
        ("tokens.txt", "<blk> 0\na 1\nb 1\n", "'a' and 'b' have the same class, 1"),
        ("vocab.json", {"eng": {"a": 0}, "deu": {"b": 0}}, "labels of several languages (eng, deu, ...)"),
        ("vocab.json", {}, "there is no label in it"),
    ],
)
def test_what_is_no_list_of_labels_is_one_line(name: str, content: Any, told: str, tmp_path: Path) -> None:
    with pytest.raises(UnreadableError) as error:
        of(tmp_path, name, content)
    assert told in str(error.value) and name in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("names", "classes", "blank", "boundary", "told"),
    [
        (["<blk>", "a"], 4, None, None, "2 labels for 4 classes: class 2 has none"),
        (["<blk>", "a", "b", "c"], 3, None, None, "4 labels for 3 classes: 'c' is class 3"),
        (["a", "b", "c"], 3, None, None, "which of the 3 classes is the blank?"),
        (["a", "b", "c"], 3, "3", None, "neither a label nor a class below 3"),
        (["a", "b", "c"], 3, "0", "/", "`word_boundary='/'` is no label"),
    ],
)
def test_what_does_not_fit_is_one_line(
    names: list[str], classes: int, blank: str | None, boundary: str | None, told: str, tmp_path: Path
) -> None:
    with pytest.raises((MisuseError, UnreadableError)) as error:
        written(of(tmp_path, "tokens.json", names), classes, blank, boundary)
    assert isinstance(error.value, PaddableError) and told in str(error.value) and "tokens.json" in str(error.value)
