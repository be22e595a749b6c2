"""What padding is blamed for, and what it is not: a node too many, rounding, and a mask on valid steps."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnxruntime.quantization import QuantType, quantize_dynamic

import paddable

from .test_verdicts import save

CONV = "Conv <kernel_shape = [3], pads = [1, 1]>"
BODY = f"{{ a = {CONV} (x, v, k) b = Relu (a) c = {CONV} (b, w) d = Add (c, b) y = Tanh (d) }}"
RNG = np.random.default_rng(0)
V, W = (0.2 * RNG.standard_normal((4, 4, 3)).astype(np.float32) for _ in range(2))


def _native(place: Path, body: str = BODY) -> Path:
    return save(place, f"(float[1, 4, T] x) => (float[1, 4, T] y) {body}", v=V, w=W, k=np.ones(4, np.float32))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """``native.onnx``, and ``padded.onnx`` made of it."""
    place = tmp_path_factory.mktemp("blamed")
    paddable.convert(
        _native(place / "native.onnx"), ["x:2=T"], containers=[40], out=place / "padded.onnx", verify=False
    )
    return place


@pytest.mark.parametrize(
    ("there", "without", "op"),
    [
        ("b = Relu (a)", "b = Identity (a)", "Relu"),
        ("d = Add (c, b)", "d = Identity (c)", "Add"),
        ("y = Tanh (d)", "y = Identity (d)", "Tanh"),
    ],
)
def test_a_node_that_only_the_padded_graph_has_is_no_padding(
    folder: Path, tmp_path: Path, there: str, without: str, op: str
) -> None:
    other = _native(tmp_path / "other.onnx", BODY.replace(there, without))
    fork = paddable.probe(folder / "padded.onnx", other, at=17).fork
    assert fork is not None and (fork.op, fork.cause.kind) == (op, "structure"), fork
    assert "which the second lacks" in fork.cause.text


@pytest.mark.parametrize("turned", [False, True])
def test_a_node_behind_all_that_is_paired_is_named(folder: Path, tmp_path: Path, turned: bool) -> None:
    """In front of the cut of a padded graph."""
    more = _native(tmp_path / "more.onnx", BODY.replace("y = Tanh (d)", "e = Tanh (d) y = Abs (e)"))
    paddable.convert(more, ["x:2=T"], containers=[40], out=tmp_path / "padded.onnx", verify=False)
    pair = (folder / "native.onnx", tmp_path / "padded.onnx")
    report = paddable.probe(*(pair if turned else pair[::-1]), at=17)
    assert report.fork is not None and report.fork.cause.kind == "structure", report.verdict
    told = "the first graph lacks Abs node_5, behind Tanh node_4" if turned else "the first graph has Abs node_5, which"
    assert told in report.verdict[0].lower() + report.verdict[1:]


def test_rounding_of_a_padded_run_is_no_padding(folder: Path, tmp_path: Path) -> None:
    quantize_dynamic(
        folder / "padded.onnx", tmp_path / "8.onnx", weight_type=QuantType.QUInt8, op_types_to_quantize=["Conv"]
    )
    fork = paddable.probe(tmp_path / "8.onnx", folder / "native.onnx", at=17, tolerance=1e-4).fork
    assert fork is not None and fork.cause.kind == "precision" and not fork.cause.code, fork


def test_what_half_rounds_first_is_told_as_rounding(folder: Path, tmp_path: Path) -> None:
    paddable.convert(
        folder / "native.onnx", ["x:2=T"], containers=[40], out=tmp_path / "b", precision="fp16", verify=False
    )
    fork = paddable.probe(tmp_path / "b", folder / "native.onnx", precision="fp16", at=17, tolerance=1e-5).fork
    assert fork is not None and fork.cause.kind == "rounding", fork
    assert "no error on the way is larger than what rounding makes: it begins here" in fork.cause.text


@pytest.mark.parametrize("first", [True, False])
def test_a_mask_on_valid_steps_is_named(folder: Path, tmp_path: Path, first: bool) -> None:
    model = onnx.load(folder / "padded.onnx")
    mask = next(node for node in model.graph.node if node.name == "paddable/fill")
    mask.input[1], mask.input[2] = mask.input[2], mask.input[1]
    onnx.save(model, tmp_path / "inverted.onnx")
    files = (tmp_path / "inverted.onnx", folder / "native.onnx")
    fork = paddable.probe(*(files if first else files[::-1]), at=17).fork
    assert fork is not None and fork.cause.kind == "padding"
    number = "first" if first else "second"
    assert f"Where paddable/fill of the {number} graph replaces 100 % of the numbers of valid" in fork.cause.text
    assert not first or fork.node == "paddable/fill"


def test_a_missing_mask_is_padding(folder: Path, tmp_path: Path) -> None:
    model = onnx.load(folder / "padded.onnx")
    masks = [node for node in model.graph.node if node.op_type == "Where" and "fill" in node.name]
    masks[-1].input[2] = masks[-1].input[1]
    onnx.save(model, tmp_path / "unmasked.onnx")
    fork = paddable.probe(tmp_path / "unmasked.onnx", folder / "native.onnx", at=17).fork
    assert fork is not None and fork.cause.code == "PAD102", fork


def test_quantisers_in_front_of_a_node_are_precision(folder: Path, tmp_path: Path) -> None:
    body = BODY.replace("d = Add", "q = QuantizeLinear (c, s, z) r = DequantizeLinear (q, s, z) d = Add").replace(
        "(c, b)", "(r, b)"
    )
    text = f"(float[1, 4, T] x) => (float[1, 4, T] y) <float s = {{0.02}}, int8 z = {{0}}> {body}"
    other = save(tmp_path / "qdq.onnx", text, v=V, w=W, k=np.ones(4, np.float32))
    fork = paddable.probe(folder / "padded.onnx", other, at=17, tolerance=1e-4).fork
    assert fork is not None and fork.cause.kind == "precision", fork


@pytest.mark.parametrize("changed", ["inputs", "weights"])
def test_what_a_padded_graph_exchanged_is_told_behind_its_masks(tmp_path: Path, changed: str) -> None:
    text = (
        "(float[1, 4, T] p, float[1, 4, T] q) => (float[1, 4, T] y) "
        f"{{ a = {CONV} (p, v) b = {CONV} (q, w) y = Sub (a, b) }}"
    )
    right = save(tmp_path / "right.onnx", text, v=V, w=W)
    held = {"v": W, "w": V} if changed == "weights" else {"v": V, "w": W}
    if changed == "inputs":
        text = text.replace("(p, v)", "(X, v)").replace("(q, w)", "(p, w)").replace("X", "q")
    wrong = save(tmp_path / "wrong.onnx", text, **held)
    paddable.convert(wrong, ["p:2=T", "q:2=T"], containers=[40], out=tmp_path / "padded.onnx", verify=False)
    fork = paddable.probe(tmp_path / "padded.onnx", right, at=17).fork
    assert fork is not None and fork.cause.kind == "wiring", fork
    assert "is the input q where the second graph reads the input p" in fork.cause.text


@pytest.mark.parametrize("zeros", [2, 1])
def test_zeros_in_front_of_a_convolution_are_its_pads(tmp_path: Path, zeros: int) -> None:
    text = (
        "(float[1, 4, T] x) => (float[1, 4, T] y) { a = Relu (x) b = Tanh (a) "
        "c = Conv <kernel_shape = [3], pads = [2, 0]> (b, v) y = Sub (c, x) }"
    )
    right = save(tmp_path / "right.onnx", text, v=V)
    text = text.replace("b = Tanh (a) ", "" if zeros == 2 else "b = Tanh (a) ")
    text = text.replace("c = Conv <kernel_shape = [3], pads = [2, 0]> (b", "p = Pad (b, n) c = Conv <pads = [0, 0]> (p")
    text = text.replace("(b, n)", "(a, n)") if zeros == 2 else text.replace("[0, 0]", "[0, 1]")
    wrong = save(tmp_path / "wrong.onnx", text, v=V, n=np.array([0, 0, zeros, 0, 0, 0]))
    cause = paddable.probe(wrong, right, ["x:2=T"], at=9).verdict
    told = (
        "lacks Tanh"
        if zeros == 2
        else "with the Pad in front of it, has pads=(1, 1) in the first graph and pads=(2, 0)"
    )
    assert told in cause and cause.count("pads") == (0 if zeros == 2 else 2)


MEAN = (
    "(float[1, T, 8] x) => (float[1, 8] y) {{ a = MatMul (x, w) i = {} (a) p = ReduceMean <keepdims = 0> (i, one) "
    "y = MatMul (p, v) }}"
)


@pytest.mark.parametrize("pair", [("more_padded", "less"), ("more", "less_padded"), ("more_padded", "less_padded")])
def test_a_node_in_front_of_a_remedy_of_several_nodes_is_named_alone(tmp_path: Path, pair: tuple[str, str]) -> None:
    rng = np.random.default_rng(1)
    held = {name: rng.standard_normal((8, 8)).astype(np.float32) for name in "wv"} | {"one": np.array([1])}
    for name, op in (("more", "Abs"), ("less", "Identity")):
        file = save(tmp_path / f"{name}.onnx", MEAN.format(op), **held)
        paddable.convert(file, ["x:1=T"], containers=[40], out=tmp_path / f"{name}_padded.onnx", verify=False)
    fork = paddable.probe(*(tmp_path / f"{name}.onnx" for name in pair), at=17).fork
    assert fork is not None and (fork.op, fork.cause.kind) == ("Abs", "structure"), fork
    assert fork.cause.text == "the first graph has Abs node_1, which the second lacks"


MASKED = (
    "(float[1, T, 8] x, bool[1, T] m) => (float[1, T, 8] y) {{ q = MatMul (x, wq) k = MatMul (x, wk) "
    "v = MatMul (x, wv) t = Transpose <perm = [0, 2, 1]> (k) s = MatMul (q, t) {} u = Unsqueeze (i, one) "
    "z = Where (u, s, low) f = Softmax <axis = -1> (z) c = MatMul (f, v) y = Add (x, c) }}"
)


def test_a_mask_that_the_padded_graph_inverts_is_no_padding(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    held = {f"w{name}": rng.standard_normal((8, 8)).astype(np.float32) / 2 for name in "qkv"}
    held |= {"one": np.array([1]), "low": np.float32(-1e9)}
    for name, body in (("right", "i = Identity (m)"), ("wrong", "i = Not (m)")):
        save(tmp_path / f"{name}.onnx", MASKED.format(body), **held)
        file, padded = tmp_path / f"{name}.onnx", tmp_path / f"{name}_padded.onnx"
        paddable.convert(file, ["x:1=T", "m:1=T"], containers=[40], out=padded, verify=False)
    inputs = {"x": rng.standard_normal((1, 23, 8)).astype(np.float32), "m": np.arange(23)[None] < 15}
    for other in ("right", "right_padded"):
        fork = paddable.probe(tmp_path / "wrong_padded.onnx", tmp_path / f"{other}.onnx", inputs=inputs).fork
        assert fork is not None and (fork.op, fork.cause.kind) == ("Not", "structure"), fork
        assert "which the second lacks" in fork.cause.text


RECURRENT = (
    "(float[T, 1, 4] x) => (float[T, 2, 1, 4] y) <int64[1] two = {2}, int64[1] four = {4}, int64 one = {1}, "
    "int64[1] zero = {0}> { s = Shape (x) b = Gather (s, one) n = Unsqueeze (b, zero) "
    "c = Concat <axis = 0> (two, n, four) h = ConstantOfShape (c) a = Tanh (x) "
    'y, e = GRU <hidden_size = 4, direction = "bidirectional"> (a, w, r, , , h) }'
)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("weight", ["w", "r"])
def test_a_weight_comes_before_what_makes_the_first_state(tmp_path: Path, weight: str, turned: bool) -> None:
    weights = {name: RNG.standard_normal((2, 12, 4)).astype(np.float32) for name in "wr"}
    native = save(tmp_path / "native.onnx", RECURRENT, **weights)
    weights[weight][0, 3, 2] += 1
    paddable.convert(
        save(tmp_path / "other.onnx", RECURRENT, **weights),
        ["x:0=T"],
        containers=[40],
        out=tmp_path / "padded.onnx",
        verify=False,
    )
    pair = (native, tmp_path / "padded.onnx") if turned else (tmp_path / "padded.onnx", native)
    fork = paddable.probe(*pair, at=17).fork
    assert fork is not None and (fork.op, fork.cause.kind) == ("GRU", "weights"), fork
    assert f"({weight}) of GRU differs from the second graph's in 1 of 96 numbers, most at [0, 3, 2]" in fork.cause.text


@pytest.mark.parametrize("turned", [False, True])
def test_an_activation_behind_a_convolution_that_is_stored_over_two_axes(tmp_path: Path, turned: bool) -> None:
    """A depthwise one of a padded graph stands between an Unsqueeze and a Squeeze."""
    body = "{ a = Conv <kernel_shape = [5], pads = [2, 2], group = 4> (x, v) b = Tanh (a) y = Add (b, x) }"
    text, weight = f"(float[1, 4, T] x) => (float[1, 4, T] y) {body}", RNG.standard_normal((4, 1, 5)).astype(np.float32)
    silu = text.replace("b = Tanh (a)", "s = Sigmoid (a) b = Mul (s, a)")
    native = save(tmp_path / "native.onnx", silu, v=weight)
    paddable.convert(
        save(tmp_path / "other.onnx", text, v=weight),
        ["x:2=T"],
        containers=[40],
        out=tmp_path / "padded.onnx",
        verify=False,
    )
    assert any(node.op_type == "Squeeze" for node in onnx.load(tmp_path / "padded.onnx").graph.node)
    pair = (native, tmp_path / "padded.onnx") if turned else (tmp_path / "padded.onnx", native)
    fork = paddable.probe(*pair, at=17).fork
    assert fork is not None and fork.cause.kind == "structure", fork
    assert all(op in fork.cause.text for op in ("Tanh", "Sigmoid")) and "Squeeze" not in fork.cause.text, fork


def test_what_has_no_time_axis_reads_no_padding(tmp_path: Path) -> None:
    """A term more in a step of a decoder, behind a mean over time, in front of a Concat."""
    text = (
        "(float[1, T, 4] x) => (float[1, 8] y) <float minus = {-1.0}, int64[1] time = {1}> "
        "{ m = ReduceMean <keepdims = 0> (x, time) c = Tanh (m) h = Sin (m) k = Concat <axis = 1> (h, c) y = Exp (k) }"
    )
    more = text.replace("k = Concat <axis = 1> (h, c)", "d = Mul (c, minus) k = Concat <axis = 1> (h, d)")
    native = save(tmp_path / "native.onnx", text)
    paddable.convert(
        save(tmp_path / "more.onnx", more), ["x:1=T"], containers=[40], out=tmp_path / "padded.onnx", verify=False
    )
    fork = paddable.probe(tmp_path / "padded.onnx", native, at=17).fork
    assert fork is not None and (fork.op, fork.cause.kind) == ("Mul", "structure"), fork
    assert "which the second lacks" in fork.cause.text
