"""Front ends in a graph of another precision: samples scaled by 2^15 and squared, a spectrum of many decades."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir
import pytest
import torch
from onnx.reference import ReferenceEvaluator

from paddable.families.layers.front_end import build_front_end
from paddable.families.tracing.native import export_native
from paddable.graph.io.read import read_model
from paddable.graph.io.write import to_proto
from paddable.precision import in_precision
from paddable.precision.exact import front_end_nodes


class Recogniser(torch.nn.Module):
    """A front end and one layer behind it."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.front_end = build_front_end(kind, 7, 6, None)
        self.layer = torch.nn.Linear(560, 48)

    def forward(self, audio: torch.Tensor) -> torch.Tensor:
        return torch.softmax(self.layer(self.front_end(audio)), -1)


@pytest.fixture(scope="module", params=["kaldi", "early"])
def native(request: pytest.FixtureRequest) -> ir.Model:
    exported = export_native(
        Recogniser(request.param),
        {"audio": torch.randn(1, 8000) * 0.1},
        ["y"],
        ragged_inputs={"audio": (1, "S")},
        ragged_outputs={"y": 1},
    )
    return read_model(exported)


def speech(amplitude: float) -> np.ndarray:
    time = np.arange(4000) / 16_000
    return (amplitude * np.sin(2 * np.pi * 300 * time) + 0.1 * amplitude)[None].astype(np.float32)


def test_a_frame_mean_on_the_way_does_not_end_the_front_end(native: ir.Model) -> None:
    nodes = front_end_nodes(native.graph)
    kinds = {node.op_type for node in nodes}
    assert {"ReduceMean", "Log"} <= kinds and "Softmax" not in kinds
    products = [node for node in native.graph if node.op_type in ("MatMul", "Conv")]
    assert {node in nodes for node in products[:-1]} == {True}


@pytest.mark.parametrize("amplitude", [1e-4, 1.0])
def test_in_true_half_the_answer_is_finite_and_near(native: ir.Model, amplitude: float) -> None:
    """Every half value is rounded, as half kernels do; ONNX Runtime's CPU provider computes in float."""
    audio = speech(amplitude)
    want = ReferenceEvaluator(to_proto(native)).run(None, {"audio": audio})[0]
    with np.errstate(all="ignore"):
        got = ReferenceEvaluator(to_proto(in_precision(native, "fp16"))).run(None, {"audio": audio})[0]
    assert np.isfinite(got).all()
    assert np.abs(got - want).max() < 1e-2 * np.abs(want).max()


def test_int8_leaves_the_spectrum_alone(native: ir.Model) -> None:
    stored = in_precision(native, "int8").graph
    restored = [node for node in stored if node.op_type == "DequantizeLinear"]
    assert len(restored) == 1  # the layer behind the front end
