"""A checkpoint of FunASR that export could only misread is one line that names the file and what is wrong in it."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType

import pytest
import yaml

from paddable.api import export
from paddable.errors import UnreadableError


def refused(family: str, checkpoint: Path) -> str:
    with pytest.raises(UnreadableError) as caught:
        export(family, checkpoint, checkpoint.parent / "bundle")
    assert "\n" not in str(caught.value)
    return str(caught.value)


def ranks(count: int) -> str:
    return "".join(f"{'QUFB' * (number + 1)} {number}\n" for number in range(count))


PIECES = [f"w{i}" for i in range(20)]


@pytest.mark.parametrize(
    ("family", "name", "content", "told"),
    [
        ("sense-voice", "tokens.json", json.dumps(PIECES[:-1]), "19 rows, expected 20 for the 20 classes"),
        ("sense-voice", "tokens.json", json.dumps([*PIECES, "z"]), "21 rows, expected 20"),
        ("sense-voice", "tokens.json", json.dumps(dict.fromkeys(PIECES, 0)), "not a list of strings"),
        ("sense-voice", "tokens.json", json.dumps([*range(20)]), "not a list of strings"),
        ("sense-voice", "tokens.json", "{[", "not a readable token table"),
        ("fun-asr-nano", "multilingual.tiktoken", ranks(2), "2 rows, expected 19 to 20 for the 20 classes"),
        ("fun-asr-nano", "multilingual.tiktoken", ranks(500), "500 rows, expected 19 to 20"),
        ("fun-asr-nano", "multilingual.tiktoken", ranks(19) + "hello\n", "a line is not"),
        ("fun-asr-nano", "multilingual.tiktoken", ranks(18) + "QQ== 19\n", "the ranks are not 0, 1, 2"),
        ("fun-asr-nano", "multilingual.tiktoken", ranks(19) + "QQ== 7\n", "the ranks are not 0, 1, 2"),
    ],
)
def test_a_token_table_of_another_model(
    checkpoints: ModuleType, tmp_path: Path, family: str, name: str, content: str, told: str
) -> None:
    checkpoint = getattr(checkpoints, family.replace("-", "_"))(tmp_path / "checkpoint")
    (checkpoint / name).write_text(content)
    message = refused(family, checkpoint)
    assert message.startswith(f"{checkpoint / name}: ") and told in message


def test_a_sentencepiece_model_of_another_size(checkpoints: ModuleType, tmp_path: Path) -> None:
    sentencepiece = pytest.importorskip("sentencepiece")
    checkpoint = checkpoints.sense_voice(tmp_path / "checkpoint")
    (checkpoint / "tokens.json").unlink()
    (tmp_path / "text.txt").write_text("hello world, how are you?\n" * 50)
    sentencepiece.SentencePieceTrainer.train(
        input=str(tmp_path / "text.txt"), model_prefix=str(checkpoint / "a.bpe"), vocab_size=16, minloglevel=3
    )
    assert "a.bpe.model: 16 rows, expected 20" in refused("sense-voice", checkpoint)


def test_no_token_table(checkpoints: ModuleType, tmp_path: Path) -> None:
    checkpoint = checkpoints.sense_voice(tmp_path / "checkpoint")
    (checkpoint / "tokens.json").unlink()
    assert "no token table in it" in refused("sense-voice", checkpoint)


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("max_end_silence_time", "abc", "is 'abc', expected a whole number of at least 0"),
        ("window_size_ms", 0, "is 0, expected a whole number of at least 10"),
        ("speech_noise_thres", None, "is None, expected a finite number"),
        ("speech_2_noise_ratio", float("nan"), "is nan, expected a finite number"),
        ("do_extend", "yes", "is 'yes', expected 0 or 1"),
        ("sil_pdf_ids", [], "is [], expected a list of classes, not empty"),
        ("sil_pdf_ids", ["0"], "is ['0'], expected a list of classes"),
        ("sil_pdf_ids", [999], "is [999], expected numbers below 12"),
        ("frame_in_ms", 20, "is 20, expected 10: nothing else"),
        ("detect_mode", 0, "is 0, expected 1: nothing else"),
    ],
)
def test_a_threshold_that_is_none(checkpoints: ModuleType, tmp_path: Path, key: str, value: object, told: str) -> None:
    file = checkpoints.fsmn_vad(tmp_path / "checkpoint") / "config.yaml"
    config = yaml.safe_load(file.read_text())
    config["model_conf"][key] = value
    file.write_text(yaml.safe_dump(config))
    message = refused("fsmn-vad", file.parent)
    assert message.startswith(f"{file}: ") and f"{key} {told}" in message
