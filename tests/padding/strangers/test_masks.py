"""Masks that a model takes: counted to lengths, made again for its frames, and those that are true at padding."""

from __future__ import annotations

import numpy as np
import onnx
import onnx.parser
import onnxruntime
import pytest

import paddable
from paddable.errors import RefusedError

from ..example import Example

FRAMES = """b = Shape <end = 1> (x) u = Shape <start = 1> (h) s = Concat <axis = 0> (b, u) zeros = ConstantOfShape (s)
    bs = Squeeze (b) r = Range (none, bs, one) i = Unsqueeze (r, axis) j = Unsqueeze (last, axis)
    p = Concat <axis = 1> (i, j) v = Shape (last) w = Expand (one, v) f0 = ConstantOfShape (s)
    f = Cast <to = 7> (f0) hot = ScatterND (f, p, w) flip = Slice (hot, minus, least, axis, minus)
    sum = CumSum (flip, one) ones = Slice (sum, minus, least, axis, minus) keep = Cast <to = 9> (ones)
    y = Where (keep, h, zeros)"""
CONSTANTS = """int64[1] axis = {1}, int64 one = {1}, int64 none = {0}, int64 ten = {10}, int64 five = {5},
    int64[1] minus = {-1}, int64[1] least = {-9223372036854775807}, float[1, 1, 10] k, int64 end = {-1}"""
CONV = "xu = Unsqueeze (x, axis) hu = Conv <strides = [5]> (xu, k) h = Squeeze (hu, axis)"
COUNTED = {
    "sum": "n = ReduceSum <keepdims = 0> (m, axis)",
    "the last of a running count": "c = CumSum (m, one) n = Gather <axis = 1> (c, end)",
}


@pytest.mark.parametrize("rows", [1, 0])
@pytest.mark.parametrize("counted", COUNTED)
def test_a_mask_of_frames_made_from_a_mask_of_samples(counted: str, rows: int) -> None:
    """transformers: the length from the mask, one-hot at the last frame, and a reversed running sum of it."""
    batch = "batch" if rows == 0 else "1"
    example = Example(
        f"{CONV} {COUNTED[counted]} d = Sub (n, ten) q = Div (d, five) last = Identity (q) {FRAMES}",
        f"float[{batch}, U] y",
        f"float[{batch}, T] x, int64[{batch}, T] m",
        CONSTANTS,
        held="m:1=T",
        rows=rows,
    )
    from ...soundness.judge import judge

    verdict = judge(example.case)
    assert verdict.outcome == "exact", verdict.reason


ATTENTION = """<ir_version: 8, opset_import: ["": 17]> g (float[B, T, 4] x, bool[B, T] pad) => (float[B, T, 4] y)
    <int64[1] axis = {1}, float low = {-inf}> {
        t = Transpose <perm = [0, 2, 1]> (x) s = MatMul (x, t) u = Unsqueeze (pad, axis) m = Where (u, low, s)
        p = Softmax <axis = 2> (m) y = MatMul (p, x) }"""


@pytest.mark.parametrize("rows", [1, 2])
def test_a_mask_that_is_true_at_padding(rows: int) -> None:
    native = onnx.parser.parse_model(ATTENTION)
    padded = paddable.convert(
        native, lengths=["x:1=T"], mask_inputs=["pad:1=~T"], containers=[12], batch_size=rows, gate_lengths=3
    )
    assert [i.name for i in padded.graph.input] == ["x", "ilens"]
    oracle, session = (onnxruntime.InferenceSession(m.SerializeToString()) for m in (native, padded))
    box, lengths = np.random.default_rng(0).standard_normal((rows, 12, 4), dtype="f4"), [5, 9][:rows]
    found = session.run(["y"], {"x": box, "ilens": np.array(lengths)})[0]
    for row, count in enumerate(lengths):
        own = {"x": box[row : row + 1, :count], "pad": np.zeros((1, count), bool)}
        np.testing.assert_allclose(found[row, :count], oracle.run(None, own)[0][0], rtol=1e-5, atol=1e-5)
        assert not found[row, count:].any()


def test_a_mask_declared_the_wrong_way_round_is_told() -> None:
    native = onnx.parser.parse_model(ATTENTION)
    with pytest.raises(RefusedError, match=r"True means padding .*`mask_inputs=\['pad:1=~T'\]`"):
        paddable.convert(native, lengths=["x:1=T"], mask_inputs=["pad:1=T"], containers=[12], gate_lengths=3)
