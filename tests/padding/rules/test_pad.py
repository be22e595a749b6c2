"""Pad along time: constants, mirrored, repeated and wrapped tails, and crops."""

from __future__ import annotations

import numpy as np
import onnx.parser
import onnx_ir as ir
import onnxruntime as ort
import pytest

import paddable
from paddable.api.opened import open_model
from paddable.lengths import Span, parse
from paddable.padding.deduce.scope import Scope
from paddable.padding.facts.facts import Facts, PaddingFact
from paddable.padding.facts.kinds import ANY, FINITE, ZERO
from paddable.padding.rules.slicing import cut_pad
from paddable.testing import assert_convertible

from ..example import Example
from ..native import assert_exact, verdict_of


def amounts(front: int, behind: int) -> str:
    return f"int64[6] pads = {{0, 0, {front}, 0, 0, {behind}}}"


def front(body: str, **expected: str) -> Example:
    """``p`` has T steps in front."""
    return Example(
        f"s = Shape <start = 2> (x) p = Concat <axis = 0> (none, s, rest) {body}",
        constants="int64[2] none = {0, 0}, int64[3] rest = {0, 0, 0}, int64[6] two = {0, 0, 0, 0, 0, 2}, "
        "float c = {-1.5}, float low = {-inf}",
        **expected,
    )


BEHIND = "s = Sin (x)"

EXAMPLES = {
    "mirrored along two axes": Example(
        'y = Pad <mode = "reflect"> (x, pads)',
        "float[1, U, V] y",
        "float[1, T, U] x",
        "int64[6] pads = {0, 0, 0, 0, 1, 1}",
        finds="PAD102 Pad",
        claims="T+1 finite; U+1 finite; finite",
        first="T=2 U=2",
    ),
    "zeros behind time and behind time that is joined with features": Example(
        "v = Reshape (x, joined) y = Pad (v, pads)",
        "float[1, U, V] y",
        "float[1, T, U, 3] x",
        "int64[3] joined = {0, 0, -1}, int64[6] pads = {0, 0, 0, 0, 1, 1}",
        finds="PAD102 Pad",
        claims="T+1 0; 3*U+1 0; finite",
    ),
    "repeated behind time and behind time that is joined with features": Example(
        'v = Reshape (x, joined) y = Pad <mode = "edge"> (v, pads)',
        "float[1, U, V] y",
        "float[1, T, U, 3] x",
        "int64[3] joined = {0, 0, -1}, int64[6] pads = {0, 0, 0, 0, 1, 1}",
        finds="PAD102 Pad",
        claims="T+1 finite; 3*U+1 finite; finite",
    ),
    "a step in front of a vector": Example(
        "v = Squeeze (x, both) p = Pad (v, amounts) y = Unsqueeze (p, front)",
        "float[1, U] y",
        "float[1, 1, T] x",
        "int64[2] amounts = {1, 0}, int64[1] front = {0}, int64[2] both = {0, 1}",
        claims="T+1 finite; finite",
    ),
    "zeros behind": Example("y = Pad (x, pads)", constants=amounts(0, 2), finds="PAD102 Pad", claims="T+2 0; finite"),
    "zeros in front": Example("y = Pad (x, pads)", constants=amounts(2, 0), claims="T+2 finite; finite"),
    "zeros on both sides": Example(
        "y = Pad (x, pads)", constants=amounts(1, 3), finds="PAD102 Pad", claims="T+4 0; finite"
    ),
    "a constant behind": Example(
        "y = Pad (x, pads, c)",
        constants=f"{amounts(0, 2)}, float c = {{1.5}}",
        finds="PAD102 Pad",
        claims="T+2 1.5; finite",
    ),
    "a constant behind bounded steps": Example(
        "s = Sigmoid (x) y = Pad (s, pads, c)",
        constants=f"{amounts(0, 2)}, float c = {{1.5}}",
        finds="PAD102 Pad",
        claims="T+2 1.5; 0..1.5; finite",
    ),
    "a constant below behind bounded steps": Example(
        "s = Sigmoid (x) y = Pad (s, pads, c)",
        constants=f"{amounts(0, 2)}, float c = {{-1.5}}",
        finds="PAD102 Pad",
        claims="T+2 -1.5; -1.5..1; finite",
    ),
    "a mask behind": Example(
        "y = Pad (x, pads, c)",
        constants=f"{amounts(0, 2)}, float c = {{-inf}}",
        finds="PAD102 Pad",
        claims="T+2 -inf; any; masked",
    ),
    "a low number behind": Example(
        "y = Pad (x, pads, c)",
        constants=f"{amounts(0, 2)}, float c = {{-1e30}}",
        finds="PAD102 Pad",
        claims="T+2 -1e+30; finite; masked",
    ),
    "a constant that is computed": Example(
        "m = ReduceMax <keepdims = 0> (w) y = Pad (x, pads, m)",
        constants=f"{amounts(0, 2)}, float[3] w",
        refused="Pad with a computed value",
    ),
    "a constant of a shape": Example(
        "s = Shape <start = 2> (x) f = Cast <to = 1> (s) n = Squeeze (f) y = Pad (x, pads, n)",
        constants=amounts(0, 2),
        refused="Pad with a computed value",
    ),
    "zeros behind zeros": Example(
        "p = Pad (x, pads) y = Pad (p, pads)", constants=amounts(0, 2), finds="PAD102 Pad", claims="T+4 0; finite"
    ),
    "zeros behind what may be infinite": Example(
        "e = Exp (x) y = Pad (e, pads)", constants=amounts(0, 2), finds="PAD102 Pad", claims="T+2 0; 0..inf; any"
    ),
    "a crop behind": Example("y = Pad (x, pads)", constants=amounts(0, -2), claims="T-2 finite; finite", first="T=3"),
    "a crop in front": Example("y = Pad (x, pads)", constants=amounts(-2, 0), claims="T-2 finite; finite", first="T=3"),
    "a crop on both sides": Example(
        "y = Pad (x, pads)", constants=amounts(-1, -2), claims="T-3 finite; finite", first="T=4"
    ),
    "a crop behind zeros in front": Example("y = Pad (x, pads)", constants=amounts(2, -1), claims="T+1 finite; finite"),
    "a crop of bounded steps behind zeros": Example(
        "c = Cos (x) s = Add (c, two) y = Pad (s, pads)",
        constants=f"{amounts(2, -1)}, float two = {{2}}",
        claims="T+1 finite; 0..3; finite",
    ),
    "a crop of zeros": Example(
        "p = Pad (x, pads) y = Pad (p, crop)",
        constants=f"{amounts(0, 2)}, int64[6] crop = {{0, 0, 0, 0, 0, -1}}",
        finds="PAD102 Pad",
        claims="T+1 finite; finite",
    ),
    "channels": Example(
        "y = Pad (x, pads)",
        "float[1, 5, T] y",
        constants="int64[6] pads = {0, 1, 0, 0, 2, 0}",
        claims="T finite; finite; image",
    ),
    "channels and time": Example(
        "y = Pad (x, pads)",
        "float[1, 3, U] y",
        constants="int64[6] pads = {0, 1, 0, 0, 0, 2}",
        finds="PAD102 Pad",
        claims="T+2 0; finite",
    ),
    "a listed axis": Example(
        "y = Pad (x, pads, c, axes)",
        constants="int64[2] pads = {1, 2}, float c = {0.5}, int64[1] axes = {-1}",
        finds="PAD102 Pad",
        claims="T+3 0.5; finite",
    ),
    "a mirrored tail": Example(
        f'{BEHIND} y = Pad <mode = "reflect"> (s, pads)',
        constants=amounts(0, 2),
        finds="PAD102 Pad",
        claims="T+2 finite; -1..1; finite",
        first="T=3",
    ),
    "a mirrored head": Example(
        f'{BEHIND} y = Pad <mode = "reflect"> (s, pads)',
        constants=amounts(3, 0),
        claims="T+3 finite; -1..1; finite",
        first="T=4",
    ),
    "mirrored on both sides": Example(
        f'{BEHIND} y = Pad <mode = "reflect"> (s, pads)',
        constants=amounts(2, 3),
        finds="PAD102 Pad",
        claims="T+5 finite; -1..1; finite",
        first="T=4",
    ),
    "a mirrored head of a crop": Example(
        f'{BEHIND} y = Pad <mode = "reflect"> (s, pads)',
        constants=amounts(2, -1),
        claims="T+1 finite; -1..1; finite",
        first="T=4",
    ),
    "a mirrored tail of a crop": Example(
        f'{BEHIND} y = Pad <mode = "reflect"> (s, pads)',
        constants=amounts(-2, 2),
        finds="PAD102 Pad",
        claims="T finite; -1..1; finite",
        first="T=5",
    ),
    "a repeated tail": Example(
        f'{BEHIND} y = Pad <mode = "edge"> (s, pads)',
        constants=amounts(0, 2),
        finds="PAD102 Pad",
        claims="T+2 finite; -1..1; finite",
        harmless="PAD102",
    ),
    "repeated on both sides": Example(
        f'{BEHIND} y = Pad <mode = "edge"> (s, pads)',
        constants=amounts(2, 3),
        finds="PAD102 Pad",
        claims="T+5 finite; -1..1; finite",
        harmless="PAD102",
    ),
    "a repeated head of a crop": Example(
        f'{BEHIND} y = Pad <mode = "edge"> (s, pads)',
        constants=amounts(2, -3),
        claims="T-1 finite; -1..1; finite",
        first="T=4",
    ),
    "a repeated tail of a crop": Example(
        f'{BEHIND} y = Pad <mode = "edge"> (s, pads)',
        constants=amounts(-3, 2),
        finds="PAD102 Pad",
        claims="T-1 finite; -1..1; finite",
        first="T=4",
        harmless="PAD102",
    ),
    "repeated along time, and channels cropped and repeated": Example(
        'y = Pad <mode = "edge"> (x, pads)',
        constants="int64[6] pads = {0, -1, 0, 0, 1, 1}",
        finds="PAD102 Pad",
        claims="T+1 finite; finite",
        harmless="PAD102",
    ),
    "mirrored along time and channels, of rows": Example(
        'y = Pad <mode = "reflect"> (x, pads)',
        "float[batch, 4, U] y",
        "float[batch, 2, T] x",
        "int64[6] pads = {0, 1, 1, 0, 1, 1}",
        rows=0,
        finds="PAD102 Pad",
        claims="T+2 finite; finite",
        first="T=2",
    ),
    "mirrored along channels and time, of rows of an old opset": Example(
        'y = Pad <mode = "reflect"> (x, pads)',
        "float[batch, 6, U] y",
        "float[batch, 4, T] x",
        "int64[6] pads = {0, 1, 1, 0, 1, 1}",
        rows=0,
        opset=11,
        finds="PAD102 Pad",
        claims="T+2 finite; finite",
        first="T=2",
    ),
    "repeated along channels and as often as there are steps in front, of rows of an old opset": Example(
        "s = Shape (x) t = Slice (s, two, three) p = Concat <axis = 0> (front, t, behind) "
        'y = Pad <mode = "edge"> (x, p)',
        "float[batch, 5, U] y",
        "float[batch, 3, T] x",
        "int64[1] two = {2}, int64[1] three = {3}, int64[2] front = {0, 1}, int64[3] behind = {0, 1, 0}",
        rows=0,
        opset=11,
        finds="PAD102 Pad",
        claims="2*T finite; finite",
    ),
    "wrapped along time and listed channels": Example(
        'y = Pad <mode = "wrap"> (x, pads, , axes)',
        "float[1, 4, U] y",
        constants="int64[4] pads = {0, 1, 1, 1}, int64[2] axes = {-1, 1}",
        opset=19,
        finds="PAD102 Pad",
        claims="T+1 finite; finite",
    ),
    "mirrored along one length and cropped along another, of rows of an old opset": Example(
        'y = Pad <mode = "reflect"> (x, pads)',
        "float[batch, U, V] y",
        "float[batch, T, V] x",
        "int64[6] pads = {0, 0, 0, 0, -1, 1}",
        rows=0,
        opset=11,
        finds="PAD102 Pad",
        claims="T-1 finite; V+1 finite; finite",
        first="T=2 V=2",
    ),
    "a front that varies, of a listed axis of rows": Example(
        "s = Shape <start = 2> (x) p = Concat <axis = 0> (s, one) y = Pad (x, p, , time)",
        "float[batch, 2, U] y",
        "float[batch, 2, T] x",
        "int64[1] time = {-1}, int64[1] one = {1}",
        rows=0,
        finds="PAD102 Pad",
        guards="Pad Pad",
        claims="2*T+1 finite; finite",
    ),
    "a front that varies, of listed axes of rows": Example(
        "s = Shape <start = 2> (x) p = Concat <axis = 0> (s, rest) y = Pad (x, p, , both)",
        "float[batch, 2, U] y",
        "float[batch, 2, T] x",
        "int64[2] both = {2, 1}, int64[3] rest = {0, 1, 0}",
        rows=0,
        finds="PAD102 Pad",
        guards="Pad Pad",
        claims="2*T+1 finite; finite",
    ),
    "a listed axis of rows between two gathers": Example(
        "p = Pad (x, pads, , time) y = Slice (p, last, first, time, last)",
        "float[batch, 2, U] y",
        "float[batch, 2, T] x",
        "int64[2] pads = {1, 1}, int64[1] time = {2}, int64[1] last = {-1}, int64[1] first = {-9223372036854775807}",
        rows=0,
        finds="PAD102 Pad, PAD105 Slice",
        guards="Pad",
        claims="T+2 finite; finite",
    ),
    "mirrored channels": Example(
        'y = Pad <mode = "reflect"> (x, pads)',
        "float[1, 4, T] y",
        constants="int64[6] pads = {0, 1, 0, 0, 1, 0}",
        claims="T finite; finite; image",
    ),
    "a wrapped tail": Example(
        'y = Pad <mode = "wrap"> (x, pads)',
        constants=amounts(0, 3),
        opset=19,
        finds="PAD102 Pad",
        claims="T+3 finite; finite",
    ),
    "a wrapped head": Example(
        'y = Pad <mode = "wrap"> (x, pads)',
        constants=amounts(2, 0),
        opset=19,
        finds="PAD102 Pad",
        claims="T+2 finite; finite",
    ),
    "wrapped sixteen times": Example(
        'y = Pad <mode = "wrap"> (x, pads)',
        constants=amounts(0, 16),
        opset=19,
        finds="PAD102 Pad",
        claims="T+16 finite; finite",
    ),
    "wrapped too often": Example(
        'y = Pad <mode = "wrap"> (x, pads)',
        constants=amounts(1, 16),
        opset=19,
        refused="Pad mode wrap along time by an amount that varies, is negati",
    ),
    "a wrapped crop": Example(
        'y = Pad <mode = "wrap"> (x, pads)',
        constants=amounts(-1, 1),
        opset=19,
        refused="Pad mode wrap along time by an amount that varies, is negati",
    ),
    "half a step more": Example(
        "s = Shape <start = 2> (x) h = Div (s, two) p = Concat <axis = 0> (rest, h) y = Pad (x, p)",
        constants="int64[1] two = {2}, int64[5] rest = {0, 0, 0, 0, 0}",
        finds="PAD102 Pad",
        claims="T+T//2 0; finite",
    ),
    "a front that varies": front("y = Pad (x, p)", finds="PAD102 Pad", guards="Pad", claims="2*T finite; finite"),
    "a front that varies, of a constant": front(
        "g = Sigmoid (x) y = Pad (g, p, c)",
        finds="PAD102 Pad",
        guards="Pad",
        claims="2*T finite; -1.5..1; finite",
    ),
    "a front that varies, of a mask": front(
        "y = Pad (x, p, low)", finds="PAD102 Pad", guards="Pad", claims="2*T any; any; masked"
    ),
    "a front that varies, of what may be infinite": front(
        "e = Exp (x) y = Pad (e, p)", finds="PAD102 Pad", guards="Pad", claims="2*T any; 0..inf; any"
    ),
    "a front that varies, of a listed axis": Example(
        "s = Shape <start = 2> (x) p = Concat <axis = 0> (s, one) y = Pad (x, p, , time)",
        constants="int64[1] time = {-1}, int64[1] one = {1}",
        finds="PAD102 Pad",
        guards="Pad",
        claims="2*T+1 finite; finite",
    ),
    "a front that varies, of rows": Example(
        "s = Shape <start = 2> (x) p = Concat <axis = 0> (none, s, rest) y = Pad (x, p)",
        "float[batch, 2, U] y",
        "float[batch, 2, T] x",
        "int64[2] none = {0, 0}, int64[3] rest = {0, 0, 0}",
        rows=0,
        finds="PAD102 Pad",
        guards="Pad",
        claims="2*T finite; finite",
    ),
    "a front that varies, beside channels": Example(
        "s = Shape <start = 2> (x) p = Concat <axis = 0> (one, s, rest) y = Pad (x, p)",
        constants="int64[2] one = {0, 1}, int64[3] rest = {0, 0, 0}",
        outputs="float[1, 3, U] y",
        finds="PAD102 Pad",
        guards="Pad",
        claims="2*T finite; finite",
    ),
    "a front that varies, of rows, beside channels on both sides": Example(
        "s = Shape <start = 2> (x) p = Concat <axis = 0> (one, s, rest) y = Pad (x, p, v)",
        "float[batch, 6, U] y",
        "float[batch, 2, T] x",
        "int64[2] one = {0, 1}, int64[3] rest = {0, 3, 1}, float v = {2}",
        rows=0,
        finds="PAD102 Pad",
        guards="Pad",
        claims="2*T+1 finite; finite",
    ),
    "a front that varies, of rows, by a list of axes, the first of which is channels": Example(
        "s = Shape <start = 2> (x) p = Concat <axis = 0> (one, s, rest) y = Pad (x, p, v, axes)",
        "float[batch, 4, U] y",
        "float[batch, 2, T] x",
        "int64[1] one = {1}, int64[2] rest = {1, 2}, float v = {2}, int64[2] axes = {1, 2}",
        rows=0,
        finds="PAD102 Pad",
        guards="Pad Pad",
        claims="2*T+2 finite; finite",
    ),
    "a front that varies, before another length that is padded": Example(
        "s = Shape <start = 1, end = 2> (x) p = Concat <axis = 0> (none, s, rest) y = Pad (x, p, v)",
        "float[1, V, W] y",
        "float[1, T, U] x",
        "int64[1] none = {0}, int64[4] rest = {1, 0, 0, 2}, float v = {2}",
        finds="PAD102 Pad",
        guards="Pad",
        claims="2*T finite; U+3 finite; finite",
    ),
    "two fronts that vary": Example(
        "s = Shape <start = 1> (x) p = Concat <axis = 0> (none, s, rest) y = Pad (x, p)",
        "float[1, V, W] y",
        "float[1, T, U] x",
        "int64[1] none = {0}, int64[3] rest = {0, 0, 0}",
        refused="Pad of several axes by amounts that the length makes",
    ),
    "a front that varies, repeated": front(
        'y = Pad <mode = "edge"> (x, p)', finds="PAD102 Pad", claims="2*T finite; finite"
    ),
    "a front that varies, mirrored": front(
        'l = Pad (x, two) y = Pad <mode = "reflect"> (l, p)',
        finds="PAD102 Pad, PAD102 Pad",
        claims="2*T+2 finite; finite",
    ),
    "a front that may crop, repeated": Example(
        "s = Shape <start = 2> (x) h = Sub (s, nine) p = Concat <axis = 0> (none, h, rest) "
        'y = Pad <mode = "edge"> (x, p)',
        constants="int64[1] nine = {9}, int64[2] none = {0, 0}, int64[3] rest = {0, 0, 0}",
        finds="PAD102 Pad",
        claims="2*T-9 finite; finite",
        first="T=5",
    ),
    "numbers on channels beside zeros": Example(
        "z = Pad (x, pads) w = Pad (z, wide, c) y = ReduceSum <keepdims = 0> (w, time)",
        "float[1, 4] y",
        constants=f"{amounts(0, 2)}, int64[6] wide = {{0, 1, 0, 0, 1, 0}}, float c = {{1.5}}, int64[1] time = {{2}}",
        finds="PAD102 Pad, PAD101 ReduceSum",
        claims="finite",
    ),
    "numbers behind one length beside zeros of another": Example(
        "z = Pad (x, pads) w = Pad (z, wide, c) y = ReduceSum <keepdims = 0> (w, last)",
        "float[1, 1, U] y",
        "float[1, 1, T, V] x",
        "int64[8] pads = {0, 0, 0, 0, 0, 0, 0, 2}, int64[8] wide = {0, 0, 0, 0, 0, 0, 1, 0}, float c = {1.5}, "
        "int64[1] last = {3}",
        finds="PAD102 Pad, PAD102 Pad, PAD101 ReduceSum",
        claims="T+1 finite; finite",
    ),
    "a number below, on channels of bounded steps": Example(
        "g = Sigmoid (x) y = Pad (g, wide, c)",
        "float[1, 4, T] y",
        constants="int64[6] wide = {0, 1, 0, 0, 1, 0}, float c = {-1.5}",
        claims="T finite; -1.5..1; finite",
    ),
    "channels repeated beside zeros": Example(
        'z = Pad (x, pads) y = Pad <mode = "edge"> (z, wide)',
        "float[1, 4, U] y",
        constants=f"{amounts(0, 2)}, int64[6] wide = {{0, 1, 0, 0, 1, 0}}",
        finds="PAD102 Pad",
        claims="T+2 0; finite",
    ),
    "up to a constant": Example(
        "s = Shape <start = 2> (x) h = Sub (nine, s) p = Concat <axis = 0> (rest, h) y = Pad (x, p)",
        "float[1, 2, 9] y",
        constants="int64[1] nine = {9}, int64[5] rest = {0, 0, 0, 0, 0}",
        finds="PAD102 Pad",
        claims="finite",
    ),
    "a table up to the length": Example(
        "s = Shape <start = 2> (x) h = Sub (s, four) p = Concat <axis = 0> (none, h) q = Pad (w, p) y = Add (x, q)",
        "float[1, 2, T] y",
        constants="int64[1] four = {4}, int64[3] none = {0, 0, 0}, float[2, 4] w",
        claims="T finite; finite",
    ),
    "rows of a batch": Example(
        "y = Pad (x, pads)",
        "float[batch, 2, U] y",
        "float[batch, 2, T] x",
        amounts(1, 2),
        rows=0,
        finds="PAD102 Pad",
        claims="T+3 0; finite",
    ),
    "rows mirrored": Example(
        f'{BEHIND} y = Pad <mode = "reflect"> (s, pads)',
        "float[batch, 2, U] y",
        "float[batch, 2, T] x",
        amounts(1, 2),
        rows=0,
        finds="PAD102 Pad",
        claims="T+3 finite; -1..1; finite",
        first="T=3",
    ),
    "more rows": Example(
        "y = Pad (x, pads)",
        "float[N, 2, T] y",
        "float[batch, 2, T] x",
        "int64[6] pads = {1, 0, 0, 0, 0, 0}",
        rows=0,
        refused="Pad along the batch mixes rows of different lengths",
    ),
    "two lengths": Example(
        "y = Pad (x, pads)",
        "float[1, 1, U, W] y",
        "float[1, 1, T, V] x",
        "int64[8] pads = {0, 0, 1, 0, 0, 0, 2, 1}",
        finds="PAD102 Pad",
        claims="T+3 0; V+1 0; finite",
    ),
    "two lengths, cropped": Example(
        "p = Pad (x, pads) y = Pad (p, crop)",
        "float[1, 1, U, W] y",
        "float[1, 1, T, V] x",
        "int64[8] pads = {0, 0, 0, 0, 0, 0, 2, 2}, int64[8] crop = {0, 0, 0, 0, 0, 0, -1, 0}",
        finds="PAD102 Pad",
        claims="T+1 finite; V+2 0; finite",
    ),
    "both axes of scores whose corner is not 0": Example(
        "t = Transpose <perm = [0, 2, 1]> (x) s = MatMul (t, x) p = Softmax <axis = 2> (s) "
        "q = Transpose <perm = [0, 2, 1]> (p) c = Mul (p, q) w = Pad (c, pads) y = ReduceSum <keepdims = 0> (w, both)",
        "float[1] y",
        constants="int64[6] pads = {0, 0, 0, 0, 1, 1}, int64[2] both = {1, 2}",
        finds="PAD103 Softmax, PAD101 ReduceSum",
        harmless="PAD101",
        claims="0..inf; finite",
    ),
    "a table with as much in front as the length": Example(
        "s = Shape <start = 2> (x) m = Sub (s, one) z = Concat <axis = 0> (m, zero) p = Concat <axis = 0> (z, z) "
        "w = Pad (table, p) t = Transpose <perm = [0, 2, 1]> (x) k = Transpose <perm = [1, 0]> (w) v = MatMul (t, k) "
        "y = MatMul (v, w)",
        "float[1, T, 2] y",
        constants="int64[1] one = {1}, int64[1] zero = {0}, float[3, 2] table",
        claims="T finite; finite",
    ),
    "a table cropped where the length is short": Example(
        "s = Shape <start = 2> (x) m = Sub (s, two) z = Concat <axis = 0> (m, zero) p = Concat <axis = 0> (z, z) "
        "w = Pad (table, p) t = Transpose <perm = [0, 2, 1]> (x) k = Transpose <perm = [1, 0]> (w) v = MatMul (t, k) "
        "y = MatMul (v, w)",
        "float[1, T, 2] y",
        constants="int64[1] two = {2}, int64[1] zero = {0}, float[3, 2] table",
        finds="PAD108 MatMul",
        claims="T finite; finite",
    ),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name: str) -> None:
    EXAMPLES[name].check()


@pytest.mark.parametrize("pads", ["0, 0, 0, 0, 0, 3", "0, 0, 2, 0, 0, 0", "0, 0, 2, 0, 0, 4"])
def test_steps_that_wrap_around(pads: str) -> None:
    assert_exact(
        f"""g (float[1, 2, T] x) => (float[1, 2, U] y) <int64[6] pads = {{{pads}}}> {{
           y = Pad <mode = "wrap"> (x, pads) }}""",
        "x:2=T",
        opset=19,
        needs=["PAD102"],
    )  # fmt: skip


# h is one or two steps longer than x, or as long: 3 * ceil(T / 3); the amount is T less that.
UP = """
    s = Shape <start = 2, end = 3> (x)
    more = Add (s, two) thirds = Div (more, three) whole = Mul (thirds, three)
    room = Sub (whole, s) none = Sub (room, room)
    longer = Concat <axis = 0> (none, none, none, none, none, room)
    h = Pad (x, longer)
    shift = Sub (s, whole)
"""


UP_NUMBERS = "int64[1] two = {2}, int64[1] three = {3}, int64[1] one = {1}, int64[1] front = {FRONT}"


def _matched(mode: str, front: int, more: int, fill: str = "") -> str:
    """x, filled up to a multiple of three, padded by ``front`` and by T - whole + more: -2+more .. more steps."""
    numbers = UP_NUMBERS.replace("FRONT", str(front))
    return f"""g (float[1, 2, T] x) => (float[1, 2, U] y, float[1, 2, U] z)
        <{numbers}, int64[1] extra = {{{more}}}, float c = {{1.5}}, float[2, 2, 3] w = {{1, 2, -3, 4, 5, -6, 7, 8, 9, 1, 2, 3}}> {{{UP}
        after = Add (shift, extra)
        pads = Concat <axis = 0> (none, none, front, none, none, after)
        y = Pad <mode = "{mode}"> (h, pads{fill})
        z = Conv <pads = [1, 1]> (y, w)
    }}"""  # noqa: E501


def assert_tight(text: str, *lengths: str) -> None:
    """Native's answer wherever native has one."""
    verdict = verdict_of(text, *lengths)
    assert (verdict.outcome, verdict.tight) == ("exact", ""), verdict.reason


@pytest.mark.parametrize("fill", ["", ", c"])
@pytest.mark.parametrize(("front", "more"), [(0, 0), (0, 1), (2, 0), (2, 1), (-1, 1), (-1, 3), (1, 2)])
def test_a_constant_pad_of_either_sign(front: int, more: int, fill: str) -> None:
    assert_tight(_matched("constant", front, more, fill), "x:2=T")


@pytest.mark.parametrize("mode", ["edge", "reflect"])
@pytest.mark.parametrize(("front", "more"), [(0, 0), (0, 1), (2, 0), (2, 1), (-1, 1), (-1, 3), (1, 2)])
def test_a_continued_tail_of_either_sign(mode: str, front: int, more: int) -> None:
    assert_tight(_matched(mode, front, more), "x:2=T")


def test_a_constant_crop_beside_a_pad() -> None:
    """The crop in front was refused beside a pad behind."""
    for pads in ("-2, 0, 0, 3", "3, 0, 0, -2"):
        front, _, _, back = pads.split(", ")
        assert_tight(
            f"""g (float[1, 2, T] x) => (float[1, 2, U] y, float[1, 2, 1] m)
               <int64[6] pads = {{0, 0, {front}, 0, 0, {back}}}, float c = {{0.5}}> {{
               y = Pad (x, pads, c) m = ReduceMax <axes = [2], keepdims = 1> (y) }}""",
            "x:2=T",
        )  # fmt: skip


def test_two_axes_of_either_sign() -> None:
    assert_tight(
        f"""g (float[1, 1, T, V] x) => (float[1, 1, U, W] y, float[1, 1, U, 1] m)
           <{UP_NUMBERS.replace("FRONT", "0")}, float c = {{0.5}}> {{
           s = Shape <start = 2, end = 3> (x) v = Shape <start = 3, end = 4> (x)
           more = Add (s, two) thirds = Div (more, three) whole = Mul (thirds, three) shift = Sub (whole, s)
           half = Div (v, two) even = Mul (half, two) rest = Sub (v, even) none = Sub (rest, rest)
           left = Sub (shift, one) right = Sub (rest, one)
           pads = Concat <axis = 0> (none, none, none, none, none, none, left, right)
           y = Pad (x, pads, c)
           e = Exp (y)
           m = ReduceMean <axes = [3], keepdims = 1> (e)
        }}""",
        "x:2=T",
        "x:3=V",
    )  # fmt: skip


def test_a_crop_by_a_floor_that_was_meant_as_a_ceiling() -> None:
    """EnCodec's extra padding, its ceiling exported as an integer division: none is added, up to two steps are cut."""
    assert_tight(
        """g (float[1, 2, T] x) => (float[1, 2, U] y)
           <int64[1] three = {3}, int64[2] zeros = {0, 0}, int64[1] front = {3},
            float[2, 2, 6] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6}> {
           s = Shape <start = 2, end = 3> (x)
           less = Sub (s, three) frames = Div (less, three) more = Mul (frames, three)
           ideal = Add (more, three) extra = Sub (ideal, s)
           pads = Concat <axis = 0> (zeros, front, zeros, extra)
           h = Pad <mode = "reflect"> (x, pads)
           y = Conv <strides = [3]> (h, w)
        }""",
        "x:2=T",
    )  # fmt: skip


def _model(text: str) -> onnx.ModelProto:
    return onnx.parser.parse_model(f'<ir_version: 9, opset_import: ["": 17]>\n{text}')


def test_zeros_appended_before_a_convolution_that_overhangs_pass_the_gates() -> None:
    """The padding was still said to repeat valid steps, and gate L filled it with some."""
    model = _model(
        """g (float[1, 2, T] x) => (float[1, 2, U] y)
           <int64[6] pads = {0, 0, 0, 0, 0, 2}, float[2, 2, 3] w = {1, 2, -3, 4, 5, -6, 7, 8, 9, 1, 2, 3}> {
           h = Pad (x, pads) y = Conv <pads = [1, 1]> (h, w) }"""
    )
    assert_convertible(model, ["x:2=T"], containers=["9"])


@pytest.mark.parametrize(
    "cut", ["h = Slice (x, zero, last, axis)", "h = Pad (x, pads)", "h = Gather <axis = 1> (x, i)"]
)
def test_codes_cut_off_are_no_index(cut: str) -> None:
    """The last code may be one that native never looks up, and the tail fill repeats it."""
    model = _model(
        f"""g (int64[1, T] x) => (float[1, U, 2] y)
           <float[4, 2] table = {{1, 2, 3, 4, 5, 6, 7, 8}}, int64[1] zero = {{0}}, int64[1] last = {{-1}},
            int64[1] axis = {{1}}, int64[4] pads = {{0, 0, 0, -1}}, int64 nil = {{0}}, int64 one = {{1}}> {{
           s = Shape <start = 1, end = 2> (x) n = Squeeze (s) m = Sub (n, one) i = Range (nil, m, one)
           {cut}
           y = Gather <axis = 0> (table, h)
        }}"""
    )
    padded = paddable.convert(model, ["x:1=T"], containers=["9"], verify=False)
    feeds = {"x": np.array([[3, 1, 2, 99, 0, 0, 0, 0, 0]]), "ilens": np.array([4])}
    got = ort.InferenceSession(padded.SerializeToString()).run(["y"], feeds)[0]
    assert got[0, :4, 0].tolist() == [7, 3, 5, 0]


def test_codebooks_picked_one_by_one_need_no_select() -> None:
    """Padding repeats valid codes whichever codebook is read."""
    model = _model(
        """g (int64[1, 3, T] x) => (float[1, T, 2] y)
           <float[4, 2] table = {1, 2, 3, 4, 5, 6, 7, 8}, int64 one = {1}> {
           h = Gather <axis = 1> (x, one) y = Gather <axis = 0> (table, h) }"""
    )
    assert not any(site.remedies for site in open_model(model, ["x:2=T"]).analyse().sites)


def test_a_cut_step_holds_what_the_other_axis_holds_there() -> None:
    """Steps that a slice cuts off are padding now, and cross the padding of the other axis."""
    scope = Scope({"T": Span(4, None), "V": Span(4, None)})
    axes = (scope.axis(parse("T")), scope.axis(parse("V")))
    value = Facts(ir.DataType.FLOAT, axes, (PaddingFact(FINITE, ZERO), PaddingFact(ANY, ANY)), finite=True)
    assert cut_pad(value, 0) == PaddingFact(FINITE, ANY)
    assert cut_pad(value, 1) == PaddingFact(ANY, ANY)


def test_a_union_of_residues_is_no_longest_length() -> None:
    """T - 2 * ceil(T / 2) is 0 at even lengths and -1 at odd ones: once "at no length", once "at most T = 4"."""
    scope = Scope({"T": Span(1, None)})
    for text in ("T-2*((T+1)//2)", "T-4*((T+3)//4)"):
        length = parse(text)
        assert not scope.need(length, "a test")
        assert scope.spans["T"] == Span(1, None) and not scope.never(length)
    assert scope.never(parse("-T"))
    assert scope.need(parse("9-T"), "a table") and scope.spans["T"] == Span(1, 9)
