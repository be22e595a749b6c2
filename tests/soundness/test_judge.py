"""The judge sees what it is there for: each remedy left out, each wrong length, is found."""

from __future__ import annotations

from dataclasses import replace

import pytest

from .judge import judge
from .recipe import Recipe, build
from .runs import compile_case

STEPS = {
    "fill": Recipe(3, (("gram", 1), ("shallow_convolution", 2))),
    "replace": Recipe(3, (("mean_variance_by_hand", 5),)),
    "take": Recipe(3, (("reversed_by_index", 1),)),
    "length": Recipe(3, (("divided_by_the_length", 2),)),
}


@pytest.mark.parametrize("name", sorted(STEPS))
def test_a_remedy_left_out_is_a_silent_error(name: str) -> None:
    case = build(STEPS[name])
    assert judge(case).outcome == "exact"
    codes = frozenset(finding.code for finding in compile_case(case).analysis.findings)
    assert codes
    verdict = judge(replace(case, left_out=codes))
    assert verdict.outcome == "wrong", verdict.reason


def test_junk_that_is_read_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Attention weights of zero times values that only a tail fill makes finite: zeros hide it, NaN does not."""
    case = build(Recipe(4, (("attention", 1),)))
    assert judge(case).outcome == "exact"
    monkeypatch.setattr("paddable.padding.rewrite.rewrite._Rewriter._tail_fill", lambda self: None)
    verdict = judge(case)
    assert verdict.outcome == "wrong" and "junk" in verdict.reason, verdict
