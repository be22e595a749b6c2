"""What a remedy computes by other nodes rounds otherwise: within rounding that is no missing node."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import paddable

from .test_verdicts import save

RNG = np.random.default_rng(0)
W, V = (RNG.standard_normal((16, 16)).astype(np.float32) for _ in range(2))
NORM = (
    "a = MatMul (x, w) t = Transpose <perm = [0, 2, 1]> (a) n = InstanceNormalization (t, g, b) "
    "u = Transpose <perm = [0, 2, 1]> (n) y = MatMul (u, v)"
)


def _native(place: Path, body: str) -> Path:
    held = {"w": W, "v": V, "g": np.ones(16, np.float32), "b": np.zeros(16, np.float32)}
    read = {name: array for name, array in held.items() if f", {name}" in body}
    return save(place, f"(float[1, T, 16] x) => (float[1, T, 16] y) {{ {body} }}", **read)


@pytest.fixture
def padded(tmp_path: Path) -> Path:
    out = tmp_path / "padded.onnx"
    native = _native(tmp_path / "native.onnx", NORM)
    paddable.convert(native, ["x:1=T"], containers=[60], out=out, verify=False)
    return out


@pytest.mark.parametrize("first", [True, False])
def test_a_remedy_is_no_cause_within_rounding(padded: Path, first: bool) -> None:
    native = padded.with_name("native.onnx")
    report = paddable.probe(*((padded, native) if first else (native, padded)), at=50, tolerance=1e-8)
    assert report.fork is not None and report.fork.cause.kind == "rounding", report.verdict
    assert f"a remedy of the {'first' if first else 'second'} graph computes this by other nodes" in report.verdict


def test_a_norm_that_is_missing_beside_a_remedy_is_one(padded: Path, tmp_path: Path) -> None:
    other = _native(tmp_path / "without.onnx", NORM.replace("InstanceNormalization (t, g, b)", "Identity (t)"))
    fork = paddable.probe(padded, other, at=50, tolerance=1e-8).fork
    assert fork is not None and fork.cause.kind != "rounding" and fork.error > 1e-3, fork
