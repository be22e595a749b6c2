"""Step graphs: what a stream takes beyond half stays in fp32, and what stays in the whole stays here."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import onnx.parser
import onnx_ir as ir
from onnx import numpy_helper

from paddable.api.measuring import Measured
from paddable.api.measuring_steps import kept_in_steps
from paddable.bundle.state import STEP_METADATA_KEY, StateSpec, StateTable, StepSpec
from paddable.gates.examples import Example
from paddable.graph.io.read import read_model
from paddable.graph.io.write import write_model

WEIGHT = np.random.default_rng(0).standard_normal((8, 200)).astype(np.float32)


def model(text: str) -> ir.Model:
    proto = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : 18]>\nnet {text}')
    for name, array in (("w", WEIGHT), ("one", np.array([1])), ("thousand", np.float32(1000))):
        proto.graph.initializer.append(numpy_helper.from_array(array, name))
    return read_model(proto)


def step() -> ir.Model:
    """Adds up what it has heard."""
    made = model("""(float[1, 4, 8] x, int64[1] ilens, float[1, 1, 8] state_heard)
        => (float[1, 4, 200] y, int64[1] y_length, float[1, 1, 8] next_state_heard) {
      loud = Mul(x, thousand) chunk = ReduceSum<keepdims = 1>(loud, one) next_state_heard = Add(chunk, state_heard)
      small = Div(next_state_heard, thousand) both = Add(x, small) y = MatMul(both, w) y_length = Identity(ilens)
    }""")
    states = StateTable((StateSpec("heard", (1, 1, 8), "float32", "the sum"),))
    spec = StepSpec(4, "x", 1, "y", 1, 1, states)
    made.metadata_props[STEP_METADATA_KEY] = spec.to_json()
    return made


def kept(precision: str, known: Measured, folder: Path) -> dict[str, str]:
    @contextmanager
    def lend(lent: ir.Model) -> Iterator[Path]:
        yield write_model(lent, folder / f"{len(list(folder.iterdir()))}.onnx")

    whole = model("(float[1, T, 8] x) => (float[1, T, 200] z) { z = MatMul(x, w) }")
    return kept_in_steps(step(), whole, precision, known, lend)


def test_a_state_that_grows_beyond_half_is_seen(tmp_path: Path) -> None:
    """One chunk reaches 4,000, ten of them 40,000: half ends at 65,504, and another stream may be louder."""
    (tmp_path / "short").mkdir()
    short = Measured([Example("short", {}, {"x": np.full((1, 4, 8), 1.0001, np.float32)})])
    assert kept("fp16", short, tmp_path / "short") == {}
    (tmp_path / "long").mkdir()
    long = Measured([Example("long", {}, {"x": np.full((1, 39, 8), 1.0001, np.float32)})])
    found = kept("fp16", long, tmp_path / "long")
    assert set(found) == {"next_state_heard", "state_heard"} and all(
        why.startswith("overflows") for why in found.values()
    )


def test_a_node_that_stays_in_the_whole_stays_by_its_weight(tmp_path: Path) -> None:
    assert kept("int8", Measured(kept={"z": "8 bits move it"}), tmp_path) == {"y": "8 bits move it"}
    assert kept("int8", Measured(), tmp_path) == {}
