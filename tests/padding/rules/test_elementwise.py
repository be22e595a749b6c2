"""Operators that take each element by itself: what they make of zeros, bounds, masks and lengths."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import onnx.parser
import onnx_ir as ir
import pytest

from paddable.api.opened import open_model
from paddable.padding.facts.facts import Facts
from paddable.padding.facts.kinds import ANY, BELOW, FINITE, Kind, constant
from paddable.padding.rules.elementwise import elementwise

from ..example import Example
from ..given import context_of, tensor
from ..native import assert_exact

ZEROS = "int64[6] pads = {0, 0, 0, 0, 0, 2}"
BOUNDS = "c = Cos (x) b = Add (c, three) n = Sub (c, three)"
THREE = "float three = {3}"
LENGTH = "s = Shape <start = 2> (x) n = Squeeze (s)"
POSITIONS = f"{LENGTH} i = Range (nil, n, one)"
NUMBERS = "int64 nil = {0}, int64 one = {1}"
CODES = "int64[1, 2, T] x"
CODED = "int64[1, 2, T] y"

EXAMPLES = {
    "Acos of zeros": Example(
        "p = Pad (x, pads) i = Sigmoid (p) y = Acos (i)", constants=ZEROS, finds="PAD102 Pad", claims="T+2 any; any"
    ),
    "Acosh of zeros": Example(
        "p = Pad (x, pads) e = Abs (p) i = Add (e, two) y = Acosh (i)",
        constants=f"{ZEROS}, float two = {{2}}",
        finds="PAD102 Pad",
        claims="T+2 any; any",
    ),
    "Asin of zeros": Example(
        "p = Pad (x, pads) i = Sigmoid (p) y = Asin (i)", constants=ZEROS, finds="PAD102 Pad", claims="T+2 any; any"
    ),
    "Asinh of zeros": Example(
        "p = Pad (x, pads) y = Asinh (p)", constants=ZEROS, finds="PAD102 Pad", claims="T+2 0; any"
    ),
    "Atan of zeros": Example(
        "p = Pad (x, pads) y = Atan (p)", constants=ZEROS, finds="PAD102 Pad", claims="T+2 0; finite"
    ),
    "Atanh of zeros": Example(
        "p = Pad (x, pads) i = Sigmoid (p) y = Atanh (i)", constants=ZEROS, finds="PAD102 Pad", claims="T+2 any; any"
    ),
    "Celu of zeros": Example(
        "p = Pad (x, pads) y = Celu (p)", constants=ZEROS, finds="PAD102 Pad", claims="T+2 0; finite"
    ),
    "Cos of zeros": Example(
        "p = Pad (x, pads) y = Cos (p)", constants=ZEROS, finds="PAD102 Pad", claims="T+2 1; -1..1; finite"
    ),
    "Cosh of zeros": Example(
        "p = Pad (x, pads) y = Cosh (p)", constants=ZEROS, finds="PAD102 Pad", claims="T+2 any; any"
    ),
    "Elu of zeros": Example(
        "p = Pad (x, pads) y = Elu (p)", constants=ZEROS, finds="PAD102 Pad", claims="T+2 0; finite"
    ),
    "Elu of bounded steps": Example(
        "c = Cos (x) b = Add (c, three) y = Elu (b)", constants="float three = {3}", claims="T finite; 2..4; finite"
    ),
    "Elu of bounded steps below 0": Example(
        "c = Cos (x) b = Sub (c, three) y = Elu (b)", constants="float three = {3}", claims="T finite; -inf..0; finite"
    ),
    "Erf of zeros": Example(
        "p = Pad (x, pads) y = Erf (p)", constants=ZEROS, finds="PAD102 Pad", claims="T+2 0; -1..1; finite"
    ),
    "Exp of zeros": Example(
        "p = Pad (x, pads) y = Exp (p)", constants=ZEROS, finds="PAD102 Pad", claims="T+2 1; 0..inf; any"
    ),
    "Exp of bounded steps": Example(
        "c = Cos (x) b = Add (c, three) y = Exp (b)",
        constants="float three = {3}",
        claims="T finite; 7.389..54.6; finite",
    ),
    "Exp of bounded steps below 0": Example(
        "c = Cos (x) b = Sub (c, three) y = Exp (b)",
        constants="float three = {3}",
        claims="T finite; 0.01832..0.1353; finite",
    ),
    "Floor of zeros": Example(
        "p = Pad (x, pads) y = Floor (p)", constants=ZEROS, finds="PAD102 Pad", claims="T+2 0; finite"
    ),
    "Floor of bounded steps": Example(
        "c = Cos (x) b = Add (c, three) y = Floor (b)", constants="float three = {3}", claims="T finite; 1..4; finite"
    ),
    "Floor of bounded steps below 0": Example(
        "c = Cos (x) b = Sub (c, three) y = Floor (b)", constants="float three = {3}", claims="T finite; -5..-2; finite"
    ),
    "Gelu of zeros": Example(
        "p = Pad (x, pads) y = Gelu (p)", constants=ZEROS, opset=20, finds="PAD102 Pad", claims="T+2 0; finite"
    ),
    "HardSigmoid of zeros": Example(
        "p = Pad (x, pads) y = HardSigmoid (p)", constants=ZEROS, finds="PAD102 Pad", claims="T+2 finite; 0..1; finite"
    ),
    "HardSwish of zeros": Example(
        "p = Pad (x, pads) y = HardSwish (p)", constants=ZEROS, finds="PAD102 Pad", claims="T+2 0; finite"
    ),
    "LeakyRelu of zeros": Example(
        "p = Pad (x, pads) y = LeakyRelu (p)", constants=ZEROS, finds="PAD102 Pad", claims="T+2 0; finite"
    ),
    "LeakyRelu of bounded steps": Example(
        "c = Cos (x) b = Add (c, three) y = LeakyRelu (b)",
        constants="float three = {3}",
        claims="T finite; 0..4; finite",
    ),
    "LeakyRelu of bounded steps below 0": Example(
        "c = Cos (x) b = Sub (c, three) y = LeakyRelu (b)",
        constants="float three = {3}",
        claims="T finite; -4..0; finite",
    ),
    "Log of zeros": Example(
        "p = Pad (x, pads) e = Abs (p) i = Add (e, two) y = Log (i)",
        constants=f"{ZEROS}, float two = {{2}}",
        finds="PAD102 Pad",
        claims="T+2 0.693147; 0.6931..inf; finite",
    ),
    "Log of bounded steps": Example(
        "c = Cos (x) b = Add (c, three) y = Log (b)",
        constants="float three = {3}",
        claims="T finite; 0.6931..1.386; finite",
    ),
    "Log of steps": Example("y = Log (x)", claims="T any; any"),
    "Mish of zeros": Example(
        "p = Pad (x, pads) y = Mish (p)", constants=ZEROS, finds="PAD102 Pad", claims="T+2 0; finite"
    ),
    "Neg of zeros": Example(
        "p = Pad (x, pads) y = Neg (p)", constants=ZEROS, finds="PAD102 Pad", claims="T+2 0; finite"
    ),
    "Neg of bounded steps": Example(
        "c = Cos (x) b = Add (c, three) y = Neg (b)", constants="float three = {3}", claims="T finite; -4..-2; finite"
    ),
    "Neg of bounded steps below 0": Example(
        "c = Cos (x) b = Sub (c, three) y = Neg (b)", constants="float three = {3}", claims="T finite; 2..4; finite"
    ),
    "Reciprocal of zeros": Example(
        "p = Pad (x, pads) e = Abs (p) i = Add (e, two) y = Reciprocal (i)",
        constants=f"{ZEROS}, float two = {{2}}",
        finds="PAD102 Pad",
        claims="T+2 0.5; 0..0.5; finite",
    ),
    "Reciprocal of bounded steps": Example(
        "c = Cos (x) b = Add (c, three) y = Reciprocal (b)",
        constants="float three = {3}",
        claims="T finite; 0.25..0.5; finite",
    ),
    "Reciprocal of bounded steps below 0": Example(
        "c = Cos (x) b = Sub (c, three) y = Reciprocal (b)",
        constants="float three = {3}",
        claims="T finite; -0.5..-0.25; finite",
    ),
    "Relu of zeros": Example(
        "p = Pad (x, pads) y = Relu (p)", constants=ZEROS, finds="PAD102 Pad", claims="T+2 0; 0..inf; finite"
    ),
    "Relu of bounded steps": Example(
        "c = Cos (x) b = Add (c, three) y = Relu (b)", constants="float three = {3}", claims="T finite; 2..4; finite"
    ),
    "Relu of bounded steps below 0": Example(
        "c = Cos (x) b = Sub (c, three) y = Relu (b)", constants="float three = {3}", claims="T finite; 0..0; 0"
    ),
    "Round of zeros": Example(
        "p = Pad (x, pads) y = Round (p)", constants=ZEROS, finds="PAD102 Pad", claims="T+2 0; finite"
    ),
    "Round of bounded steps": Example(
        "c = Cos (x) b = Add (c, three) y = Round (b)", constants="float three = {3}", claims="T finite; 1..5; finite"
    ),
    "Round of bounded steps below 0": Example(
        "c = Cos (x) b = Sub (c, three) y = Round (b)", constants="float three = {3}", claims="T finite; -5..-1; finite"
    ),
    "Selu of zeros": Example(
        "p = Pad (x, pads) y = Selu (p)", constants=ZEROS, finds="PAD102 Pad", claims="T+2 0; finite"
    ),
    "Shrink of zeros": Example(
        "p = Pad (x, pads) y = Shrink (p)", constants=ZEROS, finds="PAD102 Pad", claims="T+2 0; finite"
    ),
    "Sigmoid of zeros": Example(
        "p = Pad (x, pads) y = Sigmoid (p)", constants=ZEROS, finds="PAD102 Pad", claims="T+2 0.5; 0..1; finite"
    ),
    "Sign of zeros": Example(
        "p = Pad (x, pads) y = Sign (p)", constants=ZEROS, finds="PAD102 Pad", claims="T+2 0; -1..1; finite"
    ),
    "Sin of zeros": Example(
        "p = Pad (x, pads) y = Sin (p)", constants=ZEROS, finds="PAD102 Pad", claims="T+2 0; -1..1; finite"
    ),
    "Sinh of zeros": Example(
        "p = Pad (x, pads) y = Sinh (p)", constants=ZEROS, finds="PAD102 Pad", claims="T+2 0; any"
    ),
    "Softplus of zeros": Example(
        "p = Pad (x, pads) y = Softplus (p)", constants=ZEROS, finds="PAD102 Pad", claims="T+2 finite; 0..inf; finite"
    ),
    "Softplus of bounded steps": Example(
        "c = Cos (x) b = Add (c, three) y = Softplus (b)",
        constants="float three = {3}",
        claims="T finite; 0..inf; finite",
    ),
    "Softplus of bounded steps below 0": Example(
        "c = Cos (x) b = Sub (c, three) y = Softplus (b)",
        constants="float three = {3}",
        claims="T finite; 0..inf; finite",
    ),
    "Softsign of zeros": Example(
        "p = Pad (x, pads) y = Softsign (p)", constants=ZEROS, finds="PAD102 Pad", claims="T+2 0; -1..1; finite"
    ),
    "Sqrt of zeros": Example(
        "p = Pad (x, pads) e = Abs (p) i = Add (e, two) y = Sqrt (i)",
        constants=f"{ZEROS}, float two = {{2}}",
        finds="PAD102 Pad",
        claims="T+2 1.41421; 1.414..inf; finite",
    ),
    "Sqrt of bounded steps": Example(
        "c = Cos (x) b = Add (c, three) y = Sqrt (b)",
        constants="float three = {3}",
        claims="T finite; 1.414..2; finite",
    ),
    "Sqrt of steps": Example("y = Sqrt (x)", claims="T any; 0..inf; any"),
    "Swish of zeros": Example(
        "p = Pad (x, pads) y = Swish (p)", constants=ZEROS, opset=24, finds="PAD102 Pad", claims="T+2 0; finite"
    ),
    "Tan of zeros": Example("p = Pad (x, pads) y = Tan (p)", constants=ZEROS, finds="PAD102 Pad", claims="T+2 0; any"),
    "Tan of bounded steps": Example(
        "c = Cos (x) b = Add (c, three) y = Tan (b)", constants="float three = {3}", claims="T any; any"
    ),
    "Tan of bounded steps below 0": Example(
        "c = Cos (x) b = Sub (c, three) y = Tan (b)", constants="float three = {3}", claims="T any; any"
    ),
    "Tanh of zeros": Example(
        "p = Pad (x, pads) y = Tanh (p)", constants=ZEROS, finds="PAD102 Pad", claims="T+2 0; -1..1; finite"
    ),
    "ThresholdedRelu of zeros": Example(
        "p = Pad (x, pads) y = ThresholdedRelu (p)", constants=ZEROS, finds="PAD102 Pad", claims="T+2 0; finite"
    ),
    "Abs of zeros": Example(
        "p = Pad (x, pads) y = Abs (p)", constants=ZEROS, finds="PAD102 Pad", claims="T+2 0; 0..inf; finite"
    ),
    "Abs of bounded steps": Example(
        "c = Cos (x) b = Add (c, three) y = Abs (b)", constants="float three = {3}", claims="T finite; 2..4; finite"
    ),
    "Abs of bounded steps below 0": Example(
        "c = Cos (x) b = Sub (c, three) y = Abs (b)", constants="float three = {3}", claims="T finite; 2..4; finite"
    ),
    "Ceil of zeros": Example(
        "p = Pad (x, pads) y = Ceil (p)", constants=ZEROS, finds="PAD102 Pad", claims="T+2 0; finite"
    ),
    "Ceil of bounded steps": Example(
        "c = Cos (x) b = Add (c, three) y = Ceil (b)", constants="float three = {3}", claims="T finite; 2..5; finite"
    ),
    "Ceil of bounded steps below 0": Example(
        "c = Cos (x) b = Sub (c, three) y = Ceil (b)", constants="float three = {3}", claims="T finite; -4..-1; finite"
    ),
    "Identity of zeros": Example(
        "p = Pad (x, pads) y = Identity (p)", constants=ZEROS, finds="PAD102 Pad", claims="T+2 0; finite"
    ),
    "Identity of bounded steps": Example(
        "c = Cos (x) b = Add (c, three) y = Identity (b)",
        constants="float three = {3}",
        claims="T finite; 2..4; finite",
    ),
    "Identity of bounded steps below 0": Example(
        "c = Cos (x) b = Sub (c, three) y = Identity (b)",
        constants="float three = {3}",
        claims="T finite; -4..-2; finite",
    ),
    "Dropout of zeros": Example(
        "p = Pad (x, pads) y = Dropout (p)", constants=ZEROS, finds="PAD102 Pad", claims="T+2 0; finite"
    ),
    "Dropout of bounded steps": Example(
        "c = Cos (x) b = Add (c, three) y = Dropout (b)", constants="float three = {3}", claims="T finite; 2..4; finite"
    ),
    "Dropout of bounded steps below 0": Example(
        "c = Cos (x) b = Sub (c, three) y = Dropout (b)",
        constants="float three = {3}",
        claims="T finite; -4..-2; finite",
    ),
    "com.microsoft.QuickGelu of zeros": Example(
        "p = Pad (x, pads) y = com.microsoft.QuickGelu (p)", constants=ZEROS, finds="PAD102 Pad", claims="T+2 0; finite"
    ),
    "com.microsoft.FastGelu of zeros": Example(
        "p = Pad (x, pads) y = com.microsoft.FastGelu (p)", constants=ZEROS, finds="PAD102 Pad", claims="T+2 0; finite"
    ),
    "com.microsoft.Gelu of zeros": Example(
        "p = Pad (x, pads) y = com.microsoft.Gelu (p)", constants=ZEROS, finds="PAD102 Pad", claims="T+2 0; finite"
    ),
    "BiasGelu": Example(
        "t = Transpose <perm = [0, 2, 1]> (x) y = com.microsoft.BiasGelu (t, b)",
        "float[1, T, 2] y",
        constants="float[2] b",
        claims="T finite; finite",
    ),
    "PRelu": Example(
        "p = Pad (x, pads) y = PRelu (p, s)",
        constants=f"{ZEROS}, float[2, 1] s",
        finds="PAD102 Pad",
        claims="T+2 finite; finite",
    ),
    "HardSigmoid of zeros, steep": Example(
        "p = Pad (x, pads) y = HardSigmoid <alpha = 0.5, beta = 0.25> (p)",
        constants=ZEROS,
        finds="PAD102 Pad",
        claims="T+2 finite; 0..1; finite",
    ),
    "Add": Example("y = Add (x, x)", claims="T finite; finite"),
    "Add of zeros": Example(
        "p = Pad (x, pads) y = Add (p, three)",
        constants=f"{ZEROS}, {THREE}",
        finds="PAD102 Pad",
        claims="T+2 3; finite",
    ),
    "Add of bounded steps": Example(f"{BOUNDS} y = Add (b, n)", constants=THREE, claims="T finite; -2..2; finite"),
    "Add of an infinite mask": Example(
        f"{POSITIONS} k = Less (i, n) m = Where (k, three, low) y = Add (x, m)",
        constants=f"{NUMBERS}, {THREE}, float low = {{-inf}}",
        finds="PAD106 Less",
        claims="T -inf; finite",
        harmless="PAD106",
    ),
    "Add of an infinite mask in the padding": Example(
        "p = Pad (x, pads, low) y = Add (p, three)",
        constants=f"{ZEROS}, {THREE}, float low = {{-inf}}",
        finds="PAD102 Pad",
        claims="T+2 -inf; any; masked",
    ),
    "Sub of an infinite mask in the padding": Example(
        "p = Pad (x, pads, low) y = Sub (three, p)",
        constants=f"{ZEROS}, {THREE}, float low = {{-inf}}",
        finds="PAD102 Pad",
        claims="T+2 inf; any; masked",
    ),
    "Sub of itself, infinite in the padding": Example(
        "p = Pad (x, pads, low) y = Sub (p, p)",
        constants=f"{ZEROS}, float low = {{-inf}}",
        finds="PAD102 Pad",
        claims="T+2 any; any; masked",
        harmless="PAD102",
    ),
    "Mul of an infinite mask in the padding": Example(
        "p = Pad (x, pads, low) y = Mul (p, three)",
        constants=f"{ZEROS}, {THREE}, float low = {{-inf}}",
        finds="PAD102 Pad",
        claims="T+2 any; any; masked",
    ),
    "Mul of an infinite mask by steps": Example(
        "p = Pad (x, pads, low) q = Pad (x, pads) y = Mul (p, q)",
        constants=f"{ZEROS}, float low = {{-inf}}",
        finds="PAD102 Pad, PAD102 Pad",
        claims="T+2 any; any; masked",
        harmless="PAD102",
    ),
    "Div of an infinite mask in the padding": Example(
        "p = Pad (x, pads, low) y = Div (p, three)",
        constants=f"{ZEROS}, {THREE}, float low = {{-inf}}",
        finds="PAD102 Pad",
        claims="T+2 any; any; masked",
    ),
    "Div of scores that data masks": Example(
        "k = Greater (x, nil) m = Where (k, x, low) y = Div (m, three)",
        constants=f"{THREE}, float nil = {{0}}, float low = {{-inf}}",
        claims="T any; any; masked",
    ),
    "Mul of scores that data masks": Example(
        "k = Greater (x, nil) m = Where (k, x, low) y = Mul (m, three)",
        constants=f"{THREE}, float nil = {{0}}, float low = {{-inf}}",
        claims="T any; any; masked",
    ),
    "Add of scores that data masks": Example(
        "k = Greater (x, nil) m = Where (k, x, low) y = Add (m, x)",
        constants="float nil = {0}, float low = {-inf}",
        claims="T any; any; masked",
    ),
    "Relu of scores that data masks": Example(
        "k = Greater (x, nil) m = Where (k, x, low) y = Relu (m)",
        constants="float nil = {0}, float low = {-inf}",
        claims="T any; 0..inf; any",
    ),
    "Add of a low number": Example(
        "p = Pad (x, pads, low) y = Add (p, three)",
        constants=f"{ZEROS}, {THREE}, float low = {{-1e30}}",
        finds="PAD102 Pad",
        claims="T+2 -1e+30; finite; masked",
    ),
    "Sub of bounded steps": Example(f"{BOUNDS} y = Sub (b, n)", constants=THREE, claims="T finite; 4..8; finite"),
    "Sub of zeros": Example(
        "p = Pad (x, pads) y = Sub (three, p)",
        constants=f"{ZEROS}, {THREE}",
        finds="PAD102 Pad",
        claims="T+2 3; finite",
    ),
    "Mul": Example("s = Sin (x) y = Mul (x, s)", claims="T finite; finite"),
    "Mul of itself": Example(f"{BOUNDS} y = Mul (n, n)", constants=THREE, claims="T finite; 0..16; finite"),
    "Mul of bounded steps": Example(f"{BOUNDS} y = Mul (b, n)", constants=THREE, claims="T finite; -16..-4; finite"),
    "Mul of bounded steps of either sign": Example(
        f"{BOUNDS} s = Sin (x) y = Mul (n, s)", constants=THREE, claims="T finite; -4..4; finite"
    ),
    "Mul of zeros by steps": Example(
        "p = Pad (x, pads) q = Pad (x, pads, c) y = Mul (p, q)",
        constants=f"{ZEROS}, float c = {{0.5}}",
        finds="PAD102 Pad, PAD102 Pad",
        claims="T+2 0; finite",
    ),
    "Mul of zeros by what may be infinite": Example(
        "p = Pad (x, pads) z = Conv <pads = [2, 0]> (p, w) e = Exp (z) y = Mul (p, e)",
        constants=f"{ZEROS}, float[2, 2, 3] w",
        finds="PAD102 Pad",
        claims="T+2 any; any",
    ),
    "Mul of zeros by finite": Example(
        "p = Pad (x, pads) z = Conv <pads = [2, 0]> (p, w) y = Mul (p, z)",
        constants=f"{ZEROS}, float[2, 2, 3] w",
        finds="PAD102 Pad",
        claims="T+2 0; finite",
    ),
    "Div by what is above 0": Example(f"{BOUNDS} y = Div (x, b)", constants=THREE, claims="T finite; finite"),
    "Div by what is below 0": Example(f"{BOUNDS} y = Div (b, n)", constants=THREE, claims="T finite; -2..-0.5; finite"),
    "Div by what may be 0": Example("y = Div (x, x)", claims="T any; any"),
    "Div by what touches 0": Example("a = Abs (x) y = Div (x, a)", claims="T any; any"),
    "Div of zeros": Example(
        "p = Pad (x, pads) c = Cos (p) d = Add (c, three) y = Div (p, d)",
        constants=f"{ZEROS}, {THREE}",
        finds="PAD102 Pad",
        claims="T+2 0; finite",
    ),
    "Div of zeros by a convolution": Example(
        "p = Pad (x, pads) z = Conv <pads = [2, 0]> (p, w) c = Cos (z) d = Add (c, three) y = Div (p, d)",
        constants=f"{ZEROS}, {THREE}, float[2, 2, 3] w",
        finds="PAD102 Pad",
        claims="T+2 0; finite",
    ),
    "Div of zeros by what may be 0": Example(
        "p = Pad (x, pads) z = Conv <pads = [2, 0]> (p, w) y = Div (p, z)",
        constants=f"{ZEROS}, float[2, 2, 3] w",
        finds="PAD102 Pad",
        claims="T+2 any; any",
    ),
    "Div by what may be 0, read over time": Example(
        "d = Div (x, x) t = Transpose <perm = [0, 2, 1]> (d) y = MatMul (x, t)",
        "float[1, 2, 2] y",
        finds="PAD108 MatMul",
        claims="any",
    ),
    "Div by the length": Example(
        f"{LENGTH} f = Cast <to = 1> (n) y = Div (x, f)", finds="PAD106 Div", claims="T finite; finite"
    ),
    "Div by the length less one": Example(
        f"{LENGTH} m = Sub (n, one) f = Cast <to = 1> (m) y = Div (x, f)",
        constants="int64 one = {1}",
        finds="PAD106 Div",
        claims="T finite; finite",
        first="T=2",
    ),
    "Div of codes": Example("y = Div (x, three)", CODED, CODES, "int64 three = {3}", claims="T finite; finite"),
    "Div of codes below 0": Example(
        "f = Sub (x, nine) y = Div (f, three)",
        CODED,
        CODES,
        "int64 three = {3}, int64 nine = {9}",
        claims="T finite; finite",
    ),
    "Div of bounded codes": Example(
        "m = Mod (x, nine) y = Div (m, four)",
        CODED,
        CODES,
        "int64 four = {4}, int64 nine = {9}",
        claims="T finite; 0..3; finite",
    ),
    "Div by codes": Example(
        "m = Max (x, one) y = Div (nine, m)",
        CODED,
        CODES,
        "int64 one = {1}, int64 nine = {9}",
        claims="T finite; 0..10; finite",
    ),
    "Div by sums of codes": Example(
        "m = Max (x, one) c = CumSum (m, axis) y = Div (nine, c)",
        CODED,
        CODES,
        "int64 one = {1}, int64 nine = {9}, int64 axis = {2}",
        claims="T 9; finite",
        guards="Div",
    ),
    "Mod of codes": Example("y = Mod (x, seven)", CODED, CODES, "int64 seven = {7}", claims="T finite; 0..7; finite"),
    "Mod by codes": Example(
        "m = Max (x, one) y = Mod (nine, m)",
        CODED,
        CODES,
        "int64 one = {1}, int64 nine = {9}",
        claims="T finite; finite",
    ),
    "Mod of steps": Example("y = Mod <fmod = 1> (x, three)", constants=THREE, claims="T any; 0..3; any"),
    "Pow of even": Example("y = Pow (x, two)", constants="float two = {2}", claims="T finite; 0..inf; finite"),
    "Pow of odd": Example("y = Pow (x, two)", constants="float two = {3}", claims="T finite; finite"),
    "Pow of odd of what is above 0": Example(
        f"{BOUNDS} y = Pow (b, two)", constants=f"{THREE}, float two = {{3}}", claims="T finite; 0..inf; finite"
    ),
    "Pow of a fraction": Example(
        f"{BOUNDS} y = Pow (b, half)", constants=f"{THREE}, float half = {{0.5}}", claims="T finite; 0..inf; finite"
    ),
    "Pow of a fraction of what may be negative": Example(
        "y = Pow (x, half)", constants="float half = {0.5}", claims="T any; any"
    ),
    "Pow of a negative": Example(
        f"{BOUNDS} y = Pow (b, back)", constants=f"{THREE}, float back = {{-1}}", claims="T finite; finite"
    ),
    "Pow of a negative of what may be 0": Example(
        "a = Abs (x) y = Pow (a, back)", constants="float back = {-1}", claims="T any; any"
    ),
    "Pow of zeros": Example(
        "p = Pad (x, pads) y = Pow (p, two)",
        constants=f"{ZEROS}, float two = {{2}}",
        finds="PAD102 Pad",
        claims="T+2 0; 0..inf; finite",
    ),
    "Max": Example(f"{BOUNDS} y = Max (b, n, x)", constants=THREE, claims="T finite; 2..inf; finite"),
    "Max of two": Example(f"{BOUNDS} y = Max (b, n)", constants=THREE, claims="T finite; 2..4; finite"),
    "Min": Example(f"{BOUNDS} y = Min (b, n)", constants=THREE, claims="T finite; -4..-2; finite"),
    "Max and Min of zeros": Example(
        "p = Pad (x, pads) m = Max (p, three) y = Min (m, p)",
        constants=f"{ZEROS}, {THREE}",
        finds="PAD102 Pad",
        claims="T+2 0; finite",
    ),
    "Mean": Example(f"{BOUNDS} y = Mean (b, n)", constants=THREE, claims="T finite; -1..1; finite"),
    "Mean of zeros": Example(
        "p = Pad (x, pads) y = Mean (p, three)",
        constants=f"{ZEROS}, {THREE}",
        finds="PAD102 Pad",
        claims="T+2 1.5; finite",
    ),
    "Sum": Example(f"{BOUNDS} y = Sum (b, n, b)", constants=THREE, claims="T finite; 0..6; finite"),
    "Sum of zeros": Example(
        "p = Pad (x, pads) y = Sum (p, three, three)",
        constants=f"{ZEROS}, {THREE}",
        finds="PAD102 Pad",
        claims="T+2 6; finite",
    ),
    "Clip": Example(
        "y = Clip (x, low, high)",
        constants="float low = {-0.5}, float high = {0.5}",
        claims="T finite; -0.5..0.5; finite",
    ),
    "Clip below": Example("y = Clip (x, low)", constants="float low = {0.25}", claims="T finite; 0.25..inf; finite"),
    "Clip above": Example(
        "y = Clip (x, , high)", constants="float high = {0.25}", claims="T finite; -inf..0.25; finite"
    ),
    "Clip of bounded steps": Example(
        f"{BOUNDS} y = Clip (b, low, high)",
        constants=f"{THREE}, float low = {{0}}, float high = {{2.5}}",
        claims="T finite; 2..2.5; finite",
    ),
    "Clip of zeros": Example(
        "p = Pad (x, pads) y = Clip (p, low, high)",
        constants=f"{ZEROS}, float low = {{0.5}}, float high = {{0.75}}",
        finds="PAD102 Pad",
        claims="T+2 0.5; 0.5..0.75; finite",
    ),
    "Clip of zeros from above": Example(
        "p = Pad (x, pads) y = Clip (p, , high)",
        constants=f"{ZEROS}, float high = {{-0.75}}",
        finds="PAD102 Pad",
        claims="T+2 -0.75; -inf..-0.75; finite",
    ),
    "Clip by the length": Example(
        f"{POSITIONS} k = Clip (i, , n) f = Cast <to = 1> (k) y = Add (x, f)",
        constants=NUMBERS,
        finds="PAD106 Min",
        claims="T finite; finite",
        harmless="PAD106",
    ),
    "Where": Example(
        "k = Greater (x, nil) y = Where (k, x, three)",
        constants=f"{THREE}, float nil = {{0}}",
        claims="T finite; finite",
    ),
    "Where of bounded steps": Example(
        f"{BOUNDS} k = Greater (x, nil) y = Where (k, b, n)",
        constants=f"{THREE}, float nil = {{0}}",
        claims="T finite; -4..4; finite",
    ),
    "Where of a mask of zeros": Example(
        "p = Pad (x, pads) k = Cast <to = 9> (p) y = Where (k, three, p)",
        constants=f"{ZEROS}, {THREE}",
        finds="PAD102 Pad",
        claims="T+2 0; finite",
    ),
    "Where of the valid steps": Example(
        f"{POSITIONS} k = Less (i, n) y = Where (k, x, three)",
        constants=f"{NUMBERS}, {THREE}",
        finds="PAD106 Less",
        claims="T 3; finite",
        harmless="PAD106",
    ),
    "Where of the other steps": Example(
        f"{POSITIONS} k = GreaterOrEqual (i, n) y = Where (k, three, x)",
        constants=f"{NUMBERS}, {THREE}",
        finds="PAD106 GreaterOrEqual",
        claims="T 3; finite",
        harmless="PAD106",
    ),
    "Where fills by the lowest number": Example(
        f"{POSITIONS} k = Less (i, n) y = Where (k, x, low)",
        constants=f"{NUMBERS}, float low = {{-3e38}}",
        finds="PAD106 Less",
        claims="T -3e+38; finite",
        harmless="PAD106",
    ),
    "Equal": Example("k = Equal (x, x) y = Not (k)", "bool[1, 2, T] y", claims="T finite; 0..1; finite"),
    "Equal of positions": Example(
        f"{POSITIONS} k = Equal (i, one) f = Cast <to = 1> (k) y = Mul (x, f)",
        constants=NUMBERS,
        claims="T finite; finite",
    ),
    "Less of positions and the length": Example(
        f"{POSITIONS} k = Less (i, n) f = Cast <to = 1> (k) y = Mul (x, f)",
        constants=NUMBERS,
        finds="PAD106 Less",
        claims="T 0; finite",
        harmless="PAD106",
    ),
    "LessOrEqual of positions and the length": Example(
        f"{POSITIONS} k = LessOrEqual (i, n) f = Cast <to = 1> (k) y = Mul (x, f)",
        constants=NUMBERS,
        finds="PAD106 LessOrEqual",
        claims="T finite; finite",
        harmless="PAD106",
    ),
    "Greater of the length and positions": Example(
        f"{POSITIONS} k = Greater (n, i) f = Cast <to = 1> (k) y = Mul (x, f)",
        constants=NUMBERS,
        finds="PAD106 Greater",
        claims="T 0; finite",
        harmless="PAD106",
    ),
    "GreaterOrEqual of the length and positions": Example(
        f"{POSITIONS} k = GreaterOrEqual (n, i) f = Cast <to = 1> (k) y = Mul (x, f)",
        constants=NUMBERS,
        finds="PAD106 GreaterOrEqual",
        claims="T finite; finite",
        harmless="PAD106",
    ),
    "the length less positions": Example(
        f"{POSITIONS} d = Sub (n, i) k = Greater (d, one) f = Cast <to = 1> (k) y = Mul (x, f)",
        constants=NUMBERS,
        finds="PAD105 Mul",
        claims="T finite; finite",
    ),
    "And of a mask of zeros": Example(
        "p = Pad (x, pads) k = Cast <to = 9> (p) g = Greater (p, three) y = And (k, g)",
        "bool[1, 2, U] y",
        constants=f"{ZEROS}, {THREE}",
        finds="PAD102 Pad",
        claims="T+2 0; 0..1; finite",
        harmless="PAD102",
    ),
    "And of one mask": Example(
        "p = Pad (x, pads) z = Conv <pads = [2, 0]> (p, w) k = Cast <to = 9> (p) g = Greater (z, three) y = And (k, g)",
        "bool[1, 2, U] y",
        constants=f"{ZEROS}, {THREE}, float[2, 2, 3] w",
        finds="PAD102 Pad",
        claims="T+2 0; 0..1; finite",
    ),
    "Or of a mask": Example(
        "p = Pad (x, pads) z = Conv <pads = [2, 0]> (p, w) k = Cast <to = 9> (p) q = Not (k) g = Greater (z, "
        "three) y = Or (q, g)",
        "bool[1, 2, U] y",
        constants=f"{ZEROS}, {THREE}, float[2, 2, 3] w",
        finds="PAD102 Pad",
        claims="T+2 1; 0..1; finite",
    ),
    "Or of zeros": Example(
        "p = Pad (x, pads) k = Cast <to = 9> (p) y = Or (k, k)",
        "bool[1, 2, U] y",
        constants=ZEROS,
        finds="PAD102 Pad",
        claims="T+2 0; 0..1; finite",
    ),
    "Xor of a mask": Example(
        "p = Pad (x, pads) k = Cast <to = 9> (p) q = Not (k) y = Xor (k, q)",
        "bool[1, 2, U] y",
        constants=ZEROS,
        finds="PAD102 Pad",
        claims="T+2 1; 0..1; finite",
        harmless="PAD102",
    ),
    "Xor of equal masks": Example(
        "p = Pad (x, pads) k = Cast <to = 9> (p) y = Xor (k, k)",
        "bool[1, 2, U] y",
        constants=ZEROS,
        finds="PAD102 Pad",
        claims="T+2 0; 0..1; finite",
        harmless="PAD102",
    ),
    "IsNaN": Example("y = IsNaN (x)", "bool[1, 2, T] y", claims="T 0; 0..1; 0"),
    "IsNaN of what may be infinite": Example(
        "e = Exp (x) y = IsNaN (e)", "bool[1, 2, T] y", claims="T finite; 0..1; finite"
    ),
    "IsInf": Example("y = IsInf (x)", "bool[1, 2, T] y", claims="T 0; 0..1; 0"),
    "IsInf of a mask": Example(
        "p = Pad (x, pads, low) y = IsInf (p)",
        "bool[1, 2, U] y",
        constants=f"{ZEROS}, float low = {{-inf}}",
        finds="PAD102 Pad",
        claims="T+2 1; 0..1; finite",
    ),
    "IsNaN of a mask": Example(
        "p = Pad (x, pads, low) y = IsNaN (p)",
        "bool[1, 2, U] y",
        constants=f"{ZEROS}, float low = {{-inf}}",
        finds="PAD102 Pad",
        claims="T+2 0; 0..1; finite",
        harmless="PAD102",
    ),
    "Not of zeros": Example(
        "p = Pad (x, pads) k = Cast <to = 9> (p) y = Not (k)",
        "bool[1, 2, U] y",
        constants=ZEROS,
        finds="PAD102 Pad",
        claims="T+2 1; 0..1; finite",
    ),
    "BitwiseAnd of zeros": Example(
        "p = Pad (x, pads) y = BitwiseAnd (p, three)",
        "int64[1, 2, U] y",
        CODES,
        f"{ZEROS}, int64 three = {{3}}",
        finds="PAD102 Pad",
        claims="T+2 0; finite",
    ),
    "BitwiseOr of zeros": Example(
        "p = Pad (x, pads) y = BitwiseOr (p, three)",
        "int64[1, 2, U] y",
        CODES,
        f"{ZEROS}, int64 three = {{3}}",
        finds="PAD102 Pad",
        claims="T+2 finite; finite",
    ),
    "BitwiseXor": Example("y = BitwiseXor (x, three)", CODED, CODES, "int64 three = {3}", claims="T finite; finite"),
    "BitwiseNot": Example("y = BitwiseNot (x)", CODED, CODES, claims="T finite; finite"),
    "BitShift": Example(
        'u = Cast <to = 13> (x) s = BitShift <direction = "LEFT"> (u, one) y = Cast <to = 7> (s)',
        CODED,
        CODES,
        "uint64 one = {1}",
        claims="T finite; finite",
    ),
    "Cast to integers": Example(
        f"{BOUNDS} h = Mul (b, half) y = Cast <to = 7> (h)",
        CODED,
        constants=f"{THREE}, float half = {{0.7}}",
        claims="T finite; 1..3; finite",
    ),
    "Cast of what may be infinite to integers": Example(
        "a = Abs (x) l = Log (a) e = Exp (l) m = Min (e, three) y = Cast <to = 7> (m)",
        CODED,
        constants=THREE,
        claims="T any; 0..3; finite",
    ),
    "Cast to half precision": Example(
        f"{BOUNDS} h = Cast <to = 10> (n) y = Cast <to = 1> (h)",
        constants=THREE,
        claims="T finite; -4.063..-1.969; finite",
    ),
    "Cast of half to half precision": Example(
        f"{BOUNDS} h = Cast <to = 10> (b) y = Cast <to = 1> (h)",
        constants=THREE,
        claims="T finite; 1.969..4.063; finite",
    ),
    "Cast of zeros to half precision": Example(
        "p = Pad (x, pads, c) h = Cast <to = 10> (p) y = Cast <to = 1> (h)",
        constants=f"{ZEROS}, float c = {{0.1}}",
        finds="PAD102 Pad",
        claims="T+2 0.0999756; finite",
    ),
    "Cast of a constant to integers": Example(
        "p = Pad (x, pads, c) y = Cast <to = 7> (p)",
        "int64[1, 2, U] y",
        constants=f"{ZEROS}, float c = {{2.7}}",
        finds="PAD102 Pad",
        claims="T+2 2; finite",
    ),
    "Cast of a mask to integers": Example(
        "p = Pad (x, pads, c) y = Cast <to = 7> (p)",
        "int64[1, 2, U] y",
        constants=f"{ZEROS}, float c = {{inf}}",
        finds="PAD102 Pad",
        claims="T+2 any; finite",
    ),
    "Cast of zeros to conditions": Example(
        "p = Pad (x, pads) y = Cast <to = 9> (p)",
        "bool[1, 2, U] y",
        constants=ZEROS,
        finds="PAD102 Pad",
        claims="T+2 0; 0..1; finite",
    ),
    "Cast of ones to conditions": Example(
        "p = Pad (x, pads, c) y = Cast <to = 9> (p)",
        "bool[1, 2, U] y",
        constants=f"{ZEROS}, float c = {{0.5}}",
        finds="PAD102 Pad",
        claims="T+2 1; 0..1; finite",
        harmless="PAD102",
    ),
    "Exp in half precision": Example(
        "c = Cos (x) n = Mul (c, twenty) h = Cast <to = 10> (n) e = Exp (h) y = Cast <to = 1> (e)",
        constants="float twenty = {9}",
        claims="T finite; 0.0001141..8761; finite",
    ),
    "Exp at its limit": Example(
        "c = Cos (x) n = Mul (c, far) y = Exp (n)",
        constants="float far = {88}",
        claims="T finite; 6.055e-39..1.652e+38; finite",
    ),
    "Exp past its limit": Example(
        "c = Cos (x) n = Mul (c, far) y = Exp (n)",
        constants="float far = {88.5}",
        claims="T any; 3.672e-39..2.723e+38; any",
    ),
    "rows by their own length": Example(
        f"{LENGTH} f = Cast <to = 1> (n) y = Div (x, f)",
        "float[batch, 2, T] y",
        "float[batch, 2, T] x",
        rows=0,
        finds="PAD106 Div",
        claims="T finite; finite",
    ),
    "rows by their own positions": Example(
        f"{POSITIONS} f = Cast <to = 1> (i) m = Cast <to = 1> (n) d = Div (f, m) y = Mul (x, d)",
        "float[batch, 2, T] y",
        "float[batch, 2, T] x",
        NUMBERS,
        rows=0,
        finds="PAD106 Div",
        claims="T finite; finite",
        harmless="PAD106",
        guards="Mul",
    ),
    "one vector of lengths for all rows": Example(
        "s = Shape (x) f = Cast <to = 1> (s) u = Unsqueeze (f, axes) t = Transpose <perm = [0, 1, 2]> (u) y = "
        "Mul (x, t)",
        "float[batch, 3, T] y",
        "float[batch, 3, T] x",
        "int64[2] axes = {0, 2}",
        rows=0,
        refused="the number of rows is used as data, and native has one row a",
    ),
    "sizes that do not agree": Example(
        "y = Add (x, w)", constants="float[1, 2, 9] w", refused="sizes T and 9 do not agree at every length"
    ),
    "a transposed convolution plus a constant, cropped": Example(
        "c = ConvTranspose <strides = [2]> (x, w) a = Add (c, b) y = Slice (a, from, to, axis)",
        constants="float[2, 2, 3] w, float[2, 1] b, int64[1] from = {0}, int64[1] to = {-1}, int64[1] axis = {2}",
        claims="2*T finite; finite",
    ),
    "a transposed convolution plus itself, cropped": Example(
        "c = ConvTranspose <strides = [2]> (x, w) a = Add (c, c) y = Slice (a, from, to, axis)",
        constants="float[2, 2, 3] w, int64[1] from = {0}, int64[1] to = {-1}, int64[1] axis = {2}",
        finds="PAD102 ConvTranspose",
        claims="2*T finite; finite",
        harmless="PAD102",
    ),
    "a transposed convolution plus a wider constant, cropped": Example(
        "c = ConvTranspose <strides = [2]> (x, w) a = Add (c, b) y = Slice (a, from, to, axis)",
        "float[1, 1, 2, U] y",
        constants="float[2, 2, 3] w, float[1, 1, 2, 1] b, int64[1] from = {0}, int64[1] to = {-1}, int64[1] axis = {3}",
        finds="PAD102 ConvTranspose",
        claims="2*T finite; finite",
        harmless="PAD102",
    ),
    "Dropout, its mask unread": Example("y, m = Dropout (x)", claims="T finite; finite"),
    "a power of integers": Example(
        "y = Pow (x, p)", "float[1, 2, T] y", constants="int64 p = {3}", claims="T finite; finite"
    ),
    "a constant beside an overlap that is cut off": Example(
        "c = ConvTranspose <strides = [2]> (x, w) b = Mul (c, k) y = Slice (b, o, e, a)",
        "float[1, 20, U] y",
        constants="float[2, 20, 3] w, float[1, 20, 1] k, int64[1] o = {0}, int64[1] e = {-1}, int64[1] a = {2}",
        claims="2*T finite; finite",
    ),
    "another length beside an overlap that is cut off": Example(
        "c = ConvTranspose <strides = [2]> (x, w) d = Neg (u) b = Mul (c, d) y = Slice (b, o, e, a)",
        "float[1, 20, U] y",
        "float[1, 2, T] x, float[1, 20, U] u",
        constants="float[2, 20, 3] w, int64[1] o = {0}, int64[1] e = {-1}, int64[1] a = {2}",
        refused="sizes 2*T+1 and U do not agree at every length",
    ),
    "the length beside an overlap that is cut off": Example(
        "c = ConvTranspose <strides = [2]> (x, w) n = Shape <start = 2> (x) f = Cast <to = 1> (n) b = Mul (c, f) "
        "y = Slice (b, o, e, a)",
        "float[1, 20, U] y",
        constants="float[2, 20, 3] w, int64[1] o = {0}, int64[1] e = {-1}, int64[1] a = {2}",
        finds="PAD102 ConvTranspose, PAD106 Mul",
        claims="2*T finite; finite",
        harmless="PAD102",
    ),
    "a table of positions, as long as it reaches": Example(
        "s = Shape <start = 2> (x) p = Slice (t, o, s, o) y = Add (x, p)",
        "float[1, 2, T] y",
        constants="float[20] t, int64[1] o = {0}",
        claims="T finite; finite",
        last="T=20",
    ),
    "a table of one length": Example(
        "y = Add (x, t)",
        "float[1, 2, T] y",
        constants="float[5] t",
        refused="sizes T and 5 do not agree at every length",
    ),
    "a table of as many steps as are kept": Example(
        "c = Slice (x, o, e, a) y = Add (c, t)",
        "float[1, 2, U] y",
        constants="float[5] t, int64[1] o = {0}, int64[1] e = {5}, int64[1] a = {2}",
        refused="sizes min(T, 5) and 5 do not agree at every length",
    ),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name: str) -> None:
    EXAMPLES[name].check()


def test_a_limit_lowers_both_bounds() -> None:
    """min(i + 1, n - 1) was taken to be at least 1; at n = 1 it is 0."""
    text = """<ir_version: 10, opset_import: ["": 17]>
        g (float[1, T] x) => (float[1, T] y) <int64 axis = {1}, int64 one = {1}, int64 nil = {0}> {
           s = Shape (x)
           n = Gather (s, axis)
           i = Range (nil, n, one)
           next = Add (i, one)
           last = Sub (n, one)
           near = Clip (next, , last)
           f = Cast <to = 1> (near)
           y = Mul (x, f)
        }"""
    facts = open_model(onnx.parser.parse_model(text), ["x:1=T"]).analyse().values["near"]
    assert facts.low <= 0 < facts.high


def test_mean_of_several_streams() -> None:
    assert_exact("g (float[1, T, 2] x) => (float[1, T, 2] y) { a = Sin (x) y = Mean (x, a) }", "x:1=T")


def _kind(text: str) -> Kind:
    named = {"any": ANY, "finite": FINITE, "below": BELOW}
    return named[text] if text in named else constant(float(text))


def _operand(text: str, dtype: ir.DataType) -> Facts:
    """Along T the padding is of a kind; valid elements lie between bounds, as ``finite 1 2``, else anywhere."""
    kind, *bounds = text.split()
    low, high = map(float, bounds) if bounds else (-math.inf, math.inf)
    return tensor("T", pad=_kind(kind), dtype=dtype, low=low, high=high, finite=bool(bounds), masked=False)


@pytest.mark.parametrize(
    ("op_type", "operands", "padding"),
    [
        ("Where", ["1", "2", "any"], "2"), ("Where", ["0", "any", "3"], "3"), ("Where", ["finite", "2", "3"], "finite"),
        ("Where", ["finite", "2", "2"], "2"), ("Where", ["any", "2", "any"], "any"), ("And", ["0", "any"], "0"),
        ("And", ["any", "0"], "0"), ("And", ["1", "any"], "finite"), ("And", ["1", "1"], "1"),
        ("Or", ["1", "any"], "1"), ("Or", ["any", "1"], "1"), ("Or", ["0", "any"], "finite"), ("Or", ["0", "0"], "0"),
        ("Not", ["0"], "1"), ("Not", ["any"], "finite"), ("IsNaN", ["finite"], "0"), ("IsNaN", ["any"], "finite"),
        ("IsInf", ["finite"], "0"), ("IsInf", ["-inf"], "1"), ("IsNaN", ["below"], "finite"),
        ("Mul", ["0", "finite"], "0"), ("Mul", ["finite", "0"], "0"), ("Mul", ["0", "any"], "any"),
        ("Mul", ["0", "below"], "any"), ("Mul", ["2", "3"], "6"), ("Mul", ["finite", "finite"], "finite"),
        ("Div", ["0", "finite 1 2"], "0"), ("Div", ["0", "finite -1 2"], "any"), ("Div", ["0", "any"], "any"),
        ("Div", ["finite", "finite 1 2"], "finite"), ("Div", ["6", "4"], "1.5"),
        ("Div", ["finite", "finite -1 2"], "any"), ("Add", ["-inf", "finite"], "-inf"),
        ("Add", ["finite", "-inf"], "-inf"), ("Add", ["-inf", "any"], "any"), ("Add", ["inf", "-inf"], "any"),
        ("Add", ["-inf", "-inf"], "below"), ("Sub", ["-inf", "finite"], "-inf"), ("Sub", ["finite", "-inf"], "inf"),
        ("Sub", ["finite", "inf"], "-inf"), ("Sub", ["-inf", "any"], "any"), ("Add", ["below", "finite"], "below"),
        ("Add", ["below", "below"], "below"), ("Add", ["below", "any"], "any"), ("Add", ["below", "inf"], "any"),
        ("Add", ["finite", "finite"], "finite"), ("Sub", ["finite", "below"], "any"),
        ("Mul", ["below", "finite 2 2"], "below"), ("Mul", ["below", "finite -2 -2"], "any"),
        ("Mul", ["below", "finite 1 2"], "any"), ("Mul", ["below", "finite 0 0"], "any"),
        ("Div", ["below", "finite 2 2"], "below"), ("Div", ["below", "finite -2 -2"], "any"),
        ("Mul", ["any", "finite 2 2"], "any"), ("Elu", ["0"], "0"), ("Elu", ["1"], "finite"), ("Elu", ["any"], "any"),
        ("PRelu", ["0", "3"], "0"), ("PRelu", ["0", "any"], "any"), ("PRelu", ["1", "3"], "finite"),
        ("PRelu", ["0", "finite"], "finite"), ("Exp", ["0"], "1"), ("Exp", ["finite"], "any"),
        ("Exp", ["finite 1 2"], "finite"), ("Exp", ["-inf"], "0"), ("Sqrt", ["-1"], "any"),
        ("Less", ["any", "any"], "finite"), ("Less", ["1", "2"], "1"), ("Max", ["1", "2", "3"], "3"),
        ("Tan", ["finite"], "any"),
    ],
)  # fmt: skip
def test_the_padding_of_a_result(op_type: str, operands: list[str], padding: str) -> None:
    """Of kinds of the operands where they are padding: constants are evaluated, else what holds of all of them."""
    boolean = {"And", "Or", "Not"}
    given = [_operand(text, ir.DataType.BOOL if op_type in boolean else ir.DataType.FLOAT) for text in operands]
    (found,) = elementwise(context_of(op_type, *given))
    assert found is not None and found.pads[0].weak == _kind(padding), found.pads[0].weak


@pytest.mark.parametrize(
    ("operands", "attributes", "padding", "low", "high"),
    [
        (["finite 0 9", "finite 2 3", "finite 5 6"], {}, "finite", 2, 6),
        (["finite 0 9", "finite 2 3"], {}, "finite", 2, 9), (["finite 0 9", None, "finite 5 6"], {}, "finite", 0, 6),
        (["7", "2", "5"], {}, "5", 2, 5), (["1", "2", "5"], {}, "2", 2, 5), (["3", "2", "5"], {}, "3", 2, 5),
        (["7", None, "5"], {}, "5", None, 5), (["1", "2"], {}, "2", 2, None),
        (["finite 0 9"], {"min": 2.0, "max": 5.0}, "finite", 2, 5), (["7"], {"min": 2.0, "max": 5.0}, "5", 2, 5),
        (["1"], {"min": 2.0}, "2", 2, None), (["7"], {"max": 5.0}, "5", None, 5), (["finite 0 9"], {}, "finite", 0, 9),
        (["finite 7 9"], {"max": 5.0}, "finite", 5, 5), (["finite 0 1"], {"min": 2.0}, "finite", 2, 2),
    ],
)  # fmt: skip
def test_what_is_clipped(
    operands: list[str | None], attributes: dict[str, float], padding: str, low: float | None, high: float | None
) -> None:
    """By inputs or, of old models, by attributes; either limit may be missing."""
    limits = [None if text is None else _limit(text) for text in operands[1:]]
    (found,) = elementwise(context_of("Clip", _operand(operands[0] or "", ir.DataType.FLOAT), *limits, **attributes))
    assert found is not None and found.pads[0].weak == _kind(padding)
    assert (found.low, found.high) == (-math.inf if low is None else low, math.inf if high is None else high)


def _limit(text: str) -> Facts:
    low, high = map(float, text.split()[1:]) if " " in text else (float(text),) * 2
    return tensor(low=low, high=high, finite=True, masked=False)


@pytest.mark.parametrize(
    ("to", "kind", "padding"),
    [
        (9, "3", "1"), (9, "0", "0"), (9, "any", "any"), (10, "65520", "inf"),
        (10, "0.1", str(float(np.float16(0.1)))), (1, "0.1", "0.1"), (11, "0.1", "0.1"), (16, "0.5", "0.5"),
        (7, "2.5", "2"), (7, "-2.5", "-2"), (7, "inf", "any"), (7, "finite", "finite"), (7, "any", "any"),
        (1, "-inf", "-inf"), (1, "any", "any"),
    ],
)  # fmt: skip
def test_the_padding_of_a_cast(to: int, kind: str, padding: str) -> None:
    (found,) = elementwise(context_of("Cast", _operand(kind, ir.DataType.FLOAT), to=to))
    assert found is not None and found.pads[0].weak == _kind(padding) and found.dtype == to


@pytest.mark.parametrize(
    ("numerator", "divisor", "padding"), [("7", "2", "3"), ("-7", "2", "-3"), ("7", "-2", "-3"), ("7", "1", "7")]
)
def test_the_padding_of_an_integer_quotient(numerator: str, divisor: str, padding: str) -> None:
    given = [_operand(text, ir.DataType.INT64) for text in (numerator, f"{divisor} {divisor} {divisor}")]
    (found,) = elementwise(context_of("Div", *given))
    assert found is not None and found.pads[0].weak == _kind(padding)


@pytest.mark.parametrize(
    ("low", "high", "pad", "filled"),
    [
        (1, 9, "any", False), (-9, -1, "any", False), (0, 9, "any", True), (-9, 0, "0", True), (-9, 9, "2", False),
        (-9, 9, "finite", True),
    ],
)  # fmt: skip
@pytest.mark.parametrize("op_type", ["Div", "Mod"])
def test_integers_are_not_divided_by_what_may_be_0_in_the_padding(
    op_type: str, low: float, high: float, pad: str, filled: bool
) -> None:
    """A runtime stops there; a tail that repeats valid steps is as right as they are."""
    value = tensor("T", pad=_kind(pad), dtype=ir.DataType.INT64, low=float(low), high=float(high))
    for divisor, asked in ((value, filled), (replace(value, image=True), False)):
        context = context_of(op_type, tensor("T", dtype=ir.DataType.INT64), divisor)
        elementwise(context)
        assert bool(context.remedies) == asked
    floats = context_of(op_type, tensor("T"), tensor("T", low=0.0))
    elementwise(floats)
    assert not floats.remedies


@pytest.mark.parametrize(
    ("op_type", "operands", "masked"),
    [
        ("Add", [{}, {}], False), ("Add", [{"masked": True}, {}], True), ("Add", [{}, {"masked": True}], True),
        ("Add", [{"constant": -1e30}, {}], True), ("Sub", [{}, {"constant": 1e30}], True),
        ("Add", [{"constant": -1e29}, {}], False), ("Exp", [{"masked": True}], False),
        ("Add", [{"constant": -1e30}] * 2, True), ("Add", [{"constant": 1.0}] * 2, False),
        ("Neg", [{"constant": -1e30}], False), ("Neg", [{"constant": 1e30}], True),
        ("Where", [{"constant": 1.0}, {}, {"masked": True}], False),
        ("Where", [{"constant": 0.0}, {}, {"masked": True}], True),
        ("Where", [{"constant": 1.0}, {"masked": True}, {}], True), ("Where", [{}, {}, {"masked": True}], True),
        ("Less", [{"masked": True}, {}], False),
    ],
)  # fmt: skip
def test_whether_a_result_may_be_a_masks_fill(op_type: str, operands: list[dict[str, Any]], masked: bool) -> None:
    given = [tensor("T", "3", **{"finite": True, "masked": False, **more}) for more in operands]
    (found,) = elementwise(context_of(op_type, *given))
    assert found is not None and found.masked == masked
