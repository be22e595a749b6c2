"""Natives that round what goes into their products themselves: codes that fall the other way are no fault."""

from __future__ import annotations

from typing import Any

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
SHARED = {"k": np.float32(0)}
KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "4 bits": (
        "y = com.microsoft.MatMulNBits<K = 64, N = 8, bits = 4, block_size = 32, accuracy_level = 4>(p, w, s)",
        {"w": RANDOM.integers(0, 256, (8, 2, 16)).astype(np.uint8), "s": np.full((8, 2), 0.1, np.float32)},
    ),
    "integers": (
        "q, a, z = DynamicQuantizeLinear(p) i = MatMulInteger(q, w, z, n) f = Cast<to = 1>(i) m = Mul(a, s) "
        "y = Mul(f, m)",
        {
            "w": RANDOM.integers(-100, 101, (64, 8)).astype(np.int8),
            "n": RANDOM.integers(-5, 6, 8).astype(np.int8),
            "s": np.full(8, 0.01, np.float32),
        },
    ),
    "convolution": (
        "t = Transpose<perm = [0, 2, 1]>(p) q, a, z = DynamicQuantizeLinear(t) i = ConvInteger<pads = [1, 1]>"
        "(q, w, z, n) f = Cast<to = 1>(i) m = Mul(a, s) c = Mul(f, m) y = Transpose<perm = [0, 2, 1]>(c)",
        {
            "w": RANDOM.integers(0, 256, (8, 64, 3)).astype(np.uint8),
            "n": np.uint8(128),
            "s": np.full((8, 1), 0.01, np.float32),
        },
    ),
}
"""As MatMulNBitsQuantizer with ``accuracy_level=4`` and ``quantize_dynamic`` write them."""


@pytest.mark.parametrize(
    ("moved", "weights", "right"),
    [(1e-6, 1.0, True), (1e-6, 1.01, False), (1e-6, 1.03, False), (3e-3, 1.0, False)],
    ids=["codes alone", "weights 1% off", "weights 3% off", "what goes in is off"],
)
@pytest.mark.parametrize("kind", KINDS)
def test_a_product_may_round_what_goes_in(kind: str, moved: float, weights: float, right: bool) -> None:
    """In fp32, where no precision allows for codes."""
    body, own = KINDS[kind]
    model = onnx.parser.parse_model(
        '<ir_version: 10, opset_import: ["" : 18, "com.microsoft" : 1]> '
        f"net (float[1, T, 64] x) => (float[1, T, 8] y) {{ p = Add(x, k) {body} }}"
    )
    held = {**SHARED, **own}
    for name, array in held.items():
        model.graph.initializer.append(numpy_helper.from_array(np.asarray(array), name))
    made = convert(model, ["x:1=T"], containers=[LONGEST], verify=False)
    metadata = Metadata.loads(made.metadata_props[0].value, where="")
    for tensor in made.graph.initializer:
        if tensor.name in ("k", "s"):
            other = held[tensor.name] * np.float32(weights) if tensor.name == "s" else np.float32(moved)
            tensor.CopyFrom(numpy_helper.from_array(np.asarray(other, np.float32), tensor.name))
    oracle = Oracle(model.SerializeToString(), metadata)
    candidate = Candidate(f"T={LONGEST}", made.SerializeToString(), metadata, {"T": LONGEST})
    signals = Signals(metadata, oracle.engine.dtypes, oracle.engine.shapes, {"T": LONGEST}, Numbers({}), 1, 0)
    (row,) = judge_whole(candidate, oracle, signals, [{"T": LONGEST - 100}])
    assert row.ok == right and row.error > 9e-4, row
