"""A twin in 8 bits of somebody else's quantiser: what is rounded is told as precision, a wrong scale as a weight."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnxruntime.quantization import QuantType, quantize_dynamic

import paddable

from . import planted
from .test_verdicts import save

WIDTH = 16
LINEAR = f"(float[1, T, {WIDTH}] x) => (float[1, T, {WIDTH}] y) {{ a = MatMul (x, w) b = Add (a, c) y = Relu (b) }}"
STORED = LINEAR.replace("a = MatMul (x, w)", "f = DequantizeLinear (q, s, z) a = MatMul (x, f)")
GEMM = f"(float[T, {WIDTH}] x) => (float[T, {WIDTH}] y) {{ b = Gemm <transB = 1> (x, w, c) y = Relu (b) }}"
RNG = np.random.default_rng(0)
W, C = RNG.standard_normal((WIDTH, WIDTH)).astype(np.float32), RNG.standard_normal(WIDTH).astype(np.float32)
S = np.float32(np.abs(W).max() / 127)
Q = np.round(W / S).astype(np.int8)


@pytest.fixture
def native(tmp_path: Path) -> Path:
    return save(tmp_path / "native.onnx", LINEAR, w=W, c=C)


def dynamic(native: Path, change: Callable[[str, np.ndarray], np.ndarray] = lambda _, a: a) -> Path:
    """What ``quantize_dynamic`` makes of it, its constants changed."""
    made = native.with_name("dynamic.onnx")
    quantize_dynamic(native, made, weight_type=QuantType.QInt8, op_types_to_quantize=["MatMul", "Gemm"])
    model = onnx.load(made)
    for tensor in model.graph.initializer:
        tensor.CopyFrom(
            onnx.numpy_helper.from_array(change(tensor.name, onnx.numpy_helper.to_array(tensor)), tensor.name)
        )
    onnx.save(model, made)
    return made


def test_a_dynamic_twin_agrees_within_the_precision(native: Path) -> None:
    report = paddable.probe(dynamic(native), native, ["x:1=T"])
    assert report.tolerance == 3e-2
    assert report.fork is None or report.fork.cause.kind == "precision"
    assert not report.changed


@pytest.mark.parametrize("first", [True, False])
def test_what_8_bits_round_away_is_precision(native: Path, first: bool) -> None:
    made = dynamic(native)
    files = (made, native) if first else (native, made)
    fork = paddable.probe(*files, ["x:1=T"], tolerance=1e-5).fork
    assert fork is not None and fork.cause.kind == "precision"
    assert "int8 rounds away what fp32 keeps" in fork.cause.text and "MatMulInteger" in fork.cause.text


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize(("constant", "wrong"), [("w_scale", 1.5), ("w_zero_point", 9)])
def test_a_wrong_constant_of_a_dynamic_twin_is_a_weight(native: Path, constant: str, wrong: float, first: bool) -> None:
    def change(name: str, array: np.ndarray) -> np.ndarray:
        if name != constant:
            return array
        return np.asarray(array * wrong if array.dtype.kind == "f" else array + wrong, array.dtype)

    made = dynamic(native, change)
    fork = paddable.probe(*((made, native) if first else (native, made)), ["x:1=T"]).fork
    assert fork is not None and fork.cause.kind == "weights"
    assert ("w_quantized" in fork.cause.text) and "by more than a step" in fork.cause.text


def test_a_weight_stored_in_8_bits_agrees(native: Path, tmp_path: Path) -> None:
    stored = save(tmp_path / "stored.onnx", STORED, q=Q, s=S, z=np.int8(0), c=C)
    report = paddable.probe(stored, native, ["x:1=T"])
    assert report.ok and not report.changed, report.verdict


@pytest.mark.parametrize("change", [0, 9])
def test_a_bias_stored_in_8_bits_needs_no_axis(native: Path, tmp_path: Path, change: int) -> None:
    text = LINEAR.replace("b = Add (a, c)", "d = DequantizeLinear (q, s, z) b = Add (a, d)")
    step = np.float32(np.abs(C).max() / 118)
    bias = np.round(C / step).astype(np.int8) + np.int8(change)
    stored = save(tmp_path / "stored.onnx", text, q=bias, s=step, z=np.int8(0), w=W)
    verdict = paddable.probe(stored, native, ["x:1=T"]).verdict
    assert (change > 0) == ("q differs from the second graph's c with scale and zero point applied" in verdict)


@pytest.mark.parametrize(("scale", "zero"), [(S * 2, 0), (S, 9), (S, 1)])
def test_a_weight_stored_with_a_wrong_scale_or_zero_point(
    native: Path, tmp_path: Path, scale: np.float32, zero: int
) -> None:
    stored = save(tmp_path / "stored.onnx", STORED, q=Q, s=np.float32(scale), z=np.int8(zero), c=C)
    report = paddable.probe(stored, native, ["x:1=T"])
    assert "q differs from the second graph's w with scale and zero point applied" in report.verdict
    assert report.fork is None or report.fork.cause.kind == "weights"


def test_a_turned_matrix_is_the_same(tmp_path: Path) -> None:
    native = save(tmp_path / "native.onnx", GEMM, w=W, c=C)
    report = paddable.probe(dynamic(native), native, ["x:0=T"], tolerance=1e-5)
    assert report.fork is not None and report.fork.cause.kind == "precision"
    assert not report.changed


@pytest.mark.parametrize("saturating", [True, False])
def test_saturation_is_a_possible_cause_where_the_processor_saturates(
    native: Path, monkeypatch: pytest.MonkeyPatch, saturating: bool
) -> None:
    monkeypatch.setattr("paddable.divergence.saturation.saturates", lambda: saturating)
    notes = paddable.probe(dynamic(native), native, ["x:1=T"], tolerance=1e-5).notes
    assert saturating == any("`session.x64quantprecision` = 1 excludes it" in note for note in notes)
    assert not paddable.probe(native, native, ["x:1=T"]).notes


MOVED = (
    f"(float[1, T, {WIDTH}] x) => (float[1, {WIDTH}, T] y) "
    "{ a = MatMul (x, w) b = Transpose <perm = [0, 2, 1]> (a) y = Relu (b) }"
)
CODES = (
    f"(float[1, T, {WIDTH}] x) => (float[1, {WIDTH}, T] y) "
    "{ h = QuantizeLinear (x, sx, z) a = QLinearMatMul (h, sx, z, q, s, z, sa, z) "
    "t = Transpose <perm = [0, 2, 1]> (a) b = DequantizeLinear (t, sa, z) y = Relu (b) }"
)


def test_codes_are_no_pair_of_numbers(tmp_path: Path) -> None:
    """Another quantiser's graph, which moves codes in 8 bits between two values in float."""
    right = save(tmp_path / "right.onnx", MOVED, w=W)
    steps = {"s": S, "sx": np.float32(0.04), "sa": np.float32(0.15), "z": np.int8(0)}
    report = paddable.probe(save(tmp_path / "codes.onnx", CODES, q=Q, **steps), right, ["x:1=T"])
    assert report.layers and all(layer.error < 1 and layer.op != "Transpose" for layer in report.layers)


PRODUCTS = (
    f"(float[1, T, {WIDTH}] x) => (float[1, T, {WIDTH}] y) {{ a = MatMul (x, w) b = MatMul (x, v) y = Mul (a, b) }}"
)


def test_products_of_one_input_are_not_mistaken_for_changed_ones(tmp_path: Path) -> None:
    """Two exporters write two products in another order."""
    right = save(tmp_path / "right.onnx", PRODUCTS, w=W, v=np.flip(W).copy())
    stored = PRODUCTS.replace("{ a = MatMul (x, w) b = MatMul (x, v) y = Mul (a, b)", "{ PARTS y = Mul (g, h)")
    stored = stored.replace(
        "PARTS", "d = DequantizeLinear (r, s, z) g = MatMul (x, d) e = DequantizeLinear (q, s, z) h = MatMul (x, e)"
    )
    other = save(tmp_path / "8.onnx", stored, q=Q, r=np.flip(Q).copy(), s=S, z=np.int8(0))
    report = paddable.probe(other, right, ["x:1=T"])
    assert not report.changed, report.verdict


RECURRENT = (
    f"(float[T, 1, {WIDTH}] x) => (float[T, 1, {WIDTH}] y) {{ a = MatMul (x, w) "
    f"h, s, l = LSTM <hidden_size = {WIDTH}> (a, i, r, b) y = Squeeze (h, one) }}"
)


def recurrent() -> dict[str, np.ndarray]:
    """The weights of an LSTM; the sums of its two biases are small beside them."""
    rng = np.random.default_rng(1)
    i, r = (rng.standard_normal((1, 4 * WIDTH, WIDTH)).astype(np.float32) / 4 for _ in range(2))
    bias = rng.standard_normal((1, 4 * WIDTH)).astype(np.float32)
    return {"w": W, "i": i, "r": r, "b": np.concatenate([bias, 1e-4 - bias], 1), "one": np.array([1])}


def test_a_number_of_what_stays_in_float_beside_8_bits(tmp_path: Path) -> None:
    weights = recurrent()
    native = save(tmp_path / "native.onnx", RECURRENT, **weights)
    made = dynamic(native)
    assert not paddable.probe(made, native, ["x:0=T"]).changed
    weights["r"][0, 3, 2] += 1e-2
    other = save(tmp_path / "other.onnx", RECURRENT, **weights)
    report = paddable.probe(made, other, ["x:0=T"])
    assert report.changed.startswith(
        "1 weight differs: input 2 (r) of LSTM differs from the second graph's in 1 of 1024"
    )


def test_biases_whose_sum_is_small_are_rounded_before_they_are_added(tmp_path: Path) -> None:
    weights = recurrent()
    native = save(tmp_path / "native.onnx", RECURRENT, **weights)
    half = {name: a.astype(np.float16) if a.dtype.kind == "f" else a for name, a in weights.items()}
    half["i"][0, 3, 2] += 1
    text = RECURRENT.replace("a = MatMul (x, w)", "c = Cast <to = 10> (x) a = MatMul (c, w)")
    text = text.replace("y = Squeeze (h, one)", "e = Squeeze (h, one) y = Cast <to = 1> (e)")
    changed = paddable.probe(save(tmp_path / "half.onnx", text, **half), native, ["x:0=T"]).changed
    assert changed.startswith("1 weight differs: input 1 (i) of LSTM differs from the second graph's in 1 of 1024")


def quantised(native: Path, kind: str) -> Path:
    """What ``quantize_dynamic`` makes of the nodes of one kind."""
    made = native.with_name("quantised.onnx")
    quantize_dynamic(native, made, weight_type=QuantType.QInt8, op_types_to_quantize=[kind])
    return made


def test_a_dilation_beside_a_convolution_in_8_bits_is_told(tmp_path: Path) -> None:
    text = "(float[1, 4, T] x) => (float[1, 4, T] y) "
    text += "{{ a = Conv <pads = [{0}, {0}], dilations = [{0}]> (x, k) y = Elu (a) }}"
    weight = RNG.standard_normal((4, 4, 3)).astype(np.float32)
    other = quantised(save(tmp_path / "native.onnx", text.format(2), k=weight), "Conv")
    fork = paddable.probe(save(tmp_path / "other.onnx", text.format(1), k=weight), other, ["x:2=T"]).fork
    assert fork is not None and fork.cause.kind == "attributes"
    assert "Conv has dilations=(1,) in the first graph and dilations=(2,) in the second" in fork.cause.text


@pytest.mark.parametrize("first", [True, False])
def test_directions_of_an_lstm_in_8_bits_that_changed_places(tmp_path: Path, first: bool) -> None:
    text = (
        f"(float[T, 1, {WIDTH}] x) => (float[T, 2, 1, {WIDTH}] y) "
        f'{{ a = Sin (x) e, s, l = LSTM <hidden_size = {WIDTH}, direction = "bidirectional"> (a, i, r) y = Sin (e) }}'
    )
    weights = {name: RNG.standard_normal((2, 4 * WIDTH, WIDTH)).astype(np.float32) / 2 for name in "ir"}
    native = save(tmp_path / "native.onnx", text, **weights)
    made = quantised(native, "LSTM")
    fork = paddable.probe(made, native, ["x:0=T"], tolerance=1e-5).fork
    assert fork is not None and fork.cause.kind == "precision", "the quantiser's own operator is no cause"
    other = save(tmp_path / "other.onnx", text, **{**weights, "r": weights["r"][::-1]})
    fork = paddable.probe(*((other, made) if first else (made, other)), ["x:0=T"]).fork
    assert fork is not None and (fork.op.endswith("LSTM"), fork.cause.kind) == (True, "weights")
    assert ("r differs" if first else "r_quantized differs") in fork.cause.text


def test_a_norm_beside_one_in_8_bits(tmp_path: Path) -> None:
    text = f"(float[1, T, {WIDTH}] x) => (float[1, T, {WIDTH}] y) {{ %s y = LayerNormalization (x, %s, %s) }}"
    gain, step = (1 + RNG.standard_normal(WIDTH) / 5).astype(np.float32), np.float32(0.02)
    codes = {
        "gain_quantized": np.round(gain / step).astype(np.int8),
        "shift_quantized": np.round(C / step).astype(np.int8),
    }
    parts = [f"{name[0]}0 = DequantizeLinear ({name}, s, z)" for name in codes]
    stored = save(tmp_path / "stored.onnx", text % (" ".join(parts), "g0", "s0"), s=step, z=np.int8(0), **codes)
    other = save(tmp_path / "other.onnx", text % ("", "gain", "shift"), gain=gain[::-1], shift=C)
    fork = paddable.probe(other, stored, ["x:1=T"]).fork
    assert fork is not None and "gain differs from the second graph's gain_quantized" in fork.cause.text


GATED = (
    f"(float[1, T, {WIDTH}] x) => (float[1, T, {WIDTH}] y) "
    "{ a = MatMul (x, w) g = Sigmoid (a) b = MatMul (x, v) y = Mul (g, b) }"
)


@pytest.mark.parametrize("names", ["named", "scrambled"])
@pytest.mark.parametrize("first", [True, False])
def test_products_that_exchanged_their_weights_beside_8_bits(tmp_path: Path, first: bool, names: str) -> None:
    """Gate and up of a SwiGLU."""
    native = save(tmp_path / "native.onnx", GATED, w=W, v=W[::-1])
    made = dynamic(save(tmp_path / "other.onnx", GATED, w=W[::-1], v=W))
    if names == "scrambled":
        onnx.save(planted.scrambled(onnx.load(made))[0], made)
    fork = paddable.probe(*((made, native) if first else (native, made)), ["x:1=T"]).fork
    assert fork is not None and fork.cause.kind == "weights", fork
    whose, where = ("these", "second") if first else ("the second graph's", "first")
    assert f"; {whose} numbers are those of MatMul" in fork.cause.text and f"in the {where} graph" in fork.cause.text
    assert "exchanged or moved" in fork.cause.fix
    right = dynamic(native)
    if names == "scrambled":
        onnx.save(planted.scrambled(onnx.load(right))[0], right)
    fork = paddable.probe(*((right, native) if first else (native, right)), ["x:1=T"], tolerance=1e-6).fork
    assert fork is not None and fork.cause.kind == "precision", fork
