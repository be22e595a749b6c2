"""``provider="auto"`` takes what is fastest here, and ``describe`` says what it took and why."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

import paddable
from paddable.bundle import Bundle, Graph, Symbol, new_directory, read_metadata, write_bundle
from paddable.errors import MisuseError, PaddableWarning
from paddable.runtime import Session
from paddable.runtime.probing import why_not

from .conftest import build

GAIN = np.array([3], np.float32)
Bundled = Callable[..., Path]

NATIVE = """
    <ir_version: 9, opset_import: ["" : 18]>
    pairs (float[ROWS, T] x, bool[ROWS, T] mask, float[1] gain) => (float[ROWS, half] y, float[ROWS] mean) {
        last = Constant <value = int64[1] {-1}> ()
        shape = Constant <value = int64[3] {0, -1, 2}> ()
        nothing = Constant <value_float = 0.0> ()
        heard = Where (mask, x, nothing)
        pairs = Reshape (heard, shape)
        sums = ReduceSum <keepdims = 0> (pairs, last)
        y = Mul (sums, gain)
        mean = ReduceMean <keepdims = 0> (y, last)
    }
"""


@pytest.fixture
def bundle(tmp_path: Path) -> Bundled:
    """Containers of 8 and 32 steps and, unless it is left out, native: it hears what its mask, no input any more, lets
    through."""

    def write(native: str | None = NATIVE, rows: str = "B", target: str = "cpu") -> Path:
        place = tmp_path / "out"
        with new_directory(place) as beside:
            for size in (8, 32):
                onnx.save(build(size, 2, symbol=Symbol("x", 1, min=4, step=2)), beside / f"{size}.onnx")
            metadata = replace(read_metadata(beside / "8.onnx"), container={}, mask_inputs={"mask": {1: "T"}})
            if native is not None:
                onnx.save(onnx.parser.parse_model(native.replace("ROWS", rows)), beside / "native.onnx")
            graphs = tuple(Graph(f"{size}.onnx", {"T": size}, target) for size in (8, 32))
            write_bundle(Bundle(metadata, graphs, native=native and "native.onnx"), beside)
        return place

    return write


def clips(*lengths: int) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [rng.standard_normal(n).astype(np.float32) for n in lengths]


def opened(session: Session) -> list[dict[str, int]]:
    return [dict(row["steps"]) for row in session.describe().containers if row["opened"] is not None]


def test_the_cpu_runs_native_and_gives_what_containers_give(bundle: Bundled) -> None:
    place = bundle()
    auto, named = paddable.load(place), paddable.load(place, "cpu")
    for inputs in (
        {"x": clips(6)[0][None]},
        {"x": clips(32, 4, 8)},
        {"x": np.stack(clips(12, 12)), "ilens": [6, 0]},  # native has no answer to a row of nothing
    ):
        got, expected = auto.run({**inputs, "gain": GAIN}), named.run({**inputs, "gain": GAIN})
        assert list(got) == ["y", "mean", "y_length"]
        for name, value in expected.items():
            for one, other in zip(got[name], value, strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-6)
    assert opened(auto) == [{}, {"T": 8}]
    assert named.describe().form == "container"
    described = auto.describe()
    assert (described.provider, described.form) == ("cpu", "native")
    assert described.execution_provider == "CPUExecutionProvider"
    assert str(described) == "cpu, native, containers T=8, T=32"


def test_native_alone_is_opened_and_opened_again_after_close(bundle: Bundled) -> None:
    with paddable.load(bundle()) as model:
        model.warm_up()
        model.run({"x": clips(30)[0][None], "gain": GAIN})
        assert opened(model) == [{}]
    assert opened(model) == []
    assert model.run({"x": clips(30)[0][None], "gain": GAIN})["y"].shape == (1, 15)


def test_native_refuses_what_containers_refuse(bundle: Bundled) -> None:
    model = paddable.load(bundle())
    with pytest.raises(MisuseError, match="34 steps do not fit the largest container, 32 steps"):
        model.run({"x": clips(34)[0][None], "gain": GAIN})
    with pytest.raises(MisuseError, match="T=3 is too short"):
        model.run({"x": clips(3)[0][None], "gain": GAIN})
    with pytest.raises(MisuseError, match="no value for input 'gain'"):
        model.run({"x": clips(6)[0][None]})
    with pytest.warns(PaddableWarning, match="row 1 has no answer"):
        answer = model.run({"x": clips(6, 5), "gain": GAIN})
    assert opened(model) == [{}, {"T": 8}]  # a container says what such a row is worth
    assert [len(y) for y in answer["y"]] == [3, 5 // 2]


@pytest.mark.parametrize(
    ("native", "rows", "why"),
    [
        (None, "", "the bundle holds no native graph"),
        (NATIVE, "3", "native takes 3 rows at a time"),
        (NATIVE.replace("ReduceMean", "Unheard"), "B", "the native graph does not open: "),
    ],
)
def test_where_native_does_not_serve_containers_do(bundle: Bundled, native: str | None, rows: str, why: str) -> None:
    model = paddable.load(bundle(native, rows))
    described = model.describe()
    assert described.form == "container"
    assert why in described.tried[-1].why
    assert model.run({"x": clips(6)[0][None], "gain": GAIN})["y_length"].tolist() == [3]


def test_native_in_another_precision_is_told(bundle: Bundled) -> None:
    place = bundle()
    listed = place / "bundle.json"
    listed.write_text(listed.read_text().replace('"precision": "fp32"', '"precision": "fp16"'))
    assert paddable.load(place, "cpu", precision="fp16").describe().precision == "fp16"
    with pytest.warns(PaddableWarning, match="native runs in fp32, since the bundle holds no native graph in fp16"):
        described = paddable.load(place, native=True, precision="fp16").describe()
    assert (described.form, described.precision) == ("native", "fp32")


def test_a_provider_that_does_not_start_is_a_reason(bundle: Bundled, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process that tries it finds the true onnxruntime, which has no CUDA."""
    there = ["CUDAExecutionProvider", "WebGpuExecutionProvider", "CPUExecutionProvider"]
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: there)
    described = paddable.load(bundle(target="cuda")).describe()
    cuda, webgpu, cpu = described.tried
    assert (cuda.provider, cuda.taken) == ("cuda", False)
    assert cuda.why.startswith("the provider 'cuda' (CUDAExecutionProvider) is not in this onnxruntime; it offers")
    assert webgpu.why == "there is no graph for it; convert with target='webgpu' to use it"
    assert (cpu.provider, cpu.taken, described.form) == ("cpu", True, "native")


def test_a_process_that_dies_is_a_reason(tmp_path: Path) -> None:
    lstm = onnx.parser.parse_model("""
        <ir_version: 9, opset_import: ["" : 18]>
        dies (float[4, 0, 2] x) => (float[4, 1, 0, 3] y) { y = LSTM <hidden_size = 3> (x, w, r) }
    """)
    for name, shape in (("w", (1, 12, 2)), ("r", (1, 12, 3))):
        lstm.graph.initializer.append(onnx.numpy_helper.from_array(np.zeros(shape, np.float32), name))
    onnx.save(build(8, 1), tmp_path / "8.onnx")
    metadata = read_metadata(tmp_path / "8.onnx")
    onnx.helper.set_model_props(lstm, {"paddable": metadata.dumps()})
    onnx.save(lstm, tmp_path / "dies.onnx")
    why = why_not(str(tmp_path / "dies.onnx"), "cpu", {})
    assert why.startswith("the process that tried it ended with SIG")


def test_a_model_that_runs_has_nothing_against_it(bundle: Bundled) -> None:
    assert why_not(str(bundle()), "cpu", {"threads": 1}) == ""
