"""Canonical forms, arithmetic and structure of lengths."""

import pickle
from fractions import Fraction

import pytest

from paddable.errors import RefusedError
from paddable.lengths import FloorDiv, Max, Min, NotALength, Symbol, constant, maximum, minimum, parse, symbol

T, U = symbol("T"), symbol("U")

SAME_FORM = [
    ("((T-1)//2+1-1)//2+1", "(T-1)//4+1"),
    ("(6*T+4)//3", "2*T+1"),
    ("(2*T+2)//4", "(T+1)//2"),
    ("-(-T//6)", "(T+5)//6"),
    ("(T+320*U)//320", "T//320+U"),
    ("(-T)%6", "6*((T+5)//6)-T"),
    ("(T//3+U)//5", "(T+3*U)//15"),
    ("(U-T//3)//5", "(3*U-T+2)//15"),
    ("min(T-80,420)", "min(T,500)-80"),
    ("min(T,U,T+3)", "min(U,T)"),
    ("min(min(T,5)+2,U)", "min(T+2,7,U)"),
    ("min(2*T,2*U)", "2*min(T,U)"),
    ("min(T+U,T+5)", "T+min(U,5)"),
    ("max(-T,-5)", "-min(T,5)"),
    ("min(T,500)//320", "min(T//320,1)"),
    ("(5-min(T,8))//2", "max((5-T)//2,-2)"),
    ("max(T+max(T,3),T)", "T+max(T,3)"),
    ("T*0", "0"),
    ("max(3,7)-min(3,7)", "4"),
]


@pytest.mark.parametrize(("one", "other"), SAME_FORM)
def test_equal_values_meet_in_one_form(one: str, other: str) -> None:
    assert parse(one) == parse(other)
    assert hash(parse(one)) == hash(parse(other))


def test_the_stack_of_wav2vec2_is_one_division() -> None:
    frames = T
    for kernel, stride in [(10, 5), (3, 2), (3, 2), (3, 2), (3, 2), (2, 2), (2, 2)]:
        frames = (frames - kernel) // stride + 1
    assert str(frames) == "(T-80)//320"
    assert frames.evaluate({"T": 16000}) == 49


def test_every_division_of_small_values() -> None:
    for value in range(-30, 31):
        for divisor in (-7, -3, -1, 1, 2, 6):
            length = T - 4
            at = {"T": value + 4}
            assert (length // divisor).evaluate(at) == value // divisor
            assert (length % divisor).evaluate(at) == value % divisor
            assert length.ceildiv(divisor).evaluate(at) == -(-value // divisor)
            assert length.truncdiv(divisor).evaluate(at) == int(Fraction(value, divisor))
            assert constant(value).truncdiv(divisor) == int(Fraction(value, divisor))


def test_no_numerator_falls_with_its_first_symbol_and_no_offset_is_negative() -> None:
    for text in ("(-T)//6", "(-T-5)//6", "(3-T)//4+(U-T)//5", "(-7*T+1)//3", "(5*T-3)//6", "(-T)%7"):
        for atom in parse(text).walk():
            if isinstance(atom, FloorDiv):
                assert atom.numerator.terms[0][0] > 0
                assert 0 <= atom.numerator.offset < atom.divisor


def test_structure_is_public_data() -> None:
    length = 104 * T.ceildiv(104) + minimum(T, 7) - 2
    assert length.offset == -2
    (scale, floor), (one, least) = length.terms
    assert (scale, one) == (104, 1)
    assert floor == FloorDiv(T + 103, 104)
    assert least == Min((T, constant(7)))
    assert list(length.walk()) == [Symbol("T"), floor, least]
    assert isinstance(maximum(T, 7).terms[0][1], Max)


def test_walk_yields_each_atom_once_after_its_operands() -> None:
    atoms = list(parse("min((T+U//3)//2, T)+(T+U//3)//2+(T//2+T//3)//5").walk())
    assert len(atoms) == len(set(atoms))
    for atom in atoms:
        operands = () if isinstance(atom, Symbol) else (atom.numerator,) if isinstance(atom, FloorDiv) else atom.args
        for operand in operands:
            assert all(inner in atoms[: atoms.index(atom)] for _, inner in operand.terms)


def test_linear_slope_and_period() -> None:
    assert (3 * T - U + 2).linear() == ({"T": 3, "U": -1}, 2)
    assert (T // 2).linear() is None
    assert constant(4).linear() == ({}, 4)
    assert parse("13*(T//100)+(T%100+7)//8").slope("T") == Fraction(13, 100)
    assert minimum(T // 2, 400).slope("T") == 0
    assert parse("T//6+T//4+U//5").period("T") == 12
    assert parse("T//6+T//4+U//5").period() == 60
    assert (T // 6 * 6 // 4).period() == 12


def test_substitution() -> None:
    assert parse("(T-80)//320").substitute({"T": 320 * U + 80}) == U
    assert parse("min(T,U)+T//3").substitute({"T": 9}) == minimum(9, U) + 3
    assert parse("T+U").substitute({"T": U, "U": T}) == T + U
    assert (T + 1).substitute({"X": 4}) == T + 1


def test_constants_behave_as_integers() -> None:
    five = T + 5 - T
    assert five == 5 and hash(five) == hash(5) and int(five) == 5 and list(range(9))[five] == 5
    assert five.is_constant and five.constant == 5 and not (five - 5)
    assert T != 5
    for ask in (int, bool, lambda length: length.constant):
        with pytest.raises(ValueError, match="depends on T"):
            ask(T)


def test_what_is_no_length() -> None:
    with pytest.raises(NotALength, match="product") as caught:
        T * U
    assert isinstance(caught.value, RefusedError)
    with pytest.raises(NotALength, match="quotient"):
        T // U
    with pytest.raises(ZeroDivisionError):
        T % 0
    with pytest.raises(TypeError):
        T + 0.5  # type: ignore[operator]
    with pytest.raises(KeyError, match="T"):
        T.evaluate({"U": 1})


def test_lengths_survive_pickling() -> None:
    length = parse("min((T-80)//320, U)")
    assert length in {pickle.loads(pickle.dumps(length))}
