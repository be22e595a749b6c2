"""Runs the command line in this process, against the real library."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from paddable.cli import main

TEXT = """
<ir_version: 9, opset_import: ["" : 17]>
net (float[1, 4, T] x) => (float[1, 4, U] y) {
  y = Conv<kernel_shape = [3], pads = [1, 1]>(x, w, b)
}
"""


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


Run = Callable[..., Outcome]


@pytest.fixture
def paddable(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.delenv("PADDABLE_DEBUG", raising=False)

    def run(*words: object) -> Outcome:
        code = main([str(word) for word in words])
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return run


def network(bias: float = 0.5) -> onnx.ModelProto:
    """One convolution over time: x float[1, 4, T] to y float[1, 4, T]."""
    model = onnx.parser.parse_model(TEXT)
    weights = np.random.default_rng(0).normal(0, 0.5, (4, 4, 3)).astype(np.float32)
    model.graph.initializer.append(numpy_helper.from_array(weights, "w"))
    model.graph.initializer.append(numpy_helper.from_array(np.full(4, bias, np.float32), "b"))
    model.graph.node[0].name = "conv"
    return model


@pytest.fixture
def native(tmp_path: Path) -> Path:
    path = tmp_path / "native.onnx"
    onnx.save(network(), path)
    return path


@pytest.fixture(name="network")
def one_convolution() -> onnx.ModelProto:
    """The network that ``native`` is the file of, in memory."""
    return network()


@pytest.fixture(scope="session")
def checkpoints() -> ModuleType:
    """Writers of small checkpoint folders, a function a family; needs torch."""
    spec = importlib.util.spec_from_file_location("checkpoints", Path(__file__).with_name("checkpoints.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def sense_voice(checkpoints: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A SenseVoice folder of small random weights, and the bundle of it with containers of 0.5 and 1 s."""
    from paddable.api import export

    folder = tmp_path_factory.mktemp("sense-voice")
    checkpoint = checkpoints.sense_voice(folder / "checkpoint")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("paddable.gates.lengths.LIMIT", 16)
        return checkpoint, export("sense-voice", checkpoint, folder / "bundle", containers=["0.5s", "1s"])
