"""Windows over time: kernels, strides, dilations and pads at the valid end; pools; frames of a transform."""

from __future__ import annotations

from typing import Any

import pytest

from paddable.lengths import parse
from paddable.padding.facts.kinds import ANY, FINITE, ZERO, Kind, constant
from paddable.padding.rules.convolution import Window, convolution, output_axis, spatial_value, windows

from ..example import Example
from ..given import answer_to, axes_of, context_of, reason, table, tensor, told
from ..native import assert_exact

W = "float[2, 2, 3] w"
IMAGE = "float[1, 2, T, 4] x"
PICTURE = "float[1, 2, U, V] y"

BETWEEN, ONE_TO_TWO = "c = Clip (x, one, two)", "float one = {1}, float two = {2}"

EXAMPLES = {
    "SAME by two over an axis of five": Example(
        'c = Conv <auto_pad = "SAME_UPPER", strides = [1, 2]> (x, w) y = Reshape (c, flat)',
        "float[1, 6, T] y",
        "float[1, 2, T, 5] x",
        "float[2, 2, 1, 3] w, int64[3] flat = {1, 2, -1}",
        claims="T finite; finite",
    ),
    "a transposed convolution as it comes": Example(
        "y = ConvTranspose (x, w)", constants=W, finds="PAD102 ConvTranspose", claims="T+2 finite; finite"
    ),
    "a transposed convolution of images as it comes": Example(
        "y = ConvTranspose (x, w)",
        PICTURE,
        IMAGE,
        "float[2, 2, 3, 3] w",
        finds="PAD102 ConvTranspose",
        claims="T+2 finite; finite",
    ),
    "an average of numbers from one to two": Example(
        f"{BETWEEN} y = AveragePool <kernel_shape = [3], pads = [1, 1]> (c)",
        "float[1, 2, T] y",
        constants=ONE_TO_TWO,
        finds="PAD102 AveragePool",
        claims="T finite; 0..2; finite",
    ),
    "an average of numbers below 0": Example(
        f"{BETWEEN} n = Neg (c) y = AveragePool <kernel_shape = [3], pads = [1, 1]> (n)",
        "float[1, 2, T] y",
        constants=ONE_TO_TWO,
        finds="PAD102 AveragePool",
        claims="T finite; -2..0; finite",
    ),
    "a norm of numbers from one to two": Example(
        f"{BETWEEN} y = LpPool <kernel_shape = [3], pads = [1, 1]> (c)",
        "float[1, 2, T] y",
        constants=ONE_TO_TWO,
        finds="PAD102 LpPool",
        claims="T finite; 0..inf; finite",
    ),
    "frames of steps that are joined with their features": Example(
        "r = Reshape (x, joined) y = STFT (r, step, , length)",
        "float[1, U, V, 2] y",
        "float[1, T, 8] x",
        "int64[2] joined = {1, -1}, int64 step = {4}, int64 length = {8}",
        claims="2*T-1 finite; finite",
    ),
    "a convolution that stays inside": Example(
        "y = Conv (x, w)", constants=W, claims="T-2 finite; finite", first="T=3"
    ),
    "one that reaches one step over": Example(
        "y = Conv <pads = [0, 1]> (x, w)", constants=W, finds="PAD102 Conv", claims="T-1 finite; finite", first="T=2"
    ),
    "a causal one": Example("y = Conv <pads = [2, 0]> (x, w)", constants=W, claims="T finite; finite"),
    "a stride that never reaches over": Example(
        "y = Conv <strides = [3], pads = [1, 0]> (x, w)", constants=W, claims="(T+1)//3 finite; finite", first="T=2"
    ),
    "a stride that reaches over at some lengths": Example(
        "y = Conv <strides = [3], pads = [1, 1]> (x, w)",
        constants=W,
        finds="PAD102 Conv",
        claims="(T+2)//3 finite; finite",
    ),
    "a dilation that reaches over": Example(
        "y = Conv <dilations = [2], pads = [2, 2]> (x, w)", constants=W, finds="PAD102 Conv", claims="T finite; finite"
    ),
    "a dilation that stays inside": Example(
        "y = Conv <dilations = [2], pads = [4, 0]> (x, w)", constants=W, claims="T finite; finite"
    ),
    "a kernel of one step": Example("y = Conv (x, w)", constants="float[2, 2, 1] w", claims="T finite; finite"),
    "a kernel of one step and a bias": Example(
        "y = Conv (x, w, b)", constants="float[2, 2, 1] w, float[2] b", claims="T finite; finite"
    ),
    "a kernel of one step behind another": Example(
        "c = Conv <pads = [1, 1]> (x, w) y = Conv (c, v)",
        constants="float[2, 2, 3] w, float[2, 2, 1] v",
        finds="PAD102 Conv",
        claims="T finite; finite",
    ),
    "a kernel of one step, padded": Example(
        "y = Conv <pads = [1, 1]> (x, w)",
        constants="float[2, 2, 1] w",
        finds="PAD102 Conv",
        claims="T+2 finite; finite",
    ),
    "a kernel of one step, every other": Example(
        "y = Conv <strides = [2]> (x, w)", constants="float[2, 2, 1] w", claims="(T+1)//2 finite; finite"
    ),
    "two convolutions with a bias": Example(
        "c = Conv <pads = [1, 1]> (x, w, b) y = Conv <pads = [1, 1]> (c, w, b)",
        constants=f"{W}, float[2] b",
        finds="PAD102 Conv, PAD102 Conv",
        claims="T finite; finite",
    ),
    "a convolution in groups": Example(
        "y = Conv <pads = [1, 1], group = 2> (x, w)",
        "float[1, 4, U] y",
        constants="float[4, 1, 3] w",
        finds="PAD102 Conv",
        claims="T finite; finite",
    ),
    "the same size above": Example(
        'y = Conv <auto_pad = "SAME_UPPER"> (x, w)',
        constants="float[2, 2, 4] w",
        finds="PAD102 Conv",
        claims="T finite; finite",
    ),
    "the same size below": Example(
        'y = Conv <auto_pad = "SAME_LOWER"> (x, w)',
        constants="float[2, 2, 4] w",
        finds="PAD102 Conv",
        claims="T finite; finite",
    ),
    "the same size below of two steps": Example(
        'y = Conv <auto_pad = "SAME_LOWER"> (x, w)', constants="float[2, 2, 2] w", claims="T finite; finite"
    ),
    "no pads by name": Example(
        'y = Conv <auto_pad = "VALID"> (x, w)', constants=W, claims="T-2 finite; finite", first="T=3"
    ),
    "the same size with a stride": Example(
        'y = Conv <auto_pad = "SAME_UPPER", strides = [2]> (x, w)',
        constants=W,
        finds="PAD102 Pad",
        guards="Pad",
        harmless="PAD102",
        claims="(T+1)//2 finite; finite",
    ),
    "the same size of features with a stride": Example(
        'y = Conv <auto_pad = "SAME_UPPER", strides = [1, 2]> (x, w)',
        PICTURE,
        IMAGE,
        "float[2, 2, 1, 3] w",
        claims="T finite; finite",
    ),
    "the same size of features with a long stride": Example(
        'y = Conv <auto_pad = "SAME_LOWER", strides = [1, 3]> (x, w)',
        PICTURE,
        "float[1, 2, T, 5] x",
        "float[2, 2, 2, 2] w",
        claims="T finite; finite",
    ),
    "an image with time in rows": Example(
        "y = Conv <pads = [1, 1, 1, 1], strides = [2, 2]> (x, w)",
        PICTURE,
        IMAGE,
        "float[2, 2, 3, 3] w",
        finds="PAD102 Conv",
        claims="(T+1)//2 finite; finite",
    ),
    "an image with time in columns": Example(
        "y = Conv <pads = [0, 1, 2, 2], dilations = [1, 2]> (x, w)",
        PICTURE,
        "float[1, 2, 4, T] x",
        "float[2, 2, 3, 3] w",
        finds="PAD102 Conv",
        claims="T-1 finite; finite",
        first="T=2",
    ),
    "an image of two lengths": Example(
        "y = Conv <pads = [1, 0, 1, 1]> (x, w)",
        PICTURE,
        "float[1, 2, T, V] x",
        "float[2, 2, 3, 2] w",
        finds="PAD102 Conv",
        claims="T finite; V finite; finite",
    ),
    "rows of a batch": Example(
        "y = Conv <pads = [1, 1]> (x, w)",
        "float[batch, 2, U] y",
        "float[batch, 2, T] x",
        W,
        rows=0,
        finds="PAD102 Conv",
        claims="T finite; finite",
    ),
    "a signal with a long kernel": Example(
        "y = Conv <strides = [4]> (x, w)",
        "float[1, 3, U] y",
        "float[1, 1, T] x",
        "float[3, 1, 10] w",
        claims="(T+2)//4-2 finite; finite",
        first="T=10",
    ),
    "channels that vary": Example(
        "t = Transpose <perm = [0, 2, 1]> (x) y = Conv (t, w)",
        "float[1, 2, 1] y",
        "float[1, 2, T] x",
        "float[2, 2, 2] w",
        refused="the channels vary with the length",
    ),
    "weights that vary": Example(
        "y = Conv (w, x)",
        "float[1, 2, V] y",
        "float[2, 2, T] x",
        "float[1, 2, 9] w",
        rows=2,
        refused="a convolution with weights that vary with the length",
    ),
    "zeros stay where the kernel is one step": Example(
        "p = Pad (x, pads) c = Conv (p, v) y = Conv <pads = [1, 1]> (c, w)",
        constants=f"{W}, float[2, 2, 1] v, int64[6] pads = {{0, 0, 0, 0, 0, 2}}",
        finds="PAD102 Pad",
        claims="T+2 finite; finite",
    ),
    "an activation inside": Example(
        'c = com.microsoft.FusedConv <activation = "Relu", pads = [1, 1]> (x, w) '
        'y = com.microsoft.FusedConv <activation = "Relu", pads = [1, 1]> (c, w)',
        constants=W,
        finds="PAD102 FusedConv, PAD102 FusedConv",
        claims="T finite; finite",
    ),
    "a sum inside": Example(
        'y = com.microsoft.FusedConv <activation = "Tanh", pads = [1, 1]> (x, w, b, x)',
        constants=f"{W}, float[2] b",
        finds="PAD102 FusedConv",
        claims="T finite; finite",
    ),
    "a sum inside of another size": Example(
        'y = com.microsoft.FusedConv <activation = "Tanh"> (x, w, b, x)',
        constants=f"{W}, float[2] b",
        refused="FusedConv adds what is not of its result's shape at every le",
    ),
    "a transposed one, cropped": Example(
        "c = ConvTranspose <strides = [2]> (x, w) y = Slice (c, from, to, axis)",
        constants="float[2, 2, 4] w, int64[1] from = {0}, int64[1] to = {-2}, int64[1] axis = {2}",
        claims="2*T finite; finite",
    ),
    "a transposed one, cropped by one step too few": Example(
        "c = ConvTranspose <strides = [2]> (x, w) y = Slice (c, from, to, axis)",
        constants="float[2, 2, 4] w, int64[1] from = {0}, int64[1] to = {-1}, int64[1] axis = {2}",
        finds="PAD102 ConvTranspose",
        claims="2*T+1 finite; finite",
    ),
    "a transposed one whose kernel is its stride": Example(
        "y = ConvTranspose <strides = [2]> (x, w)", constants="float[2, 2, 2] w", claims="2*T finite; finite"
    ),
    "a transposed one that overlaps": Example(
        "y = ConvTranspose <strides = [2]> (x, w)",
        constants=W,
        finds="PAD102 ConvTranspose",
        claims="2*T+1 finite; finite",
    ),
    "a transposed one whose pads take the overlap": Example(
        "y = ConvTranspose <strides = [2], pads = [0, 1]> (x, w)", constants=W, claims="2*T finite; finite"
    ),
    "a transposed one with pads and more output": Example(
        "y = ConvTranspose <strides = [2], pads = [1, 1], output_padding = [1]> (x, w, b)",
        constants=f"{W}, float[2] b",
        finds="PAD102 ConvTranspose",
        claims="2*T finite; finite",
    ),
    "a transposed one with a dilation": Example(
        "y = ConvTranspose <strides = [2], dilations = [2], pads = [1, 2]> (x, w)",
        constants=W,
        finds="PAD102 ConvTranspose",
        claims="2*T finite; finite",
    ),
    "a transposed one in groups": Example(
        "y = ConvTranspose <strides = [2], group = 2> (x, w)",
        "float[1, 6, U] y",
        constants="float[2, 3, 3] w",
        finds="PAD102 ConvTranspose",
        claims="2*T+1 finite; finite",
    ),
    "a transposed one, activated": Example(
        "c = ConvTranspose <strides = [2]> (x, w) r = Tanh (c) y = Slice (r, from, to, axis)",
        constants=f"{W}, int64[1] from = {{0}}, int64[1] to = {{-1}}, int64[1] axis = {{2}}",
        claims="2*T finite; -1..1; finite",
    ),
    "a transposed one, transposed": Example(
        "c = ConvTranspose <strides = [2]> (x, w) y = Transpose <perm = [0, 2, 1]> (c)",
        "float[1, U, 2] y",
        constants=W,
        finds="PAD102 ConvTranspose",
        claims="2*T+1 finite; finite",
    ),
    "a transposed image": Example(
        "y = ConvTranspose <strides = [2, 2]> (x, w)",
        PICTURE,
        "float[1, 2, T, 3] x",
        "float[2, 2, 3, 2] w",
        finds="PAD102 ConvTranspose",
        claims="2*T+1 finite; finite",
    ),
    "a transposed image of two lengths": Example(
        "y = ConvTranspose <strides = [2, 1]> (x, w)",
        PICTURE,
        "float[1, 2, T, V] x",
        "float[2, 2, 3, 3] w",
        finds="PAD102 ConvTranspose",
        claims="2*T+1 finite; V+2 finite; finite",
    ),
    "a transposed one, no pads by name": Example(
        'y = ConvTranspose <strides = [2], auto_pad = "VALID"> (x, w)',
        constants="float[2, 2, 2] w",
        claims="2*T finite; finite",
    ),
    "a transposed one to the same size": Example(
        'y = ConvTranspose <strides = [2], auto_pad = "SAME_UPPER"> (x, w)',
        constants=W,
        refused="ConvTranspose with output_shape or auto_pad over time",
    ),
    "a transposed one of zeros": Example(
        "p = Pad (x, pads) y = ConvTranspose <strides = [2]> (p, w)",
        constants=f"{W}, int64[6] pads = {{0, 0, 0, 0, 0, 2}}",
        finds="PAD102 Pad",
        claims="2*T+5 finite; finite",
    ),
    "a maximum of windows inside": Example(
        "y = MaxPool <kernel_shape = [2], strides = [2]> (x)", claims="T//2 finite; finite", first="T=2"
    ),
    "a maximum of windows over the end": Example(
        "y = MaxPool <kernel_shape = [3], pads = [1, 1]> (x)",
        finds="PAD107 MaxPool",
        claims="T any; finite",
        harmless="PAD107",
    ),
    "a maximum of bounded windows": Example(
        "s = Sigmoid (x) y = MaxPool <kernel_shape = [3], strides = [2], pads = [1, 1]> (s)",
        finds="PAD107 MaxPool",
        claims="(T+1)//2 any; 0..1; finite",
        harmless="PAD107",
    ),
    "a maximum with a rounded-up size": Example(
        "y = MaxPool <kernel_shape = [3], strides = [2], ceil_mode = 1> (x)",
        finds="PAD107 MaxPool",
        claims="T-((T+1)//2) any; finite",
        first="T=2",
        harmless="PAD107",
    ),
    "a maximum whose last window may be dropped": Example(
        "y = MaxPool <kernel_shape = [2], strides = [3], pads = [1, 1], ceil_mode = 1> (x)",
        refused="ceil_mode drops a window, and shape inference before opset 2",
    ),
    "a maximum whose last window is dropped": Example(
        "y = MaxPool <kernel_shape = [2], strides = [3], pads = [1, 1], ceil_mode = 1> (x)",
        opset=22,
        finds="PAD107 MaxPool",
        claims="T//3+1 any; finite",
        harmless="PAD107",
    ),
    "a maximum and where it was": Example(
        "y, i = MaxPool <kernel_shape = [2], strides = [2]> (x)",
        "float[1, 2, U] y, int64[1, 2, U] i",
        refused="MaxPool's flat indices depend on the container's size",
    ),
    "a maximum, its place unread": Example(
        "y, i = MaxPool <kernel_shape = [2], strides = [2]> (x)", claims="T//2 finite; finite", first="T=2"
    ),
    "a maximum of an image": Example(
        "y = MaxPool <kernel_shape = [1, 3], strides = [1, 2]> (x)",
        PICTURE,
        "float[1, 2, T, 5] x",
        claims="T finite; finite",
    ),
    "a maximum behind a convolution": Example(
        "c = Conv (x, w) y = MaxPool <kernel_shape = [3], pads = [1, 1]> (c)",
        constants=W,
        finds="PAD107 MaxPool",
        claims="T-2 any; finite",
        first="T=3",
    ),
    "a maximum behind a convolution, every other": Example(
        "c = Conv (x, w) y = MaxPool <kernel_shape = [3], strides = [2], pads = [0, 1], dilations = [2]> (c)",
        constants=W,
        finds="PAD107 MaxPool",
        claims="T//2-2 any; finite",
        first="T=6",
    ),
    "a maximum of integers": Example(
        "c = Cast <to = 2> (x) y = MaxPool <kernel_shape = [3], pads = [1, 1]> (c)",
        "uint8[1, 2, U] y",
        "int64[1, 2, T] x",
        finds="PAD107 MaxPool",
        claims="T any; finite",
        harmless="PAD107",
    ),
    "a maximum of what is not of the padding": Example(
        "c = CumSum (x, axis) y = GlobalMaxPool (c)",
        "float[1, 2, 1] y",
        constants="int64 axis = {2}",
        finds="PAD107 GlobalMaxPool",
        claims="finite",
    ),
    "a mean of what is above 0": Example(
        "s = Sigmoid (x) y = GlobalAveragePool (s)",
        "float[1, 2, 1] y",
        finds="PAD101 GlobalAveragePool",
        claims="0..1; finite",
    ),
    "a mean beside another length": Example(
        "t = Transpose <perm = [0, 2, 1, 3]> (x) y = GlobalAveragePool (x)",
        "float[1, 2, 1, 1] y",
        "float[1, 2, T, V] x",
        finds="PAD101 GlobalAveragePool",
        claims="finite",
    ),
    "a mean of rows": Example(
        "y = GlobalAveragePool (x)",
        "float[batch, 2, 1] y",
        "float[batch, 2, T] x",
        rows=0,
        finds="PAD101 GlobalAveragePool",
        claims="finite",
    ),
    "a maximum of masked scores": Example(
        "n = Neg (x) p = Greater (x, n) m = Where (p, x, low) y = MaxPool <kernel_shape = [3], pads = [1, 1]> (m)",
        constants="float low = {-inf}",
        finds="PAD107 MaxPool",
        claims="T any; any; masked",
        harmless="PAD107",
    ),
    "an average of windows inside": Example(
        "y = AveragePool <kernel_shape = [2], strides = [2]> (x)", claims="T//2 finite; finite", first="T=2"
    ),
    "an average over the end": Example(
        "y = AveragePool <kernel_shape = [3], pads = [1, 1]> (x)", finds="PAD102 AveragePool", claims="T finite; finite"
    ),
    "an average that counts the pads": Example(
        "y = AveragePool <kernel_shape = [3], pads = [1, 1], count_include_pad = 1> (x)",
        finds="PAD102 AveragePool",
        claims="T finite; finite",
    ),
    "an average with a rounded-up size": Example(
        "y = AveragePool <kernel_shape = [3], strides = [2], ceil_mode = 1> (x)",
        finds="PAD102 AveragePool",
        claims="T-((T+1)//2) finite; finite",
        first="T=2",
    ),
    "an average with a rounded-up size that counts the pads": Example(
        "y = AveragePool <kernel_shape = [3], strides = [2], pads = [1, 1], ceil_mode = 1, count_include_pad = 1> (x)",
        refused="AveragePool with ceil_mode over the valid end",
    ),
    "an average of a bounded signal": Example(
        "c = Cos (x) a = Add (c, two) y = AveragePool <kernel_shape = [3], pads = [1, 1]> (a)",
        constants="float two = {2}",
        finds="PAD102 AveragePool",
        claims="T finite; 0..3; finite",
    ),
    "an average of what is below 0": Example(
        "c = Cos (x) a = Sub (c, two) y = AveragePool <kernel_shape = [2]> (a)",
        constants="float two = {2}",
        claims="T-1 finite; -3..0; finite",
        first="T=2",
    ),
    "a norm of windows": Example(
        "y = LpPool <kernel_shape = [2], strides = [2]> (x)", claims="T//2 finite; 0..inf; finite", first="T=2"
    ),
    "a norm of windows over the end": Example(
        "y = LpPool <kernel_shape = [3], pads = [1, 1], p = 1> (x)",
        finds="PAD102 LpPool",
        claims="T finite; 0..inf; finite",
    ),
    "the mean of a channel": Example(
        "y = GlobalAveragePool (x)", "float[1, 2, 1] y", finds="PAD101 GlobalAveragePool", claims="finite"
    ),
    "the mean of an image": Example(
        "y = GlobalAveragePool (x)", "float[1, 2, 1, 1] y", IMAGE, finds="PAD101 GlobalAveragePool", claims="finite"
    ),
    "the maximum of a channel": Example(
        "y = GlobalMaxPool (x)", "float[1, 2, 1] y", finds="PAD107 GlobalMaxPool", claims="finite", harmless="PAD107"
    ),
    "the maximum of a bounded image": Example(
        "s = Sigmoid (x) y = GlobalMaxPool (s)",
        "float[1, 2, 1, 1] y",
        IMAGE,
        finds="PAD107 GlobalMaxPool",
        claims="-inf..1; finite",
        harmless="PAD107",
    ),
    "the norm of a channel": Example(
        "y = GlobalLpPool <p = 1> (x)", "float[1, 2, 1] y", finds="PAD101 GlobalLpPool", claims="0..inf; finite"
    ),
    "frames of a transform": Example(
        "y = STFT (x, step, w)",
        "float[1, U, 5, 2] y",
        "float[1, T, 1] x",
        "int64 step = {3}, float[8] w",
        claims="(T+1)//3-2 finite; finite",
        first="T=8",
    ),
    "frames of a transform, all bins": Example(
        "y = STFT <onesided = 0> (x, step, , length)",
        "float[1, U, 8, 2] y",
        "float[1, T, 1] x",
        "int64 step = {2}, int64 length = {8}",
        claims="T//2-3 finite; finite",
        first="T=8",
    ),
    "frames of a transform of what may be infinite": Example(
        "l = Exp (x) y = STFT (l, step, w)",
        "float[1, U, 5, 2] y",
        "float[1, T, 1] x",
        "int64 step = {3}, float[8] w",
        claims="(T+1)//3-2 any; any",
        first="T=8",
    ),
    "of a plane without channels": Example(
        't = Squeeze (x, front) c = com.microsoft.FusedConv <activation = "Relu"> (t, w) y = Unsqueeze (c, front)',
        constants="float[2, 2] w, int64[1] front = {0}",
        refused="FusedConv on a tensor of rank 2",
    ),
    **{
        f"{name} of steps counted from the end": Example(
            "s = Shape <start = 2> (x) n = Squeeze (s) i = Range (nil, n, unit) d = Sub (n, i) f = Cast <to = 1> (d) "
            f"u = Unsqueeze (f, front) y = {name} (u) z = Neg (x)",
            "float[1, 1, 1] y, float[1, 2, T] z",
            constants="int64 nil = {0}, int64 unit = {1}, int64[2] front = {0, 1}",
            finds=f"PAD106 {name}, {code} {name}",
            claims=claims,
            harmless="PAD107",
        )
        for name, code, claims in (
            ("GlobalMaxPool", "PAD107", "finite"),
            ("GlobalAveragePool", "PAD101", "finite"),
            ("GlobalLpPool", "PAD101", "0..inf; finite"),
        )
    },
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name: str) -> None:
    EXAMPLES[name].check()


@pytest.mark.parametrize("p", [1, 2, 3])
def test_the_norm_of_a_channel(p: int) -> None:
    assert_exact(
        f"g (float[1, 3, T] x) => (float[1, 3, 1] y) {{ y = GlobalLpPool <p = {p}> (x) }}", "x:2=T", needs=["PAD101"]
    )


def test_windows_of_padding_alone_are_no_finite_fact() -> None:
    """Their maximum is the fill; its square overflows, and zero times infinity reached the sum over time."""
    assert_exact(
        """g (float[1, 2, T] x) => (float[1, 2, 2] y) {
           m = MaxPool <kernel_shape = [2], strides = [2], pads = [1, 1]> (x)
           q = Mul (m, m)
           d = Sub (m, q)
           e = Sub (d, m)
           t = Transpose <perm = [0, 2, 1]> (e)
           s = Sin (m)
           y = MatMul (s, t)
        }""",
        "x:2=T",
    )


@pytest.mark.parametrize(("include", "ceil"), [(0, 0), (0, 1), (1, 0)])
def test_average_pools_over_a_merged_feature_axis(include: int, ceil: int) -> None:
    """With both, runtimes disagree on what is counted: refused."""
    assert_exact(
        f"""g (float[1, 2, T, 2] x) => (float[1, 1, N, M] y) <int64[3] flat = {{0, 0, 4}}, int64[1] one = {{1}}> {{
           a = Transpose <perm = [0, 2, 1, 3]> (x)
           b = Reshape (a, flat)
           c = Transpose <perm = [0, 2, 1]> (b)
           image = Unsqueeze (c, one)
           y = AveragePool <kernel_shape = [1, 3], strides = [1, 2], pads = [0, 1, 0, 1], ceil_mode = {ceil},
                            count_include_pad = {include}> (image)
        }}""",
        "x:2=T",
    )


@pytest.mark.parametrize("ceil", [False, True])
@pytest.mark.parametrize(
    ("kernel", "stride", "dilation", "before", "after"),
    [
        (1, 1, 1, 0, 0), (3, 1, 1, 1, 1), (3, 2, 1, 0, 1), (2, 3, 1, 1, 0), (3, 2, 2, 2, 1), (4, 3, 1, 2, 3),
        (5, 4, 3, 0, 0),
    ],
)  # fmt: skip
def test_windows_are_counted_one_by_one(
    kernel: int, stride: int, dilation: int, before: int, after: int, ceil: bool
) -> None:
    """A window lies within the padded input; with ceil_mode the last may hang over, if it starts within the input."""
    window = Window(kernel, stride, dilation, before, after, ceil)
    extent = 1 + dilation * (kernel - 1)
    assert window.extent == extent
    for length in range(extent, 3 * extent + 9):
        starts = [k * stride - before for k in range(length + before + 1)]
        if ceil:
            inside = [s for s in starts if s < length and s < length + after - extent + stride]
        else:
            inside = [s for s in starts if s + extent <= length + after]
        assert window.size(parse("T")).evaluate({"T": length}) == len(inside)
        assert window.last_read(parse("T")).evaluate({"T": len(inside)}) == inside[-1] + extent - 1


SAME = {"auto_pad": "SAME_UPPER"}


@pytest.mark.parametrize(
    ("attributes", "sizes", "expected"),
    [
        ({}, ("T", "8"), [Window(3, 1, 1, 0, 0), Window(2, 1, 1, 0, 0)]),
        (
            {"strides": [2, 3], "dilations": [4, 5], "pads": [6, 7, 8, 9]}, ("T", "8"),
            [Window(3, 2, 4, 6, 8), Window(2, 3, 5, 7, 9)],
        ),
        ({"auto_pad": "VALID", "pads": [1, 1, 1, 1]}, ("T", "8"), [Window(3, 1, 1, 0, 0), Window(2, 1, 1, 0, 0)]),
        ({"ceil_mode": 1}, ("T", "8"), [Window(3, 1, 1, 0, 0, True), Window(2, 1, 1, 0, 0, True)]),
        (SAME, ("T", "8"), [Window(3, 1, 1, 1, 1), Window(2, 1, 1, 0, 1)]),
        ({"auto_pad": "SAME_LOWER"}, ("T", "8"), [Window(3, 1, 1, 1, 1), Window(2, 1, 1, 1, 0)]),
        ({**SAME, "dilations": [2, 3]}, ("T", "8"), [Window(3, 1, 2, 2, 2), Window(2, 1, 3, 1, 2)]),
        ({**SAME, "strides": [1, 2]}, ("T", "9"), [Window(3, 1, 1, 1, 1), Window(2, 2, 1, 0, 1)]),
        ({**SAME, "strides": [1, 2]}, ("T", "8"), [Window(3, 1, 1, 1, 1), Window(2, 2, 1, 0, 0)]),
        ({**SAME, "strides": [3, 3]}, ("10", "8"), [Window(3, 3, 1, 1, 1), Window(2, 3, 1, 0, 0)]),
        ({**SAME, "strides": [2, 1]}, ("T", "8"), "pads by an amount that depends on the length"),
    ],
)  # fmt: skip
def test_the_windows_of_the_attributes(
    attributes: dict[str, Any], sizes: tuple[str, str], expected: list[Window] | str
) -> None:
    value = tensor("1", "2", *sizes)
    context = context_of("Conv", value, **attributes)
    if isinstance(expected, str):
        assert expected in reason(lambda: windows(context, value, [3, 2]))
    else:
        assert windows(context, value, [3, 2]) == expected


@pytest.mark.parametrize(
    ("axes", "expected"),
    [
        (("1", "2", "T"), "1, 2, T; 5"), (("batch", "2", "T x 3"), "batch, 2, 3*T; 5"),
        (("1", "2", "T", "U x 2"), "1, 2, T, 2*U; 5 5"), (("1", "2", "4"), "1, 2, 4"), (("2", "T"), "of rank 2"),
        (("1", "T", "4"), "the channels vary"), (("1", "batch", "4"), "the channels vary"),
        (("1", "2", "3 x T"), "no batch axis"), (("1", "2", "batch"), "a window over the batch"),
    ],
)  # fmt: skip
def test_the_input_of_a_window(axes: tuple[str, ...], expected: str) -> None:
    context = context_of("Conv", tensor(*axes, pad=constant(5)), rows=None)
    if expected[0].isdigit() or expected.startswith("batch"):
        assert told(spatial_value(context)) == expected == told(context.peek(0))
    else:
        assert expected in reason(lambda: spatial_value(context))


@pytest.mark.parametrize(
    ("size", "axis", "first"),
    [
        ("T", "T", 1), ("T-4", "T-4", 5), ("7", "7", 1), ("1", "1", 1), ("0", "longer than the input", 1),
        ("-3", "longer than the input", 1),
    ],
)  # fmt: skip
def test_a_result_has_one_window(size: str, axis: str, first: int) -> None:
    context = context_of("Conv", tensor("1"))
    if axis[0] == "l":
        assert axis in reason(lambda: output_axis(context, parse(size)))
    else:
        assert output_axis(context, parse(size)) == axes_of(axis)[0] and context.scope.spans["T"].first == first


@pytest.mark.parametrize(
    ("padding", "kernel", "bias", "weights", "expected"),
    [
        (ZERO, 1, False, True, "T 0"), (ZERO, 1, True, True, "T finite"), (FINITE, 1, False, True, "T finite"),
        (ANY, 1, False, True, "T any"), (ZERO, 1, False, False, "T any"), (ZERO, 3, False, True, "T-2 finite"),
        (ANY, 3, False, True, "T-2 any"), (ZERO, 3, False, False, "T-2 any"),
    ],
)  # fmt: skip
def test_the_padding_behind_a_convolution(padding: Kind, kernel: int, bias: bool, weights: bool, expected: str) -> None:
    """A window of one step is 0 where it reads 0 and nothing is added; weights that may be infinite promise nothing."""
    given = [tensor("1", "2", "T", pad=padding, finite=True), tensor("4", "2", str(kernel), finite=weights)]
    more = [tensor("4", finite=True)] if bias else []
    (found,) = convolution(context_of("Conv", *given, *more))
    assert found is not None and told(found).replace("1, 4, ", "").replace(";", "") == expected
    assert found.finite == weights


ANSWERS = table("""
Conv(1, 2, T | 4, 2, 3)
    => 1, 4, T-2; finite; finite | T in 3..: Conv needs an input of at least one window, T-2 must be positive
Conv(1, 2, T | 4, 2, 3) pads=[1,1] => 1, 4, T; finite; finite | Fill(PAD102; 0; 1; 0.0)
Conv(1, 2, T | 4, 2, 3) pads=[2,0] => 1, 4, T; finite; finite
Conv(1, 2, T | 4, 2, 3) pads=[0,2] strides=[2] => 1, 4, (T+1)//2; finite; finite | Fill(PAD102; 0; 1; 0.0)
Conv(1, 2, T | 4, 2, 3) dilations=[2]
    => 1, 4, T-4; finite; finite | T in 5..: Conv needs an input of at least one window, T-4 must be positive
Conv(1, 2, T; 0 | 4, 2, 3) pads=[1,1] => 1, 4, T; finite; finite
Conv(1, 2, T; 0 masked | 4, 2, 1) => 1, 4, T; 0; finite masked
Conv(1, 2, T; 0 | 4, 2, 1 | 4) => 1, 4, T; finite; finite
Conv(1, 2, T; 0 | 4, 2, 1 | -) => 1, 4, T; 0; finite
Conv(1, 2, T; 0 | 4, 2, 1 | 4; infinite) => 1, 4, T; any
Conv(1, 2, T; any | 4, 2, 3)
    => 1, 4, T-2; any; finite | T in 3..: Conv needs an input of at least one window, T-2 must be positive
Conv(1, 2, T; infinite any | 4, 2, 3)
    => 1, 4, T-2; any | T in 3..: Conv needs an input of at least one window, T-2 must be positive
Conv(1, 2, T; 0 | 4, 2, 1) strides=[2] => 1, 4, (T+1)//2; finite; finite
Conv(1, 2, T; 0 | 4, 2, 1) pads=[1,0] => 1, 4, T+1; finite; finite
Conv(1, 2, T, 8 | 4, 2, 3, 3) pads=[1,1,1,1] => 1, 4, T, 8; finite; finite | Fill(PAD102; 0; 1; 0.0)
Conv(1, 2, T, U | 4, 2, 3, 3) pads=[1,1,1,1] => 1, 4, T, U; finite finite; finite | Fill(PAD102; 0; 1 2; 0.0)
Conv(1, 2, T, U; 0 | 4, 2, 1, 1) => 1, 4, T, U; 0 0; finite
Conv(1, 2, T, U | 4, 2, 1, 1) => 1, 4, T, U; finite finite; finite
Conv(U, 2, T; 0 | 4, 2, 1) => U, 4, T; 0 0; finite
Conv(U, 2, T; any | 4, 2, 3)
    => U, 4, T-2; any any; finite | T in 3..: Conv needs an input of at least one window, T-2 must be positive
Conv(batch, 2, T | 4, 2, 3) auto_pad="SAME_UPPER" => batch, 4, T; finite; finite | Fill(PAD102; 0; 2; 0.0)
Conv(1, 2, T | 4, T, 3) => refused: a convolution with weights that vary with the length
Conv(1, 2, T | 4, 2, batch) => refused: the size of the weights varies
Conv(1, 2, 2 | 4, 2, 3) => refused: the window is longer than the input
Conv(1, 2, T | 1, 2, 3)
    => 1, 1, T-2; finite; finite | T in 3..: Conv needs an input of at least one window, T-2 must be positive
Conv(U, 2, T; any finite | 4, 2, 3)
    => U, 4, T-2; any finite; finite | T in 3..: Conv needs an input of at least one window, T-2 must be positive
Conv(U, 2, T; finite any | 4, 2, 3)
    => U, 4, T-2; finite any; finite | T in 3..: Conv needs an input of at least one window, T-2 must be positive
Conv(U, 2, T; 0 any | 4, 2, 1) => U, 4, T; 0 any; finite
Conv(1, 2, T; infinite | 4, 2, 1) => 1, 4, T; finite
Conv(U, 2, T | 4, 2, 3)
    => U, 4, T-2; finite finite; finite | T in 3..: Conv needs an input of at least one window, T-2 must be positive
Conv(U, 2, T | 4, 2, 3; infinite)
    => U, 4, T-2; any any | T in 3..: Conv needs an input of at least one window, T-2 must be positive
Conv(U, 2, T | 4, 2, 1; infinite) => U, 4, T; any any
Conv(1, 2, T | 4, 2, 3 | 4; infinite)
    => 1, 4, T-2; any | T in 3..: Conv needs an input of at least one window, T-2 must be positive
Conv(1, 2, T | 4, 2, 3) pads=[1,0]
    => 1, 4, T-1; finite; finite | T in 2..: Conv needs an input of at least one window, T-1 must be positive
Conv(1, 2, T | 4, 2, 3) pads=[0,1]
    => 1, 4, T-1; finite; finite | Fill(PAD102; 0; 1; 0.0) | T in 2..: Conv needs an input of at least one window,
    T-1 must be positive
Conv(1, 2, 8, T | 4, 2, 3, 5) pads=[1,2,3,4] strides=[1,2]
    => 1, 4, 10, (T+1)//2+1; finite; finite | Fill(PAD102; 0; 2; 0.0)
FusedConv(1, 2, T | 4, 2, 3 | 4)
    => 1, 4, T-2; finite; finite | T in 3..: FusedConv needs an input of at least one window, T-2 must be positive
FusedConv(1, 2, T; 0 | 4, 2, 1 | 4) => 1, 4, T; finite; finite
FusedConv(1, 2, T | 4, 2, 1 | 4 | 1, 4, T; any) => 1, 4, T; any; finite
FusedConv(1, 2, T; masked | 4, 2, 1 | 4 | 1, 4, T; infinite) => 1, 4, T; any; masked
FusedConv(1, 2, T | 4, 2, 1 | 4 | 1, 4, T; masked) => 1, 4, T; finite; finite masked
FusedConv(1, 2, T | 4, 2, 1 | 4 | 4, T) => refused: FusedConv adds what is not of its result's shape at every length
FusedConv(1, 2, T | 4, 2, 1 | 4 | 1, 4, U) => refused: FusedConv adds what is not of its result's shape at every length
ConvTranspose(1, 2, T | 2, 4, 3) => 1, 4, T+2; finite; before T of atom 1; finite
ConvTranspose(1, 2, T; 0 | 2, 4, 3) => 1, 4, T+2; finite; finite
ConvTranspose(1, 2, T | 2, 4, 3) strides=[2] => 1, 4, 2*T+1; finite; before 2*T of atom 1; finite
ConvTranspose(1, 2, T | 2, 4, 3) strides=[3] => 1, 4, 3*T; finite; finite
ConvTranspose(1, 2, T | 2, 4, 3) strides=[2] pads=[1,1] => 1, 4, 2*T-1; finite; finite
ConvTranspose(1, 2, T | 2, 4, 3) strides=[2] pads=[0,1] => 1, 4, 2*T; finite; finite
ConvTranspose(1, 2, T | 2, 4, 3) strides=[2] pads=[1,0] => 1, 4, 2*T; finite; before 2*T-1 of atom 1; finite
ConvTranspose(1, 2, T | 2, 4, 3) strides=[2] output_padding=[1] => 1, 4, 2*T+2; finite; before 2*T of atom 1; finite
ConvTranspose(1, 2, T | 2, 4, 3) dilations=[2] => 1, 4, T+4; finite; before T of atom 1; finite
ConvTranspose(1, 2, T | 2, 4, 3) group=2 => 1, 8, T+2; finite; before T of atom 1; finite
ConvTranspose(1, 2, T | 2, 4, 3) auto_pad="VALID" pads=[1,1] => 1, 4, T+2; finite; before T of atom 1; finite
ConvTranspose(1, 2, T | 2, 4, 3) auto_pad="SAME_UPPER"
    => refused: ConvTranspose with output_shape or auto_pad over time
ConvTranspose(1, 2, T | 2, 4, 3) output_shape=[9] => refused: ConvTranspose with output_shape or auto_pad over time
ConvTranspose(1, 2, 8 | 2, 4, 3) output_shape=[9] => 1, 4, 10; finite
ConvTranspose(1, 2, T, U | 2, 4, 3, 3) => 1, 4, T+2, U+2; finite finite; finite | Fill(PAD102; 0; 1 2; 0.0)
ConvTranspose(1, 2, T, U; 0 | 2, 4, 3, 3) => 1, 4, T+2, U+2; finite finite; finite
ConvTranspose(1, 2, T, 8 | 2, 4, 3, 3) strides=[2,1] pads=[1,0,1,2] => 1, 4, 2*T-1, 8; finite; finite
ConvTranspose(1, 2, 8, T | 2, 4, 3, 2) strides=[1,2] pads=[1,0,2,0] => 1, 4, 7, 2*T; finite; finite
ConvTranspose(1, 2, T; masked | 2, 4, 3; infinite) => 1, 4, T+2; any; before T of atom 1; masked
ConvTranspose(1, 2, T | 2, 4, 1) pads=[2,2]
    => 1, 4, T-4; finite; finite | T in 5..: ConvTranspose needs an input of at least one window,
    T-4 must be positive
ConvTranspose(U, 2, T | 2, 4, 3) => U, 4, T+2; finite finite; before T of atom 2; finite
ConvTranspose(U, 2, T; any | 2, 4, 3; infinite) => U, 4, T+2; any any; before T of atom 2
ConvTranspose(1, 2, T; infinite | 2, 4, 3) => 1, 4, T+2; any; before T of atom 1
ConvTranspose(1, 2, T | 2, 4, 3 | 4; infinite) => 1, 4, T+2; any; before T of atom 1
ConvTranspose(1, 2, T | 2, 4, 2) strides=[2] => 1, 4, 2*T; finite; finite
ConvTranspose(1, 2, T | 2, 4, 3) strides=[2] output_padding=[1] pads=[1,1] dilations=[3]
    => 1, 4, 2*T+4; finite; before 2*T-1 of atom 1; finite
ConvTranspose(batch, 2, T | 2, 4, 3) => batch, 4, T+2; finite; before T of atom 2; finite
ConvTranspose(1, 2, 1 | 2, 4, 3) => 1, 4, 3; finite
MaxPool(1, 2, T) kernel_shape=[3]
    => 1, 2, T-2; finite; finite | T in 3..: MaxPool needs an input of at least one window, T-2 must be positive
MaxPool(1, 2, T) kernel_shape=[3] pads=[1,1] => 1, 2, T; any; finite | Fill(PAD107; 0; 1; -3.4028234663852886e+38)
MaxPool(1, 2, T; int8) kernel_shape=[3] pads=[1,1] => 1, 2, T; any; finite | Fill(PAD107; 0; 1; -128.0)
MaxPool(1, 2, T; masked 0..1) kernel_shape=[3] pads=[1,1]
    => 1, 2, T; any; 0..1; finite masked | Fill(PAD107; 0; 1; -inf)
MaxPool(1, 2, T; 0..1) kernel_shape=[2] strides=[2]
    => 1, 2, T//2; finite; 0..1; finite | T in 2..: MaxPool needs an input of at least one window,
    T//2 must be positive
MaxPool(1, 2, T) kernel_shape=[2] strides=[2] ceil_mode=1 opset=22
    => 1, 2, T-(T//2); any; finite | Fill(PAD107; 0; 1; -3.4028234663852886e+38)
MaxPool(1, 2, T) kernel_shape=[2] strides=[2] ceil_mode=1
    => 1, 2, T-(T//2); any; finite | Fill(PAD107; 0; 1; -3.4028234663852886e+38)
MaxPool(1, 2, T) kernel_shape=[1] strides=[3] ceil_mode=1
    => refused: ceil_mode drops a window, and shape inference before opset 22 counts it
MaxPool(1, 2, T) kernel_shape=[1] strides=[3] ceil_mode=1 opset=22 => 1, 2, (T+2)//3; finite; finite
MaxPool(1, 2, 8) kernel_shape=[2] outputs=2 => 1, 2, 7; finite & 1, 2, 7; finite
MaxPool(1, 2, T) kernel_shape=[2] outputs=2
    => 1, 2, T-1; finite; finite & 1, 2, T-1; finite; finite |
    T in 2..: MaxPool needs an input of at least one window, T-1 must be positive
MaxPool(1, 2, T, 8; any) kernel_shape=[1,2] => 1, 2, T, 7; any; finite
MaxPool(T, 2, 8, 8; any) kernel_shape=[1,2] => T, 2, 8, 7; any; finite
MaxPool(U, 2, T) kernel_shape=[3] pads=[1,1] => U, 2, T; any any; finite | Fill(PAD107; 0; 2; -3.4028234663852886e+38)
MaxPool(1, 2, T; -3..-2) kernel_shape=[3]
    => 1, 2, T-2; finite; -3..-2; finite | T in 3..: MaxPool needs an input of at least one window,
    T-2 must be positive
MaxPool(1, 2, T; infinite) kernel_shape=[2] strides=[2]
    => 1, 2, T//2; any | T in 2..: MaxPool needs an input of at least one window, T//2 must be positive
AveragePool(1, 2, T; 2..3) kernel_shape=[3]
    => 1, 2, T-2; finite; 0..3; finite | T in 3..: AveragePool needs an input of at least one window,
    T-2 must be positive
AveragePool(1, 2, T; -3..-2) kernel_shape=[3] pads=[1,1]
    => 1, 2, T; finite; -3..0; finite | Fill(PAD102; 0; 1; 0.0), MaskedAveragePool(PAD102; 1)
AveragePool(1, 2, T) kernel_shape=[3] pads=[1,1] count_include_pad=1
    => 1, 2, T; finite; finite | Fill(PAD102; 0; 1; 0.0)
AveragePool(1, 2, T) kernel_shape=[3] pads=[1,1] count_include_pad=1 ceil_mode=1 strides=[2]
    => refused: AveragePool with ceil_mode over the valid end
AveragePool(1, 2, T) kernel_shape=[2] strides=[2] ceil_mode=1
    => 1, 2, T-(T//2); finite; finite | Fill(PAD102; 0; 1; 0.0), MaskedAveragePool(PAD102; 1)
AveragePool(1, 2, T) kernel_shape=[2] strides=[2] ceil_mode=1 count_include_pad=1
    => 1, 2, T-(T//2); finite; finite | Fill(PAD102; 0; 1; 0.0), MaskedAveragePool(PAD102; 1)
AveragePool(1, 2, T, U) kernel_shape=[3,3] pads=[1,1,1,1]
    => 1, 2, T, U; finite finite; finite | Fill(PAD102; 0; 1 2; 0.0), MaskedAveragePool(PAD102; 1 2)
AveragePool(1, 2, T) kernel_shape=[3] pads=[0,2] count_include_pad=1
    => 1, 2, T; finite; finite | Fill(PAD102; 0; 1; 0.0)
AveragePool(1, 2, T) kernel_shape=[3] pads=[2,0] count_include_pad=1 => 1, 2, T; finite; finite
AveragePool(1, 2, T) kernel_shape=[3] pads=[2,0] => 1, 2, T; finite; finite
AveragePool(1, 2, T, 8) kernel_shape=[1,3] pads=[0,1,0,1] count_include_pad=1 => 1, 2, T, 8; finite; finite
AveragePool(U, 2, T; any) kernel_shape=[3]
    => U, 2, T-2; any any; finite | T in 3..: AveragePool needs an input of at least one window,
    T-2 must be positive
LpPool(1, 2, T; -3..-2) kernel_shape=[3]
    => 1, 2, T-2; finite; 0..inf; finite | T in 3..: LpPool needs an input of at least one window,
    T-2 must be positive
LpPool(1, 2, T) kernel_shape=[3] pads=[1,1] => 1, 2, T; finite; 0..inf; finite | Fill(PAD102; 0; 1; 0.0)
LpPool(1, 2, T) kernel_shape=[2] strides=[2] ceil_mode=1 => refused: LpPool with ceil_mode over the valid end
GlobalAveragePool(1, 2, T; 2..3) => 1, 2, 1; 0..3; finite | Fill(PAD101; 0; 1; 0.0), MaskedMean(PAD101; 2; True; T)
GlobalAveragePool(1, 2, T, 4; masked)
    => 1, 2, 1, 1; finite masked | Fill(PAD101; 0; 1; 0.0), MaskedMean(PAD101; 2 3; True; T 4)
GlobalAveragePool(T, 2, 4; any) => T, 2, 1; any; finite
GlobalAveragePool(T, 2, 4) => T, 2, 1; finite; finite
GlobalAveragePool(1, 2, T; infinite any) => 1, 2, 1 | Fill(PAD101; 0; 1; 0.0), MaskedMean(PAD101; 2; True; T)
GlobalAveragePool(1, 2, batch) => refused: a pool over the batch mixes rows of different lengths
GlobalAveragePool(U, 2, T; finite any)
    => U, 2, 1; finite; finite | Fill(PAD101; 0; 2; 0.0), MaskedMean(PAD101; 2; True; T)
GlobalAveragePool(1, 2, T, U) => 1, 2, 1, 1; finite | Fill(PAD101; 0; 1 2; 0.0), MaskedMean(PAD101; 2 3; True; T U)
GlobalLpPool(1, 2, T; -2..3) => 1, 2, 1; 0..inf; finite | Fill(PAD101; 0; 1; 0.0)
GlobalLpPool(1, 2, T; 0) => 1, 2, 1; 0..inf; finite
GlobalLpPool(U, 2, T; any) => U, 2, 1; any; 0..inf; finite | Fill(PAD101; 0; 2; 0.0)
GlobalMaxPool(1, 2, T; -2..3) => 1, 2, 1; -inf..3; finite | Fill(PAD107; 0; 1; -inf)
GlobalMaxPool(1, 2, T, U) => 1, 2, 1, 1; finite | Fill(PAD107; 0; 1 2; -inf)
GlobalMaxPool(T, 2, 4; any) => T, 2, 1; any; finite
GlobalMaxPool(1, 2, T; int8) => 1, 2, 1; finite | Fill(PAD107; 0; 1; -128.0)
GlobalMaxPool(V, 2, U; any finite) => V, 2, 1; any; finite | Fill(PAD107; 0; 2; -inf)
GlobalMaxPool(1, 2, T; infinite) => 1, 2, 1 | Fill(PAD107; 0; 1; -inf)
STFT(1, T, 1 | = 3 | - | = 8)
    => 1, (T+1)//3-2, 5, 2; finite; finite | T in 8..: STFT needs an input of at least one window,
    (T+1)//3-2 must be positive
STFT(1, T, 1 | = 3 | 8)
    => 1, (T+1)//3-2, 5, 2; finite; finite | T in 8..: STFT needs an input of at least one window,
    (T+1)//3-2 must be positive
STFT(1, T | = 3 | 8)
    => 1, (T+1)//3-2, 5, 2; finite; finite | T in 8..: STFT needs an input of at least one window,
    (T+1)//3-2 must be positive
STFT(1, T, 1 | = 3 | 8 | = 8) onesided=0
    => 1, (T+1)//3-2, 8, 2; finite; finite | T in 8..: STFT needs an input of at least one window,
    (T+1)//3-2 must be positive
STFT(1, T, 1 | = 2 | 8; infinite)
    => 1, T//2-3, 5, 2; any | T in 8..: STFT needs an input of at least one window, T//2-3 must be positive
STFT(1, T, 1; any | = 2 | 8)
    => 1, T//2-3, 5, 2; any; finite | T in 8..: STFT needs an input of at least one window, T//2-3 must be positive
STFT(1, T, 1; infinite any masked | = 2 | 8)
    => 1, T//2-3, 5, 2; any; masked | T in 8..: STFT needs an input of at least one window, T//2-3 must be positive
STFT(1, T, 1 | = 2 | - | -) => refused: STFT with a computed frame length
STFT(1, T, 1 | 1; int64 | 8)
    => refused: a size is computed from data, or from lengths in a way that is not an expression of the input length
STFT(1, T, 1 | = 2 | U) => refused: STFT with a computed frame length
STFT(batch, T, 1 | = 1 | - | = 4)
    => batch, T-3, 3, 2; finite; finite | T in 4..: STFT needs an input of at least one window, T-3 must be positive
STFT(1, T from T, 1 | = 1 | - | = 4)
    => 1, T-3, 3, 2; finite; finite | Take(PAD105; 0; 1; T; T; from 0: -T + T + 1k) |
    T in 4..: STFT needs an input of at least one window, T-3 must be positive
STFT(~ 1, T, 1; T 1 | = 1 | - | = 4)
    => 1, T-3, 3, 2; any; finite | UseLength(PAD106; 0; T + 1*i0) |
    T in 4..: STFT needs an input of at least one window, T-3 must be positive
""")


@pytest.mark.parametrize(("question", "expected"), ANSWERS)
def test_answer(question: str, expected: str) -> None:
    """Windows over time, and what is read behind the valid end."""
    assert answer_to(question) == expected
