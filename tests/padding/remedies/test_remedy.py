"""Remedies in words, as reports print them."""

from __future__ import annotations

import pytest

from paddable.lengths import constant
from paddable.padding.remedies import (
    Fill,
    FromEnd,
    Remedy,
    SequenceLengths,
    Spread,
    Take,
    UseLength,
    UseSize,
)
from paddable.padding.remedies.forms import SqueezeBehindRows, UnsqueezeBehindRows

ONE = constant(1)


@pytest.mark.parametrize(
    ("remedy", "text"),
    [
        (Fill("", "", 0, (), (0,), 0.0), "zero the padding first"),
        (Fill("", "", 0, (), (0,), -1.5), "fill the padding with -1.5"),
        (Fill("", "", 0, (), (0,), 0.0, scalar_input=2), "fill the padding with the zero point"),
        (UseLength("", "", 0, None, ()), "substitute the run-time length"),
        (UseSize("", "", 0, None), "size by the container"),
        (FromEnd("", "", 0, (ONE,), ()), "count from the run-time length"),
        (Spread("", "", 0, 1), "align the rows"),
        (Take("", "", 0, 1, (), ONE, ONE, ()), "gather by run-time index"),
        (SequenceLengths("", "", 4, ONE, ()), "give the operator its sequence lengths"),
        (SqueezeBehindRows("", "", (1,)), "squeeze"),
        (UnsqueezeBehindRows("", "", (1,)), "unsqueeze"),
    ],
)
def test_a_remedy_in_words(remedy: Remedy, text: str) -> None:
    assert remedy.text == text
