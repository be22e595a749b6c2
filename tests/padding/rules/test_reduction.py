"""Reductions, positions and sums along time: what each is filled with, what it divides by, what it claims."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import onnx.parser
import onnx_ir as ir
import onnxruntime
import pytest

from paddable.api import convert
from paddable.padding.rules.reduction import identity, lowest

from ..example import Example
from ..given import answer_to, table
from ..native import assert_exact

ONE = "float[1, 2, 1] y"
BEHIND = "c = CumSum (x, time)"
TIME = "int64 time = {2}, int64[1] axes = {2}"
OPERATORS = (
    "ReduceSum", "ReduceMean", "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSum", "ReduceProd", "ReduceMax",
    "ReduceMin", "ReduceLogSumExp",
)  # fmt: skip

EXAMPLES = {
    **{
        f"{op} of numbers from one to two": Example(
            f"c = Clip (x, one, two) y = {op} (c, axes)",
            "float[1, 1, T] y",
            constants="float one = {1}, float two = {2}, int64[1] axes = {1}",
            claims=f"T finite; {bounds}finite",
        )
        for op, bounds in {
            "ReduceSum": "0..inf; ",
            "ReduceProd": "0..inf; ",
            "ReduceMean": "1..2; ",
            "ReduceMax": "1..2; ",
            "ReduceMin": "1..2; ",
            "ReduceL1": "0..inf; ",
            "ReduceL2": "0..inf; ",
            "ReduceSumSquare": "0..inf; ",
            "ReduceLogSumExp": "",
        }.items()
    },
    "ReduceSum of numbers below 0": Example(
        "c = Clip (x, low, high) y = ReduceSum (c, axes)",
        "float[1, 1, T] y",
        constants="float low = {-2}, float high = {-1}, int64[1] axes = {1}",
        claims="T finite; finite",
    ),
    "TopK of the only element": Example(
        "r = ReduceMax (x, axes) v, y = TopK <axis = 1> (r, k) z = Neg (v)",
        "int64[1, 1, T] y, float[1, 1, T] z",
        constants="int64[1] axes = {1}, int64[1] k = {1}",
        claims="T finite; 0..0; 0",
    ),
    "ReduceSum": Example(
        f"{BEHIND} y = ReduceSum (c, axes)", ONE, constants=TIME, finds="PAD101 ReduceSum", claims="finite"
    ),
    "ReduceMean": Example(
        f"{BEHIND} y = ReduceMean (c, axes)", ONE, constants=TIME, finds="PAD101 ReduceMean", claims="finite"
    ),
    "ReduceL1": Example(
        f"{BEHIND} y = ReduceL1 (c, axes)", ONE, constants=TIME, finds="PAD101 ReduceL1", claims="0..inf; finite"
    ),
    "ReduceL2": Example(
        f"{BEHIND} y = ReduceL2 (c, axes)", ONE, constants=TIME, finds="PAD101 ReduceL2", claims="0..inf; finite"
    ),
    "ReduceSumSquare": Example(
        f"{BEHIND} y = ReduceSumSquare (c, axes)",
        ONE,
        constants=TIME,
        finds="PAD101 ReduceSumSquare",
        claims="0..inf; finite",
    ),
    "ReduceLogSum": Example(
        "s = Sigmoid (x) y = ReduceLogSum (s, axes)", ONE, constants=TIME, finds="PAD101 ReduceLogSum", claims="any"
    ),
    "ReduceProd": Example(
        f"{BEHIND} y = ReduceProd (c, axes)", ONE, constants=TIME, finds="PAD101 ReduceProd", claims="finite"
    ),
    "ReduceMax": Example(
        f"{BEHIND} y = ReduceMax (c, axes)", ONE, constants=TIME, finds="PAD107 ReduceMax", claims="finite"
    ),
    "ReduceMin": Example(
        f"{BEHIND} y = ReduceMin (c, axes)", ONE, constants=TIME, finds="PAD107 ReduceMin", claims="finite"
    ),
    "ReduceLogSumExp": Example(
        f"{BEHIND} y = ReduceLogSumExp (c, axes)", ONE, constants=TIME, finds="PAD107 ReduceLogSumExp", claims="finite"
    ),
    "an exponential sum of low numbers": Example(
        f"{BEHIND} n = Sub (c, far) y = ReduceLogSumExp (n, axes)",
        ONE,
        constants=f"{TIME}, float far = {{60}}",
        finds="PAD107 ReduceLogSumExp",
        claims="finite",
    ),
    "ReduceSum of features": Example(
        "a = Sigmoid (x) y = ReduceSum (a, axes)",
        outputs="float[1, 1, T] y",
        constants="int64[1] axes = {1}",
        claims="T finite; 0..inf; finite",
    ),
    "ReduceMean of features": Example(
        "a = Sigmoid (x) y = ReduceMean (a, axes)",
        outputs="float[1, 1, T] y",
        constants="int64[1] axes = {1}",
        claims="T finite; 0..1; finite",
    ),
    "ReduceL1 of features": Example(
        "a = Sigmoid (x) y = ReduceL1 (a, axes)",
        outputs="float[1, 1, T] y",
        constants="int64[1] axes = {1}",
        claims="T finite; 0..inf; finite",
    ),
    "ReduceL2 of features": Example(
        "a = Sigmoid (x) y = ReduceL2 (a, axes)",
        outputs="float[1, 1, T] y",
        constants="int64[1] axes = {1}",
        claims="T finite; 0..inf; finite",
    ),
    "ReduceSumSquare of features": Example(
        "a = Sigmoid (x) y = ReduceSumSquare (a, axes)",
        outputs="float[1, 1, T] y",
        constants="int64[1] axes = {1}",
        claims="T finite; 0..inf; finite",
    ),
    "ReduceLogSum of features": Example(
        "a = Sigmoid (x) y = ReduceLogSum (a, axes)",
        outputs="float[1, 1, T] y",
        constants="int64[1] axes = {1}",
        claims="T any; any",
    ),
    "ReduceProd of features": Example(
        "a = Sigmoid (x) y = ReduceProd (a, axes)",
        outputs="float[1, 1, T] y",
        constants="int64[1] axes = {1}",
        claims="T finite; 0..inf; finite",
    ),
    "ReduceMax of features": Example(
        "a = Sigmoid (x) y = ReduceMax (a, axes)",
        outputs="float[1, 1, T] y",
        constants="int64[1] axes = {1}",
        claims="T finite; 0..1; finite",
    ),
    "ReduceMin of features": Example(
        "a = Sigmoid (x) y = ReduceMin (a, axes)",
        outputs="float[1, 1, T] y",
        constants="int64[1] axes = {1}",
        claims="T finite; 0..1; finite",
    ),
    "ReduceLogSumExp of features": Example(
        "a = Sigmoid (x) y = ReduceLogSumExp (a, axes)",
        outputs="float[1, 1, T] y",
        constants="int64[1] axes = {1}",
        claims="T finite; finite",
    ),
    "ReduceSum of zeros": Example(
        "p = Pad (x, pads) y = ReduceSum (p, axes)",
        outputs="float[1, 1, U] y",
        constants="int64[1] axes = {1}, int64[6] pads = {0, 0, 0, 0, 0, 2}",
        finds="PAD102 Pad",
        claims="T+2 0; finite",
    ),
    "ReduceMean of zeros": Example(
        "p = Pad (x, pads) y = ReduceMean (p, axes)",
        outputs="float[1, 1, U] y",
        constants="int64[1] axes = {1}, int64[6] pads = {0, 0, 0, 0, 0, 2}",
        finds="PAD102 Pad",
        claims="T+2 0; finite",
    ),
    "ReduceL1 of zeros": Example(
        "p = Pad (x, pads) y = ReduceL1 (p, axes)",
        outputs="float[1, 1, U] y",
        constants="int64[1] axes = {1}, int64[6] pads = {0, 0, 0, 0, 0, 2}",
        finds="PAD102 Pad",
        claims="T+2 0; 0..inf; finite",
    ),
    "ReduceL2 of zeros": Example(
        "p = Pad (x, pads) y = ReduceL2 (p, axes)",
        outputs="float[1, 1, U] y",
        constants="int64[1] axes = {1}, int64[6] pads = {0, 0, 0, 0, 0, 2}",
        finds="PAD102 Pad",
        claims="T+2 0; 0..inf; finite",
    ),
    "ReduceSumSquare of zeros": Example(
        "p = Pad (x, pads) y = ReduceSumSquare (p, axes)",
        outputs="float[1, 1, U] y",
        constants="int64[1] axes = {1}, int64[6] pads = {0, 0, 0, 0, 0, 2}",
        finds="PAD102 Pad",
        claims="T+2 0; 0..inf; finite",
    ),
    "ReduceProd of zeros": Example(
        "p = Pad (x, pads) y = ReduceProd (p, axes)",
        outputs="float[1, 1, U] y",
        constants="int64[1] axes = {1}, int64[6] pads = {0, 0, 0, 0, 0, 2}",
        finds="PAD102 Pad",
        claims="T+2 0; finite",
    ),
    "ReduceMax of zeros": Example(
        "p = Pad (x, pads) y = ReduceMax (p, axes)",
        outputs="float[1, 1, U] y",
        constants="int64[1] axes = {1}, int64[6] pads = {0, 0, 0, 0, 0, 2}",
        finds="PAD102 Pad",
        claims="T+2 0; finite",
    ),
    "ReduceMin of zeros": Example(
        "p = Pad (x, pads) y = ReduceMin (p, axes)",
        outputs="float[1, 1, U] y",
        constants="int64[1] axes = {1}, int64[6] pads = {0, 0, 0, 0, 0, 2}",
        finds="PAD102 Pad",
        claims="T+2 0; finite",
    ),
    "ReduceLogSumExp of zeros": Example(
        "p = Pad (x, pads) y = ReduceLogSumExp (p, axes)",
        outputs="float[1, 1, U] y",
        constants="int64[1] axes = {1}, int64[6] pads = {0, 0, 0, 0, 0, 2}",
        finds="PAD102 Pad",
        claims="T+2 finite; finite",
    ),
    "ReduceSum of two lengths": Example(
        "s = Sigmoid (x) y = ReduceSum <keepdims = 0> (s, axes)",
        outputs="float[1, V] y",
        inputs="float[1, T, V] x",
        constants="int64[1] axes = {1}",
        finds="PAD101 ReduceSum",
        claims="V finite; 0..inf; finite",
    ),
    "ReduceMean of two lengths": Example(
        "s = Sigmoid (x) y = ReduceMean <keepdims = 0> (s, axes)",
        outputs="float[1, V] y",
        inputs="float[1, T, V] x",
        constants="int64[1] axes = {1}",
        finds="PAD101 ReduceMean",
        claims="V finite; 0..1; finite",
    ),
    "ReduceL1 of two lengths": Example(
        "s = Sigmoid (x) y = ReduceL1 <keepdims = 0> (s, axes)",
        outputs="float[1, V] y",
        inputs="float[1, T, V] x",
        constants="int64[1] axes = {1}",
        finds="PAD101 ReduceL1",
        claims="V finite; 0..inf; finite",
    ),
    "ReduceL2 of two lengths": Example(
        "s = Sigmoid (x) y = ReduceL2 <keepdims = 0> (s, axes)",
        outputs="float[1, V] y",
        inputs="float[1, T, V] x",
        constants="int64[1] axes = {1}",
        finds="PAD101 ReduceL2",
        claims="V finite; 0..inf; finite",
    ),
    "ReduceSumSquare of two lengths": Example(
        "s = Sigmoid (x) y = ReduceSumSquare <keepdims = 0> (s, axes)",
        outputs="float[1, V] y",
        inputs="float[1, T, V] x",
        constants="int64[1] axes = {1}",
        finds="PAD101 ReduceSumSquare",
        claims="V finite; 0..inf; finite",
    ),
    "ReduceLogSum of two lengths": Example(
        "s = Sigmoid (x) y = ReduceLogSum <keepdims = 0> (s, axes)",
        outputs="float[1, V] y",
        inputs="float[1, T, V] x",
        constants="int64[1] axes = {1}",
        finds="PAD101 ReduceLogSum",
        claims="V any; any",
    ),
    "ReduceProd of two lengths": Example(
        "s = Sigmoid (x) y = ReduceProd <keepdims = 0> (s, axes)",
        outputs="float[1, V] y",
        inputs="float[1, T, V] x",
        constants="int64[1] axes = {1}",
        finds="PAD101 ReduceProd",
        claims="V finite; 0..inf; finite",
    ),
    "ReduceMax of two lengths": Example(
        "s = Sigmoid (x) y = ReduceMax <keepdims = 0> (s, axes)",
        outputs="float[1, V] y",
        inputs="float[1, T, V] x",
        constants="int64[1] axes = {1}",
        finds="PAD107 ReduceMax",
        claims="V finite; 0..1; finite",
        harmless="PAD107",
    ),
    "ReduceMin of two lengths": Example(
        "s = Sigmoid (x) y = ReduceMin <keepdims = 0> (s, axes)",
        outputs="float[1, V] y",
        inputs="float[1, T, V] x",
        constants="int64[1] axes = {1}",
        finds="PAD107 ReduceMin",
        claims="V finite; 0..1; finite",
        harmless="PAD107",
    ),
    "ReduceLogSumExp of two lengths": Example(
        "s = Sigmoid (x) y = ReduceLogSumExp <keepdims = 0> (s, axes)",
        outputs="float[1, V] y",
        inputs="float[1, T, V] x",
        constants="int64[1] axes = {1}",
        finds="PAD107 ReduceLogSumExp",
        claims="V finite; finite",
    ),
    "a mean of all": Example(
        f"{BEHIND} y = ReduceMean (c)", "float[1, 1, 1] y", constants=TIME, finds="PAD101 ReduceMean", claims="finite"
    ),
    "a mean of none": Example(
        "y = ReduceMean <noop_with_empty_axes = 1> (x)", "float[1, 2, T] y", claims="T finite; finite"
    ),
    "a mean of no listed axis": Example(
        f"{BEHIND} y = ReduceMean (c, none)",
        "float[1, 1, 1] y",
        constants=f"{TIME}, int64[0] none = {{}}",
        finds="PAD101 ReduceMean",
        claims="finite",
    ),
    "a mean counted from the end": Example(
        f"{BEHIND} y = ReduceMean <axes = [-1]> (c)",
        ONE,
        constants="int64 time = {2}",
        opset=13,
        finds="PAD101 ReduceMean",
        claims="finite",
    ),
    "a mean of time and features": Example(
        f"{BEHIND} y = ReduceMean <keepdims = 0> (c, both)",
        "float[1] y",
        constants="int64 time = {2}, int64[2] both = {2, 1}",
        finds="PAD101 ReduceMean",
        claims="finite",
    ),
    "a mean over two lengths": Example(
        "y = ReduceMean <keepdims = 0> (x, both)",
        "float[1, 2] y",
        "float[1, 2, T, V] x",
        "int64[2] both = {2, 3}",
        finds="PAD101 ReduceMean",
        claims="finite",
    ),
    "a mean of scores over queries": Example(
        "t = Transpose <perm = [0, 2, 1]> (x) s = MatMul (t, x) y = ReduceMean <keepdims = 0> (s, axes)",
        "float[1, T] y",
        constants="int64[1] axes = {1}",
        finds="PAD101 ReduceMean",
        claims="T finite; finite",
    ),
    "a sum of weights over queries": Example(
        "t = Transpose <perm = [0, 2, 1]> (x) s = MatMul (t, x) p = Softmax <axis = 2> (s) "
        "y = ReduceSum <keepdims = 0> (p, axes)",
        "float[1, T] y",
        constants="int64[1] axes = {1}",
        finds="PAD103 Softmax, PAD101 ReduceSum",
        claims="T 0; 0..inf; finite",
    ),
    "a sum of weights over keys": Example(
        "t = Transpose <perm = [0, 2, 1]> (x) s = MatMul (t, x) p = Softmax <axis = 2> (s) "
        "y = ReduceSum <keepdims = 0> (p, axes)",
        "float[1, T] y",
        constants="int64[1] axes = {2}",
        finds="PAD103 Softmax",
        claims="T finite; 0..inf; finite",
        harmless="PAD103",
    ),
    "a sum of weights over both": Example(
        "t = Transpose <perm = [0, 2, 1]> (x) s = MatMul (t, x) p = Softmax <axis = 2> (s) "
        "y = ReduceSum <keepdims = 0> (p, axes)",
        "float[1] y",
        constants="int64[2] axes = {1, 2}",
        finds="PAD103 Softmax, PAD101 ReduceSum",
        claims="0..inf; finite",
    ),
    "a maximum of bounded steps": Example(
        "s = Tanh (x) y = ReduceMax (s, axes)",
        ONE,
        constants=TIME,
        finds="PAD107 ReduceMax",
        claims="-1..1; finite",
        harmless="PAD107",
    ),
    "a mean of bounded steps": Example(
        "s = Tanh (x) y = ReduceMean (s, axes)", ONE, constants=TIME, finds="PAD101 ReduceMean", claims="-1..1; finite"
    ),
    "a sum of what is not negative": Example(
        "s = Sigmoid (x) y = ReduceSum (s, axes)",
        ONE,
        constants=TIME,
        finds="PAD101 ReduceSum",
        claims="0..inf; finite",
    ),
    "a product of what is not negative": Example(
        "s = Sigmoid (x) y = ReduceProd (s, axes)",
        ONE,
        constants=TIME,
        finds="PAD101 ReduceProd",
        claims="0..inf; finite",
    ),
    "a maximum of ones": Example(
        "s = Shape (x) o = ConstantOfShape <value = float[1] {3}> (s) y = ReduceMax (o, axes)",
        ONE,
        constants=TIME,
        claims="3..3; 3",
    ),
    "a minimum of ones without the axis": Example(
        "s = Shape (x) o = ConstantOfShape <value = float[1] {3}> (s) y = ReduceMin <keepdims = 0> (o, axes)",
        "float[1, 2] y",
        constants=TIME,
        claims="3..3; 3",
    ),
    "the number of elements as data": Example(
        "s = Shape (x) n = ReduceProd <keepdims = 0> (s) f = Cast <to = 1> (n) m = Div (x, f) y = Identity (m)",
        "float[1, 2, T] y",
        finds="PAD106 Div",
        claims="T finite; finite",
    ),
    "the largest of two sizes": Example(
        "s = Shape <start = 1> (x) n = ReduceMax (s) z = ConstantOfShape (n) u = Unsqueeze (z, front) y = Add (u, one)",
        "float[1, N] y",
        constants="int64[1] front = {0}, float one = {1}",
        claims="max(T, 2) finite; 1..1; 1",
    ),
    "the smallest of two sizes": Example(
        "s = Shape <start = 1> (x) n = ReduceMin <keepdims = 1> (s) z = ConstantOfShape (n) u = Unsqueeze (z, front) "
        "y = Add (u, one)",
        "float[1, N] y",
        "float[1, 9, T] x",
        constants="int64[1] front = {0}, float one = {1}",
        claims="min(T, 9) finite; 1..1; 1",
    ),
    "the sum of two sizes": Example(
        "s = Shape <start = 1> (x) n = ReduceSum <keepdims = 1> (s) z = ConstantOfShape (n) u = Unsqueeze (z, front) "
        "y = Add (u, one)",
        "float[1, N] y",
        constants="int64[1] front = {0}, float one = {1}",
        claims="T+2 finite; 1..1; 1",
    ),
    "the product of two sizes": Example(
        "s = Shape <start = 1> (x) n = ReduceProd <keepdims = 1> (s) z = ConstantOfShape (n) u = Unsqueeze (z, "
        "front) "
        "y = Add (u, one)",
        "float[1, N] y",
        constants="int64[1] front = {0}, float one = {1}",
        claims="2*T finite; 1..1; 1",
    ),
    "a sum of integers": Example(
        "c = CumSum (x, time) y = ReduceSum (c, axes)",
        "int64[1, 2, 1] y",
        "int64[1, 2, T] x",
        TIME,
        finds="PAD101 ReduceSum",
        claims="finite",
    ),
    "a maximum of integers": Example(
        "c = CumSum (x, time) n = Neg (c) y = ReduceMax (n, axes)",
        "int64[1, 2, 1] y",
        "int64[1, 2, T] x",
        TIME,
        finds="PAD107 ReduceMax",
        claims="finite",
        harmless="PAD107",
    ),
    "a minimum of integers": Example(
        "c = CumSum (x, time) y = ReduceMin (c, axes)",
        "int64[1, 2, 1] y",
        "int64[1, 2, T] x",
        TIME,
        finds="PAD107 ReduceMin",
        claims="finite",
        harmless="PAD107",
    ),
    "all of the conditions": Example(
        "c = CumSum (x, time) b = Greater (c, x) y = ReduceMin (b, axes)",
        "bool[1, 2, 1] y",
        constants=TIME,
        opset=20,
        finds="PAD107 ReduceMin",
        claims="0..1; finite",
        harmless="PAD107",
    ),
    "the position of the maximum": Example(
        f"{BEHIND} y = ArgMax <axis = 2> (c)",
        "int64[1, 2, 1] y",
        constants=TIME,
        finds="PAD107 ArgMax",
        claims="0..inf; finite",
    ),
    "the position of the minimum": Example(
        f"{BEHIND} y = ArgMin <axis = 2, keepdims = 0> (c)",
        "int64[1, 2] y",
        constants=TIME,
        finds="PAD107 ArgMin",
        claims="0..inf; finite",
    ),
    "the last position of the minimum": Example(
        f"{BEHIND} y = ArgMin <axis = 2, select_last_index = 1> (c)",
        "int64[1, 2, 1] y",
        constants=TIME,
        finds="PAD107 ArgMin",
        claims="0..inf; finite",
    ),
    "the position of the largest feature": Example(
        "y = ArgMax <axis = 1> (x)", "int64[1, 1, T] y", claims="T finite; 0..inf; finite"
    ),
    "the position in the first axis by default": Example(
        "y = ArgMax (x)", "int64[1, 2, T] y", claims="T finite; 0..inf; finite"
    ),
    "the largest steps": Example(
        f"{BEHIND} y, i = TopK (c, k)",
        "float[1, 2, 3] y, int64[1, 2, 3] i",
        constants=f"{TIME}, int64[1] k = {{3}}",
        finds="PAD107 TopK",
        claims="finite",
        first="T=3",
    ),
    "the smallest step": Example(
        f"{BEHIND} y, i = TopK <largest = 0> (c, k)",
        "float[1, 2, 1] y, int64[1, 2, 1] i",
        constants=f"{TIME}, int64[1] k = {{1}}",
        finds="PAD107 TopK",
        claims="finite",
    ),
    "the largest bounded steps": Example(
        "s = Tanh (x) y, i = TopK <axis = 2> (s, k)",
        "float[1, 2, 2] y, int64[1, 2, 2] i",
        constants="int64[1] k = {2}",
        finds="PAD107 TopK",
        claims="-inf..1; finite",
        first="T=2",
    ),
    "the largest features": Example(
        "y, i = TopK <axis = 1> (x, k)",
        "float[1, 1, T] y, int64[1, 1, T] i",
        constants="int64[1] k = {1}",
        claims="T any; finite",
    ),
    "the largest integers": Example(
        "y, i = TopK <axis = 1> (x, k)",
        "int64[1, 1, T] y, int64[1, 1, T] i",
        "int64[1, 2, T] x",
        "int64[1] k = {1}",
        claims="T finite; finite",
    ),
    "sums so far": Example("y = CumSum (x, time)", constants=TIME, claims="T finite; finite"),
    "sums so far of features": Example("y = CumSum (x, one)", constants="int64 one = {1}", claims="T finite; finite"),
    "sums of what comes after": Example(
        "c = Sin (x) y = CumSum <reverse = 1> (c, time)",
        constants=TIME,
        finds="PAD101 CumSum",
        claims="T finite; finite",
    ),
    "sums of what came before": Example(
        "y = CumSum <exclusive = 1> (x, time)", constants=TIME, claims="T finite; finite"
    ),
    "sums of integers so far": Example(
        "y = CumSum (x, time)", "int64[1, 2, T] y", "int64[1, 2, T] x", TIME, claims="T finite; finite"
    ),
    "sums of what may be infinite": Example(
        "e = Exp (x) y = CumSum (e, time)", constants=TIME, claims="T any; 0..inf; any"
    ),
    "sums of what may be infinite, of features": Example(
        "e = Exp (x) y = CumSum (e, one)", constants="int64 one = {1}", claims="T any; 0..inf; any"
    ),
    "sums of the padding": Example(
        "c = CumSum (x, time) q = Mul (c, c) d = Exp (q) l = Pad (d, pads) y = CumSum (l, time)",
        constants=f"{TIME}, int64[6] pads = {{0, 0, 0, 0, 0, -1}}",
        claims="T-1 any; 0..inf; any",
        first="T=2",
    ),
    "sums of what is not negative": Example(
        "s = Sigmoid (x) y = CumSum (s, time)", constants=TIME, claims="T finite; 0..inf; finite"
    ),
    "positions by summing ones": Example(
        "s = Shape (x) o = ConstantOfShape <value = float[1] {2}> (s) c = CumSum (o, time) y = Add (x, c)",
        constants=TIME,
        claims="T finite; finite",
    ),
    "positions by summing ones before": Example(
        "s = Shape (x) o = ConstantOfShape <value = float[1] {2}> (s) c = CumSum <exclusive = 1> (o, time) y = "
        "Add (x, c)",
        constants=TIME,
        claims="T finite; finite",
    ),
    "positions by summing below 0": Example(
        "s = Shape (x) o = ConstantOfShape <value = float[1] {-2}> (s) y = CumSum (o, time)",
        constants=TIME,
        claims="T finite; finite",
    ),
    "positions by summing ones backward": Example(
        "s = Shape (x) o = ConstantOfShape <value = float[1] {2}> (s) c = CumSum <reverse = 1> (o, time) y = Add "
        "(x, c)",
        constants=TIME,
        finds="PAD101 CumSum",
        claims="T finite; finite",
    ),
    "a sum over rows": Example(
        "y = ReduceSum (x, zero)",
        "float[1, 2, T] y",
        "float[batch, 2, T] x",
        "int64[1] zero = {0}",
        rows=0,
        refused="a reduction over the batch mixes rows of different lengths",
    ),
    "a mean of rows": Example(
        "y = ReduceMean (x, axes)",
        "float[batch, 2, 1] y",
        "float[batch, 2, T] x",
        TIME,
        rows=0,
        finds="PAD101 ReduceMean",
        claims="finite",
    ),
    "a position in rows": Example(
        "y = ArgMax <axis = 0> (x)",
        "int64[1, 2, T] y",
        "float[batch, 2, T] x",
        rows=0,
        refused="an extremum over the batch mixes rows of different lengths",
    ),
    "the largest of rows": Example(
        "y, i = TopK <axis = 0> (x, k)",
        "float[1, 2, T] y, int64[1, 2, T] i",
        "float[batch, 2, T] x",
        "int64[1] k = {1}",
        rows=0,
        refused="an extremum over the batch mixes rows of different lengths",
    ),
    "the place of the last largest of rows, time in front": Example(
        "t = Transpose <perm = [2, 0, 1]> (x) y = ArgMax <axis = 0, keepdims = 0, select_last_index = 1> (t)",
        "int64[batch, 2] y",
        "float[batch, 2, T] x",
        rows=0,
        finds="PAD107 ArgMax",
        claims="0..inf; finite",
    ),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name: str) -> None:
    EXAMPLES[name].check()


@pytest.mark.parametrize("kept", [0, 1])
def test_the_last_of_equal_extremes_is_a_valid_step(kept: int) -> None:
    """Every valid step is the type's minimum, so the padding ties with it, and the last index won."""
    axes = "1, 1, 4" if kept else "1, 4"
    text = f"""<ir_version: 10, opset_import: ["": 17]>
        g (int32[1, T, 4] x) => (int64[{axes}] y) {{
           y = ArgMax <axis = 1, select_last_index = 1, keepdims = {kept}> (x)
        }}"""
    padded = convert(onnx.parser.parse_model(text), ["x:1=T"], containers=[12])
    session = onnxruntime.InferenceSession(padded.SerializeToString(), providers=["CPUExecutionProvider"])
    lowest = np.full((1, 12, 4), np.iinfo(np.int32).min, np.int32)
    for steps in range(1, 13):
        (found,) = session.run(["y"], {"x": lowest, "ilens": np.array([steps])})
        assert (found == steps - 1).all(), steps


def test_the_maximum_of_conditions() -> None:
    assert_exact(
        """g (float[1, T, 4] x) => (bool[1, 1, 4] y) <float nil = {0}, int64[1] time = {1}> {
           above = Greater (x, nil)
           y = ReduceMax <keepdims = 1> (above, time)
        }""",
        "x:1=T",
        opset=20,
    )  # fmt: skip


def test_a_scalar_output_stays_a_scalar() -> None:
    assert_exact("g (float[1, T, 4] x) => (float y) { y = ReduceMean <keepdims = 0> (x) }", "x:1=T")


@pytest.mark.parametrize("operator", ["ReduceMin", "ReduceMax"])
def test_the_identity_of_an_integer_extremum_stays_inside_its_type(operator: str) -> None:
    """The largest int64 is no float: it was rounded up, past the type, and became the smallest."""
    assert_exact(
        f"""g (float[1, T, 2] x) => (int64[1, 1, 2] y) <float ten = {{10.0}}> {{
           w = Mul (x, ten)
           k = Cast <to = 7> (w)
           y = {operator} <axes = [1], keepdims = 1> (k)
        }}""",
        "x:1=T",
    )


@pytest.mark.parametrize(
    ("dtype", "low", "high"),
    [
        (ir.DataType.BOOL, 0, 1), (ir.DataType.INT8, -128, 127), (ir.DataType.UINT8, 0, 255),
        (ir.DataType.INT64, -(2**63), 2**63 - 1), (ir.DataType.FLOAT, -math.inf, math.inf),
        (ir.DataType.FLOAT16, -math.inf, math.inf),
    ],
)  # fmt: skip
def test_the_identity_of_a_type(dtype: ir.DataType, low: int, high: int) -> None:
    """Of an extremum its lowest or highest element; of a sum and a product what they are in any type."""
    assert identity(dtype, -math.inf) == float(low) and identity(dtype, math.inf) == float(high)
    assert identity(dtype, 0.0) == 0.0 and identity(dtype, 1.0) == 1.0


@pytest.mark.parametrize("dtype", [ir.DataType.FLOAT, ir.DataType.FLOAT16, ir.DataType.BFLOAT16, ir.DataType.INT16])
def test_the_lowest_number_of_a_type(dtype: ir.DataType) -> None:
    info = (np.iinfo if dtype.is_integer() else ml_dtypes.finfo)(dtype.numpy())
    assert lowest(dtype) == float(info.min)


ANSWERS = table("""
ReduceSum(3, T | = 1) => 3, 1; finite | Fill(PAD101; 0; 1; 0.0)
ReduceSum(3, T; 2..3 | = 1) keepdims=0 => 3; 0..inf; finite | Fill(PAD101; 0; 1; 0.0)
ReduceSum(T, 3; 0 | = 1) => T, 1; 0; finite
ReduceSum(T, 3; any 2..3 | = 1) keepdims=0 => T; any; 0..inf; finite
ReduceSum(3, T; int64) => 1, 1; finite | Fill(PAD101; 0; 1; 0.0)
ReduceSum(3, T) keepdims=0 => finite | Fill(PAD101; 0; 1; 0.0)
ReduceSum(3, T) noop_with_empty_axes=1 => 3, T; finite; finite
ReduceSum(3, T, 4) axes=[-2] => 3, 1, 4; finite | Fill(PAD101; 0; 1; 0.0)
ReduceSum(3, T, 4 | = -1 1) keepdims=0 => 3; finite | Fill(PAD101; 0; 1; 0.0)
ReduceSum(T, U; any | = 1) => T, 1; any; finite | Fill(PAD101; 0; 1; 0.0)
ReduceSum(T, U; any | = 0) => 1, U; any; finite | Fill(PAD101; 0; 0; 0.0)
ReduceSum(batch, T | = 0) => refused: a reduction over the batch mixes rows of different lengths
ReduceSum(batch, T | = 1) => batch, 1; finite | Fill(PAD101; 0; 1; 0.0)
ReduceSum(T, 3; masked infinite | = 1) => T, 1; finite; masked
ReduceSum(T, 3; masked infinite | = 0) => 1, 3; masked | Fill(PAD101; 0; 0; 0.0)
ReduceSum(= 4 7 T) => 1; = T+11; finite
ReduceSum(= 4 7) keepdims=0 => = 11; finite
ReduceSum(T, U; any finite | = 1) => T, 1; any; finite | Fill(PAD101; 0; 1; 0.0)
ReduceSum(T, U; finite any | = 1) => T, 1; finite; finite | Fill(PAD101; 0; 1; 0.0)
ReduceSum(T, U, V; any | = 1) keepdims=0 => T, V; any any; finite | Fill(PAD101; 0; 1; 0.0)
ReduceSum(T, U; 0 | = 1) => T, 1; 0; finite
ReduceSum(T; int64 5 | = 0) => 1; finite | Fill(PAD101; 0; 0; 0.0)
ReduceSum(3, T; infinite | = 1) => 3, 1 | Fill(PAD101; 0; 1; 0.0)
ReduceSum(3, T; masked any | = 1) => 3, 1; finite masked | Fill(PAD101; 0; 1; 0.0)
ReduceSum(T, 3; 0..3 | = 0) => 1, 3; 0..inf; finite | Fill(PAD101; 0; 0; 0.0)
ReduceMean(3, T | = 1) => 3, 1; finite | Fill(PAD101; 0; 1; 0.0), MaskedMean(PAD101; 1; True; max(T, 1))
ReduceMean(3, T; 2..3 | = 1) keepdims=0
    => 3; 2..3; finite | Fill(PAD101; 0; 1; 0.0), MaskedMean(PAD101; 1; False; max(T, 1))
ReduceMean(T, 3; 0 | = 1) => T, 1; 0; finite
ReduceMean(T, 3; any 2..3 | = 1) keepdims=0 => T; any; 2..3; finite
ReduceMean(T, U | = 0 1)
    => 1, 1; finite | Fill(PAD101; 0; 0 1; 0.0), MaskedMean(PAD101; 0 1; True; max(T, 1) max(U, 1))
ReduceMean(T x 2, 4 | = 0) => 1, 4; finite | Fill(PAD101; 0; 0; 0.0), MaskedMean(PAD101; 0; True; max(T, 1) 2)
ReduceMean(T-4, 4 | = 0) => 1, 4; finite | Fill(PAD101; 0; 0; 0.0), MaskedMean(PAD101; 0; True; max(T, 5)-4)
ReduceMean(T, U, 4; any | = 0 2)
    => 1, U, 1; any; finite | Fill(PAD101; 0; 0; 0.0), MaskedMean(PAD101; 0 2; True; max(T, 1) 4)
ReduceMean(T, 3; -2..3 | = 0) => 1, 3; -2..3; finite | Fill(PAD101; 0; 0; 0.0), MaskedMean(PAD101; 0; True; max(T, 1))
ReduceL1(3, T | = 1) => 3, 1; 0..inf; finite | Fill(PAD101; 0; 1; 0.0)
ReduceL1(3, T; 2..3 | = 1) keepdims=0 => 3; 0..inf; finite | Fill(PAD101; 0; 1; 0.0)
ReduceL1(T, 3; 0 | = 1) => T, 1; 0; 0..inf; finite
ReduceL1(T, 3; any 2..3 | = 1) keepdims=0 => T; any; 0..inf; finite
ReduceL2(3, T | = 1) => 3, 1; 0..inf; finite | Fill(PAD101; 0; 1; 0.0)
ReduceL2(3, T; 2..3 | = 1) keepdims=0 => 3; 0..inf; finite | Fill(PAD101; 0; 1; 0.0)
ReduceSumSquare(3, T | = 1) => 3, 1; 0..inf; finite | Fill(PAD101; 0; 1; 0.0)
ReduceSumSquare(3, T; 2..3 | = 1) keepdims=0 => 3; 0..inf; finite | Fill(PAD101; 0; 1; 0.0)
ReduceLogSum(3, T | = 1) => 3, 1 | Fill(PAD101; 0; 1; 0.0)
ReduceLogSum(3, T; 2..3 | = 1) keepdims=0 => 3 | Fill(PAD101; 0; 1; 0.0)
ReduceLogSum(T, 3; 0 | = 1) => T, 1; any
ReduceLogSum(T, 3; any 2..3 | = 1) keepdims=0 => T; any
ReduceProd(3, T | = 1) => 3, 1; finite | Fill(PAD101; 0; 1; 1.0)
ReduceProd(3, T; 2..3 | = 1) keepdims=0 => 3; 0..inf; finite | Fill(PAD101; 0; 1; 1.0)
ReduceProd(T, 3; 0 | = 1) => T, 1; 0; finite
ReduceProd(T, 3; any 2..3 | = 1) keepdims=0 => T; any; 0..inf; finite
ReduceProd(= 4 7 T) keepdims=0 => = 28*T; finite
ReduceProd(T, U; 0 | = 1) => T, 1; finite; finite | Fill(PAD101; 0; 1; 1.0)
ReduceProd(T, 3; -2..3 | = 0) => 1, 3; finite | Fill(PAD101; 0; 0; 1.0)
ReduceMax(3, T | = 1) => 3, 1; finite | Fill(PAD107; 0; 1; -inf)
ReduceMax(3, T; 2..3 | = 1) keepdims=0 => 3; 2..3; finite | Fill(PAD107; 0; 1; -inf)
ReduceMax(T, 3; 0 | = 1) => T, 1; 0; finite
ReduceMax(T, 3; any 2..3 | = 1) keepdims=0 => T; any; 2..3; finite
ReduceMax(T, U; any | = 1) => T, 1; any; finite | Fill(PAD107; 0; 1; -inf)
ReduceMax(T, U; int8 | = 1) => T, 1; finite; finite | Fill(PAD107; 0; 1; -128.0)
ReduceMax(~ T, 3; 7 0 0 | = 0) => 1, 3; = 7; 7..7; finite
ReduceMax(= 4 7 2 | = 0) => 1; = 7; finite
ReduceMax(= 4 T 2) => 1; = max(T, 4); finite
ReduceMax(T, U; 0 any | = 1) => T, 1; finite; finite | Fill(PAD107; 0; 1; -inf)
ReduceMax(T, U, V; any | = 0 2) => 1, U, 1; any; finite | Fill(PAD107; 0; 0 2; -inf)
ReduceMax(T, U; 0 | = 1) => T, 1; finite; finite | Fill(PAD107; 0; 1; -inf)
ReduceMin(3, T | = 1) => 3, 1; finite | Fill(PAD107; 0; 1; inf)
ReduceMin(3, T; 2..3 | = 1) keepdims=0 => 3; 2..3; finite | Fill(PAD107; 0; 1; inf)
ReduceMin(~ T, 3; 7 0 0 | = 0) keepdims=0 => 3; = 7; 7..7; finite
ReduceMin(= 4 7 2 | = -1) => 1; = 2; finite
ReduceMin(= 1 T) => 1; = 1; finite
ReduceMin(= T U) => 1; = min(T, U); finite
ReduceLogSumExp(3, T | = 1) => 3, 1; finite | Fill(PAD107; 0; 1; -inf)
ReduceLogSumExp(3, T; 2..3 | = 1) keepdims=0 => 3; finite | Fill(PAD107; 0; 1; -inf)
ReduceLogSumExp(T, 3; 0 | = 1) => T, 1; finite; finite
ReduceLogSumExp(T, 3; any 2..3 | = 1) keepdims=0 => T; any; finite
ReduceLogSumExp(T, 3; infinite | = 1) => T, 1; finite
ArgMax(3, T) axis=1 => 3, 1; 0..inf; finite | Fill(PAD107; 0; 1; -inf)
ArgMax(3, T) axis=-1 keepdims=0 => 3; 0..inf; finite | Fill(PAD107; 0; 1; -inf)
ArgMax(T, 3) => 1, 3; 0..inf; finite | Fill(PAD107; 0; 0; -inf)
ArgMax(T, 3) axis=1 => T, 1; finite; 0..inf; finite
ArgMax(3, T) axis=1 select_last_index=1 => 3, 1; 0..inf; finite | Fill(PAD107; 0; 1; -inf), LastIndex(PAD107; T)
ArgMax(3, T x 2) axis=1 => 3, 1; 0..inf; finite | Fill(PAD107; 0; 1; -inf)
ArgMax(3, 2 x T) axis=1
    => 3, 1; 0..inf; finite
    | Take(PAD105; 0; 1; 2*T; 2*T; from 0: 0 + 0 + 1k from T: -T + T + 1k), Fill(PAD107; 0; 1; -inf)
ArgMax(batch, 3) => refused: an extremum over the batch mixes rows of different lengths
ArgMax(batch, 3) axis=1 => batch, 1; 0..inf; finite
ArgMax(T, U; any) axis=0 => 1, U; finite; 0..inf; finite | Fill(PAD107; 0; 0; -inf)
ArgMin(3, T) axis=1 => 3, 1; 0..inf; finite | Fill(PAD107; 0; 1; inf)
ArgMin(3, T; int8) axis=1 => 3, 1; 0..inf; finite | Fill(PAD107; 0; 1; 127.0)
TopK(3, T | = 2) => 3, 2; finite & 3, 2; 0..inf; finite | Fill(PAD107; 0; 1; -inf) | T in 2..: TopK of 2 needs 2 steps
TopK(3, T | = 1) => 3, 1; finite & 3, 1; 0..inf; finite | Fill(PAD107; 0; 1; -inf)
TopK(3, T | = 2) largest=0
    => 3, 2; finite & 3, 2; 0..inf; finite | Fill(PAD107; 0; 1; inf) | T in 2..: TopK of 2 needs 2 steps
TopK(3, T; int8 | = 2) axis=1
    => 3, 2; finite & 3, 2; 0..inf; finite | Fill(PAD107; 0; 1; -128.0) | T in 2..: TopK of 2 needs 2 steps
TopK(3, T; 0..1 masked infinite | = 2) axis=-1
    => 3, 2; -inf..1; masked & 3, 2; 0..inf; finite | Fill(PAD107; 0; 1; -inf) | T in 2..: TopK of 2 needs 2 steps
TopK(T, 3 | = 2) => T, 2; any; finite & T, 2; finite; 0..inf; finite
TopK(T, 3; int8 | = 2) axis=1 => T, 2; finite; finite & T, 2; finite; 0..inf; finite
TopK(T, 3 | = 5) axis=0
    => 5, 3; finite & 5, 3; 0..inf; finite | Fill(PAD107; 0; 0; -inf) | T in 5..: TopK of 5 needs 5 steps
TopK(T, 3 | = 5) axis=-2
    => 5, 3; finite & 5, 3; 0..inf; finite | Fill(PAD107; 0; 0; -inf) | T in 5..: TopK of 5 needs 5 steps
TopK(T, 1; 0 0..1 | = 1) => T, 1; 0; 0..1; finite & T, 1; finite; = 0; 0..0; finite
TopK(T, 1 | = 2) => T, 2; any; finite & T, 2; finite; 0..inf; finite
TopK(T, 3 | 1; int64)
    => refused: a size is computed from data, or from lengths in a way that is not an expression of the input length
TopK(T, 3 | = T) => refused: input 1 of TopK varies with the length
TopK(batch, 3 | = 2) axis=0 => refused: an extremum over the batch mixes rows of different lengths
TopK(batch; int64 | = batch) axis=0 => batch; finite & batch; = 0 + 1*i0; 0..inf; finite | RowsInPlace()
TopK(batch; int64 | = 1) axis=0 => refused: an extremum over the batch mixes rows of different lengths
TopK(batch, 3 | = batch) axis=0 => refused: input 1 of TopK varies with the length
TopK(T, U; infinite masked -1..1 | = 3) axis=1
    => T, 3; any; -inf..1; masked & T, 3; finite; 0..inf; finite | Fill(PAD107; 0; 1; -inf)
TopK(1, T | = 1) axis=0 => 1, T; finite; finite & 1, T; finite; = 0; 0..0; finite
TopK(T, 1, 3 | = 1) axis=-2 => T, 1, 3; finite; finite & T, 1, 3; finite; = 0; 0..0; finite
CumSum(3, T | = 1) => 3, T; finite; finite
CumSum(3, T; any | = 1) => 3, T; any; finite
CumSum(3, T; any | = 0) => 3, T; any; finite
CumSum(3, T; any | = -2) => 3, T; any; finite
CumSum(3, T; any | = -1) => 3, T; any; finite
CumSum(3, T; 0..1 masked | = 1) exclusive=1 => 3, T; finite; 0..inf; finite masked
CumSum(3, T; 0..1 | = 1) reverse=1 => 3, T; finite; 0..inf; finite | Fill(PAD101; 0; 1; 0.0)
CumSum(3, T; -1..1 any | = 1) reverse=1 => 3, T; finite; finite | Fill(PAD101; 0; 1; 0.0)
CumSum(3, T; infinite any | = 0) reverse=1 => 3, T; any
CumSum(T, U; any | = 0) => T, U; any any; finite
CumSum(T, U; any | = 0) reverse=1 => T, U; finite any; finite | Fill(PAD101; 0; 0; 0.0)
CumSum(3, T; int64 any | = 1) => 3, T; finite; finite
CumSum(3, T x 2 | = 1) => 3, 2*T; finite; finite
CumSum(3, 2 x T | = 1)
    => 3, 2*T; finite; finite | Take(PAD105; 0; 1; 2*T; 2*T; from 0: 0 + 0 + 1k from T: -T + T + 1k)
CumSum(batch, 3 | = 0) => refused: CumSum along the batch mixes rows of different lengths
CumSum(~ T; 1 0 | = 0) => T; finite; = 1 + 1*i0; 1..inf; finite
CumSum(~ T; 1 0 | = 0) exclusive=1 => T; finite; = 0 + 1*i0; 0..inf; finite
CumSum(~ T; 1 0 | = 0) reverse=1 => T; finite; 0..inf; finite | Fill(PAD101; 0; 0; 0.0)
CumSum(~ T; -2 0 | = 0) => T; finite; = -2 + -2*i0; finite
CumSum(~ T; -2 0 | = 0) exclusive=1 => T; finite; = 0 + -2*i0; finite
CumSum(~ T; 0 0 | = 0) => T; finite; = 0; 0..inf; finite
CumSum(~ 3, T; 3 0 0 | = 1) exclusive=1 => 3, T; finite; = 0 + 3*i1; 0..inf; finite
CumSum(~ T; T 0 | = 0) => T; finite; 0..inf; finite | UseLength(PAD106; 0; T)
CumSum(~ T; 1 1 | = 0) => T; finite; 0..inf; finite
CumSum(T, U; any finite | = 1) => T, U; any finite; finite
CumSum(T, U; finite any | = 1) => T, U; finite any; finite
CumSum(T, U; any finite | = 1) reverse=1 => T, U; any finite; finite | Fill(PAD101; 0; 1; 0.0)
CumSum(T, 3; infinite | = 0) => T, 3; any
CumSum(T, 3; 0..9 | = 0) reverse=1 exclusive=1 => T, 3; finite; 0..inf; finite | Fill(PAD101; 0; 0; 0.0)
CumSum(T, 3; masked | = 1) => T, 3; finite; finite masked
CumSum(U, T, 3; any | = 1) => U, T, 3; any any; finite
CumSum(U, T, 3; any | = 1) reverse=1 => U, T, 3; any finite; finite | Fill(PAD101; 0; 1; 0.0)
""")


@pytest.mark.parametrize(("question", "expected"), ANSWERS)
def test_answer(question: str, expected: str) -> None:
    """The identity stands in the padding of what is reduced."""
    assert answer_to(question) == expected
