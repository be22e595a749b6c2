"""``convert`` and ``export`` make each thing once: one analysis, one graph a container, one copy of the weights."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.parser
import pytest
from onnx import numpy_helper

import paddable
from paddable.api import judging, staging
from paddable.bundle import KEY, Metadata, read_bundle, read_metadata
from paddable.errors import GateFailedError
from paddable.graph.io.read import read_model
from paddable.graph.io.write import write_shared

WIDTH = 64


@pytest.fixture
def native(tmp_path: Path) -> Path:
    """A masked convolution and three products: 68 KB of weights, of which int8 leaves two as they are."""
    model = onnx.parser.parse_model(
        f"""<ir_version: 9, opset_import: ["" : 17]> g (float[1, T, {WIDTH}] x) => (float[1, T, {WIDTH}] y) {{
            p = MatMul (x, w) q = MatMul (p, down) h = MatMul (q, up) t = Transpose <perm = [0, 2, 1]> (h)
            c = Conv <kernel_shape = [3], pads = [1, 1]> (t, k)
            y = Transpose <perm = [0, 2, 1]> (c) }}"""
    )
    rng = np.random.default_rng(0)
    weights = {"w": (WIDTH, WIDTH), "down": (WIDTH, 8), "up": (8, WIDTH), "k": (WIDTH, WIDTH, 3)}
    for name, shape in weights.items():
        array = rng.standard_normal(shape).astype(np.float32) / 8
        model.graph.initializer.append(numpy_helper.from_array(array, name))
    path = tmp_path / "native.onnx"
    onnx.save(model, path)
    return path


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    counted: Counter[str] = Counter()

    def count(place: str, of: Callable[..., str]) -> None:
        module, _, name = place.rpartition(".")
        original = getattr(__import__(module, fromlist=[name]), name)

        def counting(*args: Any, **more: Any) -> Any:
            counted[of(*args)] += 1
            return original(*args, **more)

        monkeypatch.setattr(place, counting)

    count("paddable.api.opened.analyse", lambda *_: "analysis")
    count("paddable.api.building.rewrite", lambda _, container: f"graph {container and container['T']}")
    count("paddable.api.running.sample_feeds", lambda *_: "sample inputs")
    return counted


@pytest.mark.parametrize("precision", ["fp32", "fp16"])
def test_three_containers_take_one_analysis_and_one_graph_each(
    native: Path, tmp_path: Path, counts: Counter[str], precision: str
) -> None:
    out = tmp_path / "out"
    paddable.convert(native, ["x:1=T"], containers=[8, 12, 16], out=out, precision=precision, gate_lengths=4)
    assert counts == {"analysis": 1, "graph None": 1, "graph 8": 1, "graph 12": 1, "graph 16": 1}
    assert paddable.verify(out, limit=4).ok


def test_inputs_are_drawn_where_a_fix_is_to_be_compared(tmp_path: Path, counts: Counter[str]) -> None:
    """On the CPU provider: kernels of a convolution a channel are widened."""
    model = onnx.parser.parse_model(
        """<ir_version: 9, opset_import: ["" : 17]> g (float[1, 8, T] x) => (float[1, 8, T] y) <float[8, 1, 3] k> {
            y = Conv <kernel_shape = [3], pads = [1, 1], group = 8> (x, k) }"""
    )
    model.graph.initializer.append(numpy_helper.from_array(np.ones((8, 1, 3), np.float32), "k"))
    del model.graph.value_info[:]
    paddable.convert(model, ["x:2=T"], containers=[8, 12], out=tmp_path / "out", verify=False)
    assert counts == {"analysis": 1, "graph 8": 1, "graph 12": 1, "sample inputs": 2}


def test_unjudged_there_is_no_symbolic_form(native: Path, tmp_path: Path, counts: Counter[str]) -> None:
    paddable.convert(native, ["x:1=T"], containers=[8], out=tmp_path / "out.onnx", verify=False)
    assert counts == {"analysis": 1, "graph 8": 1}


def test_the_files_that_were_judged_are_the_result(
    native: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But for the entry that says what the gates measured, which is put behind them."""
    seen: dict[str, bytes] = {}
    judge = judging.judge

    def looking(analysis: Any, source: Any, candidates: Any, **more: Any) -> Any:
        seen.update((c.model.name, c.model.read_bytes()) for c in candidates)
        return judge(analysis, source, candidates, **more)

    monkeypatch.setattr(judging, "judge", looking)
    for out, file in ((tmp_path / "out", "cpu-fp32-8.onnx"), (tmp_path / "one.onnx", "one.onnx")):
        paddable.convert(native, ["x:1=T"], containers=[8], out=out, gate_lengths=4)
        written = (out / file if out.is_dir() else out).read_bytes()
        assert written.startswith(seen[file])
        (entry,) = onnx.ModelProto.FromString(written[len(seen[file]) :]).metadata_props
        assert entry.key == KEY and Metadata.loads(entry.value, where=file).verified["C"]["failing"] == 0
        assert read_metadata(out).verified["L"]["failing"] == 0


def test_a_bundle_writes_each_weight_once(native: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: dict[str, int] = {}

    def measured(models: Any, data_file: Any, **more: Any) -> None:
        write_shared(models, data_file, **more)
        sizes[Path(data_file).name] = Path(data_file).stat().st_size

    monkeypatch.setattr(staging, "write_shared", measured)
    paddable.convert(native, ["x:1=T"], containers=[8, 12], out=tmp_path / "out", gate_lengths=4)
    once = 4 * 4 * WIDTH * WIDTH
    assert once < sizes.pop("fp32.data") < 2 * once
    assert sizes == {".lent-0.onnx.data": 0}, "the symbolic form, for the gates alone, has no weight of its own"
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "bundle.json", "report.json", "native.onnx", "fp32.data", "cpu-fp32-8.onnx", "cpu-fp32-12.onnx",
    }  # fmt: skip


def test_graphs_of_a_precision_read_one_weight_file(native: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    paddable.convert(native, ["x:1=T"], containers=[8, 12], out=out, precision="int8", verify=False)
    for graph in read_bundle(out).graphs:
        stored = onnx.load(out / graph.file, load_external_data=False).graph.initializer
        assert {entry.value for weight in stored for entry in weight.external_data if entry.key == "location"} == {
            "int8.data"
        }


def test_what_is_lent_holds_no_weight_of_the_result(native: Path, tmp_path: Path) -> None:
    model = read_model(native)
    with staging.staging(tmp_path / "out") as stage:
        with stage.lending(model):  # as a fix that is compared does, before anything is kept
            pass
        stage.keep({"kept.onnx": model}, "kept.data")
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"kept.onnx", "kept.data"}
    kept = read_model(tmp_path / "out" / "kept.onnx").graph.initializers["w"].const_value
    assert kept is not None and np.array_equal(kept.numpy(), model.graph.initializers["w"].const_value.numpy())  # type: ignore[union-attr]


def test_the_same_input_gives_the_same_bytes(native: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        paddable.convert(native, ["x:1=T"], containers=[8, 12], out=tmp_path / name, gate_lengths=4, target="directml")
    files = [{path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in ("a", "b")]
    assert files[0] == files[1] and read_bundle(tmp_path / "a").graphs


def test_a_failing_gate_leaves_what_was_there(native: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out.onnx"
    out.write_bytes(b"mine")

    def failing(*_: Any) -> None:
        raise GateFailedError("planted")

    monkeypatch.setattr("paddable.api.converting.demand", failing)
    with pytest.raises(GateFailedError):
        paddable.convert(native, ["x:1=T"], containers=[8], out=out, gate_lengths=4, force=True)
    assert {path.name for path in tmp_path.iterdir()} == {"native.onnx", "out.onnx"} and out.read_bytes() == b"mine"
