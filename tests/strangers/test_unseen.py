"""The judge of unseen architectures has an opinion of its own: it sees a leak that no gate was asked about."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

from paddable.api import convert
from paddable.bundle import KEY, read_metadata

TEXT = """<ir_version: 9, opset_import: ["" : 17]> g (float[B, 3, T] x) => (float[B, 3, T] y) {
  m = ReduceMean<axes = [2]>(x) y = Sub(x, m)
}"""
LEAKING = """<ir_version: 9, opset_import: ["" : 17]>
g (float[2, 3, 16] x, int64[2] ilens) => (float[2, 3, 16] y, int64[2] y_length) {
  m = ReduceMean<axes = [2]>(x) y = Sub(x, m) y_length = Identity(ilens)
}"""


def test_a_leak_is_seen(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    from tests.strangers.unseen.judge import ALLOWED, _compare

    native, padded, leaking = (tmp_path / f"{name}.onnx" for name in ("native", "padded", "leaking"))
    onnx.save(onnx.parser.parse_model(TEXT), native)
    convert(native, ["x:2=T"], containers=[16], out=padded, batch_size=2, gate_lengths=2)
    x = np.random.default_rng(0).standard_normal((2, 3, 16), dtype="f4")
    assert _compare(native, padded, x, 2, 2) <= ALLOWED
    model = onnx.parser.parse_model(LEAKING)
    onnx.helper.set_model_props(model, {KEY: read_metadata(padded).dumps()})
    onnx.save(model, leaking)
    assert _compare(native, leaking, x, 2, 2) > 1
