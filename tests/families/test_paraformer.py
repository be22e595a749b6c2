"""Paraformer and BiCIF against FunASR's recorded answers, the predictor against exact sums, and the exported graph."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch
import yaml
from torch import nn

from paddable import load
from paddable.api import convert, export
from paddable.bundle import read_bundle
from paddable.errors import MisuseError, UnreadableError
from paddable.families.paraformer.cif import Fired, integrate_and_fire
from paddable.families.paraformer.config import ParaformerConfig
from paddable.families.paraformer.export import export_paraformer
from paddable.families.paraformer.weights import paraformer_from_folder
from paddable.providers.report import lint_for
from paddable.runtime import Model
from paddable.runtime.speech.cif_decoder import CifDecoder, CifLayout, join_tokens, token_times, written_words
from paddable.runtime.speech.text import Vocabulary

from ..api import checkpoints
from ..api.checkpoints import PARAFORMER, PARAFORMER_PIECES, PARAFORMER_YAML, PLAIN_PARAFORMER, SEACO, SEACO_YAML
from .record_paraformer import (
    CONFIGS,
    GOLDEN,
    HOTWORDS,
    LENGTHS,
    answers,
    heard,
    hotword_inputs,
    original,
    speech,
    waves,
    weights,
    with_hotwords,
)

OUTPUTS = ("logits", "token_count", "alphas", "fires", "us_alphas")
DATA_DEPENDENT = {"Loop", "Scan", "If", "NonZero", "Compress", "Unique"}


@pytest.fixture(scope="module")
def golden() -> dict[str, np.ndarray]:
    return dict(np.load(GOLDEN))


@pytest.fixture(scope="module")
def models() -> dict[str, nn.Module]:
    return {kind: weights(kind) for kind in CONFIGS}


@torch.no_grad()
def run(model: nn.Module, sound: torch.Tensor) -> dict[str, np.ndarray]:
    return {name: value.numpy() for name, value in zip(OUTPUTS, model(sound), strict=False)}


def decoder(kind: str) -> CifDecoder:
    spelled = tuple(b"" if piece.startswith("<") else piece.encode() for piece in PARAFORMER_PIECES)
    return CifDecoder(Vocabulary(spelled), CifLayout(upsampling=3 if kind == "bicif" else None))


def judge_answers(
    kind: str,
    got: Mapping[str, np.ndarray],
    wanted: Mapping[str, np.ndarray],
    *,
    weights: float = 1e-6,
    logits: float = 2e-5,
) -> None:
    """Same count and fires; weights and logits (of scale) as near as asked; time stamps to the millisecond."""
    count = int(wanted["token_count"][0])
    assert got["token_count"].tolist() == [count]
    assert np.flatnonzero(got["fires"][0] >= 1).tolist() == wanted["fires"].tolist()
    assert np.abs(got["alphas"] - wanted["alphas"]).max() <= weights
    assert not got["logits"][:, count:].any()
    if not count:
        return
    assert np.abs(got["logits"][:, :count] - wanted["logits"]).max() <= logits * np.abs(wanted["logits"]).max()
    said = decoder(kind)
    times_of, sums = said._weights(got, count)
    if kind == "bicif":
        assert np.abs(times_of - wanted["us_alphas"][0]).max() <= weights
    tokens = int((got["logits"][0, :count].argmax(axis=1) > 2).sum())
    times = token_times(times_of, sums, tokens, 0.06 / (3 if kind == "bicif" else 1))
    # FunASR gives no time at all to a token without a border; ours gives it the whole sound
    assert not len(wanted["times"]) or np.round(np.array(times) * 1000).tolist() == wanted["times"].tolist()


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("kind", CONFIGS)
def test_answers_are_funasrs(
    kind: str, length: int, models: dict[str, nn.Module], golden: dict[str, np.ndarray]
) -> None:
    head = f"{kind}/{length}/"
    wanted = {name.removeprefix(head): array for name, array in golden.items() if name.startswith(head)}
    judge_answers(kind, run(models[kind], speech(length)), wanted)


@pytest.mark.parametrize("wave", waves())
def test_answers_to_a_sound_are_funasrs(wave: str, golden: dict[str, np.ndarray], tmp_path: Path) -> None:
    """Front end included, whose own distance is 1e-4 of a log-mel."""
    model = paraformer_from_folder(checkpoints.paraformer(tmp_path / "checkpoint"))
    wanted = {name.removeprefix(f"{wave}/"): array for name, array in golden.items() if name.startswith(f"{wave}/")}
    judge_answers("bicif", run(model, torch.from_numpy(waves()[wave][None])), wanted, weights=1e-5)


@pytest.mark.original
@pytest.mark.parametrize("wave", waves())
def test_equal_to_funasr_from_the_sound_on(wave: str, tmp_path: Path) -> None:
    pytest.importorskip("funasr")
    folder = checkpoints.paraformer(tmp_path / "checkpoint")
    model, sound = paraformer_from_folder(folder), waves()[wave]
    wanted = answers(original("bicif", model.state_dict()), "bicif", heard(folder, sound))
    judge_answers("bicif", run(model, torch.from_numpy(sound[None])), wanted, weights=1e-5)


@pytest.mark.original
@pytest.mark.parametrize("kind", CONFIGS)
def test_equal_to_funasr(kind: str, models: dict[str, nn.Module]) -> None:
    pytest.importorskip("funasr")
    theirs = original(kind, models[kind].state_dict())
    for length in (*LENGTHS, 500):
        sound = speech(length)
        # FunASR's plain predictor subtracts running sums in float32: at 500 steps it is 4e-5 from exact
        near = 1e-4 if kind == "plain" and length == 500 else 2e-5
        judge_answers(kind, run(models[kind], sound), answers(theirs, kind, sound.clone()), logits=near)


@pytest.mark.parametrize("kind", CONFIGS)
def test_logits_are_near_those_of_float64(
    kind: str, models: dict[str, nn.Module], monkeypatch: pytest.MonkeyPatch
) -> None:
    """At 500 steps, where FunASR's plain predictor is not: within twice of what rounding the weights once more does.

    That is 0.9e-5 to 2.2e-5 of scale, by draw. The order of the sums, and so their error, depends on the processor.
    """
    exact = copy.deepcopy(models[kind]).double()
    exact.encoder.position.rates = models[kind].encoder.position.rates.double()

    def fire(weights_BT: torch.Tensor, tail: float) -> Fired:
        fired = integrate_and_fire(weights_BT, tail)
        return fired._replace(shares_BUT=fired.shares_BUT.to(weights_BT.dtype))

    monkeypatch.setattr("paddable.families.paraformer.model.integrate_and_fire", fire)
    got, wanted = run(models[kind], speech(500)), run(exact, speech(500).double())
    assert got["token_count"].tolist() == wanted["token_count"].tolist()
    rounded = [run(_weights_rounded_again(exact, seed), speech(500).double())["logits"] for seed in range(4)]
    noise = max(np.abs(logits - wanted["logits"]).max() for logits in rounded)
    assert noise <= 3e-5 * np.abs(wanted["logits"]).max()
    assert np.abs(got["logits"] - wanted["logits"]).max() <= 2 * noise


@torch.no_grad()
def _weights_rounded_again(model: nn.Module, seed: int) -> nn.Module:
    """The model in double with each weight moved by up to half a last place of float32."""
    random = torch.Generator().manual_seed(seed)
    moved = copy.deepcopy(model)
    for weight in moved.parameters():
        weight *= 1 + 2.0**-24 * (2 * torch.rand(weight.shape, generator=random, dtype=torch.float64) - 1)
    return moved


def test_the_weights_really_fire(golden: dict[str, np.ndarray]) -> None:
    assert golden["bicif/167/token_count"][0] > 50 and golden["plain/167/token_count"][0] > 50
    assert len(golden["bicif/167/times"]) > 30 and len(golden["plain/167/times"]) > 30


def test_texts_and_words_are_funasrs() -> None:
    rows = json.loads((GOLDEN.parent / "paraformer_texts.json").read_text(encoding="utf-8"))
    for row in rows:
        times = [(i / 10, (i + 1) / 10) for i in range(len(row["pieces"]))]
        words = written_words(row["pieces"], times)
        assert [word for word, _, _ in words] == row["words"]
        assert join_tokens(row["words"]) == row["text"]
        assert [[round(1000 * start), round(1000 * end)] for _, start, end in words] == row["times"]
    assert len(rows) == 300


@pytest.mark.parametrize("most", [0.1, 0.5, 1.0])
@pytest.mark.parametrize("length", [1, 7, 100, 500, 2000])
def test_rows_of_tokens_are_the_exact_sums(length: int, most: float) -> None:
    weights_BT = most * torch.rand(1, length, generator=torch.Generator().manual_seed(length))
    fired = integrate_and_fire(weights_BT, 0.45)
    exact = [Fraction(float(weight)) for weight in weights_BT[0]]
    tail = Fraction(float(torch.tensor(0.45)))
    assert fired.count_B.tolist() == [int(sum(exact) + tail)] and fired.count_B.item() <= length
    before, shares = Fraction(0), np.zeros((length, length))
    for step, weight in enumerate(exact):
        after = before + weight
        assert (fired.fires_BT[0, step] >= 1) == (int(after) > int(before))
        for row in {int(before), min(int(after), length - 1)}:
            shares[row, step] = float(max(Fraction(0), min(after, Fraction(row + 1)) - max(before, Fraction(row))))
        before = after
    assert np.abs(fired.shares_BUT[0].double().numpy() - shares).max() <= 2e-7


EDGES = pytest.mark.parametrize(
    ("weights_T", "count"),
    [
        ([0.0] * 30, 0),  # silence
        ([0.5], 0),
        ([0.55], 1),  # 0.55 + 0.45 in float32 is 1
        ([0.5499999], 0),
        ([0.5] * 11, 5),  # sums to 5.5, and 5.95 with the tail
        ([0.1] * 6, 1),
        ([1.0] * 40, 40),  # the most that 40 steps can hold
        ([1.0], 1),
        ([0.25, 0.25], 0),  # sums to a half
    ],
)


@EDGES
def test_counts_at_the_edges(weights_T: list[float], count: int) -> None:
    assert integrate_and_fire(torch.tensor([weights_T]), 0.45).count_B.tolist() == [count]


@pytest.mark.original
@EDGES
def test_counts_at_the_edges_are_funasrs(weights_T: list[float], count: int) -> None:
    predictors = pytest.importorskip("funasr.models.paraformer.cif_predictor")
    theirs = predictors.CifPredictorV2(1, 1, 1, tail_threshold=0.45)
    weights_BT = torch.tensor([weights_T])
    hidden_BTC, mask_BT = torch.zeros(1, len(weights_T), 1), torch.ones(1, len(weights_T))
    assert theirs.tail_process_fn(hidden_BTC, weights_BT, mask=mask_BT)[2].tolist() == [count]


def test_no_weights_fill_more_rows_than_there_are() -> None:
    """A model whose every step is a token, and a tail as large as is accepted."""
    model = weights("plain")
    model.predictor.cif_output.weight.data.zero_()
    model.predictor.cif_output.bias.data.fill_(99)
    model.config = replace(model.config, predictor=replace(model.config.predictor, tail_threshold=0.99))
    for length in (1, 2, 17):
        told = run(model, speech(length))
        assert told["token_count"].tolist() == [length] and told["logits"].shape[1] == length
        assert told["logits"].any(axis=2).all() and (told["fires"] >= 1).all()


def test_every_parameter_matters() -> None:
    model = weights("bicif")
    before = run(model, speech(30))
    for name, parameter in model.named_parameters():
        if name in ("decoder.output_layer.bias",) or not name.endswith(("weight", "weight_ih_l0", "weight_hh_l0")):
            continue
        saved = parameter.data.clone()
        parameter.data = saved * 1.5
        after = run(model, speech(30))
        parameter.data = saved
        same = all(np.array_equal(before[output], after[output]) for output in OUTPUTS)
        assert not same, f"{name} changes nothing"


@pytest.fixture(scope="module")
def graphs(models: dict[str, nn.Module]) -> dict[str, onnx.ModelProto]:
    return {kind: export_paraformer(models[kind]) for kind in CONFIGS}


def test_the_graph_has_no_control_flow(graphs: dict[str, onnx.ModelProto], models: dict[str, nn.Module]) -> None:
    for kind, graph in graphs.items():
        operators = [node.op_type for node in graph.graph.node]
        assert not DATA_DEPENDENT & set(operators)
        assert operators.count("LSTM") == (kind == "bicif")
    assert isinstance(models["bicif"].predictor.blstm, nn.LSTM)  # export puts it back


@pytest.mark.parametrize("precision", ["fp32", "fp16"])
@pytest.mark.parametrize("kind", CONFIGS)
def test_directml_runs_one_piece_and_two_for_the_recurrent_layer(
    kind: str, precision: str, graphs: dict[str, onnx.ModelProto]
) -> None:
    made = convert(graphs[kind], ["speech:1=T"], containers=[34], target="directml", precision=precision, verify=False)
    placement = lint_for(made, "directml").placement
    assert placement is not None and not placement.cpu_nodes and not placement.copies
    assert [placed.node.op for placed in placement.kernels] == ["LSTM"] * (kind == "bicif")
    assert len(placement.islands) == 1 + (kind == "bicif")


@pytest.fixture(scope="module")
def natives(graphs: dict[str, onnx.ModelProto], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Model]:
    folder = tmp_path_factory.mktemp("native")
    for kind, graph in graphs.items():
        onnx.save(graph, folder / f"{kind}.onnx")
    return {kind: load(folder / f"{kind}.onnx", "cpu", threads=1) for kind in graphs}


@pytest.fixture(scope="module")
def padded(graphs: dict[str, onnx.ModelProto], tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Model]]:
    """A model for each container, so that every length meets all of those that hold it."""
    folder = tmp_path_factory.mktemp("padded")
    made: dict[str, list[Model]] = {}
    for kind, graph in graphs.items():
        out = folder / kind
        convert(graph, ["speech:1=T"], containers=["5s", "30s", "60s"], out=out, rate=16.666666, verify=False)
        made[kind] = [load(out / graph.file, "cpu", threads=1) for graph in read_bundle(out).graphs]
    return made


@pytest.mark.parametrize("length", [5, 17, 50, 83, 84, 167, 499, 500])  # 0.3 to 30 s
@pytest.mark.parametrize("kind", CONFIGS)
def test_padded_is_native(
    kind: str, length: int, models: dict[str, nn.Module], natives: dict[str, Model], padded: dict[str, list[Model]]
) -> None:
    sound = speech(length)
    wanted, in_torch = natives[kind].run({"speech": sound.numpy()}), run(models[kind], sound)
    noise = distances(wanted, in_torch)  # of native itself: errors of the weights add up over the steps
    assert max(noise.values()) <= 3e-5
    for model in padded[kind]:
        if model.largest["T"] < length:
            continue
        for name, distance in distances(model.run({"speech": sound.numpy()}), wanted).items():
            assert distance <= max(1e-5, 2 * noise[name]), (name, model.largest)


def distances(got: Mapping[str, np.ndarray], wanted: Mapping[str, np.ndarray]) -> dict[str, float]:
    """Largest difference of each output, relative to its scale; the counts are equal."""
    assert got["token_count"].tolist() == wanted["token_count"].tolist()
    assert all(got[name].shape == array.shape for name, array in wanted.items())
    return {
        name: float(np.abs(got[name] - array).max() / np.abs(array).max())
        for name, array in wanted.items()
        if array.any()
    }


@pytest.mark.parametrize("front_end", ["in-graph", "numpy"])
def test_a_bundle_transcribes(tmp_path: Path, front_end: str) -> None:
    checkpoint = checkpoints.paraformer(tmp_path / "checkpoint")
    model = load(
        export("paraformer", checkpoint, tmp_path / "b", containers=["2s"], front_end=front_end, verify=False),
        "cpu",
        threads=1,
    )
    sound = (np.random.default_rng(0).standard_normal(24_000) / 10).astype(np.float32)
    said = model.transcribe(sound, timestamps=True)
    torch_model = paraformer_from_folder(checkpoint)
    wanted = run(torch_model, torch.from_numpy(sound[None]))
    heard = decoder("bicif").read(wanted, 0.0)
    assert said.text == heard.text and said.text
    assert [word.text for word in said.words] == [word.text for word in heard.words]
    assert all(0 <= word.start <= word.end <= said.seconds + 0.06 for word in said.words)
    assert model.transcribe(sound[:399]).text == ""


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"model": "Conformer"}, "model is 'Conformer', not one of Paraformer, BiCifParaformer, SeacoParaformer"),
        ({"encoder": "SANMEncoderChunkOpt"}, "encoder is 'SANMEncoderChunkOpt', expected 'SANMEncoder'"),
        ({"predictor": "CifPredictor"}, "predictor is 'CifPredictor', expected CifPredictorV2 or CifPredictorV3"),
        ({"predictor_conf": {"smooth_factor": 1.5}}, "predictor_conf.smooth_factor is 1.5, expected at most 1"),
        ({"predictor_conf": {"tail_threshold": 0}}, "predictor_conf.tail_threshold is 0, expected a number above 0"),
        (
            {"predictor_conf": {"tail_threshold": 1.2}},
            "tail_threshold is 1.2, expected a number below 1",
        ),
        ({"predictor_conf": {"threshold": 0.9}}, "predictor_conf.threshold is 0.9, expected 1.0"),
        ({"predictor_conf": {"upsample_type": "cnn_attn"}}, "expected cnn or cnn_blstm"),
        ({"decoder_conf": {"attention_heads": 5}}, "decoder_conf.attention_heads is 5, expected a divisor of the 32"),
        ({"decoder_conf": {"sanm_shfit": 9}}, "decoder_conf.sanm_shfit is 9, expected a whole number from 0 to 5"),
    ],
)
def test_another_model_is_refused(change: dict[str, Any], told: str) -> None:
    config = yaml.safe_load(yaml.safe_dump(PARAFORMER_YAML))
    for key, value in change.items():
        config[key] = {**config[key], **value} if isinstance(value, dict) else value
    with pytest.raises(UnreadableError) as caught:
        ParaformerConfig.from_funasr(config, vocabulary=20)
    assert told in str(caught.value)


def test_the_configuration_is_read(tmp_path: Path) -> None:
    assert ParaformerConfig.from_funasr(PARAFORMER_YAML, vocabulary=20) == PARAFORMER
    plain = {**PARAFORMER_YAML, "model": "Paraformer", "predictor": "CifPredictorV2"}
    assert ParaformerConfig.from_funasr(plain, vocabulary=20) == PLAIN_PARAFORMER


def test_keys_of_hotwords_are_left_out_where_there_is_no_decoder_for_them(tmp_path: Path) -> None:
    checkpoint = checkpoints.paraformer(tmp_path / "checkpoint")
    state = torch.load(checkpoint / "model.pt", weights_only=True)
    state |= {"bias_encoder.weight_ih_l0": torch.ones(2), "seaco_decoder.after_norm.weight": torch.ones(2)}
    torch.save(state, checkpoint / "model.pt")
    paraformer_from_folder(checkpoint)
    torch.save(state | {"predictor.other": torch.ones(1)}, checkpoint / "model.pt")
    with pytest.raises(UnreadableError, match=r"1 unexpected: predictor\.other"):
        paraformer_from_folder(checkpoint)


@pytest.fixture(scope="module")
def seaco(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return checkpoints.seaco(tmp_path_factory.mktemp("seaco") / "checkpoint")


def judge_hotwords(model: nn.Module, length: int, name: str, wanted: np.ndarray) -> None:
    with torch.no_grad():
        got = model(speech(length), *hotword_inputs(HOTWORDS[name]))
    count = wanted.shape[1]
    assert got[1].tolist() == [count] and not got[0][:, count:].any()
    assert np.abs(got[0][:, :count].numpy() - wanted).max() <= 2e-5 * np.abs(wanted).max()


@pytest.mark.parametrize("length", [5, 50])
@pytest.mark.parametrize("name", HOTWORDS)
def test_hotwords_are_heard_as_funasr_hears_them(
    name: str, length: int, seaco: Path, golden: dict[str, np.ndarray]
) -> None:
    judge_hotwords(paraformer_from_folder(seaco, "none"), length, name, golden[f"hotwords/{name}/{length}"])


@pytest.mark.original
@pytest.mark.parametrize("name", HOTWORDS)
def test_hotwords_equal_to_funasr(name: str, seaco: Path) -> None:
    pytest.importorskip("funasr")
    model = paraformer_from_folder(seaco, "none")
    theirs = original("seaco", model.state_dict())
    for length in (5, 17, 50, 167):
        judge_hotwords(model, length, name, with_hotwords(theirs, speech(length), HOTWORDS[name]))


def test_hotwords_decide_some_tokens_and_not_others(golden: dict[str, np.ndarray]) -> None:
    alone, several = golden["hotwords/none/50"], golden["hotwords/several/50"]
    changed = np.abs(alone - several).max(axis=2)[0] > 1e-3
    assert changed.any() and not changed.all()


@pytest.fixture(scope="module")
def seaco_bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of a model that never says the blank or an end, so that something is written."""
    folder = tmp_path_factory.mktemp("seaco")
    checkpoint = checkpoints.seaco(folder / "checkpoint")
    state = torch.load(checkpoint / "model.pt", weights_only=True)
    for layer in ("decoder.output_layer", "hotword_output_layer"):
        state[f"{layer}.bias"][:3] -= 9
    torch.save(state, checkpoint / "model.pt")
    return export("paraformer", checkpoint, folder / "bundle", containers=["2s"], front_end="numpy", gate_lengths=8)


def test_a_bundle_hears_hotwords(seaco_bundle: Path) -> None:
    native = paraformer_from_folder(seaco_bundle.parent / "checkpoint", "none")
    padded, graph = load(seaco_bundle, "cpu", threads=1), load(seaco_bundle / "native.onnx", "cpu", threads=1)
    for name in HOTWORDS:
        rows, lengths = hotword_inputs(HOTWORDS[name])
        inputs = {"speech": speech(17).numpy(), "hotwords": rows.numpy(), "hotword_lengths": lengths.numpy()}
        with torch.no_grad():
            wanted = native(speech(17), rows, lengths)[0].numpy()
        for model in (padded, graph):
            assert np.abs(model.run(inputs)["logits"] - wanted).max() <= 1e-5 * np.abs(wanted).max()


def test_directml_runs_hotwords_in_few_pieces(seaco_bundle: Path) -> None:
    """One for each of the three LSTM and one behind each; one before them for the sound, one for the hotwords."""
    made = convert(seaco_bundle / "native.onnx", ["speech:1=T"], containers=[34], target="directml", verify=False)
    placement = lint_for(made, "directml").placement
    assert placement is not None and not placement.cpu_nodes and not placement.copies
    assert [placed.node.op for placed in placement.kernels] == ["LSTM"] * 3
    assert len(placement.islands) <= 3 + 2


def test_transcribe_takes_hotwords(seaco_bundle: Path) -> None:
    model = load(seaco_bundle, "cpu", threads=1)
    sound = (np.random.default_rng(0).standard_normal(24_000) / 10).astype(np.float32)
    plain = model.transcribe(sound, timestamps=True)
    told = model.transcribe(sound, timestamps=True, hotwords=["一二", "world", "a 三"])
    assert plain.text and told.text and told.text != plain.text
    for words, why in (
        (["missing"], "missing of the hotword 'missing' is not in the token table"),
        (["一二x"], "一二x of the hotword"),
        ([" "], "an empty hotword"),
        (["一"] * 50, "50 hotwords"),
        (["一二三四五六七一二三四"], "has 11 tokens"),
    ):
        with pytest.raises(MisuseError, match=why):
            model.transcribe(sound, hotwords=words)


@pytest.mark.filterwarnings("error")
def test_tokens_without_any_weight_are_read_without_a_warning() -> None:
    logits, weights = np.zeros((1, 9, len(PARAFORMER_PIECES)), np.float32), np.zeros((1, 27), np.float32)
    logits[..., 3] = 1
    heard = decoder("bicif").read({"logits": logits, "token_count": np.array([5]), "us_alphas": weights}, 0.0)
    assert heard.text == "一一一一一" and all(np.isfinite(word[1:]).all() for word in heard.words)


def test_hotwords_are_cut_as_funasr_cuts_them() -> None:
    spelled = tuple(piece.encode() for piece in PARAFORMER_PIECES)
    said = CifDecoder(Vocabulary(spelled), CifLayout(hotwords=(5, 10)))
    given = said.prompts("auto", True, ["一二", "World", "a 三"])
    wanted = hotword_inputs([[3, 4], [12], [13, 5]])
    assert np.array_equal(given["hotwords"], wanted[0][:5]) and np.array_equal(given["hotword_lengths"], wanted[1][:5])
    assert not said.prompts("auto", True)["hotword_lengths"].any()
    with pytest.raises(MisuseError, match="takes none"):
        CifDecoder(Vocabulary(spelled)).prompts("auto", True, ["一"])


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"bias_encoder_type": "mean"}, "bias_encoder_type is 'mean', expected 'lstm'"),
        ({"bias_encoder_bid": True}, "bias_encoder_bid is True, expected False"),
        ({"inner_dim": 16}, "inner_dim is 16, expected 32"),
        ({"NO_BIAS": 20}, "NO_BIAS is 20"),
        ({"seaco_decoder": "Other"}, "seaco_decoder is 'Other'"),
    ],
)
def test_another_search_for_hotwords_is_refused(change: dict[str, Any], told: str) -> None:
    with pytest.raises(UnreadableError) as caught:
        ParaformerConfig.from_funasr({**SEACO_YAML, **change}, vocabulary=20)
    assert told in str(caught.value)
    assert ParaformerConfig.from_funasr(SEACO_YAML, vocabulary=20) == SEACO


def test_a_model_without_a_token_says_nothing() -> None:
    silence = {
        "logits": np.zeros((1, 9, 20), np.float32),
        "token_count": np.array([0]),
        "alphas": np.zeros((1, 9), np.float32),
        "fires": np.zeros((1, 9), np.float32),
        "us_alphas": np.zeros((1, 27), np.float32),
    }
    for kind in CONFIGS:
        assert decoder(kind).read(silence, 0.0).text == ""
