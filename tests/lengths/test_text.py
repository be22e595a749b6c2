"""Lengths as text."""

import pytest

from paddable.errors import MisuseError
from paddable.lengths import parse, symbol

T = symbol("T")

PRINTED = [
    ("(T-80)//320+1", "(T-80)//320+1"),
    ("(T+240)//320", "(T-80)//320+1"),
    ("(T-400)//320+1", "(T-80)//320"),
    ("ceil(T/6)", "(T+5)//6"),
    ("ceil(T/104)*104", "104*((T+103)//104)"),
    ("floor(T/6)", "T//6"),
    ("(-T)%6", "6*((T+5)//6)-T"),
    ("3-T", "3-T"),
    ("-T-3", "-T-3"),
    ("-(T//6)-U//3", "-(T//6)-(U//3)"),
    ("min(T, 500) - 2", "min(T, 500)-2"),
    ("+T--U", "T+U"),
    ("2*T%3", "2*T-3*(T-(T+2)//3)"),
    ("0*T", "0"),
    ("min + max", "max+min"),
    ("max(min, max(floor, 3))", "max(floor, min, 3)"),
]


@pytest.mark.parametrize(("text", "printed"), PRINTED)
def test_prints_readably_and_reads_back(text: str, printed: str) -> None:
    length = parse(text)
    assert str(length) == str(parse(printed))
    assert parse(str(length)) == length
    assert repr(length) == f"Length('{length}')"


@pytest.mark.parametrize("printed", [printed for text, printed in PRINTED if "%" not in text])
def test_the_printed_form_is_the_expected_one(printed: str) -> None:
    assert str(parse(printed)) == printed


def test_precedence_is_pythons() -> None:
    for text in ("-T//6", "2*T//6", "T//6*6", "T-3-2*T%5", "-T%4*2", "7-T//2-1", "- -T", "T//-3", "T%-4"):
        for value in range(-9, 10):
            assert parse(text).evaluate({"T": value}) == eval(text, {}, {"T": value}), text


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("", 1),
        ("T+", 3),
        ("(T", 3),
        ("T)", 2),
        ("T U", 3),
        ("T*U", 2),
        ("T//U", 2),
        ("T//0", 2),
        ("T%0", 2),
        ("T/2", 2),
        ("T ? 3", 3),
        ("min(T", 6),
        ("min()", 5),
        ("ceil(T)", 7),
        ("ceil(T/0)", 1),
        ("1.5*T", 2),
        ("(" * 5000, 1),
    ],
)
def test_errors_name_the_column(text: str, column: int) -> None:
    with pytest.raises(MisuseError) as caught:
        parse(text)
    assert caught.value.where.endswith(f"column {column}")
    assert caught.value.fix


@pytest.mark.parametrize("name", ["", "2T", "T-1", "T ", "T\n"])
def test_what_is_no_symbol(name: str) -> None:
    with pytest.raises(MisuseError, match="not a symbol"):
        symbol(name)
