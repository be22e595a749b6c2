"""Operators that ONNX Runtime's optimisers make of several others, in the forms that they write."""

from __future__ import annotations

import pytest

from .native import assert_exact, verdict_of


def numbers(count: int) -> str:
    return ", ".join(str(round(0.37 * ((7 * i) % 11 - 5), 2)) for i in range(count))


NORM = f"float[4] gamma = {{{numbers(4)}}}, float[4] beta = {{{numbers(4)}}}"
PROJECTION = f"float[4, 12] w = {{{numbers(48)}}}, float[12] b = {{{numbers(12)}}}"


@pytest.mark.parametrize("op_type", ["SkipLayerNormalization", "SkipSimplifiedLayerNormalization"])
def test_the_sum_and_its_normalisation(op_type: str) -> None:
    beta = "" if "Simplified" in op_type else ", beta"
    assert_exact(
        f"""g (float[1, 4, T] x) => (float[1, 4, T] y, float[1, 4, T] s)
           <{NORM}, float[4, 4, 3] k = {{{numbers(48)}}}> {{
           a = Transpose <perm = [0, 2, 1]> (x)
           n, , , total = com.microsoft.{op_type} <epsilon = 0.01> (a, a, gamma{beta})
           t = Transpose <perm = [0, 2, 1]> (n) y = Conv <pads = [1, 1]> (t, k)
           s0 = Transpose <perm = [0, 2, 1]> (total) s = Conv <pads = [1, 1]> (s0, k) }}""",
        "x:2=T",
        needs=["PAD102"],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("attributes", "more"),
    [('activation = "Relu"', ""), ('activation = "Sigmoid"', ", , x"), ('activation = "Tanh"', ", , x")],
)
def test_a_convolution_with_its_activation(attributes: str, more: str) -> None:
    assert_exact(
        f"""g (float[1, 4, T] x) => (float[1, 4, T] y) <float[4, 4, 3] k = {{{numbers(48)}}}> {{
           c = com.microsoft.FusedConv <{attributes}, pads = [1, 1]> (x, k{more})
           y = com.microsoft.FusedConv <{attributes}, pads = [1, 1]> (c, k) }}""",
        "x:2=T",
        needs=["PAD102"],
    )  # fmt: skip


def test_a_product_with_its_activation() -> None:
    """Behind a sigmoid no padding is 0."""
    assert_exact(
        f"""g (float[1, T, 4] x) => (float[1, 4, 4] y) <float[4, 4] w = {{{numbers(16)}}}, int64[1] front = {{0}}> {{
           r = Squeeze (x, front) a = com.microsoft.FusedGemm <activation = "Sigmoid"> (r, w)
           b = com.microsoft.FusedGemm <activation = "Relu"> (r, w)
           z = Gemm <transA = 1> (a, b) y = Unsqueeze (z, front) }}""",
        "x:1=T",
        needs=["PAD108"],
    )  # fmt: skip


def test_a_bias_inside_an_activation_refills_the_padding() -> None:
    assert_exact(
        f"""g (float[1, T, 4] x) => (float[1, 4, U] y)
           <int64[6] pads = {{0, 0, 0, 0, 2, 0}}, float[4] one = {{1, 1, 1, 1}},
            float[4, 4, 3] k = {{{numbers(48)}}}> {{
           p = Pad (x, pads) f = com.microsoft.FastGelu (p, one) t = Transpose <perm = [0, 2, 1]> (f)
           y = Conv <pads = [1, 1]> (t, k) }}""",
        "x:1=T",
        needs=["PAD102"],
    )  # fmt: skip


MASKS = {
    "none": ("", ""),
    "of the keys": ("m = Cast <to = 6> (keys)", ", m"),
    "of each query": (
        """m2 = Cast <to = 6> (keys) axes = Constant <value_ints = [1]> () m1 = Unsqueeze (m2, axes)
           whole = Shape (keys) place = Constant <value_ints = [1]> () steps = Gather (whole, place)
           rows = Constant <value_ints = [1]> () square = Concat <axis = 0> (rows, steps, steps)
           m = Expand (m1, square)""",
        ", m",
    ),
}


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("opset", [14, 17])
def test_attention(mask: str, opset: int) -> None:
    made, given = MASKS[mask]
    keys = "k0 = ReduceSum <keepdims = 0> (x, two) zero = Constant <value = float {0.5}> () keys = Greater (k0, zero)"
    assert_exact(
        f"""g (float[1, T, 4] x) => (float[1, T, 4] y) <{PROJECTION}, int64[1] two = {{2}}> {{
           {keys} {made} y = com.microsoft.Attention <num_heads = 2, mask_filter_value = -9.0> (x, w, b{given}) }}""",
        "x:1=T",
        opset=opset,
        needs=["PAD103"],
    )  # fmt: skip


@pytest.mark.parametrize("opset", [14, 17])
def test_embeddings_that_count_the_mask_for_attention(opset: int) -> None:
    """As the optimiser for BERT writes them."""
    assert_exact(
        f"""g (int64[1, T] x, float[1, T] m) => (float[1, T, 4] y) <{NORM}, {PROJECTION},
            float[20, 4] words = {{{numbers(80)}}}, float[30, 4] places = {{{numbers(120)}}}> {{
           ids = Cast <to = 6> (x) some = Constant <value = float {{-0.5}}> () kept = Greater (m, some)
           mask = Cast <to = 6> (kept)
           e, count = com.microsoft.EmbedLayerNormalization (ids, , words, places, , gamma, beta, mask)
           y = com.microsoft.Attention <num_heads = 2, mask_filter_value = -7.0> (e, w, b, count) }}""",
        "x:1=T",
        "m:1=T",
        opset=opset,
        needs=["PAD101", "PAD103"],
    )  # fmt: skip


@pytest.mark.parametrize("bias", ["", "b"])
@pytest.mark.parametrize("mask", ["", "m"])
def test_attention_to_another_sequence(bias: str, mask: str) -> None:
    assert_exact(
        f"""g (float[2, T, 4] x, float[2, U, 4] o) => (float[2, T, 4] y) <{PROJECTION}, int64[1] two = {{2}}> {{
           k0 = ReduceSum <keepdims = 0> (o, two) zero = Constant <value = float {{-0.5}}> () keys = Greater (k0, zero)
           m = Cast <to = 6> (keys)
           y = com.microsoft.MultiHeadAttention <num_heads = 2> (x, o, o, {bias}, {mask}) }}""",
        "x:1=T",
        "o:1=U",
        rows=2,
        needs=["PAD103"],
    )  # fmt: skip


@pytest.mark.parametrize("opset", [14, 17])
def test_embeddings_and_their_normalisation(opset: int) -> None:
    assert_exact(
        f"""g (int64[1, T] x) => (float[1, T, 4] y) <{NORM}, float[20, 4] words = {{{numbers(80)}}},
            float[9, 4] places = {{{numbers(36)}}}, float[2, 4] segments = {{{numbers(8)}}}, int64 two = {{2}}> {{
           ids = Cast <to = 6> (x) half = Mod (x, two) seg = Cast <to = 6> (half)
           y, unused = com.microsoft.EmbedLayerNormalization <epsilon = 0.01>
              (ids, seg, words, places, segments, gamma, beta) }}""",
        "x:1=T",
        opset=opset,
    )  # fmt: skip


def test_a_layer_norm_that_the_runtime_wrote_into_an_old_opset() -> None:
    assert_exact(
        f"""g (float[1, T, 4] x) => (float[1, T, 4] y) <{NORM}> {{ y = LayerNormalization (x, gamma, beta) }}""",
        "x:1=T",
        opset=14,
    )


@pytest.mark.parametrize(
    "attention",
    [
        "y = com.microsoft.Attention <num_heads = 2, unidirectional = 1> (x, w, b)",
        "y = com.microsoft.Attention <num_heads = 2> (x, w, b, ends)",
        "y, present = com.microsoft.Attention <num_heads = 2> (x, w, b, , past)",
        "q = QuantizeLinear (x, s, z) y = com.microsoft.QAttention <num_heads = 2> (q, wq, b, s, s, , z, z)",
    ],
)
def test_other_forms_are_refused(attention: str) -> None:
    verdict = verdict_of(
        f"""g (float[1, T, 4] x) => (float[1, T, 4] y) <{PROJECTION}, float s = {{0.03}}, uint8 z = {{128}},
            uint8[4, 12] wq = {{{", ".join(str(5 * i) for i in range(48))}}}, int32[2] ends = {{3, 0}},
            float[2, 1, 2, 1, 2] past = {{{numbers(8)}}}> {{ {attention} }}""",
        "x:1=T",
    )
    assert verdict.outcome == "refused" and "no rule" in verdict.reason, verdict
