"""The page of a conversion that was refused or judged wrong: the figures are there, and no remedy that is not."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest

import paddable
from paddable.cli import main
from paddable.gates import GateReport

HEAD = '<ir_version: 9, opset_import: ["" : 18]> g '
RNG = np.random.default_rng(0)


def save(place: Path, text: str, **weights: np.ndarray) -> Path:
    model = onnx.parser.parse_model(HEAD + text)
    model.graph.initializer.extend(onnx.numpy_helper.from_array(a, name) for name, a in weights.items())
    onnx.save(model, place)
    return place


def said(page: Path) -> str:
    return re.sub(r"\s+", " ", re.sub("<[^>]+>", " ", page.read_text(encoding="utf-8")))


def weights(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


LINE = "(float[1, T, 16] x) => (float[1, T, 16] y) { a = MatMul (x, w) y = Tanh (a) }"


def test_a_refused_precision_shows_its_figures(tmp_path: Path) -> None:
    model = save(tmp_path / "m.onnx", LINE, w=weights(16, 16))
    page = tmp_path / "page.html"
    words = ["convert", str(model), "-o", f"{tmp_path}/out/", "--length", "x:1=T", "--containers", "20"]
    assert main([*words, "--precision", "fp16", "--accept", "error=1e-9", "--report", str(page)]) == 1
    told = said(page)
    assert "Refused" in told and "Each precision on examples" in told and "Measured ranges" in told
    assert "C, whole against native" in told


LSTM = (
    "(float[1, T, 4] x) => (float[T, 1, 1, 4] y) { t = Transpose <perm = [1, 0, 2]> (x) "
    'h = LSTM <hidden_size = 4, direction = "reverse"> (t, w, r) y = Tanh (h) }'
)


@pytest.fixture
def recurrent(tmp_path: Path) -> Path:
    """``native.onnx`` and ``padded.onnx``, whose only remedy is an input of the LSTM."""
    native = save(tmp_path / "native.onnx", LSTM, w=weights(1, 16, 4), r=weights(1, 16, 4))
    paddable.convert(native, ["x:1=T"], containers=[20], out=tmp_path / "padded.onnx", verify=False)
    return tmp_path


def test_a_remedy_inside_the_operator_is_seen_in_its_picture(recurrent: Path) -> None:
    page = recurrent / "page.html"
    words = ["verify", str(recurrent / "padded.onnx"), "--against", str(recurrent / "native.onnx")]
    assert main([*words, "--gate-lengths", "3", "--report", str(page)]) == 0
    assert "before: Transpose, then LSTM, then Tanh" in page.read_text(encoding="utf-8")
    assert "after: Transpose, then LSTM with sequence_lens, then Tanh" in page.read_text(encoding="utf-8")
    assert "missing in the file" not in said(page)


def test_a_remedy_that_was_taken_out_is_missing(recurrent: Path) -> None:
    model = onnx.load(recurrent / "padded.onnx")
    (lstm,) = (node for node in model.graph.node if node.op_type == "LSTM")
    del lstm.input[3:]
    onnx.save(model, recurrent / "padded.onnx")
    page = recurrent / "page.html"
    words = ["verify", str(recurrent / "padded.onnx"), "--against", str(recurrent / "native.onnx")]
    assert main([*words, "--gate-lengths", "3", "--report", str(page)]) == 1
    assert "It is missing in the file." in said(page)
    assert "sequence_lens" not in page.read_text(encoding="utf-8")


def test_ranges_are_of_nodes_in_the_file_and_every_precision_is_named(tmp_path: Path) -> None:
    model = save(tmp_path / "m.onnx", LSTM, w=weights(1, 16, 4), r=weights(1, 16, 4))
    page = tmp_path / "page.html"
    words = ["convert", str(model), "-o", f"{tmp_path}/out/", "--length", "x:1=T", "--containers", "20"]
    words += ["--precision", "fp32,fp16", "--accept", "cosine=0.5", "--report", str(page), "--gate-lengths", "3"]
    assert main(words) == 0
    told = said(page)
    assert "Containers T = 20 Precision fp16, fp32" in told
    assert " h LSTM fp16: stays in fp32 " in told and "a state that is carried over the steps" in told
    assert "Weights 0.5 kB" in told


def test_rows_of_other_nodes_are_left_out() -> None:
    from paddable.gates.shown import range_rows

    layers = [{"node": name, "op": "MatMul", "peak": 1.0, "headroom": 2.0} for name in ("kept", "fused")]
    gates = GateReport(ranges={"fp16": {"stays": [], "layers": layers}})
    assert [row["node"] for row in range_rows(gates, {"kept"})] == ["kept"]
    assert len(range_rows(gates)) == 2


def test_operators_that_no_gate_could_judge_are_told_once_a_reason() -> None:
    from paddable.cli.verify import _alike

    sites = [{"node": f"n{i}", "op": "Reshape", "ok": None, "detail": "it cannot be cut out: why"} for i in range(12)]
    (row,) = _alike(sites)
    assert row == {"op": "Reshape", "nodes": 12, "first": "n0", "detail": "it cannot be cut out: why"}
