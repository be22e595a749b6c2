"""The table of pointwise operators: one row says everything about one of them.

Whoever asks what an operator makes of one element reads its row: the rule of all of them (``rules/elementwise.py``),
the bounds of their results, and which constants are folded (``rewrite/specialise.py``). A new operator is one row. What
a row does not state is the weak answer: nothing is known of the value, its bounds or its finiteness. What an operator
means on lengths is in ``deduce/symbolic.py``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from paddable.padding.facts.facts import Facts

__all__ = ["CONTRIBUTED", "POINTWISE", "Pointwise", "bounds", "evaluate", "keeps_finite", "row"]

Interval = tuple[float, float]
Spans = Sequence[Interval]
UNBOUNDED = (-math.inf, math.inf)


def _never(operands: Sequence[Facts]) -> bool:
    return False


def always(operands: Sequence[Facts]) -> bool:
    """Finite operands give finite results whatever their bounds, overflow of sums and products apart."""
    return True


@dataclass(frozen=True)
class Pointwise:
    """What one operator does to one element.

    Attributes:
        evaluate: the result of single numbers, None where the attributes decide; NaN where there is none.
        bounds: of the results, from the bounds of the operands.
        finite: whether operands that are finite and keep to their bounds give finite results.
        zero_at_zero: the result of 0 is 0 whatever the attributes and the other operands are.
        boolean: the result is a condition.
        unmasks: the result of a mask's fill is an ordinary number.
        exact: every runtime computes the same bits, so that constants may be folded.
    """

    evaluate: Callable[..., Any] | None = None
    bounds: Callable[[Spans], Interval] = lambda spans: UNBOUNDED
    finite: Callable[[Sequence[Facts]], bool] = _never
    zero_at_zero: bool = False
    boolean: bool = False
    unmasks: bool = False
    exact: bool = False


def _of(function: Callable[[Interval], Interval]) -> Callable[[Spans], Interval]:
    """Bounds of an operator of one operand."""
    return lambda spans: function(spans[0])


def _within(low: float, high: float) -> Callable[[Spans], Interval]:
    return lambda spans: (low, high)


def _safe(function: Callable[[float], float], x: float) -> float:
    try:
        return function(x)
    except OverflowError:
        return math.inf


def _times(a: float, b: float) -> float:
    return 0.0 if a == 0 or b == 0 else a * b


def _product(a: Interval, b: Interval) -> Interval:
    corners = [_times(x, y) for x in a for y in b]
    return min(corners), max(corners)


def _inverse(b: Interval) -> Interval:
    low, high = b
    return (1 / high, 1 / low) if low > 0 or high < 0 else UNBOUNDED


def _absolute(x: Interval) -> Interval:
    ends = abs(x[0]), abs(x[1])
    return (0.0 if x[0] <= 0 <= x[1] else min(ends)), max(ends)


def _logarithm(x: Interval) -> Interval:
    return (math.log(x[0]) if x[0] > 0 else -math.inf), (math.log(x[1]) if x[1] > 0 else math.inf)


def _root(x: Interval) -> Interval:
    return math.sqrt(max(0.0, x[0])), (math.sqrt(x[1]) if x[1] >= 0 else math.inf)


def _exponential(x: Interval) -> Interval:
    return _safe(math.exp, x[0]), _safe(math.exp, x[1])


def _power(spans: Spans) -> Interval:
    (low, _), (power, same) = spans
    return (0.0, math.inf) if power == same > 0 and (power % 2 == 0 or low >= 0) else UNBOUNDED


def _power_finite(operands: Sequence[Facts]) -> bool:
    base, power = operands
    if power.low != power.high:
        return False
    if power.low < 0:
        return base.low > 0
    return base.low >= 0 or float(power.low).is_integer()


def _remainder(spans: Spans) -> Interval:
    divisor = spans[1]
    return (0.0, divisor[0]) if divisor[0] == divisor[1] > 0 else UNBOUNDED


def _exponential_finite(operands: Sequence[Facts]) -> bool:
    return operands[0].high <= (11.0 if operands[0].dtype.name == "FLOAT16" else 88.0)


def _nonzero(which: int) -> Callable[[Sequence[Facts]], bool]:
    return lambda operands: operands[which].low > 0 or operands[which].high < 0


def _condition(evaluate: Callable[..., Any], *, exact: bool = True) -> Pointwise:
    return Pointwise(lambda *x: float(evaluate(*x)), _within(0.0, 1.0), always, boolean=True, exact=exact)


def _activation(bounds: Callable[[Spans], Interval] = lambda spans: UNBOUNDED) -> Pointwise:
    """An activation with f(0) = 0, no value of which is known beyond that."""
    return Pointwise(None, bounds, always, zero_at_zero=True)


_BITS = Pointwise(finite=always)

POINTWISE: dict[str, Pointwise] = {
    # arithmetic
    "Abs": Pointwise(np.abs, _of(_absolute), always, exact=True),
    "Add": Pointwise(np.add, lambda s: (s[0][0] + s[1][0], s[0][1] + s[1][1]), always, exact=True),
    "Div": Pointwise(np.divide, lambda s: _product(s[0], _inverse(s[1])), _nonzero(1), exact=True),
    "Max": Pointwise(lambda *x: np.max(x), lambda s: (max(x[0] for x in s), max(x[1] for x in s)), always, exact=True),
    "Mean": Pointwise(
        lambda *x: np.mean(x), lambda s: (sum(x[0] for x in s) / len(s), sum(x[1] for x in s) / len(s)), always
    ),
    "Min": Pointwise(lambda *x: np.min(x), lambda s: (min(x[0] for x in s), min(x[1] for x in s)), always, exact=True),
    "Mod": Pointwise(bounds=_remainder, exact=True),
    "Mul": Pointwise(np.multiply, lambda s: _product(s[0], s[1]), always, exact=True),
    "Neg": Pointwise(np.negative, _of(lambda x: (-x[1], -x[0])), always, exact=True),
    "Pow": Pointwise(np.power, _power, _power_finite),
    "Reciprocal": Pointwise(np.reciprocal, _of(_inverse), _nonzero(0)),
    "Sub": Pointwise(np.subtract, lambda s: (s[0][0] - s[1][1], s[0][1] - s[1][0]), always, exact=True),
    "Sum": Pointwise(lambda *x: np.sum(x), lambda s: (sum(x[0] for x in s), sum(x[1] for x in s)), always),
    # rounding and selection
    "Cast": Pointwise(finite=always, exact=True),
    "Ceil": Pointwise(np.ceil, _of(lambda x: (x[0], x[1] + 1)), always, exact=True),
    "Clip": Pointwise(finite=always, exact=True),
    "Dropout": Pointwise(lambda x: x, _of(lambda x: x), always),
    "Floor": Pointwise(np.floor, _of(lambda x: (x[0] - 1, x[1])), always, exact=True),
    "Identity": Pointwise(lambda x: x, _of(lambda x: x), always, exact=True),
    "Round": Pointwise(np.round, _of(lambda x: (x[0] - 1, x[1] + 1)), always),
    "Sign": Pointwise(np.sign, _within(-1.0, 1.0), always, exact=True),
    "Where": Pointwise(None, lambda s: (min(s[1][0], s[2][0]), max(s[1][1], s[2][1])), always, exact=True),
    # conditions and bits
    "And": _condition(lambda x, y: bool(x) and bool(y)),
    "Equal": _condition(lambda x, y: x == y),
    "Greater": _condition(lambda x, y: x > y),
    "GreaterOrEqual": _condition(lambda x, y: x >= y),
    "IsInf": _condition(np.isinf, exact=False),
    "IsNaN": _condition(np.isnan, exact=False),
    "Less": _condition(lambda x, y: x < y),
    "LessOrEqual": _condition(lambda x, y: x <= y),
    "Not": _condition(lambda x: not x),
    "Or": _condition(lambda x, y: bool(x) or bool(y)),
    "Xor": _condition(lambda x, y: bool(x) != bool(y)),
    "BitShift": _BITS,
    "BitwiseAnd": _BITS,
    "BitwiseNot": _BITS,
    "BitwiseOr": _BITS,
    "BitwiseXor": _BITS,
    # functions: what a row leaves out is NaN or infinite somewhere
    "Acos": Pointwise(),
    "Acosh": Pointwise(),
    "Asin": Pointwise(zero_at_zero=True),
    "Asinh": Pointwise(zero_at_zero=True),
    "Atan": _activation(),
    "Atanh": Pointwise(zero_at_zero=True),
    "Cos": Pointwise(np.cos, _within(-1.0, 1.0), always, unmasks=True),
    "Cosh": Pointwise(),
    "Erf": Pointwise(math.erf, _within(-1.0, 1.0), always, unmasks=True),
    "Exp": Pointwise(np.exp, _of(_exponential), _exponential_finite, unmasks=True),
    "Log": Pointwise(np.log, _of(_logarithm), lambda operands: operands[0].low > 0),
    "Sin": Pointwise(np.sin, _within(-1.0, 1.0), always, unmasks=True),
    "Sinh": Pointwise(zero_at_zero=True),
    "Sqrt": Pointwise(np.sqrt, _of(_root), lambda operands: operands[0].low >= 0, exact=True),
    "Tan": Pointwise(zero_at_zero=True),
    # activations
    "Celu": _activation(),
    "Elu": _activation(_of(lambda x: (-math.inf if x[0] < 0 else x[0], max(x[1], 0.0)))),
    "Gelu": _activation(),
    "HardSigmoid": Pointwise(None, _within(0.0, 1.0), always, unmasks=True),
    "HardSwish": _activation(),
    "LeakyRelu": _activation(_of(lambda x: (min(x[0], 0.0), max(x[1], 0.0)))),
    "Mish": _activation(),
    "PRelu": _activation(),
    "Relu": Pointwise(
        lambda x: np.maximum(x, 0), _of(lambda x: (max(0.0, x[0]), max(0.0, x[1]))), always, unmasks=True
    ),
    "Selu": _activation(),
    "Shrink": _activation(),
    "Sigmoid": Pointwise(lambda x: 1 / (1 + np.exp(-x)), _within(0.0, 1.0), always, unmasks=True),
    "Softplus": Pointwise(None, _within(0.0, math.inf), always),
    "Softsign": _activation(_within(-1.0, 1.0)),
    "Swish": _activation(),
    "Tanh": Pointwise(np.tanh, _within(-1.0, 1.0), always, unmasks=True),
    "ThresholdedRelu": _activation(),
}

CONTRIBUTED: dict[str, Pointwise] = {  # of the domain com.microsoft
    "BiasGelu": Pointwise(finite=always),
    "FastGelu": _activation(),
    "Gelu": _activation(),
    "QuickGelu": _activation(),
}


def row(op_type: str) -> Pointwise:
    """The row of an operator of either domain."""
    return POINTWISE.get(op_type) or CONTRIBUTED[op_type]


def keeps_finite(op_type: str, operands: Sequence[Facts]) -> bool:
    """Whether finite operands within their bounds give finite results (overflow of sums and products apart)."""
    return row(op_type).finite(operands)


def evaluate(op_type: str, values: Sequence[float]) -> float | None:
    """The result of single numbers, None where the row has none."""
    function = row(op_type).evaluate
    if function is None:
        return None
    with np.errstate(all="ignore"):
        return float(function(*(np.float64(v) for v in values)))


def bounds(op_type: str, operands: Sequence[Facts], attribute: Callable[[str], object]) -> Interval:
    """Bounds of a result from the bounds of its operands; unbounded where nothing is known."""
    spans = [(value.low, value.high) for value in operands]
    if op_type == "Cast":
        (span,) = spans
        return _cast(span, attribute("to"))
    if op_type == "Mul" and operands[0] is operands[1]:
        return 0.0, max(spans[0][0] ** 2, spans[0][1] ** 2)
    found = row(op_type).bounds(spans)
    return _truncated(found) if op_type == "Div" and operands[0].is_integer else found


def _truncated(span: Interval) -> Interval:
    """Bounds of quotients without their fractions; the slack is for the rounding of the bounds themselves."""
    low, high = span
    return (
        math.floor(low - 1e-9 * abs(low)) if math.isfinite(low) else low,
        math.ceil(high + 1e-9 * abs(high)) if math.isfinite(high) else high,
    )


def _cast(span: Interval, to: object) -> Interval:
    if to == 9:
        return 0.0, 1.0
    low, high = span
    if to in (1, 10, 11, 16):
        slack = 1 + 2.0**-7  # rounding moves a bound by less than this
        return (low / slack if low > 0 else low * slack), (high * slack if high > 0 else high / slack)
    return (math.floor(low) if math.isfinite(low) else low), (math.ceil(high) if math.isfinite(high) else high)
