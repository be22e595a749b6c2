"""What a fork is blamed on: the weight, the operator or the precision that differs there, and not what lies beside."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest

import paddable
from paddable.divergence import ForkRecord

from . import planted

HEAD = '<ir_version: 9, opset_import: ["" : 18]> g '
RNG = np.random.default_rng(0)
W = RNG.standard_normal((4, 4)).astype(np.float32)


def save(place: Path, text: str, **weights: np.ndarray) -> Path:
    model = onnx.parser.parse_model(HEAD + text)
    model.graph.initializer.extend(onnx.numpy_helper.from_array(a, name) for name, a in weights.items())
    onnx.save(model, place)
    return place


def forked(one: Path, other: Path, *lengths: str, x: np.ndarray | None = None, **options: object) -> ForkRecord:
    report = paddable.probe(one, other, lengths, inputs=None if x is None else {"x": x}, **options)  # type: ignore[arg-type]
    assert report.fork is not None, report.verdict
    return report.fork


DEPTHWISE = (
    "(float[1, 4, T] x) => (float[1, 4, T] y) { k = Unsqueeze (w, axis) "
    "a = Conv <kernel_shape = [5], pads = [2, 2], group = 4> (x, k) y = Relu (a) }"
)


@pytest.fixture(scope="module")
def depthwise(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A depthwise kernel behind an Unsqueeze, right and wrong in one number: native, folded and converted."""
    folder = tmp_path_factory.mktemp("depthwise")
    kernel = RNG.standard_normal((4, 5)).astype(np.float32)
    for name, change in (("right", 0.0), ("wrong", 1.0)):
        kernel[1, 2] += change
        save(folder / f"{name}.onnx", DEPTHWISE, w=kernel, axis=np.array([1]))
        folded = DEPTHWISE.replace("k = Unsqueeze (w, axis) ", "")
        save(folder / f"{name}-folded.onnx", folded, k=kernel[:, None])
        for target in ("cpu", "coreml"):  # one writes the kernel in two dimensions, the other folds it
            out = folder / f"{name}-{target}.onnx"
            paddable.convert(folder / f"{name}.onnx", ["x:2=T"], containers=[40], out=out, target=target, verify=False)
    return folder


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("wrong-cpu", "right"),
        ("wrong-coreml", "right"),
        ("wrong", "right-cpu"),
        ("wrong", "right-coreml"),
        ("wrong-cpu", "right-coreml"),
        ("wrong-coreml", "right-cpu"),
        ("wrong", "right-folded"),
        ("wrong-folded", "right"),
    ],
)
def test_a_weight_is_compared_as_it_is_read(depthwise: Path, one: str, other: str) -> None:
    declared = [] if {"cpu", "coreml"} & set(f"{one}-{other}".split("-")) else ["x:2=T"]
    fork = forked(depthwise / f"{one}.onnx", depthwise / f"{other}.onnx", *declared)
    assert fork.cause.kind == "weights" and not fork.cause.code
    assert (
        "in 1 of 20 numbers, most at [1, 0, " in fork.cause.text
        or "in 1 of 20 numbers, most at [1, 2]" in fork.cause.text
    )


MIXED = (
    "(float[1, T, 4] x) => (float[1, 4, T] y) { a = MatMul (x, w) h = Cast <to = 10> (a) "
    "t = Transpose <perm = [0, 2, 1]> (h) b = Cast <to = 1> (t) y = Relu (b) }"
)
WIDE = (
    "(float[1, T, 4] x) => (float[1, 4, T] y) { a = MatMul (x, w) t = Transpose <perm = [0, 2, 1]> (a) y = Relu (t) }"
)


@pytest.mark.parametrize("declared", [[], ["x:1=T"]])
def test_half_ends_where_a_graph_casts_to_it_and_back(tmp_path: Path, declared: list[str]) -> None:
    half, wide = save(tmp_path / "half.onnx", MIXED, w=W), save(tmp_path / "wide.onnx", WIDE, w=W)
    x = np.full((1, 7, 4), 2e5, np.float32)
    for one, other, lost in ((half, wide, "first"), (wide, half, "second")):
        fork = forked(one, other, *declared, x=x)
        assert fork.cause.kind == "precision"
        assert f"where half precision ends at 65504: the {lost} run is infinite or NaN there" in fork.cause.text


def test_infinity_in_float_is_not_the_end_of_half(tmp_path: Path) -> None:
    body = "{ h = Cast <to = 10> (x) f = Cast <to = 1> (h) a = OP (f) y = Relu (a) }"
    text = "(float[1, T, 4] x) => (float[1, T, 4] y) " + body
    one, other = (save(tmp_path / f"{op}.onnx", text.replace("OP", op)) for op in ("Exp", "Abs"))
    fork = forked(one, other, "x:1=T", x=np.full((1, 7, 4), 200, np.float32))
    assert fork.cause.kind == "structure" and "Exp" in fork.cause.text


LSTM = (
    "(float[1, T, 4] x) => (float[T, 1, 1, 4] y) { s = Shape <start = 0, end = 1> (x) "
    "z = Concat <axis = 0> (one, s, size) h = ConstantOfShape (z) t = Transpose <perm = [1, 0, 2]> (x) "
    'y = LSTM <hidden_size = 4, direction = "reverse"> (t, w, r, , , h, h) }'
)


def test_a_node_whose_state_is_folded_is_where_the_runs_part(tmp_path: Path) -> None:
    w, r = (RNG.standard_normal((1, 16, 4)).astype(np.float32) for _ in range(2))
    sizes = {"one": np.array([1]), "size": np.array([4])}
    native = save(tmp_path / "native.onnx", LSTM, w=w, r=r, **sizes)
    paddable.convert(native, ["x:1=T"], containers=[40], out=tmp_path / "padded.onnx", verify=False)
    model = onnx.load(tmp_path / "padded.onnx")
    (lstm,) = (node for node in model.graph.node if node.op_type == "LSTM")
    lstm.input[4] = ""
    onnx.save(model, tmp_path / "faulty.onnx")
    report = paddable.probe(tmp_path / "faulty.onnx", native)
    assert report.fork is not None and report.fork.cause.code == "PAD104"
    assert report.verdict.startswith("The runs part at LSTM ")
    assert not report.fork.missing


LINE = "(float[1, T, 4] x) => (float[1, T, 4] y) { a = MatMul (x, w) b = Sigmoid (a) y = Relu (b) }"


@pytest.mark.parametrize("padded", [False, True])
def test_an_operator_that_is_another_or_missing_is_the_headline(tmp_path: Path, padded: bool) -> None:
    right = save(tmp_path / "right.onnx", LINE, w=W)
    other = save(tmp_path / "other.onnx", LINE.replace("Sigmoid", "Exp"), w=W)
    dropped = save(tmp_path / "dropped.onnx", LINE.replace("b = Sigmoid (a) y = Relu (b)", "y = Relu (a)"), w=W)
    declared = ["x:1=T"]
    if padded:
        for name, place in (("other", other), ("dropped", dropped)):
            paddable.convert(place, declared, containers=[40], out=tmp_path / f"{name}-40.onnx", verify=False)
        other, dropped, declared = tmp_path / "other-40.onnx", tmp_path / "dropped-40.onnx", []
    verdict = paddable.probe(other, right, declared).verdict
    assert verdict.startswith("The runs part at Exp ")
    assert "the first graph has Exp node_1 where the second has Sigmoid node_1" in verdict
    verdict = paddable.probe(dropped, right, declared).verdict
    assert verdict.startswith("The first graph lacks Sigmoid node_1, in front of Relu ")


def test_what_is_missing_behind_the_last_node(tmp_path: Path) -> None:
    turned = LINE.replace("y = Relu (b)", "c = Relu (b) y = Transpose <perm = [0, 2, 1]> (c)")
    right = save(tmp_path / "right.onnx", turned.replace("(float[1, T, 4] y)", "(float[1, 4, T] y)"), w=W)
    short = save(tmp_path / "short.onnx", LINE, w=W)
    report = paddable.probe(short, right, ["x:1=T"], at=4, isolate=tmp_path / "case")
    assert report.verdict.startswith("The first graph lacks Transpose node_3, behind Relu node_2: error ")
    assert "optimiser" not in report.verdict
    assert report.isolated is None and not (tmp_path / "case").exists()  # alone, what is there is right
    assert any(note.startswith("nothing was written to ") for note in report.notes)


@pytest.mark.parametrize("block", [0, 6, 19])
def test_exchanged_weights_under_other_names(native: onnx.ModelProto, folder: Path, tmp_path: Path, block: int) -> None:
    model = onnx.ModelProto()
    model.CopyFrom(native)
    q, k = (planted.node_of(model, f"block.{block}/{part}") for part in "qk")
    q.input[1], k.input[1] = k.input[1], q.input[1]
    model, names = planted.scrambled(model)
    onnx.save(model, tmp_path / "exchanged.onnx")
    fork = forked(tmp_path / "exchanged.onnx", folder / "native.onnx", "x:1=T")
    assert fork.cause.kind == "wiring" and fork.other == f"block.{block}/split_q"
    assert names[f"block.{block}/q"] in fork.cause.text and names[f"block.{block}/k"] in fork.cause.text


def test_a_node_that_reads_no_other_step_does_not_read_the_padding(tmp_path: Path) -> None:
    text = "(float[1, T, 4] x) => (float[1, T, 4] y) { a = Mul (x, c) y = Floor (a) }"
    one, other = (
        save(tmp_path / f"{name}.onnx", text, c=np.float32(factor)) for name, factor in (("low", 0.999999), ("one", 1))
    )
    fork = forked(one, other, "x:1=T", x=np.full((1, 7, 4), 3, np.float32), container=20)
    assert (fork.op, fork.cause.kind) == ("Floor", "unknown")


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(
    ("operator", "shapes"),
    [
        ("Conv <pads = [1, 1]> (x, w{})", ((4, 4, 3), (4,))),
        ("ConvTranspose <pads = [1, 1]> (x, w{})", ((4, 4, 3), (4,))),
        ("Conv <pads = [1, 1], group = 4> (x, w{})", ((4, 1, 3), (4,))),
    ],
)
def test_a_bias_that_one_convolution_has(
    tmp_path: Path, operator: str, shapes: tuple[tuple[int, ...], ...], turned: bool
) -> None:
    text = "(float[1, 4, T] x) => (float[1, 4, T] y) {{ a = {} y = Tanh (a) }}"
    rng = np.random.default_rng(0)
    weights = {name: rng.standard_normal(shape).astype(np.float32) for name, shape in zip("wk", shapes, strict=True)}
    right = save(tmp_path / "right.onnx", text.format(operator.format(", k")), **weights)
    bare = save(tmp_path / "bare.onnx", text.format(operator.format("")), w=weights["w"])
    fork = paddable.probe(*((right, bare) if turned else (bare, right)), ["x:2=T"]).fork
    assert fork is not None and fork.op == operator.split()[0], fork
    has, lacks = ("first", "second") if turned else ("second", "first")
    assert fork.cause.text == f"the {has} graph has a bias (k) in {fork.op}, and the {lacks} has none there"
    zero = save(tmp_path / "zero.onnx", text.format(operator.format(", k")), **{**weights, "k": 0 * weights["k"]})
    assert paddable.probe(bare, zero, ["x:2=T"]).ok
    behind = (
        text.format(operator.format("")).replace("a = ", "b = ").replace("y = Tanh (a)", "a = Add (b, k) y = Tanh (a)")
    )
    added = save(tmp_path / "behind.onnx", behind, w=weights["w"], k=weights["k"].reshape(4, 1))
    assert paddable.probe(added, right, ["x:2=T"]).ok
