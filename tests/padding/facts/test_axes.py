"""Axes as products of factors."""

from __future__ import annotations

from paddable.lengths import constant, parse
from paddable.padding.facts.axes import Factor, axis_size, fixed, flatten

T = Factor(parse("T"), ragged=True)
ROWS = Factor(parse("batch"), batch=True)


def test_a_factor() -> None:
    assert T.prefix and not T.fixed and not ROWS.fixed and Factor(constant(3)).fixed
    window = Factor(parse("T"), ragged=True, shift=parse("T"))
    assert not window.prefix and str(window) == "T from T" and str(T) == "T"
    assert window != T and Factor(parse("T"), ragged=True) == T and hash(T) == hash(Factor(parse("T"), ragged=True))


def test_axes() -> None:
    assert fixed(1) == () and fixed(3) == (Factor(constant(3)),) and fixed(0) == (Factor(constant(0)),)
    assert axis_size(()) == constant(1) and axis_size((Factor(constant(3)), T)) == parse("3*T")
    assert str(axis_size((ROWS, T))) == "(T)*(batch)"
    assert flatten([(T,), (), (ROWS, T)]) == (T, ROWS, T)
