"""A precision that takes no weight names what has one, and why it keeps it."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from paddable.graph.io.read import read_model
from paddable.precision.untaken import untaken

from .networks import model

RANDOM = np.random.default_rng(0)
BIG, SMALL = RANDOM.standard_normal((64, 64)), RANDOM.standard_normal((8, 8))


@pytest.mark.parametrize(
    ("body", "weight", "why"),
    [
        ("y = MatMul(x, w)", BIG[None], "MatMul MatMul_0, whose weight w has 3 axes"),
        ("y = MatMul(x, w)", SMALL, "MatMul MatMul_0, whose weight w has 64 numbers, fewer than 1,024"),
        ("t = Transpose<perm = [0, 2, 1]>(x) y = MatMul(w, t)", BIG, "MatMul MatMul_1, whose weight w is its input 0"),
        ("y = Mul(x, w)", BIG, "Mul Mul_0, which is no MatMul, Gemm, Conv or ConvTranspose"),
        ('y = Einsum<equation = "bti,ij->btj">(x, w)', BIG, "Einsum Einsum_0, which is no MatMul, Gemm, Conv or Conv"),
        ("i = ArgMax<axis = 2, keepdims = 0>(x) y = Gather(w, i)", BIG, "Gather Gather_1, which only looks up what w"),
        ("m = MatMul(x, w) l = Log(m) y = Neg(l)", BIG, "MatMul MatMul_0, which is part of a front end"),
        ("y = Relu(x)", SMALL[:0], ""),
    ],
)  # fmt: skip
def test_each_reason(body: str, weight: np.ndarray, why: str) -> None:
    native = model(body, "float[1, T, 64] x", "float[1, T, 64] y", **({"w": weight} if weight.size else {}))
    found = untaken(read_model(native), [], rounds=True)
    assert [text.startswith(why) for text in found] == [True] * bool(why)


def test_a_weight_in_float64_and_one_in_a_body() -> None:
    native = model(
        """c = Cast<to = 11>(x) d = MatMul(c, w) y = Cast<to = 1>(d)
        z = If(f) <then_branch = t () => (float[1, T, 64] p) { p = MatMul(x, v) },
        else_branch = e () => (float[1, T, 64] q) { q = Identity(x) }>""",
        "float[1, T, 64] x, bool[1] f", "float[1, T, 64] y, float[1, T, 64] z", v=BIG,
    )  # fmt: skip
    native.graph.initializer.append(onnx.numpy_helper.from_array(np.concatenate([BIG, BIG], 1), "w"))
    assert untaken(read_model(native), [], rounds=False) == [
        "MatMul MatMul_1, whose weight w is float64",
        "If If_3, whose body stays as it is",
    ]
