"""Natives that round what goes into their products themselves: codes that fall the other way are no fault."""

from __future__ import annotations

import numpy as np
import onnx
import onnx.parser
import pytest
from onnx import numpy_helper

from paddable.api import convert
from paddable.bundle import Metadata
from paddable.gates.index_limits import Numbers
from paddable.gates.oracle import Oracle
from paddable.gates.signals import Signals
from paddable.gates.whole import Candidate, judge_whole

LONGEST = 4_000
RANDOM = np.random.default_rng(0)
WEIGHTS = {
    "k": np.float32(0),
    "w": RANDOM.integers(0, 256, (8, 2, 16)).astype(np.uint8),
    "s": np.full((8, 2), 0.1, np.float32),
}


@pytest.mark.parametrize(
    ("moved", "weights", "right"),
    [(1e-6, 1.0, True), (1e-6, 1.01, False), (1e-6, 1.03, False), (3e-3, 1.0, False)],
    ids=["codes alone", "weights 1% off", "weights 3% off", "what goes in is off"],
)
def test_a_product_in_4_bits_may_round_what_goes_in(moved: float, weights: float, right: bool) -> None:
    """As MatMulNBitsQuantizer writes it with ``accuracy_level=4``; in fp32, where no precision allows for codes."""
    model = onnx.parser.parse_model(
        '<ir_version: 10, opset_import: ["" : 18, "com.microsoft" : 1]> net (float[1, T, 64] x) => (float[1, T, 8] y) '
        "{ p = Add(x, k) y = com.microsoft.MatMulNBits<K = 64, N = 8, bits = 4, block_size = 32, accuracy_level = 4>"
        "(p, w, s) }"
    )
    for name, array in WEIGHTS.items():
        model.graph.initializer.append(numpy_helper.from_array(np.asarray(array), name))
    made = convert(model, ["x:1=T"], containers=[LONGEST], verify=False)
    metadata = Metadata.loads(made.metadata_props[0].value, where="")
    for tensor in made.graph.initializer:
        if tensor.name in ("k", "s"):
            held = WEIGHTS[tensor.name] * np.float32(weights) if tensor.name == "s" else np.float32(moved)
            tensor.CopyFrom(numpy_helper.from_array(np.asarray(held, np.float32), tensor.name))
    oracle = Oracle(model.SerializeToString(), metadata)
    candidate = Candidate(f"T={LONGEST}", made.SerializeToString(), metadata, {"T": LONGEST})
    signals = Signals(metadata, oracle.engine.dtypes, oracle.engine.shapes, {"T": LONGEST}, Numbers({}), 1, 0)
    (row,) = judge_whole(candidate, oracle, signals, [{"T": LONGEST - 100}])
    assert row.ok == right and row.error > 9e-4, row
