"""CT-Transformer against FunASR's recorded answers, as a bundle, and in ``transcribe``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import yaml

from paddable import load
from paddable.api import export
from paddable.errors import MisuseError, RefusedError, UnreadableError
from paddable.families.ct_punc.config import CtPuncConfig
from paddable.families.ct_punc.model import CtPunc
from paddable.families.ct_punc.weights import ct_punc_from_folder
from paddable.runtime import Model
from paddable.runtime.speech.punctuation import Punctuator, rows_of, split_words
from paddable.runtime.speech.segments import Word

from ..api import checkpoints
from ..api.checkpoints import CT_PUNC, CT_PUNC_PIECES, CT_PUNC_YAML
from .record_ct_punc import GOLDEN, KINDS, original, rows, texts, weights, written


class InTorch:
    """A session of a torch model, which counts what it is asked."""

    def __init__(self, model: CtPunc) -> None:
        self.model, self.asked = model, []

    @torch.no_grad()
    def run(self, inputs: Mapping[str, Any]) -> dict[str, np.ndarray]:
        self.asked.append(inputs["text"].shape[1])
        return {"scores": self.model(torch.from_numpy(inputs["text"])).numpy()}


def punctuator(kind: str, longest: int | None = None) -> Punctuator:
    return Punctuator(InTorch(weights(kind)), rows_of(CT_PUNC_PIECES, ""), longest=longest)


@pytest.fixture(scope="module")
def golden() -> dict[str, Any]:
    told: dict[str, Any] = json.loads(GOLDEN.read_text(encoding="utf-8"))
    return told


@pytest.mark.parametrize("kind", KINDS)
def test_scores_are_funasrs(kind: str, golden: dict[str, Any]) -> None:
    model = weights(kind)
    for length in (1, 2, 17, 200):
        with torch.no_grad():
            scores = model(rows(length)).numpy()
        wanted = np.array(golden["scores"][f"{kind}/{length}"])
        assert np.abs(scores - wanted).max() <= 1e-5 * np.abs(wanted).max()


@pytest.mark.parametrize("kind", KINDS)
def test_texts_are_funasrs(kind: str, golden: dict[str, Any]) -> None:
    """But for a space in front, which FunASR leaves where the first word is of ASCII letters."""
    ours = punctuator(kind)
    assert golden["texts"] == texts()
    for text, wanted in zip(texts(), golden["written"][kind], strict=True):
        assert ours.punctuate(text) == wanted.strip(), text


@pytest.mark.original
@pytest.mark.parametrize("kind", KINDS)
def test_equal_to_funasr(kind: str) -> None:
    pytest.importorskip("funasr")
    model, ours = weights(kind), punctuator(kind)
    theirs = original(model.state_dict())
    for length in (1, 20, 200, 300):
        with torch.no_grad():
            wanted = theirs.punc_forward(rows(length), torch.tensor([length]))[0]
            assert (model(rows(length)) - wanted).abs().max() <= 1e-6 * wanted.abs().max()
    for text in texts():
        assert ours.punctuate(text) == written(theirs, text).strip()


def test_the_recorded_texts_have_every_turn(golden: dict[str, Any]) -> None:
    some, seldom, never = (" ".join(golden["written"][kind]) for kind in KINDS)
    assert all(mark in some for mark in "，。？、,.?") and "。" in seldom
    assert "，" in never
    asked = punctuator("commas alone")
    asked.punctuate(texts()[-1])
    assert 200 < max(asked.session.asked) < 240, "a sentence of 200 words is cut at its last comma"


def test_no_text_has_no_punctuation() -> None:
    assert punctuator("any mark").punctuate(" \n ") == ""
    assert punctuator("any mark").timed("", []) == ("", [])


def test_a_session_is_never_asked_for_more_than_it_takes() -> None:
    for longest in (1, 7, 20, 64):
        ours = punctuator("commas alone", longest)
        told = ours.punctuate(texts()[-1])
        assert max(ours.session.asked) <= longest
        kept = [character for character in told.lower() if character not in " ，。？、,.?"]
        assert kept == [character for character in texts()[-1].lower() if character not in " ，。？、,.?"]


def test_words_keep_their_times() -> None:
    ours = punctuator("any mark")
    names = ["hello", "一", "don't", "é", "a"]
    words = [Word(name, i, i + 1) for i, name in enumerate(names)]
    text, timed = ours.timed("hello 一 don't é a", words)
    assert [(word.start, word.end) for word in timed] == [(word.start, word.end) for word in words]
    assert "".join(word.text for word in timed) == text.replace(" ", "")
    assert timed[0].text.startswith("Hello") and text[-1] in ".?。？"
    assert ours.timed("other words", words)[1] == words


def test_words_that_are_one_token_of_the_text_are_one_word() -> None:
    """Digits stand beside each other and beside letters without a space; each is a word of the recogniser."""
    ours = punctuator("any mark")
    names = ["hello", "3", "4", "一", "don't"]
    words = [Word(name, i, i + 1) for i, name in enumerate(names)]
    text, timed = ours.timed("hello34一don't", words)
    assert [(word.start, word.end) for word in timed] == [(0, 3), (3, 4), (4, 5)]
    assert "".join(word.text for word in timed) == text.replace(" ", "")
    assert ours.timed("hello34 二", words)[1] == words


def test_words_are_cut_as_funasr_cuts_them() -> None:
    assert split_words("ab一c 3é'x 二") == ["ab", "一", "c", "3", "é", "'x", "二"]


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ct-punc")
    return export("ct-punc", checkpoints.ct_punc(folder / "checkpoint"), folder / "bundle", gate_lengths=8)


def test_a_bundle_writes_punctuation(bundle: Path) -> None:
    folder = bundle.parent / "checkpoint"
    assert ct_punc_from_folder(folder).config == CT_PUNC
    model: Model = load(bundle, "cpu", threads=1)
    assert {graph.container["N"] for graph in model._home.bundle.graphs} == {64, 256}  # type: ignore[union-attr]
    ours = Punctuator(InTorch(ct_punc_from_folder(folder)), rows_of(CT_PUNC_PIECES, ""), longest=256)
    for text in texts()[::6]:
        assert model.punctuate(text) == ours.punctuate(text)
    with pytest.raises(MisuseError, match="has no method transcribe"):
        model.transcribe(np.zeros(16_000, np.float32))


def test_transcribe_writes_punctuation(bundle: Path, tmp_path: Path) -> None:
    checkpoint = checkpoints.paraformer(tmp_path / "checkpoint")
    recogniser = load(
        export("paraformer", checkpoint, tmp_path / "b", containers=["2s"], verify=False), "cpu", threads=1
    )
    marks = load(bundle, "cpu", threads=1)
    sound = (np.random.default_rng(0).standard_normal(24_000) / 10).astype(np.float32)
    plain = recogniser.transcribe(sound, timestamps=True)
    told = recogniser.transcribe(sound, timestamps=True, punctuator=marks)
    assert plain.text and told.text == marks.punctuate(plain.text) != plain.text
    assert [word[1:] for word in told.words] == [word[1:] for word in plain.words]
    assert "".join(word.text for word in told.words) == told.text.replace(" ", "")
    with pytest.raises(MisuseError, match="has no method punctuate"):
        recogniser.transcribe(sound, punctuator=recogniser)


@pytest.mark.parametrize(
    ("change", "error", "told"),
    [
        ({"model": "Other"}, UnreadableError, "model is 'Other', not CTTransformer"),
        ({"jieba_usr_dict": "jieba_usr_dict"}, RefusedError, "as jieba cuts them"),
        ({"encoder": "SANMVadEncoder"}, UnreadableError, "encoder is 'SANMVadEncoder', expected 'SANMEncoder'"),
        ({"model_conf": {"punc_list": []}}, UnreadableError, "model_conf.punc_list is []"),
        ({"model_conf": {"sentence_end_id": 6}}, UnreadableError, "model_conf.sentence_end_id is 6"),
        ({"model_conf": {"att_unit": 31}}, UnreadableError, "model_conf.att_unit is 31, expected 32"),
        ({"encoder_conf": {"input_size": 31}}, UnreadableError, "encoder_conf.input_size is 31, expected 24"),
    ],
)
def test_another_model_is_refused(change: dict[str, Any], error: type[Exception], told: str) -> None:
    config = yaml.safe_load(yaml.safe_dump(CT_PUNC_YAML))
    for key, value in change.items():
        config[key] = {**config[key], **value} if isinstance(value, dict) else value
    with pytest.raises(error) as caught:
        CtPuncConfig.from_funasr(config, vocabulary=20)
    assert told in str(caught.value)


def test_a_table_without_unknown_is_refused() -> None:
    with pytest.raises(UnreadableError, match="no <unk>"):
        rows_of(["a"], "tokens.json")
