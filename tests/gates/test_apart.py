"""Native in a process of its own: what ends it is told, and the next run has another."""

from __future__ import annotations

import pickle

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from paddable.api.certificate import certificate
from paddable.api.opened import open_model
from paddable.errors import RefusedError
from paddable.gates.apart import Apart, ProcessEndedError
from paddable.gates.engine import EngineError
from paddable.gates.oracle import Oracle
from paddable.gates.present import require_native
from paddable.gates.signals import Numbers
from paddable.gates.whole import Candidate

TEXT = """
<ir_version: 9, opset_import: ["" : 17]>
windows (float[T, 6] x) => (float[W, 8] y) {
  parts = Reshape (x, sizes)
  turned = Transpose <perm = [1, 0, 2]> (parts)
  every, last, cell = LSTM <hidden_size = 8> (turned, w, r)
  y = Squeeze (last, first)
}
"""


@pytest.fixture(scope="module")
def windows() -> bytes:
    """Windows of 4 steps as the batch of an LSTM; ONNX Runtime ends the process where there is none."""
    model = onnx.parser.parse_model(TEXT)
    rng = np.random.default_rng(0)
    held = {
        "sizes": np.array([-1, 4, 6]),
        "w": rng.normal(size=(1, 32, 6)).astype(np.float32),
        "r": rng.normal(size=(1, 32, 8)).astype(np.float32),
        "first": np.array([0]),
    }
    model.graph.initializer.extend(numpy_helper.from_array(array, name) for name, array in held.items())
    for node in model.graph.node:
        node.name = f"node_{node.op_type}"
    return bytes(model.SerializeToString())


def _feeds(steps: int) -> dict[str, np.ndarray]:
    return {"x": np.ones((steps, 6), np.float32)}


def test_a_run_that_ends_its_process_names_the_operator_and_the_next_one_runs(windows: bytes) -> None:
    with Apart(windows) as apart:
        assert apart.run(_feeds(8))["y"].shape == (2, 8)
        with pytest.raises(ProcessEndedError, match="ends the process in LSTM node_LSTM"):
            apart.run(_feeds(0))
        assert apart.run(_feeds(4))["y"].shape == (1, 8)
        with pytest.raises(EngineError, match="Reshape"):
            apart.run(_feeds(5))


def test_a_native_that_ends_the_process_at_an_accepted_length_is_refused(windows: bytes) -> None:
    accepting = onnx.parser.parse_model(
        '<ir_version: 9, opset_import: ["" : 17]> g (float[T, 6] x) => (float[T, 6] y) { y = Relu (x) }'
    )
    metadata = certificate(open_model(accepting, ["x:0=T"]).analyse(), {}, {}, "cpu")
    model = onnx.load_from_string(windows)
    model.graph.node.insert(0, onnx.helper.make_node("Slice", ["x", "zero", "zero"], ["none"]))
    model.graph.node[1].input[0] = "none"
    model.graph.initializer.append(numpy_helper.from_array(np.array([0]), "zero"))
    source = model.SerializeToString()
    candidate = Candidate("any", source, metadata, {"T": 12})
    with Apart(source) as apart, pytest.raises(RefusedError, match=r"LSTM node_LSTM at 12 steps"):
        require_native(Oracle(source, metadata), apart, candidate, [{"T": 4}, {"T": 8}], Numbers({}))


def test_a_pipe_without_reader_is_no_broken_pipe_on_windows(windows: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    with Apart(windows) as apart:
        apart.run(_feeds(8))

        def refuse(*_: object) -> None:
            raise OSError(22, "Invalid argument")

        monkeypatch.setattr(pickle, "dump", refuse)
        assert apart._ask(_feeds(8), "ORT_DISABLE_ALL") is None


def test_a_native_that_ends_the_process_when_it_is_opened_is_refused(
    windows: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = Apart._ask

    def dying(apart: Apart, feeds: object, level: str) -> object:
        return None if level == "ORT_ENABLE_ALL" else ask(apart, feeds, level)  # type: ignore[arg-type]

    monkeypatch.setattr(Apart, "_ask", dying)
    accepting = onnx.parser.parse_model(
        '<ir_version: 9, opset_import: ["" : 17]> g (float[T, 6] x) => (float[T, 6] y) { y = Relu (x) }'
    )
    metadata = certificate(open_model(accepting, ["x:0=T"]).analyse(), {}, {}, "cpu")
    candidate = Candidate("any", windows, metadata, {"T": 12})

    def opened(*_: object, **__: object) -> None:
        raise AssertionError("it was opened in this process")

    monkeypatch.setattr("paddable.gates.oracle.Engine", opened)
    with Apart(windows) as apart, pytest.raises(RefusedError, match="opens the model with its optimiser, and not with"):
        require_native(Oracle(windows, metadata), apart, candidate, [{"T": 4}], Numbers({}))
