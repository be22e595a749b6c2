"""Every statement about random lengths against Python's own evaluation of the same text, far past the periods."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from itertools import pairwise, product

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from paddable.lengths import Domain, Length, Span, Undecided, parse

SCALE = int(os.environ.get("PADDABLE_EXAMPLES", "1"))
"""Multiplies the number of examples; beyond 1 they also change from run to run."""
FAR = 10**7


def examples(count: int) -> settings:
    """Settings of a test of so many examples."""
    return settings(
        max_examples=count * SCALE,
        deadline=None,
        derandomize=SCALE == 1,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


def texts(symbols: str, leaves: int) -> st.SearchStrategy[str]:
    """Texts of random lengths."""
    leaf = st.one_of(st.sampled_from(symbols), st.sampled_from(symbols), st.integers(-12, 12).map(str))

    def grow(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        return st.one_of(
            st.builds("({}{}{})".format, inner, st.sampled_from("+-"), inner),
            st.builds("({}*{})".format, inner, st.sampled_from([-3, -2, -1, 2, 3, 4])),
            st.builds("({}//{})".format, inner, st.sampled_from([2, 3, 4, 5, 6, -2, -3])),
            st.builds("({}%{})".format, inner, st.sampled_from([2, 3, 4, 5, 6])),
            st.builds("{}({},{})".format, st.sampled_from(["min", "max"]), inner, inner),
        )

    return st.recursive(leaf, grow, max_leaves=leaves)


spans = st.builds(
    lambda low, extra, step, residue: Span(low, None if extra is None else low + step + extra, step, residue),
    st.integers(-6, 9),
    st.none() | st.integers(0, 60),
    st.sampled_from([1, 1, 1, 2, 3, 4]),
    st.integers(0, 3),
)


def points(span: Span, count: int) -> list[int]:
    """The values of a bounded span, the first ones of an unbounded one, by the definition of a span."""
    high = span.low + count if span.high is None else span.high
    return [value for value in range(span.low, high + 1) if value % span.step == span.residue]


def evaluated(text: str, grid: Sequence[tuple[int, ...]], symbols: str) -> list[int]:
    """The value of a text at every point of the grid, by Python."""
    names = ",".join(symbols)
    return list(eval(f"[{text} for {names}, in grid]", {"min": min, "max": max, "grid": grid}))


def asked(question: Callable[..., object], *args: object) -> object:
    """The answer; a refusal skips the example, and the test of refusals counts them."""
    try:
        return question(*args)
    except Undecided:
        assume(False)
        raise


def pairs(symbols: str, leaves: int) -> st.SearchStrategy[tuple[str, str]]:
    """Two texts: unrelated, or one and the same plus little."""
    alone = texts(symbols, leaves)
    return st.tuples(alone, alone) | st.builds(
        lambda text, more, factor: (text, f"{text}+({more})*{factor}"),
        alone,
        texts(symbols, 3),
        st.sampled_from([0, 1]),
    )


# -- one symbol: every answer is checked in both directions ------------------------------------------------------------


@examples(900)
@given(pairs("T", 8), spans)
def test_order_in_one_symbol(pair: tuple[str, str], span: Span) -> None:
    one, other = map(parse, pair)
    domain = Domain({"T": span})
    answers = (domain.equal(one, other), domain.less_equal(one, other), domain.less(one, other))

    def truth(grid: list[tuple[int, ...]]) -> tuple[bool, bool, bool]:
        rows = list(zip(evaluated(pair[0], grid, "T"), evaluated(pair[1], grid, "T"), strict=True))
        return all(a == b for a, b in rows), all(a <= b for a, b in rows), all(a < b for a, b in rows)

    expected = truth([(value,) for value in points(span, 1200)])
    if answers != expected and span.high is None:
        expected = truth([(value,) for value in points(span, 60_000)])
    assert answers == expected


@examples(600)
@given(texts("T", 8), spans, st.sampled_from([2, 3, 4, 6, 320]))
def test_values_in_one_symbol(text: str, span: Span, divisor: int) -> None:
    length, domain = parse(text), Domain({"T": span})
    grid = [(value,) for value in points(span, 3000)]
    values = evaluated(text, grid, "T")
    far = evaluated(text, [(span.first + FAR * span.step,)], "T")[0]
    low, high = domain.bounds(length)
    assert low == min(values) if low is not None else span.high is None and far < min(values)
    assert high == max(values) if high is not None else span.high is None and far > max(values)
    assert domain.is_constant(length) == (values[0] if len(set(values)) == 1 else None)
    signs = {(value > 0) - (value < 0) for value in values}
    if low is not None and high is not None:
        assert domain.sign(length) == (signs.pop() if len(signs) == 1 else None)
    remainders = {value % divisor for value in values}
    assert domain.divisible(length, divisor) == (remainders == {0})
    assert domain.remainder(length, divisor) == (remainders.pop() if len(remainders) == 1 else None)
    assert domain.monotone(length, "T") == all(a <= b for a, b in pairwise(values))


@examples(450)
@given(st.lists(texts("T", 6), min_size=1, max_size=3), spans)
def test_smallest_in_one_symbol(conditions: list[str], span: Span) -> None:
    start = Domain({"T": span}).smallest(list(map(parse, conditions)), "T")
    grid = points(span, 3000)
    columns = [evaluated(text, [(value,) for value in grid], "T") for text in conditions]
    bad = [value for value, row in zip(grid, zip(*columns, strict=True), strict=True) if min(row) < 0]
    expected = grid[0] if not bad else bad[-1] + span.step
    if start is None:
        far = span.first + FAR * span.step
        ever = [min(evaluated(text, [(far + shift * span.step,) for shift in range(5000)], "T")) for text in conditions]
        assert expected > span.high if span.high is not None else min(ever) < 0
    else:
        assert start == expected


@examples(900)
@given(texts("T", 10), spans)
def test_forms_in_one_symbol(text: str, span: Span) -> None:
    length, domain = parse(text), Domain({"T": span})
    grid = [(value,) for value in points(span, 150)]
    values = evaluated(text, grid, "T")
    simple = domain.simplify(length)
    assert parse(str(length)) == length
    assert parse(str(simple)) == simple
    assert [length.evaluate({"T": value}) for (value,) in grid] == values
    assert [simple.evaluate({"T": value}) for (value,) in grid] == values
    shifted = length.substitute({"T": parse("3*T-U")})
    assert [shifted.evaluate({"T": value, "U": 2}) for (value,) in grid] == evaluated(
        text, [(3 * value - 2,) for (value,) in grid], "T"
    )


@examples(400)
@given(texts("T", 8))
def test_slope_and_period(text: str) -> None:
    length = parse(text)
    period, slope = length.period("T"), length.slope("T")
    far = [FAR + shift for shift in range(60)]
    now = evaluated(text, [(value,) for value in far], "T")
    later = evaluated(text, [(value + period,) for value in far], "T")
    assert [value + slope * period for value in now] == later


# -- two symbols: what is said must be true ----------------------------------------------------------------------------


def wide(domain: Domain) -> list[tuple[int, ...]]:
    """A wider grid, in which an untrue statement of 'not everywhere' shows."""
    columns = []
    for symbol in "TU":
        span = domain.span(symbol)
        last = span.first + 40 * span.step if span.last is None else span.last
        values = list(range(span.first, last + 1, span.step))
        if span.last is None:
            values += [span.first + span.step * steps for steps in (*range(41, 97), 200, 777, 5001, 30_002, 400_003)]
        columns.append(values)
    return list(product(*columns))


@examples(600)
@given(pairs("TU", 7), spans, spans)
def test_order_in_two_symbols(pair: tuple[str, str], first: Span, second: Span) -> None:
    domain = Domain({"T": first, "U": second})
    one, other = map(parse, pair)
    grid = wide(domain)
    rows = list(zip(evaluated(pair[0], grid, "TU"), evaluated(pair[1], grid, "TU"), strict=True))
    assert asked(domain.less_equal, one, other) == all(a <= b for a, b in rows)
    assert asked(domain.less, one, other) == all(a < b for a, b in rows)
    assert asked(domain.equal, one, other) == all(a == b for a, b in rows)


@examples(450)
@given(texts("TU", 7), spans, spans, st.sampled_from([2, 3, 6]))
def test_values_in_two_symbols(text: str, first: Span, second: Span, divisor: int) -> None:
    length, domain = parse(text), Domain({"T": first, "U": second})
    grid = wide(domain)
    values = evaluated(text, grid, "TU")
    low, high = domain.bounds(length)
    assert low is None or low <= min(values)
    assert high is None or high >= max(values)
    simple = domain.simplify(length)
    assert [simple.evaluate({"T": t, "U": u}) for t, u in grid[::7]] == values[::7]
    remainders = {value % divisor for value in values}
    assert asked(domain.divisible, length, divisor) == (remainders == {0})
    assert asked(domain.is_constant, length) == (values[0] if len(set(values)) == 1 else None)
    table = dict(zip(grid, values, strict=True))
    pairs_ = [(table[t, u], table.get((t + first.step, u))) for t, u in grid]
    assert asked(domain.monotone, length, "T") == all(later is None or now <= later for now, later in pairs_)


@examples(250)
@given(texts("TU", 6), spans, spans)
def test_smallest_in_two_symbols(text: str, first: Span, second: Span) -> None:
    domain = Domain({"T": first, "U": second})
    start = asked(domain.smallest, [parse(text)], "T")
    grid = wide(domain)
    others = {u for _, u in grid} | ({second.first + 100 * FAR * second.step} if second.last is None else set())

    def negative_at(t: int) -> bool:
        return min(evaluated(text, [(t, u) for u in others], "TU")) < 0

    if start is None:
        far = range(FAR, FAR + 60) if first.count is None else [first.count - 1]
        assert any(negative_at(first.first + steps * first.step) for steps in far)
    else:
        assert isinstance(start, int)
        assert start == first.first or negative_at(start - first.step)
        assert min(evaluated(text, [(t, u) for t, u in grid if t >= start], "TU"), default=0) >= 0


@pytest.mark.parametrize("kind", ["min", "max"])
@examples(100)
@given(data=st.data(), first=spans, second=spans)
def test_ties_of_two_symbols(kind: str, data: st.DataObject, first: Span, second: Span) -> None:
    """Lengths in which several minima and maxima order two symbols."""
    affine = st.builds("({}*T+{}*U+{})".format, st.integers(-1, 2), st.integers(-1, 2), st.integers(-5, 5))
    args = [data.draw(affine) for _ in range(4)]
    divisors = data.draw(st.tuples(st.integers(1, 4), st.integers(1, 4)))
    one = f"{kind}({args[0]},{args[1]})//{divisors[0]}"
    other = f"max({args[2]},{args[3]}//{divisors[1]})"
    domain = Domain({"T": first, "U": second})
    grid = wide(domain)
    for text in (f"{one}-{other}", f"{one}+{other}", f"{one}-min({args[0]},{args[1]})"):
        values = evaluated(text, grid, "TU")
        low, high = domain.bounds(parse(text))
        assert low is None or low <= min(values)
        assert high is None or high >= max(values)
        try:
            nonnegative = domain.nonnegative(parse(text))
        except Undecided:
            continue
        assert nonnegative == (min(values) >= 0)


def test_few_statements_are_refused() -> None:
    """Refusing everything would pass the tests above: at most 5% of the statements in two symbols may be refused."""
    refused: list[Length] = []
    total: list[int] = [0]

    @examples(400)
    @given(pairs("TU", 7), spans, spans)
    def ask(pair: tuple[str, str], first: Span, second: Span) -> None:
        domain = Domain({"T": first, "U": second})
        total[0] += 1
        difference = parse(pair[1]) - parse(pair[0])
        try:
            domain.nonnegative(difference)
        except Undecided:
            refused.append(difference)

    ask()
    assert len(refused) <= 0.05 * total[0], list(map(str, refused))
