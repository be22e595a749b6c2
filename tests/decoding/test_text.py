"""Token tables of three kinds."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from paddable.errors import UnreadableError
from paddable.runtime.speech.text import Vocabulary, read_vocabulary


def pieces(path: Path, table: list[str]) -> Vocabulary:
    path.write_text(json.dumps(table), encoding="utf-8")
    return read_vocabulary(path)


def test_tokens_json(tmp_path: Path) -> None:
    table = ["<unk>", "<s>", "</s>", "▁he", "ll", "o", "▁world", "你", "<0xE5>", "<0xA5>", "<0xBD>", "<|zh|>"]
    vocabulary = pieces(tmp_path / "tokens.json", table)
    assert len(vocabulary) == 12
    assert vocabulary.text([1, 3, 4, 5, 6, 2]) == "hello world"
    assert vocabulary.text([7, 8, 9, 10]) == "你好"
    assert vocabulary.text([8, 9]) == "\ufffd"
    assert vocabulary.text([11, 7]) == "<|zh|>你"
    assert vocabulary.text([3, 4, 999, -1]) == "hell"


def test_tiktoken(tmp_path: Path) -> None:
    table = [b"a", b" b", "你".encode()[:2], "你".encode()[2:]]
    lines = [f"{base64.b64encode(token).decode()} {rank}" for rank, token in enumerate(table)]
    (tmp_path / "multilingual.tiktoken").write_text("\n".join(lines) + "\n\n")
    vocabulary = read_vocabulary(tmp_path / "multilingual.tiktoken")
    assert vocabulary.text([0, 1, 2, 3]) == "a b你"
    assert vocabulary.text([0, 60_514]) == "a"


def test_sentencepiece_model(tmp_path: Path) -> None:
    sentencepiece = pytest.importorskip("sentencepiece")
    lines = ["hello world, how are you?", "the quick brown fox jumps", "你好世界", "speech models and padding"] * 50
    (tmp_path / "text.txt").write_text("\n".join(lines), encoding="utf-8")
    sentencepiece.SentencePieceTrainer.train(
        input=str(tmp_path / "text.txt"),
        model_prefix=str(tmp_path / "bpe"),
        vocab_size=330,
        byte_fallback=True,
        user_defined_symbols=["<|zh|>"],
        model_type="bpe",
        minloglevel=3,
    )
    model = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "bpe.model"))
    vocabulary = read_vocabulary(tmp_path / "bpe.model")
    assert len(vocabulary) == model.get_piece_size()
    for text in ["hello fox", "你好 models", "naïve Ω", "<|zh|>speech"]:
        tokens = model.encode(text)
        assert vocabulary.text(tokens) == model.decode(tokens).strip()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("tokens.json", "{}"),
        ("tokens.json", "[1, 2]"),
        ("tokens.json", "["),
        ("a.tiktoken", "YQ== 0\nYg=="),
        ("a.tiktoken", "YQ== 0\nYg== 2"),
        ("a.tiktoken", "@@@ 0"),
        ("bpe.model", "no model"),
        ("tokens.txt", "a b"),
    ],
)
def test_tables_with_a_fault(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(UnreadableError, match=name) as caught:
        read_vocabulary(tmp_path / name)
    assert "\n" not in str(caught.value)


def test_no_table(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match="no such file"):
        read_vocabulary(tmp_path / "tokens.json")
