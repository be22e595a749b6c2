"""Places counted from the end where they are negative, against Python's own indices."""

from __future__ import annotations

import pytest

from paddable.lengths import Span, parse
from paddable.padding.deduce.from_end import counted_from_the_end
from paddable.padding.deduce.scope import Scope

SIZES = ("T", "2*T", "T//2", "(T+3)//4", "min(T, 9)", "T+5", "7")


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    "place",
    [
        "3", "-3", "T-1", "T-2", "T-7", "2*T-9", "T//2-3", "(T+1)//3-2", "min(T, 5)-3", "3-T", "9-2*T", "4-T//3",
        "-T", "T%2-1+min(T//9, 1)", "T%5-3+min(T//20, 1)*8",
    ],
)  # fmt: skip
@pytest.mark.parametrize("span", [Span(1, None), Span(2, 30), Span(4, None, 4)])
def test_of_one_symbol(place: str, size: str, span: Span) -> None:
    """At every length what ONNX reads: the place, or the size and the place where that is negative."""
    found = counted_from_the_end(Scope({"T": span}), parse(place), parse(size))
    assert found is not None
    for t in range(span.first, 31):
        if t in span:
            at = {"T": t}
            wanted, steps = parse(place).evaluate(at), parse(size).evaluate(at)
            assert found.evaluate(at) == (wanted if wanted >= 0 else steps + wanted), t


@pytest.mark.parametrize(("place", "simple"), [("T-1", "T-1"), ("-2", "U-2"), ("T-U-200", "T-200"), ("T-2*T", "U-T")])
def test_a_sign_that_does_not_change(place: str, simple: str) -> None:
    scope = Scope({"T": Span(1, 90), "U": Span(1, None)})
    assert counted_from_the_end(scope, parse(place), parse("U")) == parse(simple)


@pytest.mark.parametrize(
    ("place", "size"), [("T%3-1", "T"), ("T-U", "T"), ("T-3", "T+U"), ("batch-2", "T"), ("min(T, U)-3", "T")]
)
def test_of_which_no_length_is_made(place: str, size: str) -> None:
    """The sign changes again and again, with another symbol, or where the size has no greatest value."""
    scope = Scope({"T": Span(1, None), "U": Span(1, None)}, rows=None)
    assert counted_from_the_end(scope, parse(place), parse(size)) is None
