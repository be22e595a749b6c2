"""Models that are quantised already: half moves none of their codes, and every precision says what it leaves."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest
from onnx import TensorProto, numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic, quantize_static
from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer

import paddable
from paddable.api import convert
from paddable.gates.engine import Engine
from paddable.gates.lift import rounded
from paddable.graph.io.read import read_model
from paddable.graph.io.write import to_proto, write_model
from paddable.precision import in_precision

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((1, 30, 64)).astype(np.float32)
MATRIX = (RANDOM.standard_normal((64, 64)) / 10).astype(np.float32)
LAYERS = 6


def network(opset: int = 18) -> onnx.ModelProto:
    """Pre-norm feed-forward blocks with residuals."""
    body, x = "", "x"
    weights = {"g": np.ones(64, np.float32)}
    for i in range(LAYERS):
        body += f"n{i} = LayerNormalization({x}, g) a{i} = MatMul(n{i}, u{i}) r{i} = Relu(a{i}) "
        body += f"b{i} = MatMul(r{i}, v{i}) x{i} = Add(b{i}, {x}) "
        weights |= {f"u{i}": RANDOM.standard_normal((64, 128)) / 8, f"v{i}": RANDOM.standard_normal((128, 64)) / 11}
        x = f"x{i}"
    text = f'<ir_version: 10, opset_import: ["" : {opset}]> net (float[1, T, 64] x) => (float[1, T, 64] y) '
    model = onnx.parser.parse_model(f"{text} {{ {body} y = Identity({x}) }}")
    for name, array in weights.items():
        model.graph.initializer.append(numpy_helper.from_array(np.asarray(array, np.float32), name))
    for node in model.graph.node:
        node.name = f"{node.op_type}_{node.output[0]}"
    return model


class Calibration(CalibrationDataReader):
    """The one example."""

    def __init__(self) -> None:
        self._left = iter([{"x": X}])

    def get_next(self) -> dict[str, np.ndarray] | None:
        return next(self._left, None)


def quantised(
    kind: str, folder: Path, opset: int = 18, codes: QuantType = QuantType.QInt8, channels: bool = False
) -> onnx.ModelProto:
    """The network as ONNX Runtime's quantisers write it."""
    plain, made = folder / "plain.onnx", folder / "quantised.onnx"
    onnx.save(network(opset), plain)
    if kind == "int4":
        quantiser = MatMulNBitsQuantizer(onnx.load(plain), block_size=32, is_symmetric=True)
        quantiser.process()
        return quantiser.model.model
    if kind == "dynamic":
        quantize_dynamic(plain, made, weight_type=QuantType.QInt8)
    else:
        form = QuantFormat.QDQ if kind == "qdq" else QuantFormat.QOperator
        quantize_static(plain, made, Calibration(), quant_format=form, weight_type=QuantType.QInt8,
                        activation_type=codes, per_channel=channels)  # fmt: skip
    return onnx.load(made)


@pytest.mark.parametrize("opset", [18, 21])
def test_what_becomes_codes_and_its_scales_are_never_rounded_to_half(opset: int, tmp_path: Path) -> None:
    native = quantised("qdq", tmp_path, opset)
    half = in_precision(read_model(native), "fp16")
    scales = {name for node in native.graph.node if "quantize" in node.op_type.lower() for name in node.input[1:2]}
    assert len(scales) > 2 * LAYERS
    held = {tensor.name: tensor.data_type for tensor in to_proto(half).graph.initializer}
    assert all(held[name] == TensorProto.FLOAT for name in scales)
    (want,) = Engine(native.SerializeToString(), optimise=False).run({"x": X}).values()
    file = rounded(write_model(half, tmp_path / "half.onnx"), tmp_path / "rounded.onnx")
    (got,) = Engine(file, optimise=False).run({"x": X}).values()
    assert np.abs(got - want).max() < 1e-5 * np.abs(want).max()


def test_weights_that_are_only_stored_in_codes_are_multiplied_in_half(tmp_path: Path) -> None:
    stored = to_proto(in_precision(read_model(network()), "int8"))
    half = to_proto(in_precision(read_model(stored), "fp16"))
    kinds = {value.name: value.type.tensor_type.elem_type for value in half.graph.value_info}
    products = [node.output[0] for node in half.graph.node if node.op_type == "MatMul"]
    assert len(products) == 2 * LAYERS and all(kinds[name] == TensorProto.FLOAT16 for name in products)


@pytest.mark.parametrize("kind", ["qdq", "qoperator", "dynamic", "int4"])
def test_nothing_is_told_that_is_not_so_and_equal_weights_are_stored_once(kind: str, tmp_path: Path) -> None:
    native = quantised(kind, tmp_path)
    np.save(tmp_path / "x.npy", X)
    told: list[str] = []
    precisions = ["int8", "int8-dynamic", "int8-static", "int4"]
    out = convert(native, ["x:1=T"], containers=[30], out=tmp_path / "b", precision=",".join(["fp16", *precisions]),
                  examples=tmp_path / "x.npy", gate_lengths=2, on_message=told.append)  # fmt: skip
    assert [file.name for file in out.glob("*.data") if file.name not in ("fp16.data", "fp32.data")] == []
    bits = 4 if kind == "int4" else 8
    for precision in precisions:
        (line,) = [line for line in told if line.startswith(f"{precision}: no weight gets fewer bits, since it leaves")]
        assert line.count(f"which is in {bits} bits already") == 3
        assert f"{precision}: its weights are those in fp32, which a bundle stores once" in told
    assert not any("numbers or more" in line for line in told)
    if kind != "int4":  # its scales are weights that half halves
        assert "fp16: its weights are those in fp32, which a bundle stores once" in told
        assert not any("weights take" in line for line in told)


def test_weights_in_4_bits_are_multiplied_in_half(tmp_path: Path) -> None:
    made = convert(quantised("int4", tmp_path), ["x:1=T"], containers=[30], precision="fp16", gate_lengths=2)
    scales = {node.input[2] for node in made.graph.node if node.op_type == "MatMulNBits"}
    held = {tensor.name: tensor.data_type for tensor in made.graph.initializer}
    assert len(scales) == 2 * LAYERS and {held[name] for name in scales} == {TensorProto.FLOAT16}


def own(body: str) -> onnx.ModelProto:
    text = f"""<ir_version: 10, opset_import: ["" : 18, "com.microsoft" : 1]>
    net (float[1, T, 64] x) => (float[1, T, 64] y) {{ {body} }}"""
    model = onnx.parser.parse_model(text)
    for name in ("w", "v"):
        array = (RANDOM.standard_normal((64, 64)) / 8).astype(np.float32)
        model.graph.initializer.append(numpy_helper.from_array(array, name))
    model.graph.initializer.append(numpy_helper.from_array(RANDOM.integers(-127, 127, (64, 64)).astype(np.int8), "q"))
    model.graph.initializer.append(numpy_helper.from_array(np.full(64, 1e-3, np.float32), "s"))
    return model


def test_the_type_of_an_operator_of_onnx_runtime_is_known() -> None:
    """Without one, a half value was fed to a product of floats."""
    native = own("h = MatMul(x, w) g = com.microsoft.FastGelu(h) y = MatMul(g, v)")
    made = convert(native, ["x:1=T"], containers=[20], precision="fp16", gate_lengths=2)
    assert [node.op_type for node in made.graph.node].count("MatMul") == 2
    assert sum(tensor.data_type == TensorProto.FLOAT16 for tensor in made.graph.initializer if tensor.dims) == 2


def test_what_hangs_on_an_operator_without_a_signature_stays() -> None:
    native = own("h = MatMul(x, w) g = com.microsoft.NobodyKnows(h) k = Relu(g) c = Cast<to = 1>(k) y = MatMul(c, v)")
    half = to_proto(in_precision(read_model(native), "fp16"))
    kinds = {tensor.name for tensor in half.graph.initializer if tensor.data_type == TensorProto.FLOAT16}
    assert kinds == {"w_fp16", "v_fp16"}
    (cast,) = [node for node in half.graph.node if list(node.input) == ["h"]]
    (odd,) = [node for node in half.graph.node if node.op_type == "NobodyKnows"]
    assert cast.op_type == "Cast" and list(odd.input) == list(cast.output)
    (relu,) = [node for node in half.graph.node if node.op_type == "Relu"]
    assert list(relu.input) == ["g"]


def test_a_range_that_a_product_takes_itself_is_taken_in_fp32() -> None:
    """Its container masks what goes in, which native lacks, and a mask in half would round it."""
    native = own("h = com.microsoft.DynamicQuantizeMatMul(x, q, s) r = Relu(h) y = MatMul(r, v)")
    made = convert(native, ["x:1=T"], containers=[20], precision="fp16", gate_lengths=4)
    (product,) = [node for node in made.graph.node if node.op_type == "DynamicQuantizeMatMul"]
    halves = {name for node in made.graph.node if node.op_type == "Cast" for name in node.output if "fp16" in name}
    assert product.input[0] not in halves


@pytest.mark.parametrize(
    ("kind", "codes", "channels", "asks"),
    [
        ("qdq", QuantType.QUInt8, False, True),
        ("qdq", QuantType.QInt8, False, True),
        ("qdq", QuantType.QUInt8, True, True),
        ("operators", QuantType.QUInt8, False, True),
        ("operators", QuantType.QInt8, False, False),
    ],
)
def test_what_is_quantised_loads_where_processors_saturate(
    kind: str, codes: QuantType, channels: bool, asks: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each norm reads one gain, whose signed codes ``session.x64quantprecision`` makes unsigned for each of them, under
    one name; products of signed codes with signed weights have no kernel once the weights alone are unsigned."""
    native = quantised(kind, tmp_path, codes=codes, channels=channels)
    np.save(tmp_path / "x.npy", X)
    monkeypatch.setattr("paddable.runtime.session.saturation.saturates", lambda: True)
    out = convert(native, ["x:1=T"], containers=[30], out=tmp_path / "b", precision="int8-dynamic,int8-static",
                  examples=tmp_path / "x.npy", gate_lengths=2)  # fmt: skip
    for precision in ("int8-dynamic", "int8-static"):
        answer = paddable.load(out, "cpu", precision=precision).run({"x": X})["y"]
        assert np.isfinite(np.asarray(answer)).all()
        graph = onnx.load(next(out.glob(f"cpu-{precision}-*.onnx")), load_external_data=False)
        (text,) = [entry.value for entry in graph.metadata_props if entry.key == "paddable"]
        assert ("x64quantprecision" in text) == asks


@pytest.mark.parametrize(
    ("body", "precision"),
    [("y = MatMul(d, x)", "int8")]
    + [("y = Conv<pads = [1, 1]>(x, d)", name) for name in ("int8", "int4", "int8-dynamic", "int8-static")],
)
def test_weights_of_one_scale_stay_in_the_codes_that_they_have(body: str, precision: str, tmp_path: Path) -> None:
    """As ``quantize_static`` writes them: a scale a channel, of what the codes stand for, is another rounding."""
    text = '<ir_version: 10, opset_import: ["" : 20]> net (float[1, 40, T] x) => (float[1, 64, T] y) '
    native = onnx.parser.parse_model(f"{text} {{ d = DequantizeLinear(w, s, z) {body} }}")
    codes = RANDOM.integers(-127, 128, (64, 40, 3) if "Conv" in body else (1, 64, 40), dtype=np.int8)
    for name, array in (("w", codes), ("s", np.float32(0.01)), ("z", np.int8(0))):
        native.graph.initializer.append(numpy_helper.from_array(np.asarray(array), name))
    np.save(tmp_path / "x.npy", RANDOM.standard_normal((1, 40, 30)).astype(np.float32))
    told: list[str] = []
    made = convert(native, ["x:2=T"], containers=[30], precision=precision, examples=tmp_path / "x.npy",
                   gate_lengths=2, on_message=told.append)  # fmt: skip
    (held,) = [
        numpy_helper.to_array(one) for one in made.graph.initializer if one.data_type == TensorProto.INT8 and one.dims
    ]
    assert np.array_equal(held.reshape(codes.shape), codes)
    (line,) = [line for line in told if "no weight gets fewer bits" in line]
    assert "which is in 8 bits already" in line


@pytest.mark.parametrize("precision", ["fp16", "int8"])
def test_a_precision_is_not_told_for_what_the_optimiser_does_to_native(precision: str, tmp_path: Path) -> None:
    """It computes in integers what the file restores first, and a code falls the other way here and there."""
    plain, made = tmp_path / "plain.onnx", tmp_path / "quantised.onnx"
    text = '<ir_version: 9, opset_import: ["" : 20]> net (float[1, T, 64] x) => (float[1, T, 64] y) '
    body = "a = MatMul(x, u) t = Transpose<perm = [0, 2, 1]>(a) s = MatMul(a, t) p = Softmax(s) y = MatMul(p, a)"
    attention = onnx.parser.parse_model(f"{text} {{ {body} }}")
    attention.graph.initializer.append(numpy_helper.from_array(MATRIX, "u"))
    onnx.save(attention, plain)
    quantize_static(plain, made, Calibration(), activation_type=QuantType.QInt8, weight_type=QuantType.QInt8)
    native = onnx.load(made)
    (fused,), (written,) = (Engine(made, optimise=on).run({"x": X}).values() for on in (True, False))
    assert np.abs(fused - written).max() > 1e-3 * np.abs(written).max()
    np.save(tmp_path / "x.npy", X)
    out = convert(native, ["x:1=T"], containers=[30], precision=precision, examples=tmp_path / "x.npy",
                  accept=["error=1e-3"], gate_lengths=2, out=tmp_path / "b")  # fmt: skip
    report = json.loads((out / "report.json").read_text())
    assert all(row["error"] < 1e-3 for row in report["examples"][precision])
    assert report["precision"][precision]["y"]["error"] < 1e-3
