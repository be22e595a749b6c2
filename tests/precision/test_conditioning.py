"""Weights that are only stored in fewer bits are judged as fp32 is: by how ill-conditioned native is, not by luck."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from onnx import numpy_helper

from paddable.api import convert
from paddable.bundle import Metadata
from paddable.gates.oracle import Oracle
from paddable.gates.signals import Numbers, Signals
from paddable.gates.whole import TOLERANCE, Candidate, judge_whole

from .networks import model

RANDOM = np.random.default_rng(0)


def normal(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape) / shape[0] ** 0.5


WEIGHTS = {"u": normal(16, 64), "c": normal(64, 64, 3) / 8, "w": normal(64, 64), "g": np.ones(64), "v": normal(64, 32)}


def residual(size: float) -> Any:
    """A residual stream that a norm takes away again: 0.01 of what is left is rounding, where the stream is 1.4e5."""
    return model(
        """a = MatMul(x, u) t = Transpose<perm = [0, 2, 1]>(a) d = Conv<pads = [1, 1]>(t, c)
        e = Transpose<perm = [0, 2, 1]>(d) r = Add(e, k) h = MatMul(a, w) s = Add(r, h) n = LayerNormalization(s, g)
        y = MatMul(n, v)""",
        "float[1, T, 16] x", "float[1, T, 32] y", **WEIGHTS, k=np.full(64, size),
    )  # fmt: skip


@pytest.fixture
def fused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The optimiser moves native in fp32 by a twentieth, and finds nothing to fuse in native with other weights."""

    def pairs(self: Oracle, feeds: Any, outputs: Any) -> Iterator[Any]:
        part = 0.0 if self._config else 0.05
        yield {name: (1 + part) * array for name, array in outputs.items()}, outputs

    monkeypatch.setattr(Oracle, "_pairs", pairs)


@pytest.mark.parametrize("precision", ["int8", "int4"])
@pytest.mark.usefixtures("fused")
def test_an_ill_conditioned_model_that_passes_in_fp32_passes(precision: str) -> None:
    judged: list[Any] = []
    convert(residual(1.4e5), ["x:1=T"], containers=[60], precision=precision, gate_lengths=8, on_report=judged.append)
    rows = [row for row in judged[0].rows if row.model.startswith(precision)]
    assert any(row.error > TOLERANCE for row in rows) and all(row.ok for row in rows)


@pytest.mark.parametrize("precision", ["int8", "int4"])
def test_a_model_of_good_condition_is_allowed_no_more(precision: str) -> None:
    judged: list[Any] = []
    convert(residual(0.0), ["x:1=T"], containers=[60], precision=precision, gate_lengths=8, on_report=judged.append)
    assert {row.tolerance for row in judged[0].rows} == {TOLERANCE}


@pytest.mark.parametrize(("size", "moved", "right"), [(2e3, 1e-6, True), (0.0, 2e-5, False), (1e5, 1.5e-3, False)])
def test_native_in_fp32_is_known_no_better_than_the_last_place_of_its_input_moves_it(
    size: float, moved: float, right: bool
) -> None:
    """Its kernels agree bit for bit: x + 2000 - 2000 has steps of 1e-4, and a number falls to the one or the other."""
    native = model("b = Mul(x, g) s = Add(b, k) y = Sub(s, k)", "float[1, T, 4] x", "float[1, T, 4] y",
                   g=np.float32(3), k=np.float32(size))  # fmt: skip
    made = convert(native, ["x:1=T"], containers=[6000], verify=False)
    metadata = Metadata.loads(made.metadata_props[0].value, where="")
    (gain,) = (tensor for tensor in made.graph.initializer if tensor.name == "g")
    gain.CopyFrom(numpy_helper.from_array(np.float32(3 * (1 + moved)), "g"))
    oracle = Oracle(native.SerializeToString(), metadata)
    signals = Signals(metadata, oracle.engine.dtypes, oracle.engine.shapes, {"T": 6000}, Numbers({}), 1, 0)
    assert set(oracle.noise(signals, 0, {"T": 5000}, {"y": np.inf}).values()) == {0.0}
    candidate = Candidate("T=6000", made.SerializeToString(), metadata, {"T": 6000})
    (row,) = judge_whole(candidate, oracle, signals, [{"T": 5000}])
    assert row.error > TOLERANCE and row.ok == right


def test_no_mask_is_moved() -> None:
    """A float mask that is compared with 1 would mask all that is valid, and every fault would be allowed."""
    native = model(
        "k = Equal(m, one) q = Unsqueeze(k, last) y = Where(q, x, zero)",
        "float[1, T, 4] x, float[1, T] m", "float[1, T, 4] y",
        one=np.float32(1), zero=np.float32(0), last=np.array([2]),
    )  # fmt: skip
    made = convert(native, ["x:1=T"], containers=[6000], mask_inputs=["m:1=T"], verify=False)
    metadata = Metadata.loads(made.metadata_props[0].value, where="")
    oracle = Oracle(native.SerializeToString(), metadata)
    signals = Signals(metadata, oracle.engine.dtypes, oracle.engine.shapes, {"T": 6000}, Numbers({}), 1, 0)
    assert oracle.conditioned(signals, 0, {"T": 5000}, {"y": np.inf})["y"] < 1e-6
