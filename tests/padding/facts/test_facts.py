"""What is said of a tensor: weak and strong facts of two lengths, and what a fill makes of them."""

from __future__ import annotations

import math

import numpy as np
import onnx_ir as ir
import pytest

from paddable.lengths import constant as length
from paddable.lengths import parse
from paddable.padding.facts.axes import Factor, fixed
from paddable.padding.facts.facts import Affine, Elements, Facts, PaddingFact
from paddable.padding.facts.kinds import ANY, BELOW, FINITE, ZERO, Kind, constant
from paddable.padding.facts.numbers import Face, Number, number

from ..example import Example

FLOAT, INT64 = ir.DataType.FLOAT, ir.DataType.INT64
T, U = Factor(parse("T"), ragged=True), Factor(parse("U"), ragged=True)
THREE = Factor(length(3))


def two(first: PaddingFact, second: PaddingFact, **more: object) -> Facts:
    """A tensor [T, 3, U]."""
    return Facts(FLOAT, ((T,), (THREE,), (U,)), (first, PaddingFact(), second), **{"finite": True, **more})  # type: ignore[arg-type]


def test_shapes() -> None:
    value = Facts(FLOAT, ((THREE, T), (), (U,)))
    assert value.rank == 3 and value.atoms == (THREE, T, U) and value.ragged == (1, 2)
    assert [list(value.span(axis)) for axis in range(3)] == [[0, 1], [], [2]]
    assert [str(value.size(axis)) for axis in range(3)] == ["3*T", "1", "U"]
    assert value.pads == (PaddingFact(ANY, ANY),) * 3


def test_what_is_not_said_is_the_weak_fact() -> None:
    value = Facts(FLOAT, ((T,),))
    assert value.valid == ANY and value.everywhere == ANY and value.masked and not value.finite and not value.below
    assert not value.image and not value.from_sizes and not value.rows_in_front
    assert (value.low, value.high) == (-math.inf, math.inf)
    assert Facts(INT64, ((T,),)).valid == FINITE and not Facts(INT64, ((T,),)).masked
    assert Facts(ir.DataType.BOOL, ((T,),)).is_integer and not value.is_integer


@pytest.mark.parametrize(
    ("said", "valid"),
    [
        ({"finite": True}, FINITE), ({"below": True}, BELOW), ({"constant": 2.0}, constant(2)),
        ({"low": 3.0, "high": 3.0}, constant(3)), ({"low": 3.0, "high": 4.0}, ANY),
        ({"content": Affine(number(5))}, constant(5)), ({"content": Affine(number(parse("T"), Face.SIZE))}, ANY),
        ({"content": Affine(number(5), ((0, 1),)), "finite": True}, FINITE),
    ],
)  # fmt: skip
def test_valid_elements(said: dict[str, object], valid: Kind) -> None:
    assert Facts(FLOAT, ((T,),), **said).valid == valid  # type: ignore[arg-type]


def test_one_number() -> None:
    assert Facts(FLOAT, (), content=Elements(np.array(number(5), dtype=object))).scalar == number(5)
    assert Facts(FLOAT, (fixed(2),), content=Elements(np.array([number(5)] * 2, dtype=object))).scalar is None
    assert Facts(FLOAT, (), content=Elements(np.array(None, dtype=object))).scalar is None
    assert Facts(FLOAT, ((T,),), content=Affine(number(5))).scalar == number(5)
    assert Facts(FLOAT, ((T,),), content=Affine(number(5), ((0, 1),))).scalar is None


def test_weak_where_the_other_is_valid_and_strong_wherever_it_is() -> None:
    value = two(PaddingFact(ZERO, ANY), PaddingFact(FINITE, FINITE))
    assert value.kind([]) == FINITE
    assert value.kind([1]) == FINITE  # a constant factor has no padding
    assert value.kind([0]) == ZERO and value.kind([2]) == FINITE
    assert value.kind([0, 2]) == FINITE  # the better of the strong facts
    assert two(PaddingFact(ZERO, ANY), PaddingFact(FINITE, ANY)).kind([0, 2]) == ANY
    assert two(PaddingFact(ANY, ZERO), PaddingFact(ANY, FINITE)).kind([0, 2]) == ZERO
    assert two(PaddingFact(ZERO, ZERO), PaddingFact(ANY, ANY), content=Affine(number(4))).kind([2]) == constant(4)


def test_finite_padding() -> None:
    """Of the padding alone, where one axis crosses another too, whatever the valid elements are."""
    assert two(PaddingFact(FINITE, FINITE), PaddingFact(FINITE, FINITE), finite=False).finite_padding
    assert not two(PaddingFact(FINITE, FINITE), PaddingFact(ANY, FINITE)).finite_padding
    assert not two(PaddingFact(FINITE, ANY), PaddingFact(FINITE, ANY)).finite_padding
    assert Facts(ir.DataType.FLOAT, (fixed(3),)).finite_padding


def test_everywhere() -> None:
    assert two(PaddingFact(FINITE, FINITE), PaddingFact(FINITE, FINITE)).everywhere == FINITE
    assert two(PaddingFact(FINITE, ANY), PaddingFact(FINITE, ANY)).everywhere == ANY
    assert two(PaddingFact(FINITE, FINITE), PaddingFact(ANY, FINITE)).everywhere == ANY
    assert two(PaddingFact(ZERO, ZERO), PaddingFact(ZERO, ZERO), constant=0.0).everywhere == ZERO
    assert two(PaddingFact(FINITE, FINITE), PaddingFact(FINITE, FINITE), finite=False).everywhere == ANY


def test_a_fill() -> None:
    value = two(
        PaddingFact(ANY, ANY), PaddingFact(ZERO, ZERO), low=1.0, high=2.0, image=True, content=Affine(number(1))
    )
    filled = value.with_fill([0], constant(-5.0))
    assert filled.pads == (PaddingFact(constant(-5), constant(-5)), PaddingFact(), PaddingFact(ZERO, FINITE))
    assert (filled.low, filled.high, filled.content, filled.image) == (-5.0, 2.0, None, False)
    assert value.with_fill([0], ZERO).pads[2] == PaddingFact(ZERO, ZERO)
    assert (value.with_fill([0], constant(9.0)).low, value.with_fill([0], constant(9.0)).high) == (1.0, 9.0)
    free = value.with_fill([0], FINITE)
    assert (free.low, free.high) == (-math.inf, math.inf)
    assert value.with_fill([1], ZERO).pads[0] == value.pads[0]  # a constant factor has no padding


def test_known_contents() -> None:
    known = Facts.known(FLOAT, ((T,),), Affine(number(2)), 2.0, 2.0)
    assert known.finite and not known.masked and known.pads == (PaddingFact(FINITE, FINITE),)
    assert (known.low, known.high, known.rows_in_front) == (2.0, 2.0, False)
    unbounded = Facts.known(FLOAT, ((T,),), Affine(number(parse("T"), Face.SIZE)))
    assert (unbounded.low, unbounded.high) == (-math.inf, math.inf)
    assert Facts.known(FLOAT, ((T,),), Affine(number(-(10**31)))).masked
    assert not Facts.known(FLOAT, ((T,),), Affine(number(-(10**4)))).masked
    unknown = Elements(np.array([number(1), None], dtype=object))
    assert not Facts.known(FLOAT, (fixed(2),), unknown).finite and Facts.known(FLOAT, (fixed(2),), unknown).masked
    assert Facts.known(FLOAT, (fixed(2),), unknown, finite=True).finite


def test_the_face_of_known_contents() -> None:
    size, held = Number(parse("T"), 1, Face.SIZE), Number(parse("T"), 1, Face.LENGTH)
    assert Elements(np.array([number(1), size, None], dtype=object)).face is Face.SIZE
    assert Elements(np.array([held, size], dtype=object)).face is Face.MIXED
    assert Affine(held, ((0, 1),)).face is Face.LENGTH


X = "float[1, T, 3] x"
SCORES = "t = Transpose <perm = [0, 2, 1]> (x) s = MatMul (x, t) p = Softmax <axis = 2> (s)"
EXAMPLES = {
    "a weak zero serves a sum over one length": Example(
        f"{SCORES} y = MatMul (p, x)", "float[1, T, 3] y", X, finds="PAD103 Softmax", claims="T finite; finite"
    ),
    "a weak zero does not serve a sum over both": Example(
        f"{SCORES} y = ReduceSum <keepdims = 0> (p, axes)",
        "float[1] y",
        X,
        "int64[2] axes = {1, 2}",
        finds="PAD103 Softmax, PAD101 ReduceSum",
        claims="0..inf; finite",
    ),
    "a weak zero does not serve a sum over the other": Example(
        f"{SCORES} y = ReduceSum <keepdims = 0> (p, axes)",
        "float[1, T] y",
        X,
        "int64[1] axes = {1}",
        finds="PAD103 Softmax, PAD101 ReduceSum",
        claims="T 0; 0..inf; finite",
    ),
    "a strong zero serves a sum over both": Example(
        f"{SCORES} q = Softmax <axis = 1> (p) o = Pad (x, pads) u = Transpose <perm = [0, 2, 1]> (o) w = MatMul "
        f"(o, u) "
        "y = ReduceSum <keepdims = 0> (w, axes)",
        "float[1] y",
        X,
        "int64[6] pads = {0, 0, 0, 0, 2, 0}, int64[2] axes = {1, 2}",
        finds="PAD102 Pad",
        claims="finite",
    ),
    "a zero in one of two lengths": Example(
        "e = Pad (x, pads) y = ReduceSum <keepdims = 0> (e, axes)",
        "float[1] y",
        "float[1, T, U] x",
        "int64[6] pads = {0, 0, 0, 0, 2, 0}, int64[2] axes = {1, 2}",
        finds="PAD102 Pad, PAD101 ReduceSum",
        claims="finite",
    ),
    "a zero in both of two lengths": Example(
        "e = Pad (x, pads) y = ReduceSum <keepdims = 0> (e, axes)",
        "float[1] y",
        "float[1, T, U] x",
        "int64[6] pads = {0, 0, 0, 0, 2, 3}, int64[2] axes = {1, 2}",
        finds="PAD102 Pad",
        claims="finite",
    ),
    "two zeros in turn": Example(
        "e = Pad (x, first) f = Pad (e, second) y = ReduceSum <keepdims = 0> (f, axes)",
        "float[1] y",
        "float[1, T, U] x",
        "int64[6] first = {0, 0, 0, 0, 2, 0}, int64[6] second = {0, 0, 0, 0, 0, 3}, int64[2] axes = {1, 2}",
        finds="PAD102 Pad, PAD102 Pad",
        claims="finite",
    ),
    "a zero, then a one": Example(
        "e = Pad (x, first) f = Pad (e, second, one) y = Neg (f)",
        "float[1, N, M] y",
        "float[1, T, U] x",
        "int64[6] first = {0, 0, 0, 0, 2, 0}, int64[6] second = {0, 0, 0, 0, 0, 3}, float one = {1}",
        finds="PAD102 Pad, PAD102 Pad",
        claims="T+2 finite; U+3 -1; finite",
    ),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name: str) -> None:
    EXAMPLES[name].check()
