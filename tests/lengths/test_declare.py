"""Declarations: what is understood, and what the error suggests otherwise."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from paddable.errors import MisuseError
from paddable.lengths import parse
from paddable.lengths.declare import (
    BatchAxis,
    Container,
    LengthDeclaration,
    LengthInput,
    MaskInput,
    parse_batches,
    parse_container,
    parse_length,
    parse_length_input,
    parse_mask_input,
    split_containers,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x:1=T", LengthDeclaration("x", 1, parse("T"))),
        ("x:-1=T", LengthDeclaration("x", -1, parse("T"))),
        ("mask:1=(T-80)//320+1", LengthDeclaration("mask", 1, parse("(T-80)//320+1"))),
        (" audio : 2 = T ", LengthDeclaration("audio", 2, parse("T"))),
        ("Placeholder:0:1=T", LengthDeclaration("Placeholder:0", 1, parse("T"))),
        ("вход:1=T", LengthDeclaration("вход", 1, parse("T"))),
    ],
)
def test_lengths(text: str, expected: LengthDeclaration) -> None:
    assert parse_length(text) == expected


def test_length_inputs_masks_and_batch() -> None:
    assert parse_length_input("ilens=T") == LengthInput("ilens", parse("T"))
    assert parse_length_input("frames=T//160+1") == LengthInput("frames", parse("T//160+1"))
    assert parse_mask_input("mask:1=T") == MaskInput("mask", 1, parse("T"))
    assert parse_batches("x:0,y:-1") == (BatchAxis("x", 0), BatchAxis("y", -1))
    assert parse_batches("a:b:-2") == (BatchAxis("a:b", -2),)
    assert parse_batches(None) == () and parse_batches("none") is None


@pytest.mark.parametrize(
    ("read", "text", "hint"),
    [
        (parse_length, "x", "`lengths=['x:1=T']`"),
        (parse_length, "x:1", "`lengths=['x:1=T']`"),
        (parse_length, "x=T", "`lengths=['x:1=T']` for axis 1"),
        (parse_length, "x:time=T", "for axis 1"),
        (parse_length, ":1=T", "axis 1"),
        (parse_length, "x:1=", "`lengths=['x:1=T']`"),
        (parse_length, "x:1=T T", "(T-80)//320+1"),
        (parse_length, "x:1=T*U", "T"),
        (parse_length, "x:1=24000", "`lengths=['x:1=T']`"),
        (parse_mask_input, "mask=T", "`mask_inputs=['mask:1=T']`"),
        (parse_length_input, "ilens", "`length_inputs=['ilens=T']`"),
        (parse_batches, "x", "`batch='x:0'`"),
    ],
)
def test_what_is_not_understood_is_answered_with_the_right_form(
    read: Callable[[str], object], text: str, hint: str
) -> None:
    with pytest.raises(MisuseError) as error:
        read(text)
    assert hint in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "symbols", "rates", "expected"),
    [
        ("24000", ["T"], {}, {"T": 24000}),
        (24000, ["T"], {}, {"T": 24000}),
        ("T=24000,U=512", ["T", "U"], {}, {"T": 24000, "U": 512}),
        ("U=512, T=24000", ["T", "U"], {}, {"T": 24000, "U": 512}),
        ("30s", ["T"], {"T": 16000}, {"T": 480000}),
        ("2.5s", ["T"], {"T": 100}, {"T": 250}),
        ("0.1s", ["T"], {"T": 16000}, {"T": 1600}),
        ("5s", ["T"], {"T": 12.5}, {"T": 63}),
        ("T=1s,U=512", ["T", "U"], {"T": 16000}, {"T": 16000, "U": 512}),
    ],
)
def test_containers(text: str, symbols: list[str], rates: dict[str, float], expected: dict[str, int]) -> None:
    container = parse_container(text, symbols, rates=rates)
    assert container == Container(expected)
    assert list(container.steps) == symbols


@pytest.mark.parametrize(
    ("text", "symbols", "told"),
    [
        ("30s", ["T"], "`rate=16000`"),
        ("512", ["T", "U"], "T=24000,U=24000"),
        ("512,3", ["T"], "which symbol"),
        ("T=512", ["T", "U"], "no size for U"),
        ("T=512,V=1", ["T"], "'V'"),
        ("T=512,T=513", ["T"], "twice"),
        ("0", ["T"], "1 to 2147483647"),
        ("-5", ["T"], "1 to 2147483647"),
        ("2147483648", ["T"], "1 to 2147483647"),
        ("30 m", ["T"], "seconds"),
        ("1e5", ["T"], "not a size"),
        ("", ["T"], "not a size"),
    ],
)
def test_containers_that_are_refused(text: str, symbols: list[str], told: str) -> None:
    with pytest.raises(MisuseError) as error:
        parse_container(text, symbols)
    assert told in str(error.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2s,5s, 10s", ("2s", "5s", "10s")),
        ("24000", ("24000",)),
        ("", ()),
        ("T=8,U=4,T=16,U=4", ("T=8,U=4", "T=16,U=4")),
        ("T=8,T=16", ("T=8", "T=16")),
        ("10..160/5", ("10", "20", "40", "80", "160")),
        ("2s..32s/3, 40s", ("2.000s", "8.000s", "32.000s", "40s")),
    ],
)
def test_a_list_of_containers(text: str, expected: tuple[str, ...]) -> None:
    assert split_containers(text) == expected


@pytest.mark.parametrize("text", ["30s..2s/8", "2s..30/8", "2s..30s/1", "0..8/4"])
def test_a_row_of_containers_that_is_none(text: str) -> None:
    with pytest.raises(MisuseError, match=r"is not a row of containers.*write it like 2s\.\.30s/8"):
        split_containers(text)
