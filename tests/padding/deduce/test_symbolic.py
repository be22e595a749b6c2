"""Arithmetic on lengths: what is known exactly, and what is left to the runtime."""

from __future__ import annotations

from typing import Any

import pytest

from ..example import Example
from ..native import assert_exact

NUMBERS = (
    "int64 nil = {0}, int64 one = {1}, int64 two = {2}, int64 three = {3}, int64 five = {5}, int64 back = {-1}, "
    "float half = {0.5}, float third = {0.3}, float nought = {0}, float few = {3}, bool yes = {1}, bool no = {0}"
)
LENGTH = "s = Shape <start = 2> (x) n = Squeeze (s)"
POSITIONS = f"{LENGTH} i = Range (nil, n, one)"


def data(nodes: str, **expected: str) -> Example:
    """A number ``m`` made of the length ``n``, used as data."""
    body = f"{LENGTH} {nodes} f = Cast <to = 1> (m) y = Add (x, f)"
    return Example(body, "float[1, 2, T] y", constants=NUMBERS, **expected)


def size(nodes: str, **expected: str) -> Example:
    """A number ``m`` made of the length ``n``, used as a size."""
    body = f"{LENGTH} {nodes} u = Unsqueeze (m, a) o = ConstantOfShape (u) e = Exp (o) y = Unsqueeze (e, a)"
    return Example(
        f"{body} z = Neg (x)", "float[1, N] y, float[1, 2, T] z", constants=f"{NUMBERS}, int64[1] a = {{0}}", **expected
    )


def mask(nodes: str, **expected: Any) -> Example:
    """A condition ``m`` made of the positions ``i`` and the length ``n``."""
    return Example(f"{POSITIONS} {nodes} y = Where (m, x, few)", "float[1, 2, T] y", constants=NUMBERS, **expected)


def pairs(nodes: str, **expected: str) -> Example:
    """A condition ``m`` made of the positions ``r`` of rows and ``c`` of columns."""
    body = f"{POSITIONS} r = Unsqueeze (i, b) c = Unsqueeze (i, a) {nodes} t = Transpose <perm = [0, 2, 1]> (x) "
    return Example(
        f"{body} s0 = MatMul (t, x) y = Where (m, s0, few)",
        "float[1, T, T] y",
        constants=f"{NUMBERS}, int64[1] a = {{0}}, int64[1] b = {{1}}",
        **expected,
    )


EXAMPLES = {
    "a sum as data": data("m = Add (n, two)", finds="PAD106 Add", claims="T finite; finite"),
    "a difference as data": data("m = Sub (n, two)", finds="PAD106 Add", claims="T finite; finite"),
    "a product as data": data("m = Mul (n, three)", finds="PAD106 Add", claims="T finite; finite"),
    "a quotient as data": data("m = Div (n, three)", finds="PAD106 Add", claims="T finite; finite"),
    "a remainder as data": data("m = Mod (n, three)", finds="PAD106 Add", claims="T finite; finite"),
    "a float remainder as data": data(
        "g = Cast <to = 1> (n) m = Mod <fmod = 1> (g, few)", finds="PAD106 Mod", claims="T any; any"
    ),
    "an opposite as data": data("m = Neg (n)", finds="PAD106 Add", claims="T finite; finite"),
    "a magnitude as data": data("d = Sub (two, n) m = Abs (d)", finds="PAD106 Add", claims="T finite; finite"),
    "a minimum as data": data("m = Min (n, five)", finds="PAD106 Add", claims="T finite; finite"),
    "a maximum as data": data("m = Max (n, five, two)", finds="PAD106 Add", claims="T finite; finite"),
    "a clipped number as data": data("m = Clip (n, two, five)", finds="PAD106 Add", claims="T finite; finite"),
    "a number clipped below as data": data("m = Clip (n, five)", finds="PAD106 Add", claims="T finite; finite"),
    "a square as data": data("m = Pow (n, two)", finds="PAD106 Add", claims="T finite; finite"),
    "a first power as data": data("m = Pow (n, one)", finds="PAD106 Add", claims="T finite; finite"),
    "a power of a constant as data": data(
        "p = Pow (three, two) m = Add (n, p)", finds="PAD106 Add", claims="T finite; finite"
    ),
    "a sign as data": data("m = Sign (n)", claims="T finite; finite"),
    "a half as data": data("g = Cast <to = 1> (n) m = Mul (g, half)", finds="PAD106 Add", claims="T finite; finite"),
    "a half rounded down as data": data(
        "g = Cast <to = 1> (n) h = Mul (g, half) m = Floor (h)",
        finds="PAD106 Add",
        claims="T finite; finite",
        last="T=1048577",
    ),
    "a half rounded up as data": data(
        "g = Cast <to = 1> (n) h = Mul (g, half) m = Ceil (h)",
        finds="PAD106 Add",
        claims="T finite; finite",
        last="T=1048577",
    ),
    "a half cast down as data": data(
        "g = Cast <to = 1> (n) h = Mul (g, half) m = Cast <to = 7> (h)",
        finds="PAD106 Add",
        claims="T finite; finite",
        last="T=1048577",
    ),
    "a third rounded up as data": data(
        "g = Cast <to = 1> (n) h = Div (g, few) m = Ceil (h)",
        finds="PAD106 Add",
        claims="T finite; finite",
        last="T=1048577",
    ),
    "a part that is rounded as data": data(
        "g = Cast <to = 1> (n) h = Mul (g, third) m = Floor (h)", finds="PAD106 Mul", claims="T finite; finite"
    ),
    "a condition on the length as data": data("m = Less (n, five)", finds="PAD106 Less", claims="T finite; finite"),
    "a condition that always holds as data": data("m = GreaterOrEqual (n, one)", claims="T finite; finite"),
    "a condition that never holds as data": data("m = Equal (n, nil)", claims="T finite; finite"),
    "a condition negated as data": data("d = Less (n, one) m = Not (d)", claims="T finite; finite"),
    "conditions joined as data": data("d = Less (n, one) e = Less (nil, n) m = And (d, e)", claims="T finite; finite"),
    "either condition as data": data("d = Less (n, one) e = Less (nil, n) m = Or (d, e)", claims="T finite; finite"),
    "one of two conditions as data": data(
        "d = Less (n, one) e = Less (nil, n) m = Xor (d, e)", claims="T finite; finite"
    ),
    "a choice that is decided as data": data(
        "d = Less (nil, n) m = Where (d, n, five)", finds="PAD106 Add", claims="T finite; finite"
    ),
    "a choice that is decided otherwise as data": data(
        "d = Less (n, nil) m = Where (d, n, five)", claims="T finite; finite"
    ),
    "a choice that is open as data": data(
        "d = Less (n, five) m = Where (d, n, five)", finds="PAD106 Less, PAD106 Where", claims="T finite; finite"
    ),
    "a length over itself as data": data("g = Cast <to = 1> (n) m = Div (g, g)", claims="T finite; finite"),
    "a sum as a size": size("m = Add (n, two)", claims="T+2 1; 1..1; 1"),
    "a difference as a size": size("m = Sub (n, two)", claims="T-2 1; 1..1; 1", first="T=3"),
    "a product as a size": size("m = Mul (n, three)", claims="3*T 1; 1..1; 1"),
    "a quotient as a size": size("p = Add (n, two) m = Div (p, three)", claims="(T+2)//3 1; 1..1; 1"),
    "a quotient less one as a size": size(
        "p = Sub (n, one) q = Div (p, three) m = Add (q, one)", claims="(T+2)//3 1; 1..1; 1"
    ),
    "a remainder as a size": size(
        "p = Mod (n, three) m = Add (p, one)", refused="the size T-3*(T//3)+1 does not grow with the length, so no c"
    ),
    "a minimum as a size": size("m = Min (n, five)", claims="min(T, 5) 1; 1..1; 1"),
    "a maximum as a size": size("m = Max (n, five)", claims="max(T, 5) 1; 1..1; 1"),
    "a maximum of three as a size": size("d = Mul (n, two) m = Max (n, five, d)", claims="max(2*T, 5) 1; 1..1; 1"),
    "a clipped number as a size": size("m = Clip (n, two, five)", claims="min(max(T, 2), 5) 1; 1..1; 1"),
    "a square as a size": size("m = Mul (n, n)", refused="padding is interleaved with valid steps on this axis"),
    "a half rounded down as a size": size(
        "g = Cast <to = 1> (n) h = Mul (g, half) k = Floor (h) j = Cast <to = 7> (k) m = Add (j, one)",
        claims="T//2+1 1; 1..1; 1",
        last="T=1048577",
    ),
    "a half rounded up as a size": size(
        "g = Cast <to = 1> (n) h = Mul (g, half) k = Ceil (h) m = Cast <to = 7> (k)",
        claims="T-(T//2) 1; 1..1; 1",
        last="T=1048577",
    ),
    "a half cast down as a size": size(
        "g = Cast <to = 1> (n) h = Mul (g, half) j = Cast <to = 7> (h) m = Add (j, one)",
        claims="T//2+1 1; 1..1; 1",
        last="T=1048577",
    ),
    "a magnitude as a size": size("d = Neg (n) m = Abs (d)", claims="T 1; 1..1; 1"),
    "a choice that is decided as a size": size("d = Less (nil, n) m = Where (d, n, five)", claims="T 1; 1..1; 1"),
    "a choice of equal numbers as a size": size(
        "d = Less (n, five) m = Where (d, n, n)", refused="a size is computed from data, or from lengths in a way that "
    ),
    "a choice that is open as a size": size(
        "d = Less (n, five) m = Where (d, n, five)",
        refused="a size is computed from data, or from lengths in a way that ",
    ),
    "a number of data as a size": size(
        "p = ReduceMax <keepdims = 0> (x) q = Cast <to = 7> (p) m = Add (q, n)",
        refused="a size is computed from data, or from lengths in a way that ",
    ),
    "steps before the length": mask("m = Less (i, n)", finds="PAD106 Less", claims="T 3; finite", harmless="PAD106"),
    "steps at most the length": mask(
        "m = LessOrEqual (i, n)", finds="PAD106 LessOrEqual", claims="T finite; finite", harmless="PAD106"
    ),
    "steps before the last": mask("l = Sub (n, one) m = Less (i, l)", finds="PAD106 Less", claims="T 3; finite"),
    "the last step": mask("l = Sub (n, one) m = Equal (i, l)", finds="PAD106 Equal", claims="T 3; finite"),
    "steps after the second": mask("m = Greater (i, two)", claims="T finite; finite"),
    "steps from the second": mask("m = GreaterOrEqual (i, two)", claims="T finite; finite"),
    "steps from the start": mask("m = GreaterOrEqual (i, nil)", claims="T finite; finite"),
    "steps behind the length": mask(
        "m = GreaterOrEqual (i, n)", finds="PAD106 GreaterOrEqual", claims="T finite; 3", harmless="PAD106"
    ),
    "doubled steps before twice the length": mask(
        "d = Mul (i, two) e = Mul (n, two) m = Less (d, e)",
        finds="PAD106 Less",
        claims="T 3; finite",
        harmless="PAD106",
    ),
    "doubled steps before the length": mask(
        "d = Mul (i, two) m = Less (d, n)", finds="PAD106 Less", claims="T 3; finite"
    ),
    "steps counted from the end": mask(
        "d = Sub (n, i) m = LessOrEqual (d, two)", finds="PAD105 Where", claims="T finite; finite"
    ),
    "steps as a narrower type": mask(
        "d = Cast <to = 6> (i) e = Cast <to = 6> (n) m = Less (d, e)",
        finds="PAD106 Less",
        claims="T 3; finite",
        harmless="PAD106",
    ),
    **{
        f"halves of steps as type {to}": mask(
            "f = Cast <to = 1> (i) h = Mul (f, half) g = Cast <to = 1> (n) k = Mul (g, half) "
            f"d = Cast <to = {to}> (h) e = Cast <to = {to}> (k) m = Less (d, e)",
            finds="PAD106 Less",
            claims="T 3; finite",
            harmless="" if to == 16 else "PAD106",
            native=to != 16,
        )
        for to in (1, 10, 11, 16)
    },
    "halves of steps cast down": mask(
        "f = Cast <to = 1> (i) h = Mul (f, half) d = Cast <to = 7> (h) m = Less (d, n)",
        finds="PAD106 Less",
        claims="T finite; finite",
        harmless="PAD106",
    ),
    "steps below 0": mask("d = Neg (i) m = LessOrEqual (d, nil)", claims="T finite; finite"),
    "a window of steps": mask(
        "d = Less (i, n) e = GreaterOrEqual (i, two) m = And (d, e)",
        finds="PAD106 Less",
        claims="T 3; finite",
        harmless="PAD106",
    ),
    "all steps or none": mask(
        "d = Less (i, n) m = Or (d, yes)", finds="PAD106 Less", claims="T finite; finite", harmless="PAD106"
    ),
    "no steps": mask("d = Less (i, n) m = And (d, no)", finds="PAD106 Less", claims="T 3; 3", harmless="PAD106"),
    "the steps themselves": mask(
        "d = Less (i, n) m = And (d, yes)", finds="PAD106 Less", claims="T 3; finite", harmless="PAD106"
    ),
    "steps limited below": mask(
        "d = Max (i, nil) m = Less (d, n)", finds="PAD106 Less", claims="T 3; finite", harmless="PAD106"
    ),
    "steps limited above": mask(
        "d = Min (i, n) m = Less (d, n)", finds="PAD106 Min, PAD106 Less", claims="T finite; finite", harmless="PAD106"
    ),
    "earlier steps": pairs("m = LessOrEqual (c, r)", claims="T finite; T 3|finite; finite"),
    "strictly earlier steps": pairs("m = Less (c, r)", claims="T finite; T 3|finite; finite"),
    "later steps": pairs("m = GreaterOrEqual (c, r)", claims="T 3|finite; T finite; finite"),
    "the same step": pairs("m = Equal (c, r)", claims="T 3|finite; T 3|finite; finite"),
    "steps within two": pairs(
        "d = Sub (c, r) e = Abs (d) m = LessOrEqual (e, two)", claims="T finite; T finite; finite"
    ),
    "steps in the same chunk": pairs(
        "d = Div (c, three) e = Div (r, three) m = Equal (d, e)", claims="T finite; T finite; finite"
    ),
    "steps whose sum is short": pairs("d = Add (c, r) m = Less (d, n)", finds="PAD106 Less", claims="T 3; T 3; finite"),
    "steps that cancel": pairs("d = Sub (c, c) m = Equal (d, nil)", claims="T finite; T finite; finite"),
    "one of two conditions": size(
        "l = Less (n, nil) g = Less (nil, n) c = Xor (l, g) k = Cast <to = 7> (c) m = Add (n, k)",
        claims="T+1 1; 1..1; 1",
    ),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name: str) -> None:
    EXAMPLES[name].check()


@pytest.mark.parametrize("factor", [0.1, 0.3])
def test_rounded_float_arithmetic_on_lengths_is_left_to_the_runtime(factor: float) -> None:
    """50 * 0.1f is 5 in float32 and more than 5 exactly, so its ceiling may not be decided in fractions."""
    assert_exact(
        f"""g (float[1, T, 4] x) => (float[1, T, 4] y)
           <int64 axis = {{1}}, float k = {{{factor}}}, float one = {{1}}> {{
           s = Shape (x)
           n = Gather (s, axis)
           f = Cast <to = 1> (n)
           g1 = Mul (f, k)
           g2 = Add (g1, one)
           h = Ceil (g2)
           y = Mul (x, h)
        }}""",
        "x:1=T",
    )  # fmt: skip
