"""Arithmetic on lengths: what is known exactly, and what is left to the runtime."""

from __future__ import annotations

import itertools
import operator
from fractions import Fraction
from typing import Any

import numpy as np
import onnx_ir as ir
import pytest

from paddable.lengths import Length, Span, parse
from paddable.padding.deduce.broadcast import broadcast
from paddable.padding.deduce.context import RuleContext
from paddable.padding.deduce.scope import Scope
from paddable.padding.deduce.symbolic import decide_comparison, elementwise_content
from paddable.padding.facts.axes import Axes, fixed
from paddable.padding.facts.facts import Affine, Elements, Facts
from paddable.padding.facts.numbers import Face, Number, number, product

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
    "what a remainder holds up as a size": size(
        "p = Mod (n, three) m = Add (p, n)",
        refused="the size 2*T-3*(T//3) grows with the length, but not at every step, so no container",
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


def told(op_type: str, *operands: Facts | None, **attributes: int) -> str:
    """What is known of the contents of a result, in text; of positions, ``i`` and ``j`` count the steps."""
    return _text(_content(_context(op_type, *operands, **attributes)))


def _context(op_type: str, *operands: Facts | None, **attributes: int) -> RuleContext:
    inputs = [None if value is None else ir.Value(name=f"x{k}") for k, value in enumerate(operands)]
    node = ir.node(op_type, inputs, attributes=attributes)
    return RuleContext(node, 18, list(operands), Scope({"T": Span(1, None), "U": Span(4, 100)}), {})


def _content(context: RuleContext) -> Elements | Affine | None:
    given = [k for k, value in enumerate(context.operands) if value is not None]
    return elementwise_content(context, broadcast(context, given))


def _text(content: Elements | Affine | None) -> str:
    if content is None:
        return "unknown"
    if isinstance(content, Elements):
        return ", ".join("?" if x is None else f"{x} {x.face.value}" for x in content.array.flat)
    steps = "".join(f" {'-' if c < 0 else '+'} {'' if abs(c) == 1 else f'{abs(c)}*'}{'ij'[k]}"
                    for k, c in content.coefficients)  # fmt: skip
    return f"{content.base}{steps} {content.base.face.value}"


FACES = {"S": Face.SIZE, "L": Face.LENGTH, "M": Face.MIXED}


def _number(text: str) -> Number:
    """``T+1``, ``T/2``; of the length input ``L:T``; of both ``M:T``."""
    face, _, rest = text.rpartition(":")
    length, _, divisor = rest.partition("/")
    value = number(product(*map(parse, length.split("x"))), FACES[face or "S"])
    return value if not divisor else Number(value.length, int(divisor), value.face)


def numbered(text: str, dtype: ir.DataType = ir.DataType.FLOAT) -> Facts:
    return Facts.known(dtype, (), Elements(np.array(_number(text), dtype=object)))


@pytest.mark.parametrize(
    ("op_type", "operands", "expected"),
    [
        ("Add", "T 2", "T+2 size"), ("Add", "T L:T", "2*T mixed"), ("Add", "TxU 1", "unknown"),
        ("Sub", "T 2", "T-2 size"), ("Sub", "2 T", "2-T size"), ("Mul", "T 3", "3*T size"),
        ("Mod", "T-1 1", "0 constant"), ("Div", "T 3", "(T)/3 size"), ("Div", "7 2", "(7)/2 constant"),
        ("Neg", "T", "-T size"), ("Pow", "3 2", "9 constant"), ("Pow", "2 0", "1 constant"),
        ("Pow", "2 62", f"{1 << 62} constant"), ("Pow", "2 63", "unknown"), ("Pow", "2 -1", "unknown"),
        ("Pow", "4 1/2", "unknown"), ("Pow", "2 T", "unknown"), ("Pow", "T 1", "T size"),
        ("Pow", "T 2", "(T)*(T) size"), ("Pow", "T 3", "unknown"), ("Pow", "T 0", "unknown"),
        ("Pow", "T 1/2", "unknown"), ("Pow", "3/2 2", "(9)/4 constant"), ("Abs", "T", "T size"),
        ("Abs", "-T", "T size"), ("Abs", "T-5", "max(T, 10-T)-5 size"), ("Abs", "TxU", "unknown"),
        ("Min", "T", "T size"), ("Min", "T 5", "min(T, 5) size"), ("Max", "T 5", "max(T, 5) size"),
        ("Min", "T+2 T T+1", "T size"), ("Max", "T+1 T T+2", "T+2 size"), ("Max", "T TxU 5", "unknown"),
        ("Sum", "T", "T size"), ("Sum", "T 2 U", "T+U+2 size"), ("Sum", "T TxU 1", "unknown"),
        ("Clip", "T 2 5", "min(max(T, 2), 5) size"), ("Clip", "T 3", "max(T, 3) size"),
        ("Clip", "T _ 5", "min(T, 5) size"), ("Clip", "T _ T-1", "T-1 size"), ("Clip", "T", "T size"),
        ("Clip", "TxU 2 5", "unknown"), ("Ceil", "T/2", "T-(T//2) size"), ("Ceil", "7/2", "4 constant"),
        ("Ceil", "T", "T size"), ("Floor", "T/2", "T//2 size"), ("Floor", "7/2", "3 constant"),
        ("Floor", "-7/2", "-4 constant"), ("Identity", "T/2", "(T)/2 size"), ("Equal", "T T", "1 constant"),
        ("Equal", "T L:T+1", "0 mixed"), ("Equal", "T 9", "unknown"), ("Less", "0 T", "1 constant"),
        ("Less", "T 1", "0 constant"), ("Less", "T 9", "unknown"), ("Less", "T T", "0 constant"),
        ("Less", "L:T-1 T", "1 constant"), ("Less", "T-1 L:T", "1 mixed"), ("Less", "T L:T-1", "0 constant"),
        ("Less", "1 T", "unknown"), ("LessOrEqual", "1 T", "1 constant"), ("LessOrEqual", "T 0", "0 constant"),
        ("LessOrEqual", "T T", "1 constant"), ("LessOrEqual", "T L:T", "1 mixed"),
        ("LessOrEqual", "L:T T", "1 constant"), ("Greater", "T 0", "1 constant"), ("Greater", "T 1", "unknown"),
        ("Greater", "1 T", "0 constant"), ("Greater", "T L:T-1", "1 constant"), ("Greater", "T T", "0 constant"),
        ("GreaterOrEqual", "T 1", "1 constant"), ("GreaterOrEqual", "0 T", "0 constant"),
        ("GreaterOrEqual", "T T", "1 constant"), ("GreaterOrEqual", "9 T", "unknown"), ("Not", "1", "0 constant"),
        ("Not", "0", "1 constant"), ("Not", "M:1", "0 mixed"), ("And", "1 0", "0 constant"),
        ("And", "1 1", "1 constant"), ("And", "0 0", "0 constant"), ("And", "M:1 1", "1 mixed"),
        ("Or", "1 0", "1 constant"), ("Or", "1 1", "1 constant"), ("Or", "0 0", "0 constant"),
        ("Or", "0 M:1", "1 mixed"), ("Xor", "1 0", "1 constant"), ("Xor", "1 1", "0 constant"),
        ("Xor", "0 1", "1 constant"), ("Where", "1 T U", "T size"), ("Where", "0 T U", "U size"),
        ("Where", "M:1 T U", "T mixed"), ("Where", "M:1 T/2 U", "(T)/2 size"), ("Sign", "T", "1 constant"),
        ("Sign", "-T", "-1 constant"), ("Sign", "T-T", "0 constant"), ("Sign", "T-5", "unknown"),
        ("Sign", "TxU", "unknown"), ("Exp", "T", "unknown"),
    ],
)  # fmt: skip
def test_arithmetic_on_numbers(op_type: str, operands: str, expected: str) -> None:
    assert told(op_type, *(None if text == "_" else numbered(text) for text in operands.split())) == expected


@pytest.mark.parametrize(
    ("op_type", "operands", "expected"),
    [
        ("Div", "T 3", "T//3 size"), ("Div", "7 2", "3 constant"), ("Div", "-7 2", "-3 constant"),
        ("Mod", "T 3", "T-3*(T//3) size"), ("Mod", "-1 3", "2 constant"),
    ],
)  # fmt: skip
def test_division_of_integers(op_type: str, operands: str, expected: str) -> None:
    given = [numbered(text, ir.DataType.INT64) for text in operands.split()]
    assert told(op_type, *given) == expected
    assert told("Mod", *given, fmod=1) == "unknown"


@pytest.mark.parametrize(
    ("text", "to", "expected"),
    [
        ("T", 7, "T size"), ("7/2", 7, "3 constant"), ("-7/2", 7, "-3 constant"), ("M:7/2", 7, "3 mixed"),
        ("T/2", 7, "T//2 size"), ("T-5/2", 7, "unknown"), ("TxU/2", 7, "unknown"), ("T/2", 1, "(T)/2 size"),
        ("T/2", 10, "(T)/2 size"), ("T/2", 11, "(T)/2 size"), ("T/2", 16, "(T)/2 size"), ("0", 9, "0 constant"),
        ("5", 9, "1 constant"), ("T", 9, "unknown"), ("TxU", 6, "TxU size"),
    ],
)  # fmt: skip
def test_a_cast_of_a_number(text: str, to: int, expected: str) -> None:
    assert told("Cast", numbered(text), to=to) == expected.replace("TxU", "(T)*(U)")


@pytest.mark.parametrize(("op_type", "to"), [("Floor", 0), ("Ceil", 0), ("Cast", 7)])
def test_a_quotient_is_rounded_where_float32_is_exact(op_type: str, to: int) -> None:
    """For numerators up to 2**22; a number that is whole, or the same at every length, ends no domain."""
    attributes = {"to": to} if to else {}

    def last(text: str) -> int | None:
        context = _context(op_type, numbered(text), **attributes)
        _content(context)
        return context.scope.spans["T"].last

    assert (last("8*T/3"), last("8*T/5"), last("T"), last("7/2")) == (1 << 19, 1 << 19, None, None)


TIME, OTHER = (Scope({"T": Span(1, None), "U": Span(4, 100)}).axis(parse(name)) for name in "TU")


def positions(text: str, *steps: float, axes: Axes = (TIME, OTHER)) -> Facts:
    """A base and so much a step along [T], or along [T, U]."""
    content = Affine(_number(text), tuple((k, Fraction(c)) for k, c in enumerate(steps) if c))
    return Facts.known(ir.DataType.INT64, axes[: len(steps)], content)


STEPS, COLUMNS = positions("0", 1), positions("0", 1, axes=(OTHER,))
ROWS = positions("0", 1, 0, axes=(TIME, ()))
DATA = Facts(ir.DataType.BOOL, STEPS.axes)
FRAME = Facts.known(ir.DataType.INT64, (fixed(3),), Elements(np.array([number(2), number(5), number(8)], dtype=object)))


@pytest.mark.parametrize(
    ("op_type", "operands", "expected"),
    [
        ("Add", [STEPS, numbered("2")], "2 + i constant"), ("Add", [numbered("T"), STEPS], "T + i size"),
        ("Add", [STEPS, STEPS], "0 + 2*i constant"), ("Add", [ROWS, COLUMNS], "0 + i + j constant"),
        ("Sub", [COLUMNS, ROWS], "0 - i + j constant"), ("Add", [STEPS, positions("1", -1)], "1 constant"),
        ("Add", [STEPS, numbered("TxU")], "unknown"), ("Sub", [STEPS, numbered("2")], "-2 + i constant"),
        ("Sub", [numbered("T"), STEPS], "T - i size"), ("Sub", [positions("5", 3), STEPS], "5 + 2*i constant"),
        ("Sub", [STEPS, STEPS], "0 constant"), ("Sub", [STEPS, numbered("TxU")], "unknown"),
        ("Neg", [positions("T", 2)], "-T - 2*i size"), ("Mul", [STEPS, numbered("3")], "0 + 3*i constant"),
        ("Mul", [numbered("3"), positions("T", 2)], "3*T + 6*i size"), ("Mul", [STEPS, numbered("0")], "0 constant"),
        ("Mul", [STEPS, numbered("T")], "unknown"), ("Mul", [STEPS, STEPS], "unknown"),
        ("Mul", [positions("T/3", 1), numbered("1/2048")], "unknown"), ("Div", [STEPS, numbered("2")], "unknown"),
        ("Identity", [positions("T/2", 0.5)], "(T)/2 + 1/2*i size"), ("Exp", [STEPS], "unknown"),
        ("Max", [STEPS, numbered("0")], "0 + i constant"), ("Max", [STEPS, numbered("-1")], "0 + i constant"),
        ("Max", [numbered("0"), STEPS], "0 + i constant"), ("Min", [STEPS, numbered("0")], "0 constant"),
        ("Min", [numbered("-1"), STEPS], "-1 constant"), ("Max", [STEPS, numbered("5")], "unknown"),
        ("Min", [STEPS, numbered("1")], "unknown"), ("Max", [positions("0", -1), numbered("0")], "0 constant"),
        ("Min", [numbered("0"), positions("0", -1)], "0 - i constant"),
        ("Min", [positions("M:T", -1), numbered("0")], "unknown"),
        ("Max", [STEPS, numbered("0"), numbered("1")], "unknown"), ("Max", [STEPS, numbered("TxU")], "unknown"),
        ("Sum", [STEPS, numbered("1")], "unknown"), ("GreaterOrEqual", [STEPS, numbered("0")], "1 constant"),
        ("Less", [STEPS, numbered("0")], "0 constant"), ("Greater", [numbered("0"), STEPS], "0 constant"),
        ("LessOrEqual", [numbered("0"), STEPS], "1 constant"), ("LessOrEqual", [STEPS, numbered("0")], "unknown"),
        ("Equal", [STEPS, positions("1", 1)], "0 constant"), ("Equal", [STEPS, STEPS], "1 constant"),
        ("Equal", [STEPS, numbered("-1")], "0 constant"), ("Equal", [STEPS, numbered("0")], "unknown"),
        ("Less", [STEPS, numbered("M:T")], "unknown"), ("GreaterOrEqual", [STEPS, numbered("TxU")], "unknown"),
        ("And", [DATA, numbered("0")], "0 constant"), ("And", [DATA, numbered("1")], "unknown"),
        ("And", [DATA, numbered("M:0")], "unknown"), ("Or", [numbered("1"), DATA], "1 constant"),
        ("Or", [numbered("0"), DATA], "unknown"), ("Xor", [numbered("1"), DATA], "unknown"),
        ("Where", [numbered("1"), STEPS, DATA], "0 + i constant"),
        ("Where", [numbered("0"), DATA, STEPS], "0 + i constant"), ("Where", [numbered("M:1"), STEPS, DATA], "unknown"),
        ("Where", [DATA, STEPS, STEPS], "unknown"), ("Where", [numbered("1"), DATA, STEPS], "unknown"),
        ("Where", [numbered("1"), FRAME, Facts(FRAME.dtype, FRAME.axes)], "2 constant, 5 constant, 8 constant"),
        ("Where", [numbered("1"), numbered("2"), DATA], "unknown"),
    ],
)  # fmt: skip
def test_arithmetic_on_positions(op_type: str, operands: list[Facts], expected: str) -> None:
    assert told(op_type, *operands) == expected


@pytest.mark.parametrize(
    ("to", "base", "step", "known"),
    [
        (7, "0", 1, True), (7, "1/2", 1, False), (7, "0", 0.5, False), (1, "1/2", 0.5, True), (10, "1/2", 0.5, True),
        (11, "1/2", 0.5, True), (16, "1/2", 0.5, True), (9, "0", 1, False), (6, "T", 2, True),
    ],
)  # fmt: skip
def test_a_cast_of_positions(to: int, base: str, step: float, known: bool) -> None:
    value = positions(base, step)
    assert told("Cast", value, to=to) == (_text(value.content) if known else "unknown")


def vector(*texts: str, dtype: ir.DataType = ir.DataType.INT64) -> Facts:
    """Numbers one by one, ``?`` where one is not known."""
    array = np.array([None if text == "?" else _number(text) for text in texts], dtype=object)
    return Facts.known(dtype, (fixed(len(texts)),), Elements(array))


PAIR = Facts.known(STEPS.dtype, (fixed(2), ()), Elements(np.array([[number(1)], [number(2)]])))


@pytest.mark.parametrize(
    ("op_type", "operands", "expected"),
    [
        ("Add", [vector("T", "2"), vector("1", "T")], "T+1 size, T+2 size"),
        ("Sub", [vector("T", "2"), numbered("1")], "T-1 size, 1 constant"),
        ("Mul", [numbered("2"), vector("1", "?")], "2 constant, ?"),
        ("Mul", [numbered("T"), vector("1", "?")], "unknown"),
        ("Mul", [vector("T", "2"), vector("T/2", "1")], "unknown"),
        ("Add", [vector("1", "2"), Facts(STEPS.dtype, (fixed(2),))], "unknown"), ("Exp", [vector("1", "2")], "unknown"),
        ("Sub", [PAIR, vector("1", "2")], "0 constant, -1 constant, 1 constant, 0 constant"),
    ],
)  # fmt: skip
def test_arithmetic_element_by_element(op_type: str, operands: list[Facts], expected: str) -> None:
    assert told(op_type, *operands) == expected


def test_a_frame_of_even_steps_counts_like_positions() -> None:
    """Of whole numbers that rise or fall by one step, along one axis; positions in a frame of each step."""
    assert told("Add", ROWS, FRAME) == "2 + i + 3*j constant"
    assert told("Add", FRAME, ROWS) == "2 + i + 3*j constant"
    assert told("Add", ROWS, vector("8", "5", "2")) == "8 + i - 3*j constant"
    assert told("Add", ROWS, vector("T", "T+1", "T+2")) == "T + i + j size"
    for other in ("2 5 9", "2 2 2", "T T+1 T+3", "2 ? 8", "M:2 M:5 M:8"):
        assert told("Add", ROWS, vector(*other.split())) == "unknown", other
    flat = Elements(np.array([[number(0), number(1)], [number(2), number(4)]], dtype=object))
    assert (
        told("Add", positions("0", 1, 0, 0, axes=(TIME, (), ())), Facts.known(STEPS.dtype, (fixed(2), fixed(2)), flat))
        == "unknown"
    )


@pytest.mark.parametrize(("count", "known"), [(4096, True), (4097, False)])
def test_a_long_vector_is_left_to_the_runtime(count: int, known: bool) -> None:
    assert (told("Neg", vector(*["1"] * (count - 1), "2")) != "unknown") is known


COMPARED = {
    "Less": operator.lt, "LessOrEqual": operator.le, "Greater": operator.gt, "GreaterOrEqual": operator.ge,
    "Equal": operator.eq,
}  # fmt: skip


@pytest.mark.parametrize("op_type", COMPARED)
@pytest.mark.parametrize(
    ("base", "steps"),
    [
        *itertools.product(("-2", "-1", "0", "1", "2"), ((1, 0), (-1, 0), (1, 1), (-2, 1), (1, -1))),
        ("T", (-1, 0)), ("T-1", (-1, 0)), ("-T", (1, 0)), ("1-T", (1, 0)), ("T+1/2", (-0.5, 0)), ("-T/3", (0.5, 0.25)),
        ("T+U", (-1, -1)), ("T+U-2", (-1, -1)),
    ],
)  # fmt: skip
def test_a_comparison_is_decided_where_all_steps_agree(op_type: str, base: str, steps: tuple[float, ...]) -> None:
    """In native, and where the steps of either length, or of both, are padding; and left open where they do not."""
    context = _context(op_type, STEPS, STEPS)
    gap = positions(base, *steps)
    assert isinstance(gap.content, Affine) and isinstance(gap.content.base.length, Length)
    for padded in ((), (0,), (1,), (0, 1)):
        seen = set()
        for t, u in itertools.product((1, 2, 9, 30), (4, 5, 40, 100)):
            value = Fraction(gap.content.base.length.evaluate({"T": t, "U": u}), gap.content.base.divisor)
            spans = [(size, size + 200) if k in padded else (0, size - 1) for k, size in enumerate((t, u))]
            totals = [
                value + sum(c * k for c, k in zip(steps, ends, strict=True)) for ends in itertools.product(*spans)
            ]
            seen |= {COMPARED[op_type](total, 0) for total in totals}
            if op_type == "Equal" and min(totals) < 0 < max(totals):
                seen.add(True)  # somewhere in between
        decided = decide_comparison(context, gap.content, gap.atoms, padded)
        assert decided is (seen.pop() if len(seen) == 1 else None), padded


def test_a_comparison_with_a_product_is_left_open() -> None:
    gap = Affine(_number("TxU"))
    assert all(decide_comparison(_context(op, STEPS, STEPS), gap, STEPS.atoms, ()) is None for op in COMPARED)
