"""A padded model as Paddable writes it, small enough to check by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import onnx
import pytest
from onnx import parser

from paddable.bundle import KEY, Batch, Metadata, Symbol

PaddedModel = Callable[..., onnx.ModelProto]


def build(container: int | None, batch: int | None = None, *, symbol: Symbol | None = None) -> onnx.ModelProto:
    """Sums of neighbours: y[b, i] = x[b, 2i] + x[b, 2i+1], exactly 0 from ``y_length`` = ilens // 2 on.

    ``mean`` is not ragged: the sum of y over its valid part divided by ``y_length``, 0 for an empty row.

    Args:
        container: steps of T, even; None keeps it symbolic.
        batch: rows; None keeps them symbolic.
        symbol: what the metadata says of T.
    """
    steps, rows = container or "T", batch or "B"
    model = parser.parse_model(f"""
        <ir_version: 9, opset_import: ["" : 18]>
        pairs (float[{rows}, {steps}] x, int64[{rows}] ilens, float[1] gain)
            => (float[{rows}, half] y, int64[{rows}] y_length, float[{rows}] mean) {{
            two = Constant <value = int64[1] {{2}}> ()
            zero = Constant <value_int = 0> ()
            one = Constant <value_int = 1> ()
            last = Constant <value = int64[1] {{-1}}> ()
            shape = Constant <value = int64[3] {{0, -1, 2}}> ()
            y_length = Div (ilens, two)
            pairs = Reshape (x, shape)
            sums = ReduceSum <keepdims = 0> (pairs, last)
            size = Shape <start = 1> (sums)
            scalar = Squeeze (size)
            iota = Range (zero, scalar, one)
            lengths = Unsqueeze (y_length, last)
            valid = Less (iota, lengths)
            nothing = Constant <value_float = 0.0> ()
            scaled = Mul (sums, gain)
            y = Where (valid, scaled, nothing)
            total = ReduceSum <keepdims = 0> (y, last)
            least = Max (y_length, one)
            count = Cast <to = 1> (least)
            mean = Div (total, count)
        }}
    """)
    metadata = Metadata(
        symbols={"T": symbol or Symbol("x", 1, min=2, step=2)},
        container={"T": container} if container else {},
        inputs={"x": {1: "T"}},
        length_inputs={"ilens": "T"},
        lengths={"y": {1: "T//2"}},
        batch=Batch(batch, {"x": 0, "ilens": 0}, {"y": 0, "mean": 0}),
    )
    onnx.helper.set_model_props(model, {KEY: metadata.dumps()})
    onnx.checker.check_model(model)
    return model


@pytest.fixture
def padded_file(tmp_path: Path) -> Callable[..., Path]:
    """Writes the model above and returns its path."""

    def write(*args: int | None, name: str = "padded.onnx", **kwargs: Symbol) -> Path:
        path = tmp_path / name
        onnx.save(build(*args, **kwargs), path)
        return path

    return write
