"""Operators on codes: padding must be the zero point where it must be 0, and no range may see it."""

from __future__ import annotations

import pytest

from .native import assert_exact, findings_of, verdict_of

SCALE = "float two = {2.0}, float s = {0.0321}, uint8 z = {77}, float s2 = {0.0477}, uint8 z2 = {100}"
MIX = "float[2, 2, 3] mix = {1, 2, -3, 4, 5, 6, 1, -2, 1, 2, 1, 2}"
WEIGHTS = "uint8[3, 2, 3] w = {0, 9, 250, 30, 128, 6, 77, 1, 200, 5, 6, 7, 30, 128, 129, 1, 2, 3}, uint8 wz = {128}"
BIASED = "b = Add (x, two)"  # padding is not 0
MIXED = "f = Conv <pads = [1, 1]> (x, mix) b = Add (f, two)"  # nor is it a valid value, so it may widen a range


def codes(count: int) -> str:
    return ", ".join(str((37 * i) % 251) for i in range(count))


def test_integer_product_over_time_with_a_computed_zero_point() -> None:
    """A code of 0 is no 0: the zero point was taken from it, and junk on the other side came through."""
    assert_exact(
        f"""g (float[1, 2, T] x) => (int32[1, 2, 2] y) <{SCALE}, {MIX}> {{
           {MIXED} p, ps, pz = DynamicQuantizeLinear (b) q = QuantizeLinear (b, s, z)
           t = Transpose <perm = [0, 2, 1]> (q) y = MatMulInteger (p, t, pz, z) }}""",
        "x:2=T",
        needs=["PAD109"],
    )  # fmt: skip


@pytest.mark.parametrize("opset", [13, 21])
def test_integer_product_over_time_with_constant_zero_points(opset: int) -> None:
    assert_exact(
        f"""g (float[1, T, 4] x) => (int32[1, 4, 4] y) <{SCALE}, int8 zz = {{-3}}> {{
           {BIASED} t = Transpose <perm = [0, 2, 1]> (b)
           p = QuantizeLinear (t, s, zz) q = QuantizeLinear (b, s, z) y = MatMulInteger (p, q, zz, z) }}""",
        "x:1=T",
        opset=opset,
        needs=["PAD108"],
    )  # fmt: skip


def test_dynamic_convolution_is_padded_with_the_zero_point() -> None:
    """As quantize_dynamic writes a Conv."""
    assert_exact(
        f"""g (float[1, 2, T] x) => (float[1, 3, T] y) <{SCALE}, {WEIGHTS}, {MIX}> {{
           {MIXED} p, ps, pz = DynamicQuantizeLinear (b)
           c = ConvInteger <kernel_shape = [3], pads = [1, 1]> (p, w, pz, wz)
           f1 = Cast <to = 1> (c) y = Mul (f1, ps) }}""",
        "x:2=T",
        needs=["PAD109"],
    )  # fmt: skip


def test_convolution_of_codes_whose_padding_is_no_longer_the_zero_point() -> None:
    """A maximum refills the padding, and the zero point is a value of the graph."""
    assert_exact(
        f"""g (float[1, 2, T] x) => (float[1, 3, T] y) <{SCALE}, {WEIGHTS}, uint8 least = {{90}}> {{
           {BIASED} p, ps, pz = DynamicQuantizeLinear (b) m = Max (p, least)
           c = ConvInteger <kernel_shape = [3], pads = [1, 1]> (m, w, pz, wz)
           f = Cast <to = 1> (c) y = Mul (f, ps) }}""",
        "x:2=T",
        needs=["PAD102"],
    )  # fmt: skip


def test_static_convolution_in_operator_format() -> None:
    assert_exact(
        f"""g (float[1, 2, T] x) => (float[1, 3, U] y) <{SCALE}, {WEIGHTS}, int32[3] bias = {{100, -30, 7}},
            float ws = {{0.02}}, float ys = {{0.177}},
            uint8[3, 3, 1] v = {{9, 80, 107, 150, 128, 131, 170, 127, 140}}> {{
           {BIASED} q = QuantizeLinear (b, s, z)
           c = QLinearConv <kernel_shape = [3], pads = [1, 1], strides = [2]> (q, s, z, w, ws, wz, ys, z2, bias)
           d = QLinearConv <kernel_shape = [1]> (c, ys, z2, v, ws, wz, s2, z2)
           y = DequantizeLinear (d, s2, z2) }}""",
        "x:2=T",
        needs=["PAD102"],
    )  # fmt: skip


@pytest.mark.parametrize("kept", [False, True])
def test_rows_of_codes_have_lengths_of_their_own(kept: bool) -> None:
    assert_exact(
        f"""g (float[batch, 2, T] x) => (float[batch, 3, T] y, int32[batch, 3, 3] gram)
           <{SCALE}, {WEIGHTS}, float ys = {{0.177}}> {{
           {BIASED} q = QuantizeLinear (b, s, z)
           c = QLinearConv <kernel_shape = [3], pads = [1, 1]> (q, s, z, w, s, wz, ys, z2)
           y = DequantizeLinear (c, ys, z2)
           t = Transpose <perm = [0, 2, 1]> (c) gram = MatMulInteger (c, t, z2, z2) }}""",
        "x:2=T",
        rows=None,
        kept=kept,
        padded_rows=2,
        needs=["PAD102", "PAD108"],
    )  # fmt: skip


def test_static_product_over_time_in_operator_format() -> None:
    assert_exact(
        f"""g (float[1, T, 4] x) => (float[1, 4, 4] y) <{SCALE}, float ys = {{0.977}}> {{
           {BIASED} q = QuantizeLinear (b, s, z) t = Transpose <perm = [0, 2, 1]> (q)
           m = QLinearMatMul (t, s, z, q, s, z, ys, z2) y = DequantizeLinear (m, ys, z2) }}""",
        "x:1=T",
        needs=["PAD108"],
    )  # fmt: skip


@pytest.mark.parametrize(
    "there_and_back",
    [
        "q = QuantizeLinear (p, s, z) d = DequantizeLinear (q, s, z)",
        "q, qs, qz = DynamicQuantizeLinear (p) d = DequantizeLinear (q, qs, qz)",
    ],
)
def test_a_zero_stays_one_through_codes(there_and_back: str) -> None:
    """The zeros that Pad needs serve the convolution behind the codes, too: it needs no mask of its own."""
    text = f"""g (float[1, 2, T] x) => (float[1, 1, U] y)
        <{SCALE}, int64[6] pads = {{0, 0, 0, 0, 0, 2}}, float[1, 2, 3] w = {{1, 2, 3, 4, 5, 6}}> {{
        p = Pad (x, pads) {there_and_back} y = Conv <pads = [1, 1]> (d, w) }}"""
    assert_exact(text, "x:2=T", needs=["PAD102"])
    assert {op for code, op in findings_of(text, "x:2=T") if code == "PAD102"} == {"Pad"}


@pytest.mark.parametrize(
    "middle",
    [
        "r = com.microsoft.QLinearAdd (q, s, z, h, s, z, s2, z2)",
        "r = com.microsoft.QLinearMul (q, s, z, h, s, z, s2, z2)",
        "r = com.microsoft.QLinearSigmoid (q, s, z, s2, z2)",
        "r = com.microsoft.QLinearLeakyRelu <alpha = 0.1> (q, s, z, s2, z2)",
        "r = com.microsoft.QLinearConcat <axis = 1> (s2, z2, q, s, z, h, s, z)",
        "r = com.microsoft.QLinearSoftmax <axis = 1, opset = 13> (q, s, z, s2, z2)",
        "r = com.microsoft.QLinearAveragePool <kernel_shape = [2], strides = [2]> (q, s, z, s2, z2)",
    ],
)
def test_framewise_operators_on_codes(middle: str) -> None:
    channels = 4 if "Concat" in middle else 2
    assert_exact(
        f"""g (float[1, 2, T] x) => (float[1, 1, U] y) <{SCALE},
            uint8[1, {channels}, 3] w = {{{codes(3 * channels)}}}> {{
           {BIASED} q = QuantizeLinear (b, s, z) h = QuantizeLinear (x, s, z) {middle}
           c = QLinearConv <pads = [1, 1]> (r, s2, z2, w, s, z, s2, z2) y = DequantizeLinear (c, s2, z2) }}""",
        "x:2=T",
        needs=["PAD102"],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("middle", "why"),
    [
        ("r = com.microsoft.QLinearConcat <axis = 2> (s, z, q, s, z, q, s, z)", "along time"),
        ("r = com.microsoft.QLinearSoftmax <axis = 2, opset = 13> (q, s, z, s, z)", "over time"),
        ("r = com.microsoft.QLinearAveragePool <kernel_shape = [3], pads = [1, 1]> (q, s, z, s, z)", "the valid end"),
        ("r = com.microsoft.QLinearGlobalAveragePool (q, s, z, s, z)", "no rule"),
        ("r = com.microsoft.QLinearConv <channels_last = 1> (q, s, z, w, s, wz, s, z)", "channels last"),
    ],
)
def test_what_codes_cannot_say_over_time_is_refused(middle: str, why: str) -> None:
    verdict = verdict_of(
        f"g (float[1, 2, T] x) => (uint8[1, 2, U] r) <{SCALE}, {WEIGHTS}> {{ q = QuantizeLinear (x, s, z) {middle} }}",
        "x:2=T",
    )
    assert verdict.outcome == "refused" and why in verdict.reason, verdict


@pytest.mark.parametrize("bias", ["", ", bias"])
@pytest.mark.parametrize("op_type", ["DynamicQuantizeMatMul", "MatMulIntegerToFloat"])
def test_fused_products_of_codes(op_type: str, bias: str) -> None:
    """With a bias the padding is no 0, and a convolution follows."""
    product = {
        "DynamicQuantizeMatMul": f"m = com.microsoft.DynamicQuantizeMatMul (a, w, s, z{bias})",
        "MatMulIntegerToFloat": (
            f"q, qs, qz = DynamicQuantizeLinear (a) m = com.microsoft.MatMulIntegerToFloat (q, w, qs, s, qz, z{bias})"
        ),
    }[op_type]
    assert_exact(
        f"""g (float[1, 2, T] x) => (float[1, 1, T] y) <{SCALE}, {MIX}, uint8[2, 2] w = {{1, 100, 200, 30}},
            float[2] bias = {{1.5, -2}}, float[1, 2, 3] k = {{1, 2, 3, 4, 5, 6}}> {{
           {MIXED} a = Transpose <perm = [0, 2, 1]> (b) {product}
           t = Transpose <perm = [0, 2, 1]> (m) y = Conv <pads = [1, 1]> (t, k) }}""",
        "x:2=T",
        needs=["PAD109", *(["PAD102"] if bias else [])],
    )  # fmt: skip


def test_dynamic_product_over_time() -> None:
    assert_exact(
        f"""g (float[1, 2, T] x) => (float[1, 2, 2] y) <{SCALE}, {MIX}> {{
           {MIXED} t = Transpose <perm = [0, 2, 1]> (b) q, qs, qz = DynamicQuantizeLinear (t)
           y = com.microsoft.DynamicQuantizeMatMul (b, q, qs, qz) }}""",
        "x:2=T",
        needs=["PAD109"],
    )  # fmt: skip


@pytest.mark.parametrize(("direction", "needs"), [("bidirectional", "PAD104"), ("forward", "PAD109")])
def test_dynamically_quantised_lstm(direction: str, needs: str) -> None:
    """ONNX Runtime takes the range over the sequence lengths, where it has them."""
    count = 1 + (direction == "bidirectional")
    assert_exact(
        f"""g (float[1, 2, T] x) => (float[1, T, {count}, 3] y) <{SCALE}, {MIX},
            float[{count}] ws = {{{", ".join(["0.01", "0.02"][:count])}}},
            float[{count}, 24] bias = {{{", ".join(["0.5"] * 24 * count)}}},
            uint8[{count}] wz = {{{", ".join(["120", "128"][:count])}}},
            uint8[{count}, 2, 12] w = {{{codes(24 * count)}}}, uint8[{count}, 3, 12] r = {{{codes(36 * count)}}}> {{
           {MIXED} t = Transpose <perm = [2, 0, 1]> (b)
           all = com.microsoft.DynamicQuantizeLSTM <hidden_size = 3, direction = "{direction}">
              (t, w, r, bias, , , , , ws, wz, ws, wz)
           y = Transpose <perm = [2, 0, 1, 3]> (all) }}""",
        "x:2=T",
        needs=[needs],
    )  # fmt: skip
