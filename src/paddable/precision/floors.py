"""Constants that half cannot hold, followed to who reads what comes of them.

    h / max(|h|, 1e-12)        h rsqrt(mean h^2 + 1e-10)        log(p + 1e-10)

The constant is there for the frame in which all else is 0: digital silence. Kept in fp32 alone it is of no use: half
makes 0 of 1e-12 and infinity of 1e5, and the next node divides by it or takes its logarithm. So what such a constant
gives is followed through what only moves numbers and through functions of one value, and all up to the first node that
meets it with another value stay. The same is so of a divisor that a node in fp32 made and that was only moved since,
and of a logarithm: the smallest number of half is 6e-8, and what lies below is 0.
"""

from __future__ import annotations

import math
from collections.abc import Container

import numpy as np
import onnx_ir as ir

from paddable.precision.moves import MOVES
from paddable.precision.ranges import LARGEST

__all__ = ["SMALLEST", "beyond_floors", "moved_divisors"]

SMALLEST = 2.0**-24
"""Smallest positive number of half."""

_SMALL = 2.0**-8
"""A constant below it is a floor: it counts where nothing else is left, and its reciprocals may end half."""

_ADDS = {"Add", "Clip", "Max", "Min", "Sub", "Where"}
_SCALES = {"Div", "Mul"}
_ALONE = {"Abs", "Cast", "Dropout", "Neg", "Reciprocal", "Sqrt"}
_READS = _ADDS | _SCALES | _ALONE | {"Log", "Pow"}
_VANISHES = {"Exp", "Sigmoid", "Softmax", "Softplus"}
"""Their results come near 0 without being 0, and in front of a logarithm that is what counts."""


def beyond_floors(graph: ir.Graph) -> dict[ir.Node, str]:
    """The nodes that read what comes of a constant that half cannot hold, and logarithms, each with its reason."""
    left: dict[ir.Value, float] = {}  # what a value comes to where all that is computed is 0
    origin: dict[ir.Value, float] = {}
    found: dict[ir.Node, str] = {}
    for node in graph:
        reads = [value for value in node.inputs if value is not None and value in left]
        beyond = [value for value in reads if _beyond(left[value])]
        if node.op_type in _READS and beyond:
            why = f"reads what comes of a constant of {origin[beyond[0]]:.2g}, which half cannot hold"
            for mover in _movers(beyond[0]):
                found.setdefault(mover, why)
            found.setdefault(node, why)
        if node.op_type == "Log":
            found |= {step: "a logarithm: half has no number near 0" for step in _taken_of(node) if step not in found}
        comes = _comes_to(node, left)
        if comes is not None and comes > 0 and math.isfinite(comes):
            for output in node.outputs:
                left[output] = comes
                origin[output] = origin[reads[0]] if reads else comes
    return found


def moved_divisors(graph: ir.Graph, exact: Container[ir.Node]) -> set[ir.Node]:
    """Divisions by what a node that stays made, and that was only moved since, with what moves it."""
    found: set[ir.Node] = set()
    for node in graph:
        below = node.inputs[1] if node.op_type == "Div" else None
        if below is not None and below.dtype == ir.DataType.FLOAT:
            movers = _movers(below)
            made = movers[-1].inputs[0] if movers else below
            producer = None if made is None else made.producer()
            if movers and producer is not None and producer in exact:
                found |= {node, *movers}
    return found


def _beyond(number: float) -> bool:
    return number < SMALLEST or number > LARGEST


def _movers(value: ir.Value) -> list[ir.Node]:
    """The nodes that did nothing but move a value since it was made, the last of them first."""
    found: list[ir.Node] = []
    producer = value.producer()
    while producer is not None and producer.op_type in MOVES:
        found.append(producer)
        floats = [v for v in producer.inputs if v is not None and v.dtype == ir.DataType.FLOAT]
        made = [v for v in floats if v.const_value is None]
        producer = made[0].producer() if len(made) == 1 else None
    return found


def _taken_of(log: ir.Node) -> set[ir.Node]:
    """A logarithm, and what makes the small numbers that it is taken of."""
    found = {log}
    waiting = [log.inputs[0]]
    while waiting:
        value = waiting.pop()
        producer = None if value is None else value.producer()
        if producer is None or producer in found:
            continue
        made = [v for v in producer.inputs if v is not None and _constant(v) is None and v.dtype == ir.DataType.FLOAT]
        if producer.op_type in MOVES | _ADDS | _SCALES and len(made) == 1:
            found.add(producer)
            waiting += made
        elif producer.op_type in _VANISHES:
            found.add(producer)
    return found


def _constant(value: ir.Value | None) -> float | None:
    """The number of a constant that holds one."""
    tensor = None if value is None or value.is_graph_input() else value.const_value
    if tensor is None or tensor.size != 1 or tensor.dtype != ir.DataType.FLOAT:
        return None
    return float(np.asarray(tensor.numpy()).reshape(()))


def _comes_to(node: ir.Node, left: dict[ir.Value, float]) -> float | None:
    """The magnitude of a result where what is computed is 0, so that only constants are left; None for no such."""
    known = [left[value] for value in node.inputs if value is not None and value in left]
    constants = [number for value in node.inputs if (number := _constant(value)) is not None]
    kind = node.op_type
    found: float | None = None
    if kind in _ADDS:
        kept = [*known, *_floors(node)]
        found = (sum(kept) if kind == "Add" else _farther(kept)) or None
    elif kind in MOVES:
        found = _farther(known)
    elif kind == "Mul" and constants:
        alone = abs(constants[0])
        found = known[0] * alone if known else alone if 0 < alone < SMALLEST or alone > LARGEST else None
    elif known and kind == "Div":
        upper, lower = _constant(node.inputs[0]), _constant(node.inputs[1])
        of_divisor = node.inputs[1] is not None and node.inputs[1] in left
        if upper is not None and of_divisor:
            found = abs(upper) / known[0]
        elif lower:
            found = known[0] / abs(lower)
    elif known and kind == "Pow" and constants:
        found = _power(known[0], constants[0])
    elif known and kind in _ALONE:
        found = {"Sqrt": known[0] ** 0.5, "Reciprocal": 1 / known[0]}.get(kind, known[0])
    return found


def _floors(node: ir.Node) -> list[float]:
    """The constants that are left of a node where what is computed is 0: of a Min none is, of a Clip its lower end."""
    if node.op_type == "Min" or not any(value is not None and _computed(value) for value in node.inputs):
        return []
    taken = node.inputs[1:2] if node.op_type == "Clip" else node.inputs
    numbers = [number for value in taken if (number := _constant(value)) is not None]
    if node.op_type in ("Clip", "Max"):
        return [number for number in numbers if 0 < number < _SMALL]
    return [abs(number) for number in numbers if 0 < abs(number) < _SMALL or LARGEST < abs(number) < math.inf]


def _computed(value: ir.Value) -> bool:
    return value.const_value is None and value.dtype == ir.DataType.FLOAT


def _power(base: float, exponent: float) -> float | None:
    try:
        return float(base**exponent)
    except OverflowError:
        return None


def _farther(numbers: list[float]) -> float | None:
    """Of several, the one that is farthest from 1."""
    return max(numbers, key=lambda number: abs(math.log(number)), default=None)
