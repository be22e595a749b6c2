"""Numbers that a graph computes from its lengths: exact, or not known; and the face that each result has."""

from __future__ import annotations

from fractions import Fraction

import pytest

from paddable.lengths import Domain, Span, constant, parse
from paddable.padding.facts import numbers
from paddable.padding.facts.numbers import Face, Number, Product, merge_faces, number, product

DOMAIN = Domain({"T": Span(1, None), "U": Span(4, 100)})
C, S, L, M = Face.CONSTANT, Face.SIZE, Face.LENGTH, Face.MIXED


def n(text: str, face: Face = S, divisor: int = 1) -> Number:
    """The length ``text`` over a divisor; a constant has the constant face."""
    length = parse(text)
    return Number(length, divisor, C if length.is_constant and face is not M else face)


def told(value: Number | None) -> str:
    return "unknown" if value is None else f"{value} {value.face.value}"


@pytest.mark.parametrize(
    ("faces", "merged"),
    [((), C), ((C,), C), ((C, S), S), ((L, C), L), ((S, S), S), ((S, L), M), ((C, M), M), ((M, S), M)],
)
def test_faces_merge(faces: tuple[Face, ...], merged: Face) -> None:
    assert merge_faces(*faces) is merged


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ((2, 3), "6"), ((parse("T"), 3), "3*T"), ((parse("T"), parse("5"), 2), "10*T"), ((parse("T"), 0), "0"),
        ((parse("T"), parse("U")), "(T)*(U)"), ((parse("U"), parse("T"), 2), "2*(T)*(U)"),
        ((product(parse("T"), parse("U")), 3, parse("T")), "3*(T)*(T)*(U)"),
        ((product(parse("T"), parse("U"), 2), product(parse("T"), parse("U"), 3)), "6*(T)*(T)*(U)*(U)"),
        ((product(parse("T"), parse("U")), 0), "0"), ((), "1"),
    ],
)  # fmt: skip
def test_products(parts: tuple[object, ...], text: str) -> None:
    assert str(product(*parts)) == text


def test_a_constant_has_the_constant_face_unless_it_is_mixed() -> None:
    assert told(number(3, S)) == "3 constant"
    assert told(number(3, M)) == "3 mixed"
    assert told(number(parse("T"), S)) == "T size"
    assert told(number(Fraction(3, 2), L)) == "(3)/2 constant"
    assert told(number(Fraction(4, 2), L)) == "2 constant"
    assert told(number(product(parse("T"), parse("U")), L)) == "(T)*(U) length"


def test_what_a_number_is() -> None:
    assert number(Fraction(3, 2)).fraction == Fraction(3, 2) and number(Fraction(3, 2)).is_constant
    assert number(Fraction(3, 2)).integer is None and n("T").integer == parse("T")
    assert n("T", S, 2).integer is None and not n("T").is_constant
    assert number(product(parse("T"), parse("U"))).integer is None
    assert not number(product(parse("T"), parse("U"))).is_constant


@pytest.mark.parametrize(
    ("a", "b", "sum"),
    [
        (n("T"), n("2"), "T+2 size"), (n("T"), n("T", L), "2*T mixed"), (n("T"), n("-T"), "0 constant"),
        (n("T"), n("-T", L), "0 mixed"), (n("T", S, 2), n("1", C, 2), "(T+1)/2 size"),
        (n("T", S, 2), n("T", S, 3), "(5*T)/6 size"), (n("T", S, 2), n("1"), "(T+2)/2 size"),
        (n("1", C, 2), n("1", C, 2), "1 constant"), (number(product(parse("T"), parse("U"))), n("1"), "unknown"),
        (n("1"), number(product(parse("T"), parse("U"))), "unknown"),
    ],
)  # fmt: skip
def test_sums(a: Number, b: Number, sum: str) -> None:
    assert told(numbers.add(a, b)) == sum


def test_negatives() -> None:
    assert told(numbers.negate(n("T", S, 2))) == "(-T)/2 size"
    assert told(numbers.negate(number(product(parse("T"), parse("U")), L))) == "-1*(T)*(U) length"


@pytest.mark.parametrize(
    ("a", "b", "result"),
    [
        (n("T"), n("3"), "3*T size"), (n("3"), n("T", L), "3*T length"), (n("T"), n("0"), "0 constant"),
        (n("T"), n("T"), "(T)*(T) size"), (n("T"), n("U", L), "(T)*(U) mixed"), (n("T", S, 2), n("T"), "unknown"),
        (n("T"), n("T", S, 2), "unknown"), (n("T"), number(Fraction(1, 2)), "(T)/2 size"),
        (n("T"), number(Fraction(3, 4)), "(3*T)/4 size"), (n("T"), number(Fraction(1, 1024)), "(T)/1024 size"),
        (n("T"), number(Fraction(1, 2048)), "unknown"), (n("T", S, 3), n("2"), "(2*T)/3 size"),
        (n("T", S, 3), n("5"), "unknown"), (n("T", S, 3), n("-4"), "(-4*T)/3 size"),
        (n("T", S, 6), n("5"), "unknown"), (n("T", S, 4), n("5"), "(5*T)/4 size"), (n("T", S, 3), n("10"), "unknown"),
        (n("2", M), n("T"), "2*T mixed"), (number(product(parse("T"), parse("U"))), n("2"), "2*(T)*(U) constant"),
        (number(product(parse("T"), parse("U"))), number(Fraction(1, 2)), "unknown"), (n("3"), n("4"), "12 constant"),
    ],
)  # fmt: skip
def test_float_products_are_known_where_they_are_exact(a: Number, b: Number, result: str) -> None:
    assert told(numbers.multiply(a, b)) == result


TU = product(parse("T"), parse("U"))


@pytest.mark.parametrize(
    ("a", "b", "integer", "result"),
    [
        (n("T"), n("T"), True, "1 constant"), (n("T"), n("T", L), False, "1 mixed"), (n("T"), n("U"), True, "unknown"),
        (n("2*T"), n("T"), True, "2 constant"), (n("6*T+3"), n("2*T+1", L), True, "3 mixed"),
        (n("2*T+1"), n("T"), True, "unknown"), (n("T"), n("2*T"), True, "unknown"),
        (n("T", S, 2), n("T"), False, "unknown"), (n("T"), n("T", S, 2), False, "unknown"),
        (n("T", S, 2), n("T", L, 2), False, "1 mixed"), (number(TU, S), number(TU, S), True, "1 constant"),
        (number(TU, S), number(TU, L), True, "1 mixed"), (number(TU, S), number(product(TU, 2), S), True, "unknown"),
        (n("T"), n("0"), True, "unknown"), (n("0"), n("T"), True, "0 constant"), (n("0"), n("T"), False, "0 constant"),
        (n("1"), n("T"), True, "unknown"), (n("0"), n("2*T"), True, "0 constant"),
        (number(TU, S), n("T"), True, "U size"), (number(TU, S), n("U"), True, "T size"),
        (number(TU, S), n("T"), False, "unknown"), (number(TU, S), n("T+1"), True, "unknown"),
        (number(product(TU, 3), S), n("U"), True, "3*T size"),
        (number(product(TU, 6), S), n("3"), True, "2*(T)*(U) size"),
        (number(product(TU, 6), S), n("4"), True, "unknown"), (number(product(TU, 6), S), n("-4"), True, "unknown"),
        (number(product(TU, 6), S), n("-3"), True, "-2*(T)*(U) size"), (n("-T"), n("T"), True, "-1 constant"),
        (n("T-1"), n("T-1"), True, "1 constant"), (n("2*T-2"), n("T-1"), True, "unknown"),
        (n("T"), n("3"), True, "T//3 size"),
        (n("T-5"), n("3"), True, "unknown size"), (n("6*T"), n("3"), True, "2*T size"),
        (n("T", S, 2), n("3"), True, "unknown"), (n("T"), number(Fraction(1, 2)), True, "unknown"),
        (n("T"), n("-1"), False, "-T size"),
        (n("T"), n("3"), False, "(T)/3 size"), (n("T"), n("-3"), False, "(-T)/3 size"),
        (n("T", S, 2), n("3"), False, "(T)/6 size"), (n("T"), number(Fraction(1, 2)), False, "2*T size"),
        (n("T"), number(Fraction(3, 2)), False, "unknown"), (n("T"), number(Fraction(-1, 2)), False, "-2*T size"),
        (number(TU, S), n("2"), False, "unknown"), (n("7"), n("2"), True, "3 constant"),
        (n("-7"), n("2"), True, "-3 constant"), (n("7"), n("2"), False, "(7)/2 constant"),
    ],
)  # fmt: skip
def test_quotients(a: Number, b: Number, integer: bool, result: str) -> None:
    """Integers lose their fraction toward 0; floats are divided by integers alone, which rounds once."""
    found = numbers.divide(a, b, integer=integer, domain=DOMAIN)
    if result == "unknown size":
        assert found is not None and found.integer is not None
        assert [found.integer.evaluate({"T": t}) for t in (1, 2, 3, 8, 9)] == [-1, -1, 0, 1, 1]
    else:
        assert told(found) == result


@pytest.mark.parametrize(
    ("a", "b", "values"),
    [
        ("T", "3", [1, 2, 0, 1, 2]), ("T-5", "3", [2, 0, 1, 2, 0]), ("-1", "T", [0, 1, 2, 3, 4]),
        ("-2", "T", [0, 0, 1, 2, 3]), ("1", "T", [0, 1, 1, 1, 1]), ("0", "T", [0, 0, 0, 0, 0]),
        ("-3", "T+2", [0, 1, 2, 3, 4]), ("2", "T+2", [2, 2, 2, 2, 2]), ("-3", "T", None), ("2", "T", None),
        ("T", "0", None),
        ("T", "-3", None), ("T", "U", None), ("1", "T-1", None), ("-4", "T+3", [0, 1, 2, 3, 4]), ("3", "T+3", [3] * 5),
        ("4", "T+3", None),
    ],
)  # fmt: skip
def test_remainders(a: str, b: str, values: list[int] | None) -> None:
    found = numbers.modulo(n(a), n(b), DOMAIN)
    if values is None:
        assert found is None
    else:
        assert found is not None and found.integer is not None
        assert [found.integer.evaluate({"T": t}) for t in range(1, 6)] == values


def test_remainders_of_fractions_are_not_known() -> None:
    assert numbers.modulo(n("T", S, 2), n("3"), DOMAIN) is None
    assert numbers.modulo(n("T"), n("3", C, 2), DOMAIN) is None
    assert numbers.modulo(n("1"), number(TU), DOMAIN) is None


@pytest.mark.parametrize(
    ("a", "b", "largest", "smallest"),
    [
        (n("T"), n("T+1"), "T+1 size", "T size"), (n("T+1"), n("T"), "T+1 size", "T size"),
        (n("T"), n("T", L), "T mixed", "T length"), (n("T", L), n("T"), "T mixed", "T length"),
        (n("T", L), n("T+1", S), "T+1 mixed", "T length"), (n("T-1", S), n("T", L), "T mixed", "T-1 mixed"),
        (n("T"), n("0"), "T size", "0 constant"), (n("5"), n("7"), "7 constant", "5 constant"),
        (n("T", S, 2), n("T"), "T size", "(T)/2 size"), (n("T", S, 2), n("9"), "unknown", "unknown"),
        (number(TU), n("1"), "unknown", "unknown"), (n("1"), number(TU), "unknown", "unknown"),
        (n("9", M), n("T"), "max(T, 9) mixed", "min(T, 9) mixed"), (n("T"), n("9"), "max(T, 9) size", "min(T, 9) size"),
    ],
)  # fmt: skip
def test_extrema(a: Number, b: Number, largest: str, smallest: str) -> None:
    assert told(numbers.extremum(a, b, largest=True, domain=DOMAIN)) == largest
    assert told(numbers.extremum(a, b, largest=False, domain=DOMAIN)) == smallest


def test_rounding() -> None:
    assert told(numbers.rounded(n("T"), up=True, domain=DOMAIN)) == "T size"
    assert told(numbers.rounded(number(TU, S), up=True, domain=DOMAIN)) == "(T)*(U) size"
    assert told(numbers.rounded(n("T", S, 2), up=False, domain=DOMAIN)) == "T//2 size"
    up = numbers.rounded(n("T", L, 2), up=True, domain=DOMAIN)
    assert up is not None and up.face is L and up.length.evaluate({"T": 5}) == 3
    assert numbers.rounded(Number(TU, 2, C), up=True, domain=DOMAIN) is None


@pytest.mark.parametrize(
    ("a", "b", "less", "at_most"),
    [
        (n("T"), n("T+1"), True, True), (n("T"), n("T"), False, True), (n("T+1"), n("T"), False, False),
        (n("T"), n("9"), None, None), (n("0"), n("T"), True, True), (n("1"), n("T"), None, True),
        (n("T"), n("1"), False, None), (n("T", S, 2), n("T"), True, True), (n("T"), n("T", S, 2), False, False),
        (number(TU), n("1"), None, None), (n("1"), number(TU), None, None), (n("U"), n("4"), False, None),
        (n("U"), n("101"), True, True), (n("U"), n("100"), None, True),
    ],
)  # fmt: skip
def test_comparisons(a: Number, b: Number, less: bool | None, at_most: bool | None) -> None:
    assert numbers.compare(a, b, DOMAIN) == (less, at_most)


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        (n("T"), n("T"), True), (n("T"), n("T+1"), False), (n("T+1"), n("T"), False), (n("T"), n("9"), None),
        (n("T", S, 2), n("2*T", S, 4), True), (n("T", S, 2), n("T"), False), (n("U"), n("3"), False),
        (number(TU), number(TU), True), (number(TU), n("3"), None), (Number(TU, 2, C), number(TU), None),
        (number(TU), number(product(TU, 2)), None),
    ],
)  # fmt: skip
def test_equality(a: Number, b: Number, same: bool | None) -> None:
    assert numbers.equal(a, b, DOMAIN) is same


@pytest.mark.parametrize(
    ("a", "b", "decided", "holds"),
    [
        (n("T-1", L), n("T"), True, True), (n("T"), n("T-1", L), True, False), (n("T"), n("T-1", L), False, True),
        (n("T-1", L), n("T"), False, False), (n("0"), n("T"), True, True), (n("T-1", M), n("T"), True, False),
        (n("T-1", L), n("T", L), True, False), (n("-T-1", L), n("-T"), True, False),
        (n("0"), number(TU, S), True, False),
    ],
)  # fmt: skip
def test_what_is_decided_in_native_holds_in_the_container_where_sizes_grow(
    a: Number, b: Number, decided: bool, holds: bool
) -> None:
    assert numbers.holds_in_container(a, b, decided, DOMAIN) is holds


def test_a_product_is_a_product() -> None:
    assert isinstance(TU, Product) and not isinstance(product(parse("T"), constant(2)), Product)


LATE = n("T-1009*(T//1009)+T-997*(T//997)")
"""Its largest value, 2004, comes once in a million steps: no procedure decides where it stays below."""


def test_what_no_procedure_decides_is_unknown() -> None:
    assert numbers.compare(LATE, n("2004"), DOMAIN) == (None, None)
    assert numbers.equal(LATE, n("2004"), DOMAIN) is None
    assert told(numbers.extremum(LATE, n("2003"), largest=False, domain=DOMAIN)).startswith("min(")
    assert numbers.modulo(n("-1"), n("2004-2*T+1009*(T//1009)+997*(T//997)"), DOMAIN) is None
    rest = parse("2003-2*T+1009*(T//1009)+997*(T//997)")
    assert numbers.divide(number(rest * 2, S), number(rest, L), integer=True, domain=DOMAIN) is None
    assert numbers.holds_in_container(n("-1"), LATE, True, DOMAIN) is False
