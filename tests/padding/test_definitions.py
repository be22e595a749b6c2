"""Operators that ONNX defines by others, and that have no rule of their own, are read by their definition."""

from __future__ import annotations

import pytest

from .native import assert_exact

SPLIT = "q = Transpose <perm = [0, 2, 1, 3]> (x)"


@pytest.mark.parametrize(
    "attention",
    [
        "y = Attention (q, q, q)",
        "y = Attention <is_causal = 1> (q, q, q)",
        "y = Attention <softcap = 2.0, scale = 0.5> (q, q, q)",
    ],
)
def test_attention_over_four_dimensions(attention: str) -> None:
    assert_exact(
        f"g (float[1, T, 2, 4] x) => (float[1, 2, T, 4] y) {{ {SPLIT} {attention} }}",
        "x:1=T",
        opset=23,
    )


def test_attention_over_three_dimensions_with_grouped_heads() -> None:
    assert_exact(
        """g (float[2, T, 8] x, float[2, U, 4] m) => (float[2, T, 8] y) {
           y = Attention <q_num_heads = 4, kv_num_heads = 2> (x, m, m) }""",
        "x:1=T",
        "m:1=U",
        opset=23,
        rows=2,
    )  # fmt: skip


def test_a_cast_like_another_tensor() -> None:
    assert_exact("g (float[1, T] x) => (double[1, T] y) <double[1] d = {1}> { y = CastLike (x, d) }", "x:1=T", opset=19)


def test_rotary_embedding() -> None:
    assert_exact(
        """g (float[1, 2, T, 4] x, float[1, T, 2] c) => (float[1, 2, T, 4] y) { y = RotaryEmbedding (x, c, c) }""",
        "x:2=T",
        "c:1=T",
        opset=23,
    )
