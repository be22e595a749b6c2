"""A native that answers 0 at some length: there is no scale to compare with, and the message says so."""

from __future__ import annotations

import numpy as np
import onnx.parser
import pytest
from onnx import numpy_helper

from paddable.api import convert
from paddable.bundle import Metadata
from paddable.gates.oracle import Oracle
from paddable.gates.report import Row
from paddable.gates.signals import Numbers, Signals
from paddable.gates.whole import Candidate, judge_whole


def judged(native: float, padded: float) -> Row:
    """y = k x, with another factor in the padded graph."""
    model = onnx.parser.parse_model(
        '<ir_version: 10, opset_import: ["" : 18]> net (float[1, T, 4] x) => (float[1, T, 4] y) { y = Mul(x, k) }'
    )
    model.graph.initializer.append(numpy_helper.from_array(np.float32(native), "k"))
    made = convert(model, ["x:1=T"], containers=[20], verify=False)
    metadata = Metadata.loads(made.metadata_props[0].value, where="")
    (held,) = [tensor for tensor in made.graph.initializer if tensor.name == "k"]
    held.CopyFrom(numpy_helper.from_array(np.float32(padded), "k"))
    oracle = Oracle(model.SerializeToString(), metadata)
    candidate = Candidate("T=20", made.SerializeToString(), metadata, {"T": 20})
    signals = Signals(metadata, oracle.engine.dtypes, oracle.engine.shapes, {"T": 20}, Numbers({}), 1, 0)
    (row,) = judge_whole(candidate, oracle, signals, [{"T": 1}])
    return row


@pytest.mark.parametrize(("native", "answers"), [(0.0, "exactly 0"), (1e-9, "at most")])
def test_a_difference_from_nothing_is_told_as_such(native: float, answers: str) -> None:
    row = judged(native, 3e-5)
    assert not row.ok and f"native answers {answers}" in row.note and "e-05 off" in row.note


def test_an_answer_of_0_where_native_has_one_fails_by_its_scale() -> None:
    row = judged(1.0, 0.0)
    assert not row.ok and row.error == 1 and not row.note


def test_nothing_is_told_where_nothing_differs() -> None:
    assert judged(0.0, 0.0).ok
