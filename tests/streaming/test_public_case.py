"""Case 19, a click at every join: its own check, on our layers and on our step graph in ONNX Runtime."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import onnxruntime as ort
import pytest
import torch
from torch import Tensor, nn

from paddable.bundle.state import STEP_METADATA_KEY, StepSpec
from paddable.families.layers.streaming import CausalConv, Memory, StepForm, WholeMemory
from paddable.runtime.streaming.step_graph import StepGraph
from paddable.runtime.streaming.stream import Stream

pytestmark = pytest.mark.shared
Streamer = Callable[[list[np.ndarray]], list[np.ndarray]]


class Streamed(nn.Module):
    """The case's decoder, made of streaming layers."""

    def __init__(self, decoder: nn.Module, channels: int, kernel: int) -> None:
        super().__init__()
        self.a = CausalConv(channels, channels, kernel, rate=1)
        self.b = CausalConv(channels, 1, kernel, rate=1)
        self.a.conv, self.b.conv = decoder.a, decoder.b

    def forward(self, x: Tensor, memory: Memory) -> Tensor:
        return self.b(torch.tanh(self.a(x, memory)), memory)


@pytest.fixture(scope="module")
def case(shared: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("case_19", shared / "cases" / "case_19_stateless_chunk_decode.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def model(case: ModuleType) -> Streamed:
    return Streamed(case.Decoder(), case.C, case.K).eval().requires_grad_(False)


def test_chunks_without_state_fail_the_check(case: ModuleType, model: Streamed) -> None:
    passed, _ = case.check(lambda chunks: [model(torch.from_numpy(c), WholeMemory()).numpy() for c in chunks])
    assert not passed


def test_step_graph_passes_the_check(case: ModuleType, model: Streamed, tmp_path: Path) -> None:
    form, size = StepForm(model, 1, axis=-1).eval(), 10
    program = torch.onnx.export(
        form,
        (torch.zeros(1, case.C, size), torch.tensor([size]), *form.initial()),
        input_names=["x", "ilens", *(s.input_name for s in form.states)],
        output_names=["y", "y_length", *(s.output_name for s in form.states)],
        dynamo=True,
        opset_version=18,
        verbose=False,
    )
    assert program is not None
    program.model.metadata_props[STEP_METADATA_KEY] = StepSpec(size, "x", 2, "y", 2, 1, form.states).to_json()
    program.save(tmp_path / "step.onnx")
    stream = Stream([StepGraph(ort.InferenceSession(tmp_path / "step.onnx"))])

    def run(chunks: list[np.ndarray]) -> list[np.ndarray]:
        stream.reset()
        return list(stream.feed(chunks))

    passed, detail = case.check(run)
    assert passed, detail
