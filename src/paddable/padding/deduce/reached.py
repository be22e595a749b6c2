"""What the elements of a value are in native, where their order is not known any more.

Several places of each row (``n - 3`` and ``n // 2``) that are spread along the batch are no contents: how many rows
there are is not known. That native has a step at each of them is known all the same.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import onnx_ir as ir

from paddable.lengths import maximum, minimum
from paddable.padding.deduce.context import RuleContext
from paddable.padding.facts.axes import Factor
from paddable.padding.facts.facts import Affine, Elements, Facts, Span

__all__ = ["reach", "reached_by", "reached_of"]

_MOVES = {"Cast", "Expand", "Flatten", "Identity", "Reshape", "Squeeze", "Tile", "Transpose", "Unsqueeze"}
_INDICES = {ir.DataType.INT32, ir.DataType.INT64}
_MOST = 64
"""Known elements that are followed."""


def reach(known: Affine, atoms: Sequence[Factor]) -> Span | None:
    """The least and the greatest of known contents, in native."""
    lowest = known.base.integer
    if lowest is None:
        return None
    highest = lowest
    for i, step in known.coefficients:
        far = atoms[i].size - 1
        lowest, highest = lowest + far * min(math.floor(step), 0), highest + far * max(math.ceil(step), 0)
    return lowest, highest


def reached_of(value: Facts) -> tuple[Span, ...]:
    """From where to where the elements of a value reach in native, each end among them; empty where one is unknown."""
    content = value.content
    if content is None:
        return value.reached
    if isinstance(content, Elements):
        found = [None if held is None else held.integer for held in content.array.flat]
        spans = [None if place is None else (place, place) for place in found] if len(found) <= _MOST else []
    else:
        own = any(value.atoms[i].batch for i, _ in content.coefficients)
        spans = [None if own else reach(content, value.atoms)]
    known = [span for span in spans if span is not None]
    return tuple(dict.fromkeys(known)) if len(known) == len(spans) else ()


def reached_by(context: RuleContext, operands: Sequence[Facts | None], result: Facts) -> tuple[Span, ...]:
    """The same of what a node makes of its operands, as they were before its rule was asked; empty where unknown."""
    given = [value for value in operands if value is not None]
    if context.scope.single_row or result.content is not None or not given:
        return ()
    if not all(value.dtype in _INDICES for value in (result, *given)):
        return ()
    spans = [reached_of(value) for value in given]
    if context.type in _MOVES:
        return spans[0]
    if not all(spans):
        return ()
    if context.type == "Concat":
        return tuple(dict.fromkeys(span for each in spans for span in each))
    scalars = [each[0][0] if len(each) == 1 and each[0][0] == each[0][1] else None for each in spans]
    first, last = spans[0], scalars[-1]
    if len(given) == 2 and scalars[0] is not None and context.type in ("Add", "Max", "Min"):
        first, last = spans[1], scalars[0]
    if len(given) != 2 or last is None:
        return ()
    match context.type:
        case "Add":
            return tuple((low + last, high + last) for low, high in first)
        case "Sub":
            return tuple((low - last, high - last) for low, high in first)
        case "Max":
            return tuple((maximum(low, last), maximum(high, last)) for low, high in first)
        case "Min":
            return tuple((minimum(low, last), minimum(high, last)) for low, high in first)
    return ()
