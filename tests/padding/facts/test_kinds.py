"""The lattice of what is known of a region: constant < finite < below < any."""

from __future__ import annotations

import itertools
import math

import pytest

from paddable.padding.facts.kinds import ANY, BELOW, FALSE, FINITE, TRUE, ZERO, Kind, constant, join, scalar

LOW, HIGH = constant(-math.inf), constant(math.inf)


@pytest.mark.parametrize(
    ("kinds", "joined"),
    [
        ((ZERO, ZERO), ZERO), ((ZERO, constant(1.0)), FINITE), ((ZERO, FINITE), FINITE), ((FINITE, ANY), ANY),
        ((FINITE, BELOW), BELOW), ((BELOW, ANY), ANY), ((LOW, FINITE), BELOW), ((HIGH, FINITE), ANY), ((LOW, LOW), LOW),
        ((HIGH, HIGH), HIGH), ((LOW, HIGH), ANY), ((scalar("z"), scalar("z")), scalar("z")), ((), ANY),
        ((scalar("z"), scalar("y")), FINITE), ((scalar("z"), ZERO), FINITE), ((ZERO,), ZERO), ((BELOW, LOW), BELOW),
    ],
)  # fmt: skip
def test_the_join_is_the_weakest(kinds: tuple[Kind, ...], joined: Kind) -> None:
    for order in itertools.permutations(kinds):
        assert join(order) == joined


def test_constants() -> None:
    assert constant(0) == constant(-0.0) == ZERO == FALSE and constant(1) == TRUE
    assert math.copysign(1.0, constant(-0.0).value or 0.0) == 1.0
    assert constant(math.nan) == ANY
    assert (HIGH.finite, HIGH.below, HIGH.value) == (False, False, math.inf)
    assert (LOW.finite, LOW.below, LOW.value) == (False, True, -math.inf)
    assert ZERO.is_zero and not FINITE.is_zero and not TRUE.is_zero
    assert [k.finite for k in (ANY, BELOW, FINITE, ZERO, TRUE)] == [False, False, True, True, True]
    assert [k.below for k in (ANY, BELOW, FINITE, ZERO, TRUE)] == [False, True, True, True, True]
    assert scalar("z").finite and scalar("z").below and scalar("z").value is None


def test_one_and_the_same_number() -> None:
    assert ZERO.equals(constant(0)) and not ZERO.equals(TRUE) and not FINITE.equals(FINITE) and not ANY.equals(ANY)
    assert scalar("z").equals(scalar("z")) and not scalar("z").equals(scalar("y"))
    assert not scalar("z").equals(ZERO) and not ZERO.equals(scalar("z")) and not FINITE.equals(ZERO)


def test_a_kind_as_text() -> None:
    assert [str(k) for k in (ANY, FINITE, ZERO, LOW, scalar("z"))] == ["any", "finite", "0", "-inf", "z"]


def test_a_kind_does_not_change() -> None:
    with pytest.raises(AttributeError):
        ZERO.finite = False  # type: ignore[misc]
