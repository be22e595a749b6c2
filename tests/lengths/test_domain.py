"""Statements that real models need, the limits of the procedure, and its cost."""

import time

import pytest

from paddable.errors import MisuseError, RefusedError
from paddable.lengths import Domain, Length, Span, Undecided, constant, maximum, minimum, parse, symbol

T, U = symbol("T"), symbol("U")
HALF_MINUTE = Domain({"T": Span(400, 480_000)})
UNBOUNDED = Domain({"T": Span(400, None)})


def convolved(length: Length, kernel: int, stride: int, padding: int = 0) -> Length:
    return (length + 2 * padding - kernel) // stride + 1


@pytest.mark.parametrize("domain", [HALF_MINUTE, UNBOUNDED])
def test_qwen3_asr_frames_are_three_halvings_of_each_chunk(domain: Domain) -> None:
    """Whole chunks of 100 frames give 13 each; the formula of the last one agrees with its convolutions."""
    last = T % 100
    for _ in range(3):
        last = (last - 1) // 2 + 1
    formula = 13 * (T // 100) + (T % 100 + 7) // 8
    assert domain.equal(13 * (T // 100) + last, formula)
    assert not domain.equal(13 * (T // 100) + last, formula + (T % 100) // 99)
    assert domain.monotone(formula, "T")


@pytest.mark.parametrize("domain", [HALF_MINUTE, UNBOUNDED])
def test_strided_convolutions(domain: Domain) -> None:
    frames = T
    for kernel, stride in [(10, 5), (3, 2), (3, 2), (3, 2), (3, 2), (2, 2), (2, 2)]:
        frames = convolved(frames, kernel, stride)
    assert domain.equal(frames, parse("(T-400)//320+1"))
    assert domain.smallest([frames - 1], "T") == 400
    assert Domain().smallest([frames - 1], "T") == 400
    assert domain.positive(frames) and domain.less(frames, T)
    assert domain.bounds(frames) == (1, 1499 if domain is HALF_MINUTE else None)


def test_windows_and_frame_stacking() -> None:
    padded = T.ceildiv(104) * 104
    assert UNBOUNDED.divisible(padded, 8) and not UNBOUNDED.divisible(padded, 16)
    assert UNBOUNDED.equal(padded - T, (-T) % 104)
    assert UNBOUNDED.bounds(padded - T) == (0, 103)
    assert UNBOUNDED.less_equal(T, padded) and not UNBOUNDED.less(T, padded)
    stacked = T.ceildiv(6)
    assert UNBOUNDED.equal(stacked, (T + 5) // 6)
    assert UNBOUNDED.equal(stacked, T // 6 + minimum(T % 6, 1))


def test_floor_division_written_with_truncation_and_fmod() -> None:
    """Exporters spell floor division as Div, Mod, Less, Xor, Sub; the numerator here is negative."""
    shifted = 3 - T
    truncated = shifted.truncdiv(4)
    correction = minimum(4 * truncated - shifted, 1)
    assert UNBOUNDED.equal(shifted // 4, truncated - maximum(correction, 0))
    assert not UNBOUNDED.equal(truncated, shifted // 4)
    assert UNBOUNDED.equal((3 + T).truncdiv(4), (3 + T) // 4)


def test_a_length_that_is_constant_here_is_not_ragged_here() -> None:
    short = Domain({"T": Span(1, 300)})
    assert short.is_constant(maximum(T, 480_000)) == 480_000
    assert short.is_constant((T - 1) // 300) == 0
    assert short.is_constant(T // 300) is None
    assert Domain({"T": Span(7, 7)}).simplify(2 * T + 1) == 15


def test_steps_make_divisions_even() -> None:
    whole = Domain({"T": Span(1, None, step=320)})
    assert whole.span("T").first == 320
    assert whole.simplify(T - 320 * (T // 320)) == 0
    assert whole.simplify(T // 320 * 640) == 2 * T
    assert whole.divisible(T // 64, 5)
    assert whole.equal((T + 319) // 320, T // 320)


def test_simplify_removes_what_the_domain_decides() -> None:
    assert UNBOUNDED.simplify(maximum(T - 10, 0)) == T - 10
    assert UNBOUNDED.simplify(minimum(T, 399)) == 399
    assert UNBOUNDED.simplify(T // 2 + (T + 1) // 2) == T
    assert HALF_MINUTE.simplify(minimum(T, 500_000, 2 * T)) == T
    assert UNBOUNDED.simplify(minimum(T, 5000)) == minimum(T, 5000)
    assert UNBOUNDED.simplify(minimum(T, U // 2 + (U + 1) // 2)) == minimum(T, U)


def test_sign() -> None:
    assert UNBOUNDED.sign(T) == 1
    assert UNBOUNDED.sign(-T) == -1
    assert UNBOUNDED.sign(T - 400) is None
    assert UNBOUNDED.sign(T // 2 + (T + 1) // 2 - T) == 0
    assert UNBOUNDED.sign(constant(-3)) == -1


def test_several_symbols() -> None:
    domain = Domain()
    assert domain.equal((T + U) // 2 + (T + U + 1) // 2, T + U)
    assert domain.equal((T + 3 * U) // 3, T // 3 + U)
    assert not domain.equal((T + U) // 3, T // 3 + U // 3)
    assert domain.less_equal(T // 3 + U // 3, (T + U) // 3)
    assert domain.equal(minimum(T, U) + maximum(T, U), T + U)
    assert domain.equal(minimum(T, U) // 4, minimum(T // 4, U // 4))
    assert domain.less_equal(minimum(T, U), (T + U) // 2)
    assert domain.less_equal(5 * minimum(T // 5, U // 5), minimum(T, U))
    assert not domain.less_equal(maximum(T, U), (T + U) // 2)
    assert domain.monotone(maximum(T // 2, U // 2), "T") and not domain.monotone(U - minimum(T, U), "T")
    assert domain.bounds(minimum(T, U) - T) == (None, 0)
    assert domain.divisible(2 * minimum(T, 3 * U) + 4 * T, 2)
    assert domain.smallest([T + U - 10], "T") == 9
    assert domain.smallest([minimum(T + U, 2 * T) - 10], "T") == 9
    assert domain.smallest([T - U], "T") is None


def test_gaps_of_two_orders_are_independent() -> None:
    """T <= U and T <= V leave two gaps, U-T and V-T; with one gap for both this would be true.

    The floor keeps both minima and maxima in one component.
    """
    gap, other = maximum(T, U) - minimum(T, U), maximum(T, symbol("V")) - T
    assert not Domain().nonnegative((gap - other + 1) // 2)


def test_a_step_that_an_order_loses_refutes_nothing() -> None:
    """An even and an odd symbol are never equal."""
    domain = Domain({"T": Span(2, None, step=2), "U": Span(1, None, step=2, residue=1)})
    with pytest.raises(Undecided):
        domain.less(minimum(T, U), maximum(T, U))
    assert domain.less_equal(minimum(T, U), maximum(T, U))


def test_bounds_stay_sound_where_the_periods_are_too_long() -> None:
    assert Domain().bounds((T + U) % 1009 + (T + 2 * U) % 997) == (0, 1008 + 996)


def test_smallest_looks_past_every_exception() -> None:
    domain = Domain()
    assert domain.smallest([T - 895], "T") == 895
    assert domain.smallest([T % 50 - T // 100 * 100 + T - 60], "T") is None
    assert domain.smallest([minimum(T, 1000) % 7 - 5], "T") == 999  # 1000 % 7 is 6, 999 % 7 is 5, 998 % 7 is 4
    assert Domain({"T": Span(1, 50)}).smallest([T - 51], "T") is None
    assert Domain({"T": Span(1, None, 320)}).smallest([T - 321], "T") == 640
    assert domain.smallest([], "T") == 1


def test_a_symbol_that_is_not_listed_is_at_least_one() -> None:
    assert Domain().positive(symbol("batch"))
    assert not Domain({"batch": Span(0, None)}).positive(symbol("batch"))
    assert Domain({"T": Span(1, None)}).span("T") == Domain().span("T")
    assert Domain({"T": Span(2, 9)}) == Domain({"T": Span(2, 9)})


def test_spans() -> None:
    span = Span(5, 30, step=4, residue=7)
    assert (span.first, span.last, span.count) == (7, 27, 6)
    assert 11 in span and 12 not in span and 3 not in span and 31 not in span
    assert Span(5, None).last is None and Span(5, None).count is None
    for wrong in (lambda: Span(5, 4), lambda: Span(1, 3, 8, 0), lambda: Span(1, None, 0)):
        with pytest.raises(MisuseError):
            wrong()


def test_what_takes_too_long_is_refused_not_guessed() -> None:
    long = T - 1009 * (T // 1009) + T - 997 * (T // 997)  # reaches its greatest value, 2004, once in a million steps
    slow = T // 1009 + T // 997
    with pytest.raises(Undecided, match="points") as caught:
        UNBOUNDED.divisible(slow % 2 + (slow + 1) % 2 - 1, 3)  # true, with a period of two million
    assert isinstance(caught.value, RefusedError) and caught.value.fix
    with pytest.raises(Undecided):
        UNBOUNDED.less_equal(long, 2003)
    assert UNBOUNDED.less_equal(long, 2004)
    with pytest.raises(Undecided):
        Domain().smallest([maximum(T, U) - 10 - minimum(T // 2, U)], "T")


def test_a_graph_of_two_thousand_nodes_is_cheap() -> None:
    """Over 30,000 operations and 4,000 decisions, each on half a million lengths."""
    start = time.process_time()
    domain = Domain({"T": Span(400, 480_000)})
    frames = (T - 80) // 320
    for shift in range(2000):
        for _ in range(5):
            length = (frames + shift - 3) // 2 + 1
        assert domain.nonnegative(length + 1)
        assert domain.equal(length, (frames + shift - 1) // 2)
    assert time.process_time() - start < 15
