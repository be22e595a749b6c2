"""What lint does by itself, and what only when it is asked."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

from paddable.api import check, convert, lint, linting
from paddable.errors import MisuseError, RefusedError
from paddable.lengths.accepted import told_domain
from paddable.providers.registry import providers

# Runs at 50 steps only.
FROZEN = """<ir_version: 10, opset_import: ["" : 18]>
    g (float[1, T] x) => (float[1, U] y) <int64[2] s = {1, 50}> { r = Reshape(x, s) y = Identity(r) }"""


@pytest.fixture
def frozen() -> onnx.ModelProto:
    return onnx.parser.parse_model(FROZEN)


def test_small_models_are_run(frozen: onnx.ModelProto) -> None:
    report = lint(frozen)
    assert not report.skipped
    assert any("runs at 50 steps but not at" in finding.leak for finding in report.findings)


def test_large_models_are_not_run_and_it_says_so(frozen: onnx.ModelProto, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linting, "_RUN_UP_TO", 0)
    report = lint(frozen, target="directml")
    assert not any("runs at 50 steps" in finding.leak for finding in report.findings)
    assert "`run=True`" in report.skipped[0]
    assert report.to_json()["skipped"] == list(report.skipped)


def test_large_models_are_run_when_asked(frozen: onnx.ModelProto, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linting, "_RUN_UP_TO", 0)
    report = lint(frozen, run=True)
    assert not report.skipped
    assert any("runs at 50 steps but not at" in finding.leak for finding in report.findings)


GATED = """<ir_version: 10, opset_import: ["" : 18]> g (float[1, 8, 16] x) => (float[1, 4, 16] y) {
    p, q = Split<axis = 1, num_outputs = 2>(x) s = Sigmoid(q) y = Mul(p, s) }"""


def test_a_fixed_model_replaces_nothing_unasked(tmp_path: Path) -> None:
    native, other = tmp_path / "native.onnx", tmp_path / "other.onnx"
    onnx.save(onnx.parser.parse_model(GATED), native)
    other.write_bytes(b"kept")
    before = native.read_bytes()
    for force in (False, True):
        with pytest.raises(MisuseError, match="native is the oracle"):
            lint(native, target="directml", fix=True, out=native, force=force)
    with pytest.raises(MisuseError, match="`force=True`"):
        lint(native, target="directml", fix=True, out=other)
    assert (native.read_bytes(), other.read_bytes()) == (before, b"kept")
    report = lint(native, target="directml", fix=True, out=other, force=True)
    assert report.ok and report.out == str(other)
    assert [node.op_type for node in onnx.load(other).graph.node].count("Slice") == 2


def test_convert_tells_where_the_nodes_run_and_what_was_left() -> None:
    model = onnx.parser.parse_model("""<ir_version: 10, opset_import: ["" : 18]>
        g (float[1, T, 4] x) => (float[1, T, 4] y) { y = HardSwish(x) }""")
    told: list[str] = []
    convert(model, ["x:1=T"], containers=[9], target="cuda", verify=False, on_message=told.append)
    assert told and told[0].startswith("T=9: on cuda: ") and "nodes" in told[0]


@pytest.mark.parametrize(
    ("target", "told"),
    [(None, "warning"), ("cpu", "note"), ("cuda", "note"), ("openvino", "note"), ("directml", "error")],
)
def test_a_fault_of_one_provider_is_an_error_there_only(target: str | None, told: str) -> None:
    model = onnx.parser.parse_model("""<ir_version: 10, opset_import: ["" : 18]>
        g (float[1, T, 8] x) => (float[1, T, 2, 4] y) <int64[4] s = {1, -1, 2, 4}> {
        y = Reshape<allowzero = 1>(x, s) }""")
    report = lint(model, target=target)
    found = {finding.code: finding.severity for finding in report.findings}
    assert found["DML101" if target == "directml" else "SHP102"] == told
    assert report.ok == (told != "error")


def test_an_empty_input_does_not_end_the_findings() -> None:
    model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["" : 17]>
        g (float[1, 8, 4] x, float[1, 8, 0] e) => (float[1, 8, 4] y, float[1, 8, 1] z) {
        y = Concat<axis = 2>(x, e) z = ReduceProd<axes = [2]>(e) }""")
    found = {finding.code: finding.severity for finding in lint(model, target="directml").findings}
    assert (found["DML120"], found["DML125"]) == ("warning", "error")


@pytest.mark.parametrize("opset", [25, 26])
@pytest.mark.parametrize("target", [None, *providers()])
def test_an_opset_without_rules_is_linted_all_the_same(opset: int, target: str | None) -> None:
    model = onnx.parser.parse_model(f"""<ir_version: 10, opset_import: ["" : {opset}]>
        g (float[1, 8, T] x) => (float[1, 8, T] y) <int64[3] s = {{0, 0, -1}}> {{ r = Reshape(x, s) y = Gelu(r) }}""")
    report = lint(model, target=target)
    said = {finding.code: str(finding) for finding in report.findings}
    assert f"opset {opset} is newer than 24" in said["OPS101"] and "opset_version=18" in said["OPS101"]
    assert not report.ok
    if target == "directml":
        assert {"DML106", "DML107"} <= set(said)
    with pytest.raises(RefusedError, match=f"opset {opset} is newer than 24"):
        check(model, lengths=["x:2=T"])


STRIDED = """<ir_version: 9, opset_import: ["" : 17]> g (float[1, 1, T] x) => (float[1, 1, U] y)
<float[1, 1, 2] w = {1, 1}, int64[1] two = {2}, int64[1] z = {0}> {
  c = Conv<strides = [2], kernel_shape = [2]>(x, w) TABLE
}"""
SLICED = "s = Shape(c) n = Gather(s, two) p = Slice(t, z, n, two) y = Add(c, p)"


def _strided(text: str, table: int) -> onnx.ModelProto:
    model = onnx.parser.parse_model(STRIDED.replace("TABLE", text))
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.ones((1, 1, table), "f4"), "t"))
    return model


@pytest.mark.parametrize("lengths", [[], ["x:2=T"]])
def test_the_accepted_lengths_are_told_by_lint_too(lengths: list[str]) -> None:
    report = lint(_strided(SLICED, 5), lengths=lengths)
    assert (report.domain["T"]["min"], report.domain["T"]["max"]) == (2, 11)
    assert any("longest accepted length is 11: " in line for line in told_domain(report.domain))


def test_a_table_that_was_frozen_behind_a_stride_is_a_finding() -> None:
    report = lint(_strided("y = Add(c, t)", 5), lengths=["x:2=T"], run=False)
    (finding,) = [finding for finding in report.findings if finding.op == "Add"]
    assert "T//2 and 5 do not agree at every length" in finding.leak and "frozen" in finding.remedy


def test_a_model_that_runs_at_none_of_the_lengths_is_told() -> None:
    model = onnx.parser.parse_model(
        """<ir_version: 9, opset_import: ["" : 17]> g (float[1, T] x, float[1, 3] h) => (float[1, U] y)
        <int64[2] s = {7, 11}, int64[2] n = {1, -1}> {
          r = Reshape(x, s) z = Reshape(r, n) y = Concat<axis = 1>(z, h)
        }"""
    )
    told = [finding for finding in lint(model, run=True).findings if "none of the lengths" in finding.leak]
    assert told and "50, 200, 1000" in told[0].leak and told[0].severity == "warning"
