"""Bounds of elementwise results, and where an operator makes a NaN or an infinity from finite operands."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from paddable.padding.facts.facts import Facts

__all__ = ["bounds", "keeps_finite"]

Interval = tuple[float, float]
_EXP_LIMIT = 88.0
_HALF_EXP_LIMIT = 11.0


def _times(a: float, b: float) -> float:
    return 0.0 if a == 0 or b == 0 else a * b


def _product(a: Interval, b: Interval) -> Interval:
    corners = [_times(x, y) for x in a for y in b]
    return min(corners), max(corners)


def _inverse(b: Interval) -> Interval:
    low, high = b
    if low > 0 or high < 0:
        return (1 / high if high != math.inf else 0.0) if high else -math.inf, 1 / low if low not in (
            0,
            -math.inf,
        ) else 0.0
    return -math.inf, math.inf


def _safe(function: Callable[[float], float], x: float) -> float:
    try:
        return function(x)
    except (OverflowError, ValueError):
        return math.inf if x > 0 else -math.inf


_UNARY: dict[str, Callable[[Interval], Interval]] = {
    "Relu": lambda x: (max(0.0, x[0]), max(0.0, x[1])),
    "Sigmoid": lambda x: (0.0, 1.0),
    "HardSigmoid": lambda x: (0.0, 1.0),
    "Tanh": lambda x: (-1.0, 1.0),
    "Erf": lambda x: (-1.0, 1.0),
    "Sin": lambda x: (-1.0, 1.0),
    "Cos": lambda x: (-1.0, 1.0),
    "Softplus": lambda x: (0.0, math.inf),
    "Neg": lambda x: (-x[1], -x[0]),
    "Abs": lambda x: (0.0 if x[0] <= 0 <= x[1] else min(abs(x[0]), abs(x[1])), max(abs(x[0]), abs(x[1]))),
    "Exp": lambda x: (_safe(math.exp, x[0]) if x[0] > -700 else 0.0, _safe(math.exp, x[1]) if x[1] < 700 else math.inf),
    "Sqrt": lambda x: (math.sqrt(max(0.0, x[0])), math.sqrt(x[1]) if 0 <= x[1] < math.inf else math.inf),
    "Log": lambda x: (math.log(x[0]) if x[0] > 0 else -math.inf, math.log(x[1]) if 0 < x[1] < math.inf else math.inf),
    "Floor": lambda x: (x[0] - 1, x[1]),
    "Ceil": lambda x: (x[0], x[1] + 1),
    "Round": lambda x: (x[0] - 1, x[1] + 1),
    "Identity": lambda x: x,
    "Dropout": lambda x: x,
    "LeakyRelu": lambda x: (min(x[0], 0.0), max(x[1], 0.0)),
    "Elu": lambda x: (-math.inf if x[0] < 0 else x[0], max(x[1], 0.0)),
    "Softsign": lambda x: (-1.0, 1.0),
    "Sign": lambda x: (-1.0, 1.0),
    "Reciprocal": _inverse,
}


def bounds(op_type: str, operands: Sequence[Facts], attribute: Callable[[str], object]) -> Interval:
    """Bounds of a result from the bounds of its operands; unbounded where nothing is known."""
    spans = [(value.low, value.high) for value in operands]
    if op_type in _UNARY:
        return _UNARY[op_type](spans[0])
    if op_type == "Cast":
        return _cast(spans[0], attribute("to"))
    if op_type == "Mean":
        return sum(s[0] for s in spans) / len(spans), sum(s[1] for s in spans) / len(spans)
    if op_type in ("Add", "Sum"):
        return sum(s[0] for s in spans), sum(s[1] for s in spans)
    if op_type == "Sub":
        return spans[0][0] - spans[1][1], spans[0][1] - spans[1][0]
    if op_type == "Mul":
        if operands[0] is operands[1]:
            return 0.0, max(spans[0][0] ** 2, spans[0][1] ** 2)
        return _product(spans[0], spans[1])
    if op_type == "Div":
        quotient = _product(spans[0], _inverse(spans[1]))
        return quotient if operands[0].dtype.is_floating_point() else _truncated(quotient)
    if op_type == "Pow" and spans[1][0] == spans[1][1] and spans[1][0] > 0:
        power = spans[1][0]
        if power % 2 == 0:
            return 0.0, math.inf
        if spans[0][0] >= 0:
            return 0.0, math.inf
    if op_type == "Max":
        return max(s[0] for s in spans), max(s[1] for s in spans)
    if op_type == "Min":
        return min(s[0] for s in spans), min(s[1] for s in spans)
    if op_type == "Where":
        return min(spans[1][0], spans[2][0]), max(spans[1][1], spans[2][1])
    if op_type == "Mod" and spans[1][0] == spans[1][1] and spans[1][0] > 0:
        return 0.0, spans[1][0]
    return -math.inf, math.inf


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


def keeps_finite(op_type: str, operands: Sequence[Facts]) -> bool:
    """Whether finite operands within their bounds give finite results (overflow of sums and products apart)."""
    first = operands[0]
    if op_type == "Log":
        return first.low > 0
    if op_type == "Sqrt":
        return first.low >= 0
    if op_type == "Exp":
        return first.high <= _EXP_LIMIT if first.dtype.name != "FLOAT16" else first.high <= _HALF_EXP_LIMIT
    if op_type == "Reciprocal":
        return first.low > 0 or first.high < 0
    if op_type == "Div":
        return operands[1].low > 0 or operands[1].high < 0
    if op_type == "Pow":
        base, power = operands[0], operands[1]
        if power.low == power.high and power.low >= 0:
            return float(power.low).is_integer() or base.low >= 0
        return base.low > 0 and power.low == power.high
    return op_type not in ("Tan", "Acos", "Asin", "Acosh", "Atanh", "Sinh", "Cosh", "Asinh", "Mod", "BitShift")
