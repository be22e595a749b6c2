"""``convert --precision``: judged, written and run."""

from __future__ import annotations

import json
import math

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

import paddable
from paddable.api import building, convert, verify
from paddable.bundle import read_bundle, read_metadata
from paddable.errors import GateFailedError, MisuseError
from paddable.precision import in_precision

TEXT = """
<ir_version: 9, opset_import: ["" : 18]>
net (float[1, 16, T] x) => (float[1, 64, U] y) {
  a = Conv<pads = [1, 1]>(x, w, b)
  s = ReduceMean<keepdims = 1>(a, axis)
  c = Sub(a, s)
  h = Relu(c)
  t = Transpose<perm = [0, 2, 1]>(h)
  p = MatMul(t, m)
  y = Transpose<perm = [0, 2, 1]>(p)
}
"""


@pytest.fixture(scope="module")
def native():
    model, random = onnx.parser.parse_model(TEXT), np.random.default_rng(0)
    weights = {
        "w": random.normal(0, 0.1, (96, 16, 3)),
        "b": random.normal(0, 1, 96),
        "m": random.normal(0, 0.1, (96, 64)),
    }
    for name, array in weights.items():
        model.graph.initializer.append(numpy_helper.from_array(array.astype(np.float32), name))
    model.graph.initializer.append(numpy_helper.from_array(np.array([2]), "axis"))
    for node in model.graph.node:
        node.name = f"{node.op_type}_{node.output[0]}"
    return model


@pytest.mark.parametrize(("precision", "cosine"), [("fp16", 0.99999), ("int8", 0.998)])
def test_a_bundle_is_judged_written_verified_and_run(native, tmp_path, precision, cosine):
    out = convert(native, ["x:2=T"], containers=[20, 40], out=tmp_path / "b", precision=precision)
    bundle = read_bundle(out, check_below=math.inf)
    assert [graph.file for graph in bundle.graphs] == [f"cpu-{precision}-{steps}.onnx" for steps in (20, 40)]
    assert {graph.precision for graph in bundle.graphs} == {precision} == {bundle.metadata.precision}
    told = json.loads((out / "report.json").read_text())
    assert told["ok"] and told["precision"][precision]["y"]["cosine"] > cosine
    rows = [row for row in told["rows"] if row["model"].startswith(precision)]
    count = 24 if precision == "fp16" else 16  # of half, four short lengths of each container to the letter besides
    assert len(rows) == count and all(row["junk"] is not False for row in rows)
    assert precision == "fp16" or {row["tolerance"] for row in rows} == {1e-5}
    again = verify(out)
    assert again.ok and len(again.rows) == count and again.precision[precision].keys() == {"y"}

    exact = paddable.load(
        convert(native, ["x:2=T"], containers=[20], out=tmp_path / "exact", verify=False), "cpu", threads=1
    )
    x = np.random.default_rng(1).standard_normal((1, 16, 17)).astype(np.float32)
    got, want = (model.run({"x": x})["y"] for model in (paddable.load(out, "cpu", threads=1), exact))
    assert got.dtype == np.float32 and got.shape == want.shape
    assert 0 < np.abs(got - want).max() < 0.05 * np.abs(want).max()
    sizes = {path.name: path.stat().st_size for path in out.glob("*.data")}
    graphs = {f"cpu-{precision}-{steps}.onnx" for steps in (20, 40)}
    written = graphs | sizes.keys() | {"bundle.json", "native.onnx", "report.json"}
    assert {path.name for path in out.iterdir()} == written  # nothing that the gates alone need
    assert set(sizes) == {"fp32.data", f"{precision}.data"} and sizes[f"{precision}.data"] < sizes["fp32.data"]


def test_int8_asks_the_session_to_restore_its_weights_once(native, tmp_path):
    out = convert(native, ["x:2=T"], containers=[20], out=tmp_path / "one.onnx", precision="int8", verify=False)
    assert read_metadata(out).advice["cpu"]["config"] == {"session.disable_quant_qdq": "1"}


@pytest.mark.parametrize("precision", ["fp16", "int8"])
def test_a_precision_that_lets_padding_in_is_not_written(native, tmp_path, monkeypatch, precision):
    def forgets_the_mask(model, name, *known):
        changed = in_precision(model, name, *known)
        for node in changed.graph:
            if node.op_type == "Where" and not node.outputs[0].is_graph_output():  # valid steps and padding alike
                node.outputs[0].replace_all_uses_with(node.inputs[1])
        return changed

    monkeypatch.setattr(
        building,
        "in_precision",
        lambda model, name, *known: model if name == "fp32" else forgets_the_mask(model, name, *known),
    )
    with pytest.raises(GateFailedError, match=rf"{precision} T=20"):
        convert(native, ["x:2=T"], containers=[20], out=tmp_path / "one.onnx", precision=precision)
    assert [path.name for path in tmp_path.iterdir()] == ["one.onnx.report.json"]


def test_precisions_lie_beside_each_other_in_one_bundle(native, tmp_path):
    precisions = ("fp16", "int8", "fp32")
    out = convert(
        native, ["x:2=T"], containers=[20, 40], out=tmp_path / "b", precision=",".join(precisions), gate_lengths=4
    )
    bundle = read_bundle(out, check_below=math.inf)
    names = {f"cpu-{precision}-{steps}.onnx" for precision in precisions for steps in (20, 40)}
    assert {graph.file for graph in bundle.graphs} == names
    assert {path.name for path in out.glob("*.data")} == {"fp16.data", "int8.data", "fp32.data"}
    report = json.loads((out / "report.json").read_text())
    assert report["precision"].keys() == report["examples"].keys() == {"fp16", "int8"}
    assert [row["model"] for row in report["rows"]].count("T=20") == 4  # the fp32 form is judged once
    assert verify(out, limit=4).ok

    x = np.random.default_rng(1).standard_normal((1, 16, 17)).astype(np.float32)
    answers = {name: paddable.load(out, "cpu", precision=name, threads=1).run({"x": x})["y"] for name in precisions}
    scale = np.abs(answers["fp32"]).max()
    errors = {name: np.abs(got - answers["fp32"]).max() / scale for name, got in answers.items()}
    assert 0 < errors["fp16"] < 2e-3 and errors["fp16"] < errors["int8"] < 0.05
    assert np.array_equal(paddable.load(out, "cpu", threads=1).run({"x": x})["y"], answers["fp32"])

    with pytest.raises(MisuseError, match="2 precisions do not fit one file"):
        convert(native, ["x:2=T"], containers=[20], out=tmp_path / "one.onnx", precision="fp16,int8")


@pytest.mark.parametrize(
    ("limit", "words"), [("cosine=0.9999999", "cosine is"), ("error=1e-6", "error is 0.01.*another precision")]
)
def test_what_is_not_accepted_is_not_written(native, tmp_path, limit, words):
    with pytest.raises(GateFailedError, match=words):
        convert(
            native, ["x:2=T"], containers=[20], out=tmp_path / "b", precision="int8", gate_lengths=4, accept=[limit]
        )
    assert not (tmp_path / "b").exists()
    report = json.loads((tmp_path / "b.report.json").read_text())
    assert not report["ok"] and any(not row["ok"] for row in report["examples"]["int8"])


def test_what_is_accepted_is_written(native, tmp_path):
    accept = ["cosine=0.99", "error=0.1", "agreement=0.5"]
    convert(native, ["x:2=T"], containers=[20], out=tmp_path / "b", precision="int8", gate_lengths=4, accept=accept)


def test_misuse(native):
    for limit in ("cosine", "cosine=high", "loudness=1"):
        with pytest.raises(MisuseError, match="write it like cosine"):
            convert(native, ["x:2=T"], containers=[20], precision="int8", accept=[limit])
    with pytest.raises(MisuseError, match="fp32 needs none; give `precision` too"):
        convert(native, ["x:2=T"], containers=[20], accept=["cosine=0.9"])
    with pytest.raises(MisuseError, match="fp32 needs none; ask for another in `precision`"):
        convert(native, ["x:2=T"], containers=[20], accept=["cosine=0.9"], precision="fp32")
    with pytest.raises(MisuseError, match=r"no precision is fp16; ask for it with .precision='fp16'."):
        convert(native, ["x:2=T"], containers=[20], precision="int8", half="fast")
    with pytest.raises(MisuseError, match=r"no precision is called 'int3'.*choose fp32, fp16, int8"):
        convert(native, ["x:2=T"], containers=[20], precision="int3")
    with pytest.raises(MisuseError, match=r"int8 needs a container of a fixed size.* or take fp32 or int8-dynamic"):
        convert(native, ["x:2=T"], keep_dynamic=True, precision="int8")
