"""A fault in a graph in 8 bits, beside what it rounds and behind it: told is the fault, not the rounding."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic, quantize_static

import paddable

from . import planted
from .test_exchanged import FEED, two_products
from .test_stored import encoder
from .test_verdicts import save

Model = onnx.ModelProto
FINE = 5e-3
"""Below what the first product rounds."""


@pytest.fixture(scope="module")
def native(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = save(tmp_path_factory.mktemp("rounding") / "native.onnx", encoder(FEED), **two_products())
    model = onnx.load(place)
    for index, node in enumerate(model.graph.node):
        node.name = f"{node.op_type.lower()}_{index}"
    onnx.save(model, place)
    return place


def in_8_bits(model: Model, place: Path) -> Path:
    onnx.save(model, place.with_name("float.onnx"))
    quantize_dynamic(place.with_name("float.onnx"), place, weight_type=QuantType.QInt8)
    return place


def nodes(model: Model, op: str) -> list[onnx.NodeProto]:
    return [node for node in model.graph.node if node.op_type == op]


def dropped(model: Model) -> Model:
    return planted.without(model, nodes(model, "Relu")[3].name)


def replaced(model: Model) -> Model:
    model = copy.deepcopy(model)
    nodes(model, "Relu")[3].op_type = "Sigmoid"
    return model


def louder(model: Model) -> Model:
    return planted.changed(model, "g4", lambda a: np.multiply(a, 3, out=a))


def negated(model: Model, name: str = "w4") -> Model:
    return planted.changed(model, name, lambda a: np.negative(a, out=a))


def blurred(model: Model) -> Model:
    model = copy.deepcopy(model)
    nodes(model, "LayerNormalization")[4].attribute.append(onnx.helper.make_attribute("epsilon", 9.0))
    return model


FAULTS: list[tuple[Callable[[Model], Model], str, str]] = [
    (dropped, "structure", "the first graph lacks Relu relu_25"),
    (replaced, "structure", "the first graph has Sigmoid "),
    (louder, "weights", "(g4) of LayerNormalization differs"),
    (negated, "weights", "w4_quantized differs"),
    (blurred, "attributes", "LayerNormalization has epsilon=9"),
]


@pytest.mark.parametrize("tolerance", [None, FINE])
@pytest.mark.parametrize(("fault", "kind", "told"), FAULTS)
def test_a_fault_beside_rounding(
    tmp_path: Path, native: Path, fault: Callable[[Model], Model], kind: str, told: str, tolerance: float | None
) -> None:
    for scramble in (False, True):
        model = fault(onnx.load(native))
        made = in_8_bits(planted.scrambled(model)[0] if scramble else model, tmp_path / "8.onnx")
        report = paddable.probe(made, native, ["x:1=T"], tolerance=tolerance)
        if tolerance is None and fault is blurred:
            continue  # it makes less than 8 bits may round
        assert report.fork is not None and report.fork.cause.kind == kind, report.verdict
        assert scramble or told in report.fork.cause.text, report.verdict
        assert (tolerance is None) != any("rounding alone passes the tolerance" in note for note in report.notes)


def test_rounding_alone_is_told_as_that(tmp_path: Path, native: Path) -> None:
    made = in_8_bits(onnx.load(native), tmp_path / "8.onnx")
    fork = paddable.probe(made, native, ["x:1=T"], tolerance=FINE).fork
    assert fork is not None and fork.cause.kind == "precision", fork


@pytest.mark.parametrize("whole", [False, True])
def test_an_activation_that_the_ends_of_the_codes_cut_is_not_missed(tmp_path: Path, whole: bool) -> None:
    """A static quantiser takes a Relu away where the codes begin at 0."""
    rng = np.random.default_rng(0)
    weight = rng.standard_normal((16, 16)).astype(np.float32)
    head = "(float[1, T, 16] x) => (float[1, T, 16] y) "
    right = save(tmp_path / "b.onnx", head + "{ a = MatMul (x, w) r = Relu (a) y = Neg (r) }", w=weight)
    body = "{ a = MatMul (x, w) c = QuantizeLinear (a, t, u) d = DequantizeLinear (c, t, u) "
    body += "e = Sin (d) y = Neg (e) }" if whole else "y = Neg (d) }"
    made = save(tmp_path / "a.onnx", head + body, w=weight, t=np.float32(0.08), u=np.uint8(0))
    fork = paddable.probe(made, right, ["x:1=T"], tolerance=1e-4).fork
    assert fork is not None and fork.cause.kind == ("structure" if whole else "precision"), fork


class _Heard(CalibrationDataReader):  # type: ignore[misc]  # it has no types
    def __init__(self) -> None:
        rng = np.random.default_rng(0)
        self._left = [{"x": rng.standard_normal((1, 9, 16)).astype(np.float32)} for _ in range(4)]

    def get_next(self) -> dict[str, np.ndarray] | None:
        return self._left.pop() if self._left else None


@pytest.mark.parametrize("form", [QuantFormat.QDQ, QuantFormat.QOperator])
def test_what_a_static_quantiser_puts_in_place_is_rounding(tmp_path: Path, form: QuantFormat) -> None:
    rng = np.random.default_rng(0)
    held = {name: rng.standard_normal((16, 16)).astype(np.float32) for name in "wv"}
    body = "{ a = MatMul (x, w) b = MatMul (x, v) c = Concat <axis = -1> (a, b) d = Sigmoid (c) "
    body += "e = Add (d, c) y = Tanh (e) }"
    right = save(tmp_path / "b.onnx", f"(float[1, T, 16] x) => (float[1, T, 32] y) {body}", **held)
    quantize_static(right, tmp_path / "a.onnx", _Heard(), quant_format=form)
    fork = paddable.probe(tmp_path / "a.onnx", right, ["x:1=T"], tolerance=1e-4).fork
    assert fork is not None and fork.cause.kind == "precision", fork


@pytest.mark.parametrize("fault", [True, False])
def test_a_fault_that_the_output_feels_as_little_of_as_rounding(tmp_path: Path, fault: bool) -> None:
    rng = np.random.default_rng(0)
    weights = {name: rng.standard_normal((16, 16)).astype(np.float32) / 4 for name in "wv"} | {"s": np.float32(0.01)}
    body = "{ a = MatMul (x, w) b = Relu (a) c = MatMul (b, v) d = Sin (c) e = Mul (d, s) y = Add (a, e) }"
    right = save(tmp_path / "b.onnx", f"(float[1, T, 16] x) => (float[1, T, 16] y) {body}", **weights)
    made = in_8_bits(negated(onnx.load(right), "v") if fault else onnx.load(right), tmp_path / "a.onnx")
    fork = paddable.probe(made, right, ["x:1=T"], tolerance=FINE).fork
    assert fork is not None and fork.cause.kind == ("weights" if fault else "precision"), fork
    assert not fault or "v_quantized differs" in fork.cause.text
