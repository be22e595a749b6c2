"""The domain: how it narrows to what native takes, and where it stops."""

from __future__ import annotations

import pytest

from paddable.lengths import Span, parse
from paddable.padding.deduce.scope import Scope
from paddable.padding.facts.numbers import product

from ..native import assert_exact, verdict_of


def test_a_minimum_of_two_lengths_bounds_both() -> None:
    """min(T, U) - 1 steps: neither symbol alone makes that positive, so it was said to hold at no length."""
    assert_exact(
        """g (float[1, T, 2] x, float[1, U, 2] u) => (float[1, N, 2] y, float[1, U, 2] z)
           <int64[1] zero = {0}, int64[1] one = {1}, int64[1] last = {9223372036854775807}> {
           s = Shape (u)
           size = Gather <axis = 0> (s, one)
           cut = Slice (x, zero, size, one)
           y = Slice (cut, one, last, one)
           z = Sin (u)
        }""",
        "x:1=T",
        "u:1=U",
    )


W = "float[2, 2, 2] w = {1, -2, 3, 4, -5, 6, 7, 8}"


@pytest.mark.parametrize(
    ("depth", "joined"), [(1, "Add (x, u1)"), (2, "Concat <axis = 1> (x, u1)"), (2, "Mul (x, u1)")]
)
def test_a_stride_that_is_undone_needs_a_multiple(depth: int, joined: str) -> None:
    """Refused as a frozen constant, where native runs at every multiple of the strides."""
    down = "d0 = Identity (x) " + " ".join(f"d{k} = Conv <strides = [2]> (d{k - 1}, w)" for k in range(1, depth + 1))
    up = " ".join(f"u{k} = ConvTranspose <strides = [2]> (u{k + 1}, w)" for k in range(depth, 0, -1))
    body = f"{down} u{depth + 1} = Identity (d{depth}) {up} y = {joined}"
    verdict = verdict_of(f"g (float[1, 2, T] x) => (float[1, C, T] y) <{W}> {{ {body} }}", "x:2=T")
    assert (verdict.outcome, verdict.tight) == ("exact", ""), verdict.reason
    span = verdict.spans["T"]
    assert (span.first, span.step) == (2**depth, 2**depth)


def test_a_condition_that_comes_true_again_has_no_end() -> None:
    """Not negative up to 4 steps, and at every even length behind them."""
    scope = Scope({"T": Span(1, None)})
    assert not scope.need(parse("max(3 - T, T - 2*((T + 1)//2))"), "a pad")
    assert scope.spans["T"] == Span(1, None)


def test_a_step_and_an_end() -> None:
    scope = Scope({"T": Span(1, 31)})
    assert scope.need_equal(parse("T"), parse("2*(T//2)"), "a stride") and scope.spans["T"] == Span(2, 30, 2)
    assert scope.need_equal(parse("min(T, 12)"), parse("T"), "a table") and scope.spans["T"] == Span(2, 12, 2)
    assert scope.need_multiple(parse("T"), 3, "a window") and scope.spans["T"] == Span(6, 12, 6)
    assert not scope.need_equal(parse("T"), parse("13"), "never")


BATCHED = Scope({"T": Span(4, 100), "U": Span(2, None)}, rows=3)


@pytest.mark.parametrize(
    ("a", "b", "ratio"),
    [
        ("6", "3", 2), ("6", "4", None), ("6", "0", None), ("6", "T", None), ("2*T", "T", 2), ("T", "T", 1),
        ("T", "2*T", None),
        ("T", "6", None), ("2*T+2", "T+1", 2), ("2*T+1", "T", None), ("0*T", "T", None), ("3*U", "T", None),
        ("4*(T//2)", "T//2", 4), ("T", "T//2", None), ("2*batch", "batch", 2),
    ],
)  # fmt: skip
def test_how_often_one_size_holds_another(a: str, b: str, ratio: int | None) -> None:
    assert BATCHED.ratio(parse(a), parse(b)) == ratio


def test_axes_of_sizes() -> None:
    scope = Scope({"T": Span(4, None), "U": Span(5, 5)}, rows=None)
    assert scope.axis(1) == () and [str(f) for f in scope.axis(6)] == ["6"] and scope.axis(6)[0].fixed
    (time,) = scope.axis(parse("T"))
    assert time.ragged and not time.batch and time.prefix
    assert not scope.axis(parse("T"), shift=parse("T"))[0].prefix
    (rows,) = scope.axis(parse("batch"))
    assert rows.batch and not rows.ragged
    (settled,) = scope.axis(parse("U"))
    assert settled.fixed and settled.size.constant == 5
    assert scope.axis(parse("U-4")) == ()
    both = scope.axis(product(parse("T"), parse("batch"), 2))
    assert [str(f) for f in both] == ["2", "batch", "T"] and [f.batch for f in both] == [False, True, False]
    assert (scope.count(rows), scope.count(time), scope.count(settled)) == (None, None, 5)
    assert BATCHED.count(BATCHED.axis(parse("batch"))[0]) == 3


def test_decisions() -> None:
    assert BATCHED.same(parse("T"), parse("T")) and not BATCHED.same(parse("T"), parse("U"))
    assert BATCHED.same(parse("2*T//2"), parse("T"))
    assert BATCHED.same(product(parse("T"), parse("U")), product(parse("U"), parse("T")))
    assert not BATCHED.same(product(parse("T"), parse("U")), parse("T"))
    assert BATCHED.at_most(parse("T"), parse("100")) and not BATCHED.at_most(parse("T"), parse("99"))
    assert BATCHED.grows(parse("T//2")) and not BATCHED.grows(parse("9-T")) and not BATCHED.grows(parse("T%3"))
    assert BATCHED.has_steps(parse("T-3")) and not BATCHED.has_steps(parse("T-4"))
    assert BATCHED.never(parse("T-101")) and not BATCHED.never(parse("T-100"))
    assert BATCHED.single_row is False and Scope({}).single_row


def _spans(scope: Scope) -> str:
    return " ".join(f"{s}={v.first}..{'' if v.last is None else v.last}/{v.step}" for s, v in scope.spans.items())


@pytest.mark.parametrize(
    ("needed", "holds", "spans"),
    [
        ("T-3", True, "T=3../1"), ("T", True, "T=1../1"), ("20-T", True, "T=1..20/1"), ("T//4-1", True, "T=4../1"),
        ("-T", False, "T=1../1"), ("min(T, 9)-5", True, "T=5../1"), ("7-T//2", True, "T=1..15/1"),
        ("0", True, "T=1../1"),
        ("2-T", True, "T=1..2/1"), ("1-T", False, "T=1../1"), ("T-1000000", True, "T=1000000../1"),
    ],
)  # fmt: skip
def test_what_is_needed_narrows(needed: str, holds: bool, spans: str) -> None:
    scope = Scope({"T": Span(1, None)})
    before = dict(scope.spans)
    assert scope.need(parse(needed), "a test") is holds
    assert _spans(scope) == spans
    assert scope.narrowed is (scope.spans != before)
    assert scope.reasons == ({"T": "a test"} if scope.narrowed else {})
    scope.restore(before)
    assert scope.spans == before and scope.domain.nonnegative(parse("T-1"))


@pytest.mark.parametrize(
    ("length", "divisor", "holds", "spans"),
    [
        ("T", 4, True, "T=4../4"), ("T+1", 3, True, "T=2../3"), ("2*T", 4, True, "T=2../2"),
        ("4*T", 2, True, "T=1../1"),
        ("2*T+1", 2, False, "T=1../1"), ("T//2", 3, False, "T=1../1"), ("T+U", 2, False, "T=1../1"),
    ],
)  # fmt: skip
def test_multiples_narrow_the_step(length: str, divisor: int, holds: bool, spans: str) -> None:
    scope = Scope({"T": Span(1, None), "U": Span(1, None)})
    assert scope.need_multiple(parse(length), divisor, "a window") is holds
    assert _spans(scope) == f"{spans} U=1../1"


LATE = parse("T-1009*(T//1009)+T-997*(T//997)")
"""Its largest value, 2004, comes once in a million steps: no procedure decides where it stays below."""


def test_what_no_procedure_decides_counts_as_no() -> None:
    scope = Scope({"T": Span(1, None)})
    assert not scope.at_most(LATE, parse("2003")) and not scope.same(LATE, parse("2004"))
    assert not scope.never(LATE - 2004) and not scope.grows(LATE)


def test_a_size_that_is_the_rows() -> None:
    assert BATCHED.is_rows(parse("3")) and not BATCHED.is_rows(parse("2")) and not BATCHED.is_rows(parse("T"))
    assert not BATCHED.is_rows(None) and not BATCHED.is_rows(product(parse("T"), parse("U")))
    assert not any(Scope({}, rows=None).is_rows(parse(size)) for size in ("0", "1", "batch"))


def test_what_is_told_of_a_shorter_domain() -> None:
    """What narrowed it last, and of its least and greatest length and its step the node that asked for each."""
    scope = Scope({"T": Span(1, None)})
    scope.at = "node c, Conv"
    assert scope.need(parse("T-3"), "a kernel of 3")
    scope.at = ""
    assert scope.need(parse("20-T"), "a table")
    assert scope.limits == {"T": {"min": "a kernel of 3 (node c, Conv)", "max": "a table"}}
    assert scope.need_multiple(parse("T"), 4, "a stride") and scope.reasons == {"T": "a stride"}
    assert scope.limits["T"] == {"min": "a kernel of 3 (node c, Conv)", "max": "a table", "step": "a stride"}
    assert scope.need(parse("T-3"), "once more") and scope.reasons == {"T": "a stride"}


@pytest.mark.parametrize(
    ("span", "low", "high"),
    [(Span(1, None), 98, 105), (Span(4, 100), 100, 100), (Span(2, None, 2), 98, 106), (Span(8, None, 4), 104, 112)],
)
def test_a_point_of_the_domain(span: Span, low: int, high: int) -> None:
    """An accepted length, of the step where there is one, and another one."""
    scope = Scope({"T": span})
    assert (scope.point()["T"], scope.point(7)["T"]) == (low, high)


@pytest.mark.parametrize(
    ("a", "b", "holds", "spans"),
    [
        ("T", "T", True, "T=1../1 U=1../1"), ("T", "12", False, "T=1../1 U=1../1"),
        ("T", "T+1", False, "T=1../1 U=1../1"), ("2*(T//2)", "T", True, "T=2../2 U=1../1"),
        ("3*(T//3)+1", "T", True, "T=1../3 U=1../1"), ("T", "U", False, "T=1../1 U=1../1"),
        ("min(T, 9)", "T", True, "T=1..9/1 U=1../1"), ("max(T, 9)", "T", True, "T=9../1 U=1../1"),
        ("6*(T//6)", "2*(T//2)", False, "T=1../1 U=1../1"), ("2*(T//2)", "U", False, "T=1../1 U=1../1"),
    ],
)  # fmt: skip
def test_where_two_sizes_agree(a: str, b: str, holds: bool, spans: str) -> None:
    scope = Scope({"T": Span(1, None), "U": Span(1, None)})
    assert (scope.need_equal(parse(a), parse(b), "a test"), _spans(scope)) == (holds, spans)


def test_a_multiple_that_rests_on_the_rows_too_is_no_step() -> None:
    scope = Scope({"T": Span(1, None)}, rows=None)
    assert not scope.need_multiple(parse("T+batch"), 2, "a window") and scope.spans["T"] == Span(1, None)
    assert scope.need_multiple(parse("T+2*batch"), 2, "a window") and scope.spans["T"] == Span(2, None, 2)
