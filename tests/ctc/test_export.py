"""A stranger's recogniser becomes a bundle that writes what the graph itself says, at every length."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort
import pytest
from onnx import TensorProto

import paddable
from paddable.audio.front_ends import Features, Kaldi, Nemo, Waveform
from paddable.errors import MisuseError, PaddableError, UnreadableError
from paddable.families.ctc.graph import open_graph
from paddable.gates.examples import Example, Inputs
from paddable.runtime import Model

from .ctc_models import CLASSES, LABELS, STRIDE, recogniser, tokens

SOUND = np.random.default_rng(1).normal(0, 0.3, 20_000).astype(np.float32)


def bundle(folder: Path, *, choices: dict[str, Any] | None = None, **form: Any) -> tuple[Model, list[str]]:
    """A recogniser in a form, exported; and what was told."""
    folder.mkdir(exist_ok=True)
    model, labels, told = recogniser(folder / "model.onnx", **form), tokens(folder / "tokens.txt"), []
    asked = {"labels": labels, "containers": ["1s", "2s"], "gate_lengths": 4, **(choices or {})}
    made = paddable.export("ctc", model, folder / "bundle", on_message=told.append, **asked)
    return paddable.load(made, "cpu", target=asked.get("target")), told


def heard(file: Path, features: Features, sound: np.ndarray, form: dict[str, Any]) -> tuple[str, list[int]]:
    """What native says of a sound, decoded here: its text, and the first frame of each letter."""
    steps = features(sound)
    axes = form.get("input_axes", "BS" if steps.ndim == 1 else "BTC")
    x = steps.T if "C" in axes and axes.index("C") < axes.index("T") else steps
    x = np.expand_dims(x, [i for i, axis in enumerate(axes) if axis in "B1"])
    feeds = {form.get("sound", "audio"): x}
    feeds |= {form["lengths"]: np.array([len(steps)])} if "lengths" in form else {}
    feeds |= {"attention_mask": np.ones((1, len(steps)), np.int64)} if form.get("mask") else {}
    scores = ort.InferenceSession(file).run(["scores"], feeds)[0]
    rows = scores.reshape(CLASSES, -1).T if form.get("output_axes") == "BVT" else scores.reshape(-1, CLASSES)
    best = rows.argmax(1)
    starts = [i for i, c in enumerate(best) if c and (i == 0 or best[i - 1] != c)]
    text = "".join({"|": " "}.get(LABELS[best[i]], LABELS[best[i]]) for i in starts)
    return text.strip(), [i for i in starts if LABELS[best[i]] != "|"]


RATE = {"sample_rate": 16_000}
KALDI = {"front_end": "kaldi", "fbank": "wenet"}
FORMS: dict[str, tuple[dict[str, Any], dict[str, Any], Features]] = {
    "samples": ({}, RATE, Waveform()),
    "no batch": ({"input_axes": "S", "output_axes": "TV"}, RATE, Waveform()),
    "channel first": ({"input_axes": "B1S", "output_axes": "BVT"}, RATE, Waveform()),
    "time first": ({"output_axes": "TBV"}, RATE, Waveform()),
    "log-probabilities": ({"scores": "log", "lengths": "wav_lengths"}, RATE, Waveform()),
    "probabilities": ({"scores": "probabilities"}, RATE, Waveform()),
    "a mask": ({"mask": True, "sound": "input_values"}, {**RATE, "normalise": "yes"}, Waveform(True)),
    "features": ({"channels": 80, "lengths": "x_lens"}, KALDI, Kaldi("wenet")),
    "channels left open": ({"channels": 80, "declared": {"C": "C"}}, KALDI, Kaldi("wenet")),
    "features without a batch": ({"channels": 80, "input_axes": "TC", "output_axes": "TV"}, KALDI, Kaldi("wenet")),
    "channels first": ({"channels": 64, "input_axes": "BCT", "lengths": "length"}, {"front_end": "nemo"}, Nemo(64)),
    # of the next ones, the batch as time runs too: each step is then a recording of one step, and its text is wrong
    "time in front": ({"channels": 80, "input_axes": "TBC", "output_axes": "TBV", "edges": 3}, KALDI, Kaldi("wenet")),
    "time in front of channels left open": (
        {"channels": 80, "input_axes": "TBC", "edges": 3, "lengths": "x_lens", "declared": {"C": "C"}},
        KALDI,
        Kaldi("wenet"),
    ),
    "time, channels, batch": ({"channels": 80, "input_axes": "TCB", "edges": 3}, KALDI, Kaldi("wenet")),
    "channel first, all left open": (
        {"input_axes": "B1S", "declared": {"1": "C"}, "kernel": 10, "stride": 5, "edges": 5},
        RATE,
        Waveform(),
    ),
    "samples in front": ({"input_axes": "SB", "edges": 200}, RATE, Waveform()),
}


@pytest.mark.parametrize("name", FORMS)
def test_it_writes_what_native_says(name: str, tmp_path: Path) -> None:
    form, choices, features = FORMS[name]
    model, _ = bundle(tmp_path, choices=choices, **form)
    for length in (8_000, 12_345, 16_000):
        text, _ = heard(tmp_path / "model.onnx", features, SOUND[:length], form)
        assert text and model.transcribe(SOUND[:length]).text == text


@pytest.mark.parametrize("name", ["features", "channels first", "a mask"])
def test_the_probe_hears_a_sound_as_the_bundle_does(name: str, tmp_path: Path) -> None:
    soundfile = pytest.importorskip("soundfile")
    form, choices, features = FORMS[name]
    bundle(tmp_path, choices=choices, **form)
    soundfile.write(tmp_path / "clip.wav", SOUND[:9_000], 16_000, subtype="FLOAT")
    report = paddable.probe(tmp_path / "bundle", inputs=tmp_path / "clip.wav")
    assert report.ok and list(report.steps.values()) == [len(features(SOUND[:9_000]))], report.verdict
    soundfile.write(tmp_path / "click.wav", SOUND[:30], 16_000, subtype="FLOAT")
    with pytest.raises(MisuseError, match="outside what the model accepts"):
        paddable.probe(tmp_path / "bundle", inputs=tmp_path / "click.wav")


@pytest.mark.parametrize("name", ["features", "channels first", "a mask"])
def test_recordings_are_examples_of_a_model_that_takes_features(name: str, tmp_path: Path) -> None:
    soundfile = pytest.importorskip("soundfile")
    form, choices, features = FORMS[name]
    place = tmp_path / "recordings"
    place.mkdir()
    soundfile.write(place / "a.wav", np.stack([SOUND[:9_000]] * 2, 1), 16_000)
    soundfile.write(place / "b.wav", np.tile(SOUND, 2), 16_000)
    seen: list[np.ndarray] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("paddable.gates.examples.Inputs.repeated", _noting(seen, Inputs.repeated))
        _, told = bundle(tmp_path, choices={**choices, "precision": "int8", "examples": place}, **form)
    assert "a.wav: its 2 channels are mixed to one" in told
    assert any(line.startswith("b.wav: the first 2") and "of its 2.5 seconds count" in line for line in told)
    want = features(soundfile.read(place / "a.wav", dtype="float32")[0].mean(1).astype(np.float32))
    got = seen[0].reshape(want.T.shape).T if name == "channels first" else seen[0].reshape(want.shape)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)
    for file in place.iterdir():
        soundfile.write(file, np.zeros(9_000), 16_000)
    with pytest.raises(MisuseError, match="each example holds nothing but zeros"):
        bundle(tmp_path, choices={**choices, "precision": "int8", "examples": place, "force": True}, **form)


def _noting(seen: list[np.ndarray], repeated: Any) -> Any:
    def noting(self: Inputs, example: Example, steps: Any) -> Example:
        seen.extend(example.arrays.values())
        return repeated(self, example, steps)

    return noting


def test_what_was_found_is_told_with_its_evidence(tmp_path: Path) -> None:
    _, told = bundle(tmp_path, choices=RATE)
    assert told == [
        "sound: input 'audio', [batch, samples]",
        "logits: output 'scores', [batch, time, classes], 6 classes, labelled in tokens.txt",
        "blank: class 0, which is labelled '<blk>'",
        "word boundary: '|'",
        "front end: waveform, as input 'audio' has no channels",
        "sample rate: 16000 Hz, as asked",
        "waveform: as it is, as nothing asks for more",
    ]


@pytest.mark.parametrize("rate", [8_000, 16_000])
def test_words_have_the_times_of_the_path(rate: int, tmp_path: Path) -> None:
    model, _ = bundle(tmp_path, choices={"sample_rate": rate})
    said = model.transcribe(SOUND[:rate], rate=rate, timestamps=True)
    _, starts = heard(tmp_path / "model.onnx", Waveform(), SOUND[:rate], {})
    assert said.words[0].start == pytest.approx(starts[0] * STRIDE / rate)
    assert {round(word.start * rate / STRIDE, 6) for word in said.words} <= set(starts)
    assert "".join(word.text for word in said.words) == said.text.replace(" ", "") and said.seconds == 1.0
    assert [word.end > word.start for word in said.words] == [True] * len(said.words)


def test_a_rate_that_another_file_contradicts_is_told(tmp_path: Path) -> None:
    (tmp_path / "preprocessor_config.json").write_text('{"sampling_rate": 16000, "do_normalize": false}')
    _, told = bundle(tmp_path, choices={"sample_rate": 8_000})
    assert any("8000 Hz, as asked, though preprocessor_config.json says 16000" in line for line in told)
    _, told = bundle(tmp_path / "same", choices={"sample_rate": 16_000})
    assert any(line.endswith("16000 Hz, as asked") for line in told)


def test_sound_of_another_rate_is_resampled_to_the_models(tmp_path: Path) -> None:
    model, _ = bundle(tmp_path, choices={"sample_rate": 8_000})
    assert model.transcribe(np.repeat(SOUND[:8_000], 2), rate=16_000).seconds == 1.0
    with pytest.raises(MisuseError, match=r"do not fit the largest container.*paddable export --containers 3s"):
        model.transcribe(SOUND, rate=8_000)  # 2.5 s


def test_other_precisions_and_targets(tmp_path: Path) -> None:
    model, told = bundle(tmp_path, choices={**RATE, "precision": "fp16", "target": "directml", "containers": ["1s"]})
    assert any("on directml" in line for line in told) and model.metadata is not None
    assert [path.name for path in (tmp_path / "bundle").glob("directml-*")] == ["directml-fp16-16000.onnx"]


def test_a_folder_and_what_lies_beside_the_model(tmp_path: Path) -> None:
    recogniser(tmp_path / "model.onnx", sound="input_values")
    recogniser(tmp_path / "model.int8.onnx")
    tokens(tmp_path / "tokens.txt")
    (tmp_path / "preprocessor_config.json").write_text(
        '{"feature_extractor_type": "Wav2Vec2FeatureExtractor", "sampling_rate": 8000, "do_normalize": true}'
    )
    told: list[str] = []
    made = paddable.export(
        "ctc", tmp_path, tmp_path / "bundle", containers=["1s"], verify=False, on_message=told.append
    )
    assert "sample rate: 8000 Hz, as preprocessor_config.json says" in told
    assert "waveform: normalised, as preprocessor_config.json says" in told
    assert paddable.load(made, "cpu").transcribe(SOUND[:4_000], rate=8_000).seconds == 0.5


@pytest.mark.parametrize(
    ("about", "channels", "said"),
    [
        ({"model_type": "zipformer2_ctc"}, 80, "filter bank: k2, as the metadata says"),
        ({"model_type": "EncDecCTCModelBPE", "normalize_type": ""}, 80, "features: not normalised"),
        (
            {"model_type": "EncDecCTCModel", "normalize_type": "per_feature"},
            64,
            "features: normalised, as the metadata",
        ),
    ],
)
def test_metadata_of_sherpa_onnx_is_read(about: dict[str, str], channels: int, said: str, tmp_path: Path) -> None:
    _, told = bundle(tmp_path, channels=channels, about=about, choices={"verify": False, "containers": ["1s"]})
    assert any(said in line for line in told)


def test_logits_among_several_outputs(tmp_path: Path) -> None:
    with pytest.raises(MisuseError, match=r"2 outputs may hold the logits: scores, again; say `logits='scores'`"):
        bundle(tmp_path, choices=RATE, twice=True)
    model, _ = bundle(tmp_path, choices={**RATE, "logits": "scores", "verify": False}, twice=True)
    assert model.transcribe(SOUND[:16_000]).text == heard(tmp_path / "model.onnx", Waveform(), SOUND[:16_000], {})[0]


def test_a_declared_layout_decides(tmp_path: Path) -> None:
    form = {"channels": 80, "edges": 3, "output_axes": "TBV"}
    for axes, choices in (
        ("BTC", {"length": "audio:0=T", "batch": "audio:1"}),
        ("TBC", {"length": "audio:1=T"}),
        ("TBC", {"batch": "audio:0"}),
    ):
        file = recogniser(tmp_path / "model.onnx", input_axes=axes, **form)
        assert open_graph(file).sound.axes == axes
        assert open_graph(file, **choices).sound.axes == {"BTC": "TBC", "TBC": "BTC"}[axes]
    form = {"channels": 80, "input_axes": "TBC", "edges": 3}
    model, _ = bundle(tmp_path, choices={**KALDI, "length": "audio:0=N", "batch": "audio:1"}, **form)
    assert model.metadata is not None and list(model.metadata.symbols) == ["N"]
    assert (
        model.transcribe(SOUND[:16_000]).text == heard(tmp_path / "model.onnx", Kaldi("wenet"), SOUND[:16_000], form)[0]
    )


def test_steps_that_know_nothing_of_each_other_may_still_be_time(tmp_path: Path) -> None:
    file = recogniser(tmp_path / "model.onnx", channels=80, kernel=1, stride=1)
    assert open_graph(file).sound.axes == "BTC"
    file = recogniser(tmp_path / "model.onnx", channels=80, kernel=1, stride=1, declared={"B": 1}, input_axes="BCT")
    assert open_graph(file).sound.axes == "BCT"


REFUSED: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "no rate": ({}, {}, "which sample rate was it trained on? sound of another"),
    "no rate at all": ({}, {"sample_rate": "fast"}, "is not a sample rate"),
    "features of a waveform": ({}, {**RATE, "front_end": "kaldi"}, "the front end kaldi does not fit"),
    "samples of features": ({"channels": 80}, {"front_end": "waveform"}, "the front end waveform does not fit"),
    "which features": ({"channels": 80}, {}, "which features does it take, 80 channels a step?"),
    "whose filter bank": ({"channels": 80}, {"front_end": "kaldi"}, "whose Kaldi features"),
    "channels of whisper": ({"channels": 64}, {"front_end": "whisper"}, "does not give 64 channels"),
    "channels of gigaam": ({"channels": 80}, {"front_end": "gigaam"}, "does not give 80 channels"),
    "stacked": ({"channels": 560}, KALDI, "560 are seven stacked frames"),
    "a rate of features": ({"channels": 80}, {**KALDI, "sample_rate": 8_000}, "those of 16000 Hz"),
    "a choice in vain": ({"channels": 80}, {"front_end": "nemo", "fbank": "k2"}, "with the front end nemo"),
    "normalised or not": ({"sound": "input_values"}, RATE, "is the waveform brought to mean 0"),
    "other labels": ({"classes": 9}, RATE, "no output has a class for each of 6 labels, or one more"),
    "no such output": ({}, {**RATE, "logits": "y"}, "`logits='y'` is no output"),
    "the blank": ({}, {**RATE, "blank": "9"}, "neither a label nor a class below 6"),
    "a choice of others": ({}, {**RATE, "front_end": "in-graph"}, "ctc has no --front-end in-graph; choose found"),
    "a fixed length": (
        {"declared": {"S": 16_000}},
        RATE,
        "axis 1 of input 'audio' has the fixed size 16000; as a length it takes no other",
    ),
    "a fixed batch": (
        {"declared": {"B": 4}},
        RATE,
        "axis 0 of input 'audio' has the fixed size 4; every run would need",
    ),
    "stereo": (
        {"input_axes": "B1S", "declared": {"1": 2}},
        RATE,
        "has the fixed size 2; sound is mixed to one channel",
    ),
    "two fixed sizes": (
        {"channels": 80, "declared": {"T": 500}},
        KALDI,
        "its length is fixed: no axis of time is open",
    ),
    "16 bits": ({"kind": TensorProto.INT16}, RATE, "no input of floats: audio is tensor(int16); sound is given as"),
    "another input": ({}, {**RATE, "length": "x:1=S"}, "'x' is not the input for sound; say `length='audio:1=T'`"),
    "an expression": ({}, {**RATE, "length": "audio:1=S//2"}, "is no symbol; it is the sound itself"),
    "a fixed axis": ({"channels": 80}, {**KALDI, "length": "audio:2=T"}, "[B, T, 80] has no such layout"),
    "no such axis": ({}, {**RATE, "batch": "audio:3"}, "[B, S] has no such layout"),
    "no axis": ({}, {**RATE, "length": "audio=S"}, "does not say which axis"),
    "padded already": ({"about": {"paddable": "{}"}}, RATE, "it is padded already"),
    "an input of its own": ({"lengths": "language"}, RATE, "what is the input 'language'"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_slip_is_one_line_and_leaves_nothing(name: str, tmp_path: Path) -> None:
    form, choices, told = REFUSED[name]
    with pytest.raises(MisuseError) as error:
        bundle(tmp_path, choices=choices, **form)
    assert told in str(error.value) and "\n" not in str(error.value)
    assert not (tmp_path / "bundle").exists()


def written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n", "a Git LFS pointer"),
        (b"<blk> 0\na 1\n", "are the model and the labels swapped?"),
        (b"", "it is empty"),
        (b"\x08\x09\x00\xff\xff", "give the .onnx of a recogniser"),
        (b"PK\x03\x04\x00\x00", "it is a zip archive (a PyTorch checkpoint?); give the .onnx of a recogniser"),
    ],
)
def test_what_is_no_model_is_one_line(content: bytes, told: str, tmp_path: Path) -> None:
    model, labels = written(tmp_path / "model.onnx", content), tokens(tmp_path / "tokens.txt")
    with pytest.raises(PaddableError) as error:
        paddable.export("ctc", model, tmp_path / "bundle", labels=labels)
    assert told in str(error.value) and "model.onnx" in str(error.value) and "\n" not in str(error.value)


def test_a_length_that_the_export_froze_is_told_with_what_was_tried(tmp_path: Path) -> None:
    model, labels = recogniser(tmp_path / "model.onnx", frozen=50_000), tokens(tmp_path / "tokens.txt")
    told = r"'audio' of \[1, 16000\] and \[1, 24000\]; \[1, 64000\] and .*Reshape.*was frozen when it was exported"
    with pytest.raises(UnreadableError, match=told):
        paddable.export("ctc", model, tmp_path / "bundle", labels=labels, sample_rate=16_000)


def test_swapped_files_and_absent_ones_are_told(tmp_path: Path) -> None:
    model, labels = recogniser(tmp_path / "model.onnx"), tokens(tmp_path / "tokens.txt")
    for first, second, told in (
        (labels, model, "swapped"),
        (tmp_path / "no.onnx", labels, "no.onnx: no such file"),
        (model, tmp_path / "no.txt", "no.txt: no such file"),
    ):
        with pytest.raises(PaddableError, match=told):
            paddable.export("ctc", first, tmp_path / "bundle", labels=second, sample_rate=16_000)
    labels.unlink()
    with pytest.raises(MisuseError, match="where are its labels"):
        paddable.export("ctc", model, tmp_path / "bundle", sample_rate=16_000)
    recogniser(tmp_path / "other.onnx")
    with pytest.raises(PaddableError, match=r"which \.onnx is the model\? there are model\.onnx, other\.onnx"):
        paddable.export("ctc", tmp_path, tmp_path / "bundle")


def test_two_files_of_labels_that_differ_are_asked_about(tmp_path: Path) -> None:
    model = recogniser(tmp_path / "model.onnx")
    tokens(tmp_path / "tokens.txt")
    asked = {"sample_rate": 16_000, "containers": ["1s"], "verify": False}
    (tmp_path / "vocab.txt").write_text("\n".join([*LABELS[:2], *reversed(LABELS[2:])]))
    for given in (tmp_path, model):
        told = r"which are its labels, tokens\.txt or vocab\.txt\? class 2 is 'a' in one and 'd' in the other"
        with pytest.raises(MisuseError, match=told):
            paddable.export("ctc", given, tmp_path / "bundle", **asked)
    paddable.export("ctc", tmp_path, tmp_path / "bundle", labels="vocab.txt", **asked)
    for same in ("\n".join(LABELS), "\n".join(LABELS[:-1]), "nothing 0\nof\nthe kind"):
        (tmp_path / "vocab.txt").write_text(same)
        paddable.export("ctc", tmp_path, tmp_path / "bundle", force=True, **asked)


def test_a_container_of_nothing_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    for size, told in (("0s", "T would be 0 steps"), ("5x", "'5x' is not a size")):
        with pytest.raises(MisuseError, match=told):
            paddable.export("ctc", tmp_path / "absent.onnx", tmp_path / "bundle", containers=["1s", size])


def test_a_hole_in_the_numbers_is_told(tmp_path: Path) -> None:
    model, labels = recogniser(tmp_path / "model.onnx"), tmp_path / "tokens.txt"
    labels.write_text("".join(f"{label} {place + 2 * (place > 3)}\n" for place, label in enumerate(LABELS)))
    told = r"each of 8 labels \(tokens\.txt has 6, up to 7 and without 4\), or one more"
    with pytest.raises(MisuseError, match=told):
        paddable.export("ctc", model, tmp_path / "bundle", labels=labels, sample_rate=16_000)


def test_it_needs_no_torch_and_takes_no_bundle(tmp_path: Path) -> None:
    recogniser(tmp_path / "model.onnx")
    tokens(tmp_path / "tokens.txt")
    code = f"""
import sys
sys.modules.update(dict.fromkeys(["torch", "transformers", "yaml", "safetensors"]))
from paddable.cli import main
words = ["--sample-rate", "16000", "--containers", "1s", "--gate-lengths", "2"]
assert main(["export", "ctc", {str(tmp_path)!r}, "-o", {str(tmp_path / "bundle")!r}, *words]) == 0
main(["export", "ctc", {str(tmp_path / "bundle")!r}, "-o", {str(tmp_path / "again")!r}])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[-1].endswith("bundle: it is a bundle already; give the model that it was made from")


DAMAGE: dict[str, tuple[dict[str, Any], str]] = {
    "front end": ({"front_end": {"kind": "mel", "input": "audio", "axes": "BS"}}, "front_end has the kind 'mel'"),
    "axes": ({"front_end": {"kind": "waveform", "input": "audio", "axes": 7}}, "and the axes 7"),
    "option": (
        {"front_end": {"kind": "kaldi", "input": "audio", "axes": "BTC", "options": {"dialect": "x"}}},
        "no Kaldi features are called 'x'",
    ),
    "logits": ({"settings": {"ctc": {"output": "y", "frame": None}}}, "the length of y does not tell"),
    "layout": ({"settings": {"ctc": {"axes": "BV"}}}, "the axes 'BV' are not one of frames"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_bundle_is_one_line(name: str, made: Path, tmp_path: Path) -> None:
    said, told = DAMAGE[name]
    folder = Path(shutil.copytree(made, tmp_path / "bundle"))
    text = json.loads((folder / "bundle.json").read_text(encoding="utf-8"))
    (folder / "bundle.json").write_text(json.dumps({**text, **said}), encoding="utf-8")
    with pytest.raises(UnreadableError, match=told):
        paddable.load(folder, "cpu").transcribe(SOUND[:8_000])


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    bundle(folder, choices={**RATE, "verify": False, "containers": ["1s"]})
    return folder / "bundle"


def test_a_model_says_what_it_is_and_what_it_wants(made: Path) -> None:
    model = paddable.load(made, "cpu")
    assert repr(model) == f"<paddable model {str(made)!r}: ctc, transcribe and run; cpu, container, containers S=16000>"
    with pytest.raises(
        MisuseError, match=r"inputs come by name, and this is one ndarray; .*write run\({'audio': array}\)"
    ):
        model.run(SOUND)  # type: ignore[arg-type]
    for asked, first in ({"provider": "xx"}, "auto, cpu"), ({"target": "xx"}, "cpu, directml"):
        with pytest.raises(MisuseError, match=f"no provider is called 'xx'; choose one of {first}"):
            paddable.load(made, **asked)
    with pytest.raises(MisuseError, match="it was made for cpu; convert with `target='cuda'`"):
        paddable.load(made, target="cuda")


def test_too_little_sound_is_an_empty_transcript(tmp_path: Path) -> None:
    model, _ = bundle(tmp_path, choices={**KALDI, "verify": False}, channels=80)
    for samples in (1, 399, 400, 800):  # native needs 7 features
        assert model.transcribe(SOUND[:samples]).text == ""
    assert model.transcribe(SOUND[: 400 + 6 * 160]).seconds == 0.085
