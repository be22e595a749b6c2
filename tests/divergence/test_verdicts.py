"""What the probe says of two runs: nobody is blamed for what was not seen, and nothing unseen is called equal."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.parser
import pytest

import paddable
from paddable.cli import main
from paddable.errors import MisuseError

from . import planted
from .conftest import Find

Model = onnx.ModelProto
HEAD = '<ir_version: 9, opset_import: ["" : 18]> g '


def save(place: Path, text: str, **weights: np.ndarray) -> Path:
    model = onnx.parser.parse_model(HEAD + text)
    model.graph.initializer.extend(onnx.numpy_helper.from_array(a, name) for name, a in weights.items())
    onnx.save(model, place)
    return place


def test_nan_in_both_is_not_agreement(tmp_path: Path) -> None:
    model = save(tmp_path / "m.onnx", "(float[1, T, 4] x) => (float[1, T, 4] y) { a = Sub (x, x) y = Div (a, a) }")
    report = paddable.probe(model, model, ["x:1=T"])
    assert not report.ok and report.cause is not None and report.cause.kind == "nan"
    assert "output y is NaN in both runs in 100 % of its numbers" in report.cause.text


def test_two_graphs_with_nothing_in_common(tmp_path: Path) -> None:
    one = save(tmp_path / "a.onnx", "(float[1, T, 4] x) => (float[1, T, 4] y) { a = Relu (x) y = Sigmoid (a) }")
    other = save(tmp_path / "b.onnx", "(float[1, T, 4] x) => (float[1, T, 4] y) { a = Neg (x) y = Tanh (a) }")
    report = paddable.probe(one, other, ["x:1=T"])
    assert not report.ok and report.cause is not None and report.cause.kind == "unrelated"
    assert "0 of 2 nodes are paired and 0 values" in report.cause.text


@pytest.mark.parametrize("turned", [False, True])
def test_two_models_of_which_one_does_not_run_with_the_inputs_of_the_other(tmp_path: Path, turned: bool) -> None:
    text = "(float[1, {}] x) => (float[1, {}] y) {{ {} }}"
    layers = [[f"v{i + 1} = {op} (v{i}, {op}{i})" for i in range(4)] for op in ("Conv", "MatMul")]
    texts = [["v0 = Identity (x)", *each, "y = Relu (v4)"] for each in layers]
    convs = {f"Conv{i}": np.ones((16, 16, 3), np.float32) for i in range(4)}
    one = save(tmp_path / "conv.onnx", text.format("16, T", "16, U", " ".join(texts[0])), **convs)
    products = {f"MatMul{i}": np.ones((24, 24), np.float32) for i in range(4)}
    other = save(tmp_path / "linear.onnx", text.format("T, 24", "T, 24", " ".join(texts[1])), **products)
    told = r"^these are two different models: .* conv.onnx takes x \[1, 16, 'T'\]"
    with pytest.raises(
        MisuseError, match=told.replace("conv", "linear").replace("16, 'T'", "'T', 24") if turned else told
    ):
        paddable.probe(*((other, one) if turned else (one, other)), [f"x:{2 if turned else 1}=T"], at=20)


def test_one_pair_in_many_blames_no_node(tmp_path: Path) -> None:
    rest = [f"v{i + 1} = {{}} (v{i})" for i in range(20)]
    body = ["v0 = Neg (x)", *rest, "y = Relu (v20)"]
    texts = [
        "(float[1, T, 4] x) => (float[1, T, 4] y) { " + " ".join(body).format(*[op] * 20) + " }"
        for op in ("Sigmoid", "Tanh")
    ]
    one, other = (save(tmp_path / f"{i}.onnx", text) for i, text in enumerate(texts))
    report = paddable.probe(one, other, ["x:1=T"])
    assert not report.forks and report.cause is not None and report.cause.kind == "unrelated"


def test_a_weight_that_no_output_feels_is_told(tmp_path: Path) -> None:
    table = np.random.default_rng(0).standard_normal((6, 4)).astype(np.float32)
    text = "(int64[1, T] ids) => (float[1, T, 4] y) { e = Gather (table, ids) y = Relu (e) }"
    right = save(tmp_path / "right.onnx", text, table=table)
    changed = table.copy()
    changed[5, 1] = 9
    wrong = save(tmp_path / "wrong.onnx", text, table=changed)
    ids = np.array([[0, 1, 2, 3]])
    report = paddable.probe(wrong, right, ["ids:1=T"], inputs={"ids": ids})
    assert report.ok
    assert "The runs agree: bit for bit; but 1 weight differs: input 0 (table) of Gather" in report.verdict
    assert "in 1 of 24 numbers, most at [5, 1]: 9 and" in report.verdict


def test_equal_weights_are_not_called_changed(probed: Find, padded: Model) -> None:
    for model in (padded, planted.scrambled(padded)[0]):
        assert not probed(model).changed


@pytest.mark.parametrize("turned", [False, True])
def test_which_run_overflows_is_told_whichever_is_first(
    turned: bool, native: Model, tmp_path: Path, in_half: Callable[[Model], Model]
) -> None:
    against = planted.loud(native, "block.3")
    onnx.save(against, tmp_path / "wide.onnx")
    onnx.save(in_half(against), tmp_path / "half.onnx")
    pair = (tmp_path / "half.onnx", tmp_path / "wide.onnx")
    x = np.random.default_rng(0).standard_normal((1, 23, planted.WIDTH)).astype(np.float32)
    report = paddable.probe(*(pair[::-1] if turned else pair), ["x:1=T"], inputs={"x": x})
    assert report.fork is not None and report.fork.cause.kind == "precision"
    half, wide = ("second", "first") if turned else ("first", "second")
    assert re.match(rf"the {wide} run reaches .* the {half} run is infinite or NaN there", report.fork.cause.text)


def test_the_case_of_an_overflow_warns_of_nothing(
    native: Model, tmp_path: Path, in_half: Callable[[Model], Model], recwarn: pytest.WarningsRecorder
) -> None:
    against = planted.loud(native, "block.3")
    onnx.save(against, tmp_path / "wide.onnx")
    onnx.save(in_half(against), tmp_path / "half.onnx")
    x = np.random.default_rng(0).standard_normal((1, 23, planted.WIDTH)).astype(np.float32)
    case = tmp_path / "case"
    both = tmp_path / "half.onnx", tmp_path / "wide.onnx"
    paddable.probe(*both, ["x:1=T"], inputs={"x": x}, isolate=case)
    assert not [warning for warning in recwarn if issubclass(warning.category, RuntimeWarning)]
    ran = subprocess.run([sys.executable, "run.py"], cwd=case, capture_output=True, text=True)
    assert ran.returncode == 1 and "inf" in ran.stdout
    assert not ran.stderr


def test_exchanged_values_are_named_and_no_case_accuses_the_runtime(
    native: Model, folder: Path, tmp_path: Path
) -> None:
    model = onnx.ModelProto()
    model.CopyFrom(native)
    q, k = (planted.node_of(model, f"block.6/turn_{part}") for part in "qk")
    q.input[0], k.input[0] = k.input[0], q.input[0]
    onnx.save(model, tmp_path / "swapped.onnx")
    case = tmp_path / "case"
    report = paddable.probe(tmp_path / "swapped.onnx", folder / "native.onnx", ["x:1=T"], isolate=case)
    assert report.fork is not None and report.fork.cause.kind == "wiring"
    assert report.fork.node in ("block.6/turn_q", "block.6/turn_k")
    assert "block.6/split_q" in report.fork.cause.text and "block.6/split_k" in report.fork.cause.text
    assert report.isolated is None and not case.exists()
    assert "nothing was written" in report.notes[0]


UPSAMPLED = (
    "(float[1, 4, T] x) => (float[1, 4, U] y) { a = Conv <kernel_shape = [3], pads = [1, 1]> (x, v) "
    "b = ConvTranspose <kernel_shape = [8], strides = [4], pads = [2, 2]> (a, w) c = LeakyRelu (b) "
    "y = Conv <kernel_shape = [3], pads = [1, 1]> (c, v) }"
)


def _upsampled(place: Path, change: float = 0.0) -> Path:
    rng = np.random.default_rng(0)
    v, w = (rng.standard_normal(shape).astype(np.float32) for shape in ((4, 4, 3), (4, 4, 8)))
    w[1, 2, 3] += change
    return save(place, UPSAMPLED, v=v, w=w)


def test_zero_padding_parts_at_the_transposed_convolution(tmp_path: Path) -> None:
    model = _upsampled(tmp_path / "m.onnx")
    report = paddable.probe(model, model, ["x:2=T"], container=40, at=20)
    assert report.fork is not None and report.fork.op == "ConvTranspose"


def test_a_changed_weight_of_a_transposed_convolution(tmp_path: Path) -> None:
    right = _upsampled(tmp_path / "right.onnx")
    wrong = _upsampled(tmp_path / "wrong.onnx", change=1.0)
    report = paddable.probe(wrong, right, ["x:2=T"])
    assert report.fork is not None
    assert (report.fork.op, report.fork.cause.kind) == ("ConvTranspose", "weights")
    for name, steps in (("a", 30), ("b", 50)):
        paddable.convert(wrong, ["x:2=T"], containers=[steps], out=tmp_path / f"{name}.onnx", verify=False)
    report = paddable.probe(tmp_path / "a.onnx", right, ["x:2=T"][:0])
    assert report.fork is not None and report.fork.op == "ConvTranspose"
    assert paddable.probe(tmp_path / "a.onnx", wrong).ok


LOOP = (
    "(float[1, T, 4] x) => (float[4] last, float[1, T, 4] y) <int64 axis = {1}, bool go = {1}> { y = Relu (x) "
    "s = Shape <start = 1, end = 2> (x) n = Squeeze (s) start = Constant <value_floats = [0.0, 0.0, 0.0, 0.0]> () "
    "last = Loop (n, go, start) <body = b (int64 i, bool c, float[4] h) => (bool d, float[4] k) "
    "{ d = Identity (c) m = MatMul (h, w) e = Gather <axis = 1> (x, i) f = Squeeze (e) k = Add (m, f) }> }"
)


def _loop(place: Path, change: float = 0.0, body: str = "Add") -> Path:
    w = np.eye(4, dtype=np.float32) / 2
    w[1, 2] += change
    return save(place, LOOP.replace("k = Add (m, f)", f"k = {body} (m, f)"), w=w)


def test_a_weight_that_a_body_reads(tmp_path: Path) -> None:
    right, wrong = _loop(tmp_path / "right.onnx"), _loop(tmp_path / "wrong.onnx", 1.0)
    report = paddable.probe(wrong, right, ["x:1=T"])
    assert report.fork is not None and report.fork.op == "Loop"
    assert report.verdict.startswith("The runs part at Loop")
    assert "in 1 of 16 numbers, most at [1, 2]: 1 and 0" in report.fork.cause.text


def test_another_operator_in_a_body(tmp_path: Path) -> None:
    right, wrong = _loop(tmp_path / "right.onnx"), _loop(tmp_path / "wrong.onnx", body="Sub")
    report = paddable.probe(wrong, right, ["x:1=T"])
    assert report.fork is not None and report.fork.cause.kind == "structure"
    assert " has Sub in the first graph and Add in the second" in report.fork.cause.text


def test_sizes_of_a_container_are_no_fork(tmp_path: Path) -> None:
    model = _loop(tmp_path / "m.onnx")
    report = paddable.probe(model, model, ["x:1=T"], container=12, at=8)
    assert report.fork is not None and report.fork.op == "Loop"


def test_a_branch_is_the_same_in_both(tmp_path: Path) -> None:
    text = (
        "(float[1, T, 4] x) => (float[1, T, 4] y) <int64 none = {0}> { s = Shape <start = 1, end = 2> (x) "
        "n = Squeeze (s) go = Greater (n, none) a = Neg (x) b = If (go) <then_branch = t () => (float[1, T, 4] p) "
        "{ p = OP (a) }, else_branch = e () => (float[1, T, 4] q) { q = Sin (a) }> y = Tanh (b) }"
    )
    right = save(tmp_path / "right.onnx", text.replace("OP", "Relu"))
    wrong = save(tmp_path / "wrong.onnx", text.replace("OP", "Abs"))
    report = paddable.probe(wrong, right, ["x:1=T"])
    assert report.fork is not None and report.fork.cause.kind == "structure"
    assert "Abs" in report.fork.cause.text and "If" not in report.fork.cause.text


@pytest.fixture(scope="module")
def bundle(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("precisions") / "bundle"
    native = folder / "native.onnx"
    paddable.convert(native, ["x:1=T"], containers=[20, 40], out=out, precision="fp32,fp16", verify=False)
    return out


def test_a_precision_of_a_bundle(bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = paddable.probe(bundle)
    assert report.tolerance == 1e-4 and "fp32 was taken" in report.notes[0]
    report = paddable.probe(bundle, precision="fp16")
    assert report.tolerance == 3e-2 and not report.notes
    report = paddable.probe(bundle, precision="fp16", against_precision="fp32", container=40)
    assert list(report.containers) == [{"T": 40}] * 2
    assert "fp16" in report.one and "fp32" in report.other
    with pytest.raises(MisuseError, match=r"no graph in int8; choose one of fp16, fp32"):
        paddable.probe(bundle, precision="int8")
    with pytest.raises(MisuseError, match=r"choose one of T = 20; T = 40$"):
        paddable.probe(bundle, container=30)
    assert main(["probe", str(bundle)]) == 0
    assert "fp32 was taken" in capsys.readouterr().out


def test_two_converted_files_know_their_remedies(padded: Model, tmp_path: Path) -> None:
    onnx.save(padded, tmp_path / "right.onnx")
    onnx.save(planted.unmasked(padded, "block.4/memory"), tmp_path / "wrong.onnx")
    report = paddable.probe(tmp_path / "wrong.onnx", tmp_path / "right.onnx")
    assert report.fork is not None and report.fork.cause.code == "PAD102"
    assert "the remedy is missing or wrong there" in report.fork.cause.fix


def test_the_first_token_that_differs_is_told() -> None:
    from paddable.api.probe_places import _first_difference

    mine, theirs = ({"writes": ["", "a", last], "rate": 1} for last in "bc")
    assert _first_difference(mine, theirs) == 'writes[2] is "b" in the first and "c" in the second'
    assert _first_difference(["a"], ["a", "b"]) == "they have 1 and 2 entries"


def test_nothing_given_beside_a_module_is_dropped() -> None:
    with pytest.raises(MisuseError, match="`at`, `inputs` cannot be used with a PyTorch module"):
        paddable.probe("model.py:build", "native.onnx", at=3, inputs="x.npz")


def test_a_negative_seed_is_refused() -> None:
    with pytest.raises(MisuseError, match="`seed`: -1 is no seed; random numbers are drawn from one of 0 or more"):
        paddable.probe("a.onnx", "b.onnx", seed=-1)
    with pytest.raises(MisuseError, match="`seed`: -1 is no seed"):
        paddable.verify("a.onnx", seed=-1)


def test_two_modules_are_refused() -> None:
    with pytest.raises(MisuseError, match=r"^a.py:f and b.py:f: two PyTorch modules cannot be compared"):
        paddable.probe("a.py:f", "b.py:f")


def test_what_to_declare_is_told_by_the_inputs_name(tmp_path: Path) -> None:
    text = "(float[1, 4, T] audio) => (float[1, 4, T] y) { y = Relu (audio) }"
    model = save(tmp_path / "m.onnx", text)
    with pytest.raises(MisuseError, match=r"such as `lengths=\['audio:2=T'\]`"):
        paddable.probe(model, model, at=9)


def test_nothing_is_blamed_on_padding_where_none_is(tmp_path: Path) -> None:
    text = "(float[1, T, 4] x) => (float[1, T, 4] y) { a = Transpose <perm = [0, 2, 1]> (x) s = MatMul (x, a) BODY }"
    softmax = "w = Softmax <axis = -1> (s) y = MatMul (w, x)"
    right = save(tmp_path / "right.onnx", text.replace("BODY", softmax))
    wrong = save(tmp_path / "wrong.onnx", text.replace("BODY", "e = Exp (s) " + softmax.replace("(s)", "(e)")))
    report = paddable.probe(wrong, right, ["x:1=T"])
    assert report.fork is not None
    assert report.fork.cause.kind == "structure" and "padding" not in report.verdict


def test_agreement_is_told_with_the_sizes_that_were_run(tmp_path: Path) -> None:
    model = save(tmp_path / "m.onnx", "(float[N, T, 4] x) => (float[N, T, 4] y) { y = Relu (x) }")
    report = paddable.probe(model, model)
    assert report.verdict.endswith("at one step along x:1; declare `lengths=['x:1=T']` to compare longer ones")
    assert report.to_json()["inputs"] == {"x": [1, 1, 4]}
    assert paddable.probe(model, model, ["x:1=T"], at=9).verdict.endswith("bit for bit; at T = 9")
    x = np.ones((1, 7, 4), np.float32)
    assert paddable.probe(model, model, inputs={"x": x}).verdict.endswith("bit for bit; with x [1, 7, 4]")


def test_outputs_that_cannot_be_compared_are_no_agreement_and_no_difference(tmp_path: Path) -> None:
    head = "(float[1, T, 4] x) => (float[A, B, C] y) "
    one = save(tmp_path / "one.onnx", head + "{ a = Relu (x) y = Transpose <perm = [0, 2, 1]> (a) }")
    text = head.replace("A, B, C", "A, 4") + "{ a = Relu (x) y = Reshape (a, sizes) }"
    other = save(tmp_path / "other.onnx", text, sizes=np.array([-1, 4]))
    report = paddable.probe(one, other, ["x:1=T"], at=7)
    assert not report.ok and report.cause is not None and report.cause.kind == "unknown"
    assert report.verdict.startswith(
        "Output y could not be compared: it is float32 [1, 4, 7] in the first run and float32 [7, 4] in the second; "
    )


def test_an_output_is_compared_with_that_of_its_name(tmp_path: Path) -> None:
    head = "(float[1, T, 4] x) => (float[1, T, 4] y, OUT) { a = Relu (x) "
    one = save(tmp_path / "one.onnx", head.replace("OUT", "float[1, T, 4] z") + "y = Exp (a) z = Sigmoid (a) }")
    outs = "float[1, T, 4] more, float[1, T, 4] z"
    text = head.replace("OUT", outs) + "y = Exp (a) more = Neg (a) z = Sigmoid (a) }"
    report = paddable.probe(one, save(tmp_path / "other.onnx", text), ["x:1=T"])
    assert report.ok and set(report.outputs) == {"y", "z"}, report.verdict


def test_the_steps_of_a_container_are_no_classes(tmp_path: Path) -> None:
    native = save(tmp_path / "m.onnx", "(float[1, 4, T] x) => (float[1, 4, T] y) { y = Relu (x) }")
    files = [tmp_path / f"{steps}.onnx" for steps in (80, 100)]
    for file in files:
        paddable.convert(native, ["x:2=T"], containers=[int(file.stem)], out=file, verify=False)
    report = paddable.probe(*files, at=50)
    assert report.ok, report.verdict


def test_the_only_axis_without_a_size_is_no_batch(tmp_path: Path) -> None:
    model = save(tmp_path / "m.onnx", "(float[T, 4] x) => (float[T, 4] y) { y = Relu (x) }")
    assert "at one step along x:0; declare" in paddable.probe(model, model).verdict


def test_which_target_of_a_bundle_was_taken_is_told(folder: Path, tmp_path: Path) -> None:
    made = {}
    for target in ("cpu", "coreml"):
        out = tmp_path / target
        paddable.convert(folder / "native.onnx", ["x:1=T"], containers=[40], out=out, target=target, verify=False)
        made[target] = json.loads((out / "bundle.json").read_text())
    other = made["coreml"]["graphs"][0]
    for file in {other["file"], *made["coreml"]["files"]} - set(made["cpu"]["files"]):
        shutil.copy(tmp_path / "coreml" / file, tmp_path / "cpu" / file)
        made["cpu"]["files"][file] = made["coreml"]["files"][file]
    made["cpu"]["graphs"].append(other)
    (tmp_path / "cpu" / "bundle.json").write_text(json.dumps(made["cpu"]))
    report = paddable.probe(tmp_path / "cpu")
    assert report.notes == ["cpu was made for cpu and coreml: the graphs for cpu were taken"]


@pytest.mark.parametrize("turned", [False, True])
def test_what_the_optimiser_alone_changes_is_its_own(
    folder: Path, monkeypatch: pytest.MonkeyPatch, turned: bool
) -> None:
    from paddable.api import probing

    class Loose(probing.Engine):
        """An optimiser that changes the answer of the padded graph."""

        def run(self, feeds: Mapping[str, Any]) -> dict[str, Any]:
            return {name: array + ("ilens" in feeds) for name, array in super().run(feeds).items()}

    monkeypatch.setattr(probing, "Engine", Loose)
    both = folder / "padded.onnx", folder / "native.onnx"
    report = paddable.probe(*(both[::-1] if turned else both))
    assert report.fork is None and report.cause is not None, report.verdict
    assert report.cause.kind == "optimiser"
