"""Short lengths of a container in half to the letter: against native, every value rounded in both."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import pytest

from paddable.api import convert
from paddable.errors import GateFailedError
from paddable.gates.letter import short_lengths
from paddable.lengths import Span
from paddable.precision import exact

from ..precision.networks import model


def variance(tiny: float) -> onnx.ModelProto:
    rng = np.random.default_rng(0)
    return model(
        """h0 = MatMul(x, w) h = Add(h0, b) q = Mul(h, h) e = ReduceMean(q, axes) m = ReduceMean(h, axes)
        mm = Mul(m, m) v0 = Sub(e, mm) v = Add(v0, tiny) r = Sqrt(v) d = Sub(h, m) z = Div(d, r) y = MatMul(z, o)""",
        w=rng.standard_normal((8, 16)) / 3, b=np.full(16, 3.0), axes=np.array([1]), tiny=np.array([tiny]),
        o=rng.standard_normal((16, 5)) / 4,
    )  # fmt: skip


@pytest.mark.parametrize(("tiny", "told"), [(1e-2, "of scale from native"), (1e-4, "not finite.*: Sqrt Sqrt_8 is the")])
def test_a_container_that_loses_what_native_keeps_fails_over_few_steps(
    tiny: float, told: str, monkeypatch, tmp_path: Path
) -> None:
    def converted(out: Path) -> None:
        convert(variance(tiny), ["x:1=T"], containers=[24], precision="fp16", out=out, gate_lengths=2)

    converted(tmp_path / "right")
    report = json.loads((tmp_path / "right" / "report.json").read_text())
    assert [row["length"] for row in report["rows"] if "to the letter" in row["model"]] == [1, 2, 3, 5]
    monkeypatch.setattr(exact, "carried_over", lambda graph, native: {})
    monkeypatch.setattr(exact, "is_fill", lambda node: False)
    where = rf"output y, [12] steps in 24 \(fp16 T=24 in half to the letter\): gate C: .*{told}"
    with pytest.raises(GateFailedError, match=where):
        converted(tmp_path / "wrong")


def test_short_lengths_are_the_shortest_that_are_accepted() -> None:
    found = short_lengths({"T": Span(5, None, 2, 1), "U": Span(1, 2)}, {"T": 101, "U": 2})
    assert found == [{"T": 5, "U": 1}, {"T": 7, "U": 2}, {"T": 9, "U": 2}, {"T": 13, "U": 2}]
    assert short_lengths({"T": Span(1, None)}, {"T": 1}) == [{"T": 1}]
