"""Operators on codes: padding must be the zero point where it must be 0, and no range may see it."""

from __future__ import annotations

import pytest

from .native import assert_exact, verdict_of

OFF_CENTRE = "b = Add (x, two)"  # the padding is no zero, and neither is the zero point the middle of the range
TWO = "float two = {2.0}, float s = {0.03}, uint8 z = {77}"
WEIGHTS = "uint8[3, 2, 3] w = {0, 9, 250, 30, 128, 6, 77, 1, 200, 5, 6, 7, 30, 128, 129, 1, 2, 3}, uint8 wz = {128}"


def refused(text: str, *lengths: str, opset: int = 17) -> str:
    verdict = verdict_of(text, *lengths, opset=opset)
    assert verdict.outcome == "refused", (verdict.outcome, verdict.reason)
    return verdict.reason


def test_integer_product_over_time_with_a_computed_zero_point() -> None:
    """A code of 0 is no 0: the zero point was taken from it, and junk on the other side came through."""
    assert_exact(
        f"""g (float[1, T, 4] x) => (int32[1, 4, 4] y) <{TWO}> {{
           {OFF_CENTRE} t = Transpose <perm = [0, 2, 1]> (x)
           p, ps, pz = DynamicQuantizeLinear (t) q = QuantizeLinear (b, s, z) y = MatMulInteger (p, q, pz, z) }}""",
        "x:1=T",
    )  # fmt: skip


@pytest.mark.parametrize("opset", [13, 21])
def test_integer_product_over_time_with_constant_zero_points(opset: int) -> None:
    assert_exact(
        f"""g (float[1, T, 4] x) => (int32[1, 4, 4] y) <{TWO}, int8 zz = {{-3}}> {{
           {OFF_CENTRE} t = Transpose <perm = [0, 2, 1]> (b)
           p = QuantizeLinear (t, s, zz) q = QuantizeLinear (b, s, z) y = MatMulInteger (p, q, zz, z) }}""",
        "x:1=T",
        opset=opset,
    )  # fmt: skip


def test_dynamic_convolution_is_padded_with_the_zero_point() -> None:
    """As quantize_dynamic writes a Conv."""
    assert_exact(
        f"""g (float[1, 2, T] x) => (float[1, 3, T] y) <{TWO}, {WEIGHTS}> {{
           {OFF_CENTRE} p, ps, pz = DynamicQuantizeLinear (b)
           c = ConvInteger <kernel_shape = [3], pads = [1, 1]> (p, w, pz, wz)
           f = Cast <to = 1> (c) y = Mul (f, ps) }}""",
        "x:2=T",
    )  # fmt: skip


def test_convolution_of_codes_whose_padding_is_no_longer_the_zero_point() -> None:
    """A maximum over the range's middle refills the padding, and the zero point is a value of the graph."""
    assert_exact(
        f"""g (float[1, 2, T] x) => (float[1, 3, T] y) <{TWO}, {WEIGHTS}, uint8 least = {{90}}> {{
           {OFF_CENTRE} p, ps, pz = DynamicQuantizeLinear (b) m = Max (p, least)
           c = ConvInteger <kernel_shape = [3], pads = [1, 1]> (m, w, pz, wz)
           f = Cast <to = 1> (c) y = Mul (f, ps) }}""",
        "x:2=T",
    )  # fmt: skip


def test_static_convolution_in_operator_format() -> None:
    assert_exact(
        f"""g (float[1, 2, T] x) => (float[1, 3, U] y) <{TWO}, {WEIGHTS}, int32[3] bias = {{100, -30, 7}},
            float ws = {{0.02}}, float ys = {{0.1}}, uint8 yz = {{120}}> {{
           {OFF_CENTRE} q = QuantizeLinear (b, s, z)
           c = QLinearConv <kernel_shape = [3], pads = [1, 1], strides = [2]> (q, s, z, w, ws, wz, ys, yz, bias)
           d = QLinearConv <kernel_shape = [1]> (c, ys, yz, v, ws, wz, ys, yz)
           y = DequantizeLinear (d, ys, yz) }}""".replace("uint8 yz", "uint8[3, 3, 1] v = {9, 8, 7, 6, 5, 4, 3, 2, 1}, uint8 yz"),
        "x:2=T",
    )  # fmt: skip


def test_static_product_over_time_in_operator_format() -> None:
    assert_exact(
        f"""g (float[1, T, 4] x) => (float[1, 4, 4] y) <{TWO}, float ys = {{0.4}}, uint8 yz = {{120}}> {{
           {OFF_CENTRE} q = QuantizeLinear (b, s, z) t = Transpose <perm = [0, 2, 1]> (q)
           m = QLinearMatMul (t, s, z, q, s, z, ys, yz) y = DequantizeLinear (m, ys, yz) }}""",
        "x:1=T",
    )  # fmt: skip


def test_codes_of_zero_are_the_zero_point() -> None:
    """Padding that is 0 before a pair of QuantizeLinear and DequantizeLinear needs no mask behind it."""
    text = f"""g (float[1, 2, T] x) => (float[1, 1, T] y) <{TWO}, float[1, 2, 3] w = {{1, 2, 3, 4, 5, 6}},
        float[2, 2, 3] v = {{1, 2, 3, 4, 5, 6, 1, 2, 1, 2, 1, 2}}> {{
        {OFF_CENTRE} c = Conv <pads = [1, 1]> (b, v) q = QuantizeLinear (c, s, z) d = DequantizeLinear (q, s, z)
        y = Conv <pads = [1, 1]> (d, w) }}"""
    assert_exact(text, "x:2=T")


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
    weights = ", ".join(str(30 * i % 256) for i in range(channels * 3))
    assert_exact(
        f"""g (float[1, 2, T] x) => (float[1, 1, U] y) <{TWO}, float s2 = {{0.0477}}, uint8 z2 = {{100}},
            uint8[1, {channels}, 3] w = {{{weights}}}> {{
           {OFF_CENTRE} q = QuantizeLinear (b, s, z) h = QuantizeLinear (x, s, z) {middle}
           c = QLinearConv <pads = [1, 1]> (r, s2, z2, w, s, z, s2, z2) y = DequantizeLinear (c, s2, z2) }}""",
        "x:2=T",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("middle", "why"),
    [
        ("r = com.microsoft.QLinearConcat <axis = 2> (s, z, q, s, z, q, s, z)", "along time"),
        ("r = com.microsoft.QLinearSoftmax <axis = 2, opset = 13> (q, s, z, s, z)", "over time"),
        ("r = com.microsoft.QLinearAveragePool <kernel_shape = [3], pads = [1, 1]> (q, s, z, s, z)", "the valid end"),
        ("r = com.microsoft.QLinearGlobalAveragePool (q, s, z, s, z)", "no rule"),
    ],
)
def test_what_codes_cannot_say_over_time_is_refused(middle: str, why: str) -> None:
    assert why in refused(
        f"""g (float[1, 2, T] x) => (uint8[1, 2, U] r) <{TWO}> {{ q = QuantizeLinear (x, s, z) {middle} }}""", "x:2=T"
    )


@pytest.mark.parametrize("bias", ["", ", bias"])
@pytest.mark.parametrize("op_type", ["DynamicQuantizeMatMul", "MatMulIntegerToFloat"])
def test_fused_products_of_codes(op_type: str, bias: str) -> None:
    """With a bias the padding is no 0, and a convolution follows."""
    product = {
        "DynamicQuantizeMatMul": f"m = com.microsoft.DynamicQuantizeMatMul (b, w, s, z{bias})",
        "MatMulIntegerToFloat": (
            f"q, qs, qz = DynamicQuantizeLinear (b) m = com.microsoft.MatMulIntegerToFloat (q, w, qs, s, qz, z{bias})"
        ),
    }[op_type]
    assert_exact(
        f"""g (float[1, T, 2] x) => (float[1, 1, T] y) <{TWO}, uint8[2, 2] w = {{1, 100, 200, 30}},
            float[2] bias = {{1.5, -2}}, float[1, 2, 3] k = {{1, 2, 3, 4, 5, 6}}> {{
           {OFF_CENTRE} {product} t = Transpose <perm = [0, 2, 1]> (m) y = Conv <pads = [1, 1]> (t, k) }}""",
        "x:1=T",
    )  # fmt: skip


def test_dynamically_quantised_lstm() -> None:
    def codes(count: int) -> str:
        return ", ".join(str((37 * i) % 251) for i in range(count))

    assert_exact(
        f"""g (float[1, T, 4] x) => (float[1, T, 2, 3] y, float[1, 2, 3] h) <{TWO}, float[2] ws = {{0.01, 0.02}},
            uint8[2] wz = {{120, 128}}, uint8[2, 4, 12] w = {{{codes(96)}}}, uint8[2, 3, 12] r = {{{codes(72)}}}> {{
           {OFF_CENTRE} t = Transpose <perm = [1, 0, 2]> (b)
           all, last = com.microsoft.DynamicQuantizeLSTM <hidden_size = 3, direction = "bidirectional">
              (t, w, r, , , , , , ws, wz, ws, wz)
           y = Transpose <perm = [2, 0, 1, 3]> (all) h = Transpose <perm = [1, 0, 2]> (last) }}""",
        "x:1=T",
    )  # fmt: skip
