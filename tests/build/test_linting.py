"""What lint does by itself, and what only when it is asked."""

from __future__ import annotations

import onnx
import pytest

from paddable.build import lint, linting

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
    assert "--run" in report.skipped[0]
    assert report.to_json()["skipped"] == list(report.skipped)


def test_large_models_are_run_when_asked(frozen: onnx.ModelProto, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linting, "_RUN_UP_TO", 0)
    report = lint(frozen, run=True)
    assert not report.skipped
    assert any("runs at 50 steps but not at" in finding.leak for finding in report.findings)
