"""Values and codes: ranges that may not see the padding, and zeros that become zero points."""

from __future__ import annotations

import pytest

from ..example import Example
from ..native import assert_exact, findings_of

SCALES = "float s = {0.0321}, uint8 z = {77}, float s2 = {0.0477}, uint8 z2 = {100}"
MIX = "float[2, 2, 3] mix = {1, 2, -3, 4, 5, 6, 1, -2, 1, 2, 1, 2}"
ZEROS = "int64[6] pads = {0, 0, 0, 0, 0, 2}"
STEPS = "float[1, T, 2] x"

EXAMPLES = {
    "QuantizeLinear": Example(
        "y = QuantizeLinear (x, s, z)", "uint8[1, 2, T] y", constants=SCALES, claims="T finite; finite"
    ),
    "QuantizeLinear of zeros": Example(
        "p = Pad (x, pads) y = QuantizeLinear (p, s, z)",
        "uint8[1, 2, U] y",
        constants=f"{SCALES}, {ZEROS}",
        finds="PAD102 Pad",
        claims="T+2 77; finite",
    ),
    "QuantizeLinear of zeros without a zero point": Example(
        "p = Pad (x, pads) y = QuantizeLinear (p, s)",
        "uint8[1, 2, U] y",
        constants=f"{SCALES}, {ZEROS}",
        finds="PAD102 Pad",
        claims="T+2 0; finite",
    ),
    "QuantizeLinear of zeros with a zero point for each channel": Example(
        "p = Pad (x, pads) y = QuantizeLinear <axis = 1> (p, ss, zz)",
        "uint8[1, 2, U] y",
        constants=f"float[2] ss = {{0.1, 0.2}}, uint8[2] zz = {{1, 2}}, {ZEROS}",
        finds="PAD102 Pad",
        claims="T+2 finite; finite",
    ),
    "QuantizeLinear to a named type": Example(
        "q = QuantizeLinear <output_dtype = 3> (x, s) y = DequantizeLinear (q, s)",
        "float[1, 2, T] y",
        constants=SCALES,
        opset=21,
        claims="T finite; finite",
    ),
    "DequantizeLinear of zeros": Example(
        "p = Pad (x, pads) q = QuantizeLinear (p, s, z) y = DequantizeLinear (q, s, z)",
        constants=f"{SCALES}, {ZEROS}",
        finds="PAD102 Pad",
        claims="T+2 0; finite",
    ),
    "DequantizeLinear of zeros by another zero point": Example(
        "p = Pad (x, pads) q = QuantizeLinear (p, s, z) y = DequantizeLinear (q, s, z2)",
        constants=f"{SCALES}, {ZEROS}",
        finds="PAD102 Pad",
        claims="T+2 finite; finite",
    ),
    "a scale that varies": Example(
        "m = Sigmoid (x) e = Squeeze (m) y = QuantizeLinear <axis = 2> (x, e)",
        "uint8[1, 1, T] y",
        "float[1, 1, T] x",
        refused="a quantisation scale that varies with the length",
    ),
    "QuantizeLinear of the runtime": Example(
        "q = com.microsoft.QuantizeLinear (x, s, z) y = com.microsoft.DequantizeLinear (q, s, z)",
        "float[1, 2, T] y",
        constants="float s = {0.01}, uint16 z = {30000}",
        claims="T finite; finite",
    ),
    "DynamicQuantizeLinear": Example(
        "f = Conv <pads = [1, 1]> (x, mix) y, s, z = DynamicQuantizeLinear (f)",
        "uint8[1, 2, T] y, float s, uint8 z",
        constants=MIX,
        finds="PAD102 Conv, PAD109 DynamicQuantizeLinear",
        claims="T z; 0..255; finite",
        harmless="PAD109",
    ),
    "DynamicQuantizeLinear and back": Example(
        "f = Conv <pads = [1, 1]> (x, mix) q, s, z = DynamicQuantizeLinear (f) y = DequantizeLinear (q, s, z)",
        "float[1, 2, T] y",
        constants=MIX,
        finds="PAD102 Conv, PAD109 DynamicQuantizeLinear",
        claims="T 0; finite",
        harmless="PAD109",
    ),
    "DynamicQuantizeLinear of rows": Example(
        "q, s, z = DynamicQuantizeLinear (x) y = DequantizeLinear (q, s, z)",
        "float[batch, 2, T] y",
        "float[batch, 2, T] x",
        rows=0,
        refused="one quantisation range for all rows mixes them",
    ),
    "DynamicQuantizeMatMul": Example(
        "f = Conv <pads = [1, 1]> (x, mix) t = Transpose <perm = [0, 2, 1]> (f) y = "
        "com.microsoft.DynamicQuantizeMatMul (t, w, s, z)",
        "float[1, T, 3] y",
        constants=f"{MIX}, {SCALES}, uint8[2, 3] w",
        finds="PAD102 Conv, PAD109 DynamicQuantizeMatMul",
        claims="T finite; finite",
        harmless="PAD109",
    ),
    "DynamicQuantizeLSTM": Example(
        "f = Conv <pads = [1, 1]> (x, mix) t = Transpose <perm = [2, 0, 1]> (f) a = "
        "com.microsoft.DynamicQuantizeLSTM <hidden_size = 3> (t, w, r, b, , , , , ws, wz, ws, wz) s = Squeeze "
        "(a, one) y = Transpose <perm = [1, 0, 2]> (s)",
        "float[1, T, 3] y",
        constants=f"{MIX}, uint8[1, 2, 12] w, uint8[1, 3, 12] r, float[1, 24] b, float[1] ws = {{0.01}}, "
        f"uint8[1] wz = {{50}}, int64[1] one = {{1}}",
        finds="PAD102 Conv, PAD109 DynamicQuantizeLSTM",
        claims="T finite; -1..1; finite",
        harmless="PAD109",
    ),
    "MatMulNBits": Example(
        "y = com.microsoft.MatMulNBits <K = 16, N = 3, bits = 4, block_size = 16> (x, w, s)",
        "float[1, T, 3] y",
        "float[1, T, 16] x",
        "uint8[3, 1, 8] w, float[3] s",
        claims="T finite; finite",
    ),
    "MatMulNBits of what may be infinite": Example(
        "e = Exp (x) y = com.microsoft.MatMulNBits <K = 16, N = 3, bits = 4, block_size = 16> (e, w, s)",
        "float[1, T, 3] y",
        "float[1, T, 16] x",
        "uint8[3, 1, 8] w, float[3] s",
        claims="T any; any",
    ),
    "MatMulNBits over time": Example(
        "y = com.microsoft.MatMulNBits <K = 16, N = 3, bits = 4, block_size = 16> (x, w, s)",
        "float[1, 2, 3] y",
        "float[1, 2, T] x",
        "uint8[3, 1, 8] w, float[3] s",
        refused="MatMulNBits over time",
    ),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name: str) -> None:
    EXAMPLES[name].check()


@pytest.mark.parametrize(
    "product",
    [
        "raw = com.microsoft.DynamicQuantizeMatMul (centred, w, s, z)",
        "q, qs, qz = DynamicQuantizeLinear (centred) raw = com.microsoft.MatMulIntegerToFloat (q, w, qs, s, qz, z)",
        "q, qs, qz = DynamicQuantizeLinear (centred) i = MatMulInteger (q, w, qz, z) raw = Cast <to = 1> (i)",
    ],
)
def test_positions_around_the_middle_stay_there(product: str) -> None:
    """A relative shift needs them there, and the rows of the table beyond them are in no range."""
    table = ", ".join(str((37 * i) % 251 - 9 * abs(i - 39)) for i in range(79 * 2))
    assert_exact(
        f"""g (float[1, T, 2] x) => (float[1, T, T] y) <{SCALE}, uint8[2, 2] w = {{1, 100, 200, 30}},
            float[79, 2] table = {{{table}}}, int64[1] zero = {{0}}, int64[1] one = {{1}}, int64[1] two2 = {{2}},
            int64[1] huge = {{2147483647}}, int64[1] middle = {{40}}, int64[6] amounts = {{0, 0, 1, 0, 0, 0}}> {{
           size = Shape <start = 1, end = 2> (x) start = Sub (middle, size) e = Add (middle, size) end = Sub (e, one)
           centred = Slice (table, start, end, zero) {product} p = Transpose <perm = [1, 0]> (raw)
           scores = MatMul (x, p) wide = Pad (scores, amounts) double = Mul (size, two2)
           tallshape = Concat <axis = 0> (one, double, size) tall = Reshape (wide, tallshape)
           cut = Slice (tall, one, huge, one) odd = Sub (double, one) backshape = Concat <axis = 0> (one, size, odd)
           back = Reshape (cut, backshape) y = Slice (back, zero, size, two2) }}""",
        "x:1=T",
        needs=["PAD109"],
    )


MIXED = "f = Conv <pads = [1, 1]> (x, mix) b = Add (f, two)"  # nor is it a valid value, so it may widen a range


SCALE = "float two = {2.0}, float s = {0.0321}, uint8 z = {77}, float s2 = {0.0477}, uint8 z2 = {100}"


def codes(count: int) -> str:
    return ", ".join(str((37 * i) % 251) for i in range(count))


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


def test_dynamic_product_over_time() -> None:
    assert_exact(
        f"""g (float[1, 2, T] x) => (float[1, 2, 2] y) <{SCALE}, {MIX}> {{
           {MIXED} t = Transpose <perm = [0, 2, 1]> (b) q, qs, qz = DynamicQuantizeLinear (t)
           y = com.microsoft.DynamicQuantizeMatMul (b, q, qs, qz) }}""",
        "x:2=T",
        needs=["PAD109"],
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
