"""Arithmetic on lengths: what is known exactly, and what is left to the runtime."""

from __future__ import annotations

import pytest

from ..native import assert_exact


@pytest.mark.parametrize("factor", [0.1, 0.3])
def test_rounded_float_arithmetic_on_lengths_is_left_to_the_runtime(factor: float) -> None:
    """50 * 0.1f is 5 in float32 and more than 5 exactly, so its ceiling may not be decided in fractions."""
    assert_exact(
        f"""g (float[1, T, 4] x) => (float[1, T, 4] y)
           <int64 axis = {{1}}, float k = {{{factor}}}, float one = {{1}}> {{
           s = Shape (x)
           n = Gather (s, axis)
           f = Cast <to = 1> (n)
           g1 = Mul (f, k)
           g2 = Add (g1, one)
           h = Ceil (g2)
           y = Mul (x, h)
        }}""",
        "x:1=T",
    )  # fmt: skip
