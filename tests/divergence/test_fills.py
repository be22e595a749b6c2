"""Behind a mask that is added, the scale is that of the scores: a fault of query or key is told where it is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import paddable
from paddable.divergence.measure import measure
from paddable.divergence.regions import Block

from .test_verdicts import save

ATTENTION = (
    "(float[1, T, 8] x, float[1, T] mask) => (float[1, T, 8] y) <float one = {{1.0}}, float low = {{{fill}}}> "
    "{{ q = MatMul (x, wq) k = MatMul (x, wk) t = Transpose <perm = [0, 2, 1]> (k) s = MatMul (q, t) "
    "n = Sub (one, mask) {masked} p = Softmax <axis = -1> (h) y = MatMul (p, x) }}"
)
ADDED = "m = Mul (n, low) h = Add (s, m)"
SELECTED = "b = Cast <to = 9> (n) h = Where (b, low, s)"
RNG = np.random.default_rng(0)
WEIGHTS = {name: RNG.standard_normal((8, 8)).astype(np.float32) / 3 for name in ("wq", "wk")}
MASK = np.array([[1] * 6 + [0] + [1] * 8 + [0] * 9], np.float32)


@pytest.mark.parametrize("weight", ["wq", "wk"])
@pytest.mark.parametrize(("masked", "fill"), [(ADDED, -1e4), (SELECTED, -1e4), (ADDED, -1e9), (SELECTED, -3e38)])
def test_a_projection_in_front_of_masked_scores(tmp_path: Path, weight: str, masked: str, fill: float) -> None:
    text = ATTENTION.format(fill=fill, masked=masked)
    right = save(tmp_path / "right.onnx", text, **WEIGHTS)
    changed = WEIGHTS[weight].copy()
    changed[3, 2] += 0.2
    wrong = save(tmp_path / "wrong.onnx", text, **{**WEIGHTS, weight: changed})
    x = RNG.standard_normal((1, 24, 8)).astype(np.float32)
    report = paddable.probe(wrong, right, ["x:1=T", "mask:1=T"], inputs={"x": x, "mask": MASK})
    assert report.fork is not None and (report.fork.op, report.fork.cause.kind) == ("MatMul", "weights"), report.verdict
    assert f"({weight})" in report.fork.cause.text


def _error(mine: list[float], theirs: list[float]) -> float:
    found = measure(*(Block(np.array(each, np.float32), 0, len(each)) for each in (mine, theirs)), fills=True)
    assert found is not None and max(found.profile) == pytest.approx(found.error)
    return found.error


def test_fills_are_compared_by_their_own_scale() -> None:
    assert _error([1, 2.5, -1e4], [1, 2, -1e4]) == pytest.approx(0.25)
    assert _error([1, 2, -1.1e4], [1, 2, -1e4]) == pytest.approx(0.1)
    assert _error([1, -0.5, 1e4, 2e4], [1, 0, 1e4, 2e4]) == pytest.approx(0.5)


@pytest.mark.parametrize("values", [[1e4, -2, -1e4], [2000, 3e4], [0, 0, -1e4], [1e-5, -1e4], [-50, 1], [1, -1e4, 1e4]])
def test_what_is_no_fill_sets_the_scale(values: list[float]) -> None:
    assert _error([values[0] + 1, *values[1:]], values) == pytest.approx(1 / max(map(abs, values)), rel=1e-3)
