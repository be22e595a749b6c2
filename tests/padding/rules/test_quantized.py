"""Operators on codes: the padding must be the zero point where it must be 0."""

from __future__ import annotations

import pytest

from ..example import Example
from ..native import assert_exact, verdict_of

SCALES = "float s = {0.0321}, uint8 z = {77}, float s2 = {0.0477}, uint8 z2 = {100}"
CODES = "b = Add (x, two) q = QuantizeLinear (b, s, z)"
TWO = f"{SCALES}, float two = {{2}}"
STEPS = "float[1, T, 3] x"

EXAMPLES = {
    **{
        f"MatMulIntegerToFloat with {what}": Example(
            f"q = QuantizeLinear (x, s, z) y = com.microsoft.MatMulIntegerToFloat (q, w, {inputs})",
            "float[1, T, 2] y",
            "float[1, T, 3] x",
            "float s = {0.1}, uint8 z = {7}, float i = {inf}, float[2] b = {2, 1}, float[2] j = {inf, 1}, "
            "uint8[3, 2] w",
            claims=f"T {known}; {known}",
        )
        for what, inputs, known in (
            ("a bias", "s, s, z, , b", "finite"),
            ("an infinite scale of the input", "i, s, z", "any"),
            ("an infinite scale of the weights", "s, i, z", "any"),
            ("an infinite bias", "s, s, z, , j", "any"),
        )
    },
    "QGemm": Example(
        "r = Squeeze (x, front) q = QuantizeLinear (r, s, z) g = com.microsoft.QGemm (q, s, z, w, s2, z2) y = "
        "Unsqueeze (g, front)",
        "float[1, T, 4] y",
        STEPS,
        f"{SCALES}, uint8[3, 4] w, int64[1] front = {{0}}",
        claims="T finite; finite",
    ),
    "QGemm to codes": Example(
        "r = Squeeze (x, front) q = QuantizeLinear (r, s, z) g = com.microsoft.QGemm <transB = 1> (q, s, z, w, "
        "s2, z2, , s2, z2) d = DequantizeLinear (g, s2, z2) y = Unsqueeze (d, front)",
        "float[1, T, 4] y",
        STEPS,
        f"{SCALES}, uint8[4, 3] w, int64[1] front = {{0}}",
        claims="T finite; finite",
    ),
    "QGemm over time": Example(
        "r = Squeeze (x, front) a = Add (r, two) q = QuantizeLinear (a, s, z) p = QuantizeLinear (a, s2, z2) g = "
        "com.microsoft.QGemm <transA = 1> (q, s, z, p, s2, z2) y = Unsqueeze (g, front)",
        "float[1, 3, 3] y",
        STEPS,
        f"{TWO}, int64[1] front = {{0}}",
        finds="PAD108 QGemm",
        claims="finite",
    ),
    "QGemm over time, zeros on the left": Example(
        "r = Squeeze (x, front) e = Pad (r, pads) q = QuantizeLinear (e, s, z) a = Pad (r, pads, two) p = "
        "QuantizeLinear (a, s2, z2) g = com.microsoft.QGemm <transA = 1> (q, s, z, p, s2, z2) y = Unsqueeze (g, "
        "front)",
        "float[1, 3, 3] y",
        STEPS,
        f"{TWO}, int64[1] front = {{0}}, int64[4] pads = {{0, 0, 2, 0}}",
        finds="PAD102 Pad, PAD102 Pad",
        claims="finite",
    ),
    "QGemm with a bias that varies": Example(
        "r = Squeeze (x, front) q = QuantizeLinear (r, s, z) t = Transpose <perm = [1, 0]> (q) k = Cast <to = 6> "
        "(r) g = com.microsoft.QGemm (q, s, z, t, s, z, k) y = Unsqueeze (g, front)",
        "float[1, T, T] y",
        "float[1, T, 1] x",
        f"{SCALES}, int64[1] front = {{0}}",
        refused="QGemm with a ragged bias",
    ),
    "QLinearMatMul": Example(
        "q = QuantizeLinear (x, s, z) g = QLinearMatMul (q, s, z, w, s2, z2, s2, z2) y = DequantizeLinear (g, s2, z2)",
        "float[1, T, 4] y",
        STEPS,
        f"{SCALES}, uint8[3, 4] w",
        claims="T finite; finite",
    ),
    "QLinearMatMul over time": Example(
        "b = Add (x, two) q = QuantizeLinear (b, s, z) t = Transpose <perm = [0, 2, 1]> (q) g = QLinearMatMul "
        "(t, s, z, q, s, z, s2, z2) y = DequantizeLinear (g, s2, z2)",
        "float[1, 3, 3] y",
        STEPS,
        TWO,
        finds="PAD108 QLinearMatMul",
        claims="finite",
    ),
    "MatMulIntegerToFloat": Example(
        "q = QuantizeLinear (x, s, z) y = com.microsoft.MatMulIntegerToFloat (q, w, s, s2, z, z2)",
        "float[1, T, 4] y",
        STEPS,
        f"{SCALES}, uint8[3, 4] w",
        claims="T finite; finite",
    ),
    "MatMulIntegerToFloat over time": Example(
        "b = Add (x, two) q = QuantizeLinear (b, s, z) t = Transpose <perm = [0, 2, 1]> (q) y = "
        "com.microsoft.MatMulIntegerToFloat (t, q, s, s, z, z)",
        "float[1, 3, 3] y",
        STEPS,
        TWO,
        finds="PAD108 MatMulIntegerToFloat",
        claims="finite",
    ),
    "MatMulIntegerToFloat with a bias that varies": Example(
        "q = QuantizeLinear (x, s, z) t = Transpose <perm = [0, 2, 1]> (q) r = Squeeze (x) y = "
        "com.microsoft.MatMulIntegerToFloat (q, t, s, s, z, z, r)",
        "float[1, T, T] y",
        "float[1, T, 1] x",
        SCALES,
        refused="MatMulIntegerToFloat with a ragged bias",
    ),
    "ConvInteger": Example(
        f"{CODES} y = ConvInteger <pads = [1, 1]> (q, w, z, z2)",
        "int32[1, 3, T] y",
        constants=f"{TWO}, uint8[3, 2, 3] w",
        finds="PAD102 ConvInteger",
        claims="T finite; finite",
    ),
    "ConvInteger inside": Example(
        f"{CODES} y = ConvInteger (q, w, z, z2)",
        "int32[1, 3, U] y",
        constants=f"{TWO}, uint8[3, 2, 3] w",
        claims="T-2 finite; finite",
        first="T=3",
    ),
    "QLinearConv": Example(
        f"{CODES} c = QLinearConv <pads = [1, 1]> (q, s, z, w, s2, z2, s2, z2) y = DequantizeLinear (c, s2, z2)",
        "float[1, 3, T] y",
        constants=f"{TWO}, uint8[3, 2, 3] w",
        finds="PAD102 QLinearConv",
        claims="T finite; finite",
    ),
    "QLinearConv with a bias": Example(
        f"{CODES} c = QLinearConv <pads = [1, 1]> (q, s, z, w, s2, z2, s2, z2, k) d = QLinearConv <pads = [1, "
        f"1]> (c, s2, z2, v, s2, z2, s2, z2) y = DequantizeLinear (d, s2, z2)",
        "float[1, 3, T] y",
        constants=f"{TWO}, uint8[3, 2, 3] w, uint8[3, 3, 3] v, int32[3] k",
        finds="PAD102 QLinearConv, PAD102 QLinearConv",
        claims="T finite; finite",
        harmless="PAD102",
    ),
    "QLinearConv of the runtime": Example(
        f"{CODES} c = com.microsoft.QLinearConv <pads = [1, 1]> (q, s, z, w, s2, z2, s2, z2) y = "
        f"DequantizeLinear (c, s2, z2)",
        "float[1, 3, T] y",
        constants=f"{TWO}, uint8[3, 2, 3] w",
        finds="PAD102 QLinearConv",
        claims="T finite; finite",
    ),
    "QLinearConv with the channels last": Example(
        "q = QuantizeLinear (x, s, z) c = com.microsoft.QLinearConv <channels_last = 1> (q, s, z, w, s2, z2, s2, "
        "z2) y = DequantizeLinear (c, s2, z2)",
        "float[1, T, 3] y",
        "float[1, T, 2] x",
        f"{SCALES}, uint8[3, 2, 1] w",
        refused="QLinearConv with the channels last",
    ),
    "QLinearConv with several zero points": Example(
        f"{CODES} c = QLinearConv <pads = [1, 1]> (q, s, zz, w, s2, z2, s2, z2) y = DequantizeLinear (c, s2, z2)",
        "float[1, 3, T] y",
        constants=f"{TWO}, uint8[3, 2, 3] w, uint8[2] zz = {{1, 2}}",
        refused="QLinearConv with several zero points for its input",
    ),
    "QLinearAdd": Example(
        f"{CODES} c = com.microsoft.QLinearAdd (q, s, z, q, s, z, s2, z2) y = DequantizeLinear (c, s2, z2)",
        "float[1, 2, T] y",
        constants=TWO,
        claims="T finite; finite",
    ),
    "QLinearMul by a table": Example(
        f"{CODES} c = com.microsoft.QLinearMul (q, s, z, w, s2, z2, s2, z2) y = DequantizeLinear (c, s2, z2)",
        "float[1, 2, T] y",
        constants=f"{TWO}, uint8[2, 1] w",
        claims="T finite; finite",
    ),
    "QLinearSigmoid": Example(
        f"{CODES} c = com.microsoft.QLinearSigmoid (q, s, z, s2, z2) y = DequantizeLinear (c, s2, z2)",
        "float[1, 2, T] y",
        constants=TWO,
        claims="T finite; finite",
    ),
    "QLinearLeakyRelu": Example(
        f"{CODES} c = com.microsoft.QLinearLeakyRelu <alpha = 0.1> (q, s, z, s2, z2) y = DequantizeLinear (c, s2, z2)",
        "float[1, 2, T] y",
        constants=TWO,
        claims="T finite; finite",
    ),
    "QLinearSoftmax": Example(
        f"{CODES} c = com.microsoft.QLinearSoftmax <axis = 1, opset = 13> (q, s, z, s2, z2) y = DequantizeLinear "
        f"(c, s2, z2)",
        "float[1, 2, T] y",
        constants=TWO,
        claims="T finite; finite",
    ),
    "QLinearSoftmax over time": Example(
        f"{CODES} c = com.microsoft.QLinearSoftmax <axis = 2, opset = 13> (q, s, z, s2, z2) y = DequantizeLinear "
        f"(c, s2, z2)",
        "float[1, 2, T] y",
        constants=TWO,
        refused="QLinearSoftmax over time: no code is so low that its weight ",
    ),
    "QLinearSoftmax of old over time": Example(
        f"{CODES} c = com.microsoft.QLinearSoftmax <axis = 1, opset = 12> (q, s, z, s2, z2) y = DequantizeLinear "
        f"(c, s2, z2)",
        "float[1, 2, T] y",
        constants=TWO,
        refused="QLinearSoftmax over time: no code is so low that its weight ",
    ),
    "QLinearConcat": Example(
        f"{CODES} c = com.microsoft.QLinearConcat <axis = 1> (s2, z2, q, s, z, q, s, z) y = DequantizeLinear (c, "
        f"s2, z2)",
        "float[1, 4, T] y",
        constants=TWO,
        claims="T finite; finite",
    ),
    "QLinearConcat along time": Example(
        f"{CODES} c = com.microsoft.QLinearConcat <axis = 2> (s2, z2, q, s, z, q, s, z) y = DequantizeLinear (c, "
        f"s2, z2)",
        constants=TWO,
        refused="QLinearConcat along time",
    ),
    "QLinearConcat of other sizes": Example(
        f"{CODES} c = com.microsoft.QLinearConcat <axis = 1> (s2, z2, q, s, z, w, s, z) y = DequantizeLinear (c, "
        f"s2, z2)",
        constants=f"{TWO}, uint8[1, 2, 9] w",
        refused="the parts of QLinearConcat do not agree at every length",
    ),
    "QLinearAveragePool": Example(
        f"{CODES} c = com.microsoft.QLinearAveragePool <kernel_shape = [2], strides = [2]> (q, s, z, s2, z2) y = "
        f"DequantizeLinear (c, s2, z2)",
        constants=TWO,
        claims="T//2 finite; finite",
        first="T=2",
    ),
    "QLinearAveragePool over the end": Example(
        f"{CODES} c = com.microsoft.QLinearAveragePool <kernel_shape = [3], pads = [1, 1]> (q, s, z, s2, z2) y = "
        f"DequantizeLinear (c, s2, z2)",
        constants=TWO,
        refused="QLinearAveragePool over the valid end",
    ),
    "QLinearAveragePool with the channels last": Example(
        "q = QuantizeLinear (x, s, z) c = com.microsoft.QLinearAveragePool <kernel_shape = [2], channels_last = "
        "1> (q, s, z, s2, z2) y = DequantizeLinear (c, s2, z2)",
        "float[1, U, 3] y",
        STEPS,
        SCALES,
        refused="QLinearAveragePool with the channels last",
    ),
    "QLinearMatMul over time, zeros on the right": Example(
        "a = Add (x, two) r = QuantizeLinear (a, s, z) c = Pad (r, pads, three) t = Transpose <perm = [0, 2, 1]> (c) "
        "e = Pad (x, pads) p = QuantizeLinear (e, s2, z2) g = QLinearMatMul (t, s, z, p, s2, z2, s2, z2) "
        "y = DequantizeLinear (g, s2, z2)",
        "float[1, 3, 3] y",
        STEPS,
        f"{TWO}, uint8 three = {{3}}, int64[6] pads = {{0, 0, 0, 0, 2, 0}}",
        finds="PAD102 Pad, PAD102 Pad",
        claims="finite",
    ),
    "MatMulIntegerToFloat with a bias that may be infinite": Example(
        "q = QuantizeLinear (x, s, z) c = Log (v) y = com.microsoft.MatMulIntegerToFloat (q, w, s, s2, z, z2, c)",
        "float[1, T, 4] y",
        STEPS,
        f"{SCALES}, uint8[3, 4] w, float[4] v = {{1, 2, 3, 0}}",
        native=False,
        claims="T any; any",
    ),
    "MatMulIntegerToFloat with scales that may be infinite": Example(
        "q = QuantizeLinear (x, s, z) c = Log (v) y = com.microsoft.MatMulIntegerToFloat (q, w, c, s2, z, z2)",
        "float[1, T, 4] y",
        STEPS,
        f"{SCALES}, uint8[3, 4] w, float v = {{0}}",
        native=False,
        claims="T any; any",
    ),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name: str) -> None:
    EXAMPLES[name].check()


MIX = "float[2, 2, 3] mix = {1, 2, -3, 4, 5, 6, 1, -2, 1, 2, 1, 2}"


MIXED = "f = Conv <pads = [1, 1]> (x, mix) b = Add (f, two)"  # nor is it a valid value, so it may widen a range


SCALE = "float two = {2.0}, float s = {0.0321}, uint8 z = {77}, float s2 = {0.0477}, uint8 z2 = {100}"


def test_integer_product_over_time_with_a_computed_zero_point() -> None:
    """A code of 0 is no 0: the zero point was taken from it, and junk on the other side came through."""
    assert_exact(
        f"""g (float[1, 2, T] x) => (int32[1, 2, 2] y) <{SCALE}, {MIX}> {{
           {MIXED} p, ps, pz = DynamicQuantizeLinear (b) q = QuantizeLinear (b, s, z)
           t = Transpose <perm = [0, 2, 1]> (q) y = MatMulInteger (p, t, pz, z) }}""",
        "x:2=T",
        needs=["PAD109"],
    )  # fmt: skip


BIASED = "b = Add (x, two)"  # padding is not 0


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


WEIGHTS = "uint8[3, 2, 3] w = {0, 9, 250, 30, 128, 6, 77, 1, 200, 5, 6, 7, 30, 128, 129, 1, 2, 3}, uint8 wz = {128}"


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


def codes(count: int) -> str:
    return ", ".join(str((37 * i) % 251) for i in range(count))


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
