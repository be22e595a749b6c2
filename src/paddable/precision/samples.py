"""Which inputs hold samples of sound, and at what full scale, as far as a graph tells it. Types must be known in it.

Integers that are made floats and enter a product are numbers that the model listens to; integers that are looked up, or
only counted with, are not. A model that divides its input by 32768 first hears 16-bit sound, whatever the type.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np
import onnx_ir as ir

from paddable.precision.exact import INTEGERS, sums_products
from paddable.precision.moves import MOVES, moved_with

__all__ = ["INT16", "full_scale", "held_samples", "is_listened_to", "takes_samples"]

INT16 = 32768.0
"""Full scale of 16-bit samples."""

_SHAPED = {
    "Add", "Cast", "Clip", "Div", "Max", "Min", "Mul", "Neg", "Pow", "ReduceMax", "ReduceMean", "ReduceSum", "Sqrt",
    "Sub",
}  # fmt: skip
"""What stands between samples and the first product: scaling, an offset taken away, pre-emphasis."""


def is_listened_to(value: ir.Value) -> bool:
    """Whether an integer input is made a float whose numbers enter a product or a spectrum."""
    seen: set[ir.Value] = set()
    waiting = [value]
    while waiting:
        current = waiting.pop()
        if current in seen:
            continue
        seen.add(current)
        for node, position in current.uses():
            if current.dtype not in INTEGERS and (sums_products(node) or node.op_type in ("DFT", "STFT")):
                return True
            looked_up = node.op_type.startswith("Gather") and position == 1
            if node.op_type in MOVES | _SHAPED and not looked_up:
                waiting += node.outputs
    return False


def takes_samples(value: ir.Value) -> bool:
    """Whether an integer input, shaped as a waveform is, holds samples: of 16 bits, or wider ones that are heard."""
    if value.dtype is None or not value.dtype.is_integer() or not value.dtype.is_signed() or value.dtype.itemsize < 2:
        return False
    return value.dtype == ir.DataType.INT16 or is_listened_to(value)


def full_scale(value: ir.Value) -> float:
    """The amplitude that an input has at full scale: what it is divided by first, else 1, of integers 32768.

    Only what may be a full scale counts: 2 to the power of 7, 15, 23 or 31, or one less.
    """
    for divisor in _divisors(value):
        for bits in (7, 15, 23, 31):
            if abs(divisor / 2.0**bits - 1) < 0.01:
                return 2.0**bits
    if value.dtype in INTEGERS:
        return min(INT16, -float(np.iinfo(value.dtype.numpy()).min) or INT16) if value.dtype is not None else INT16
    return 1.0


def held_samples(graph: ir.Graph, inputs: Collection[str]) -> set[str]:
    """Names of the floats that hold the numbers of such integer inputs as they are, in whatever place."""
    casts = [
        output
        for value in graph.inputs
        if value.name in inputs
        for moved in moved_with(graph, {str(value.name): ""})
        for node, _ in moved.uses()
        if node.op_type == "Cast"
        for output in node.outputs
    ]
    return {str(value.name) for value in moved_with(graph, {str(cast.name): "" for cast in casts})}


def _divisors(value: ir.Value) -> Iterator[float]:
    """The constants that an input is divided by before anything else is done to it."""
    waiting = [value]
    while waiting:
        current = waiting.pop()
        for node, position in current.uses():
            if node.op_type in MOVES | {"Cast"}:
                waiting += node.outputs
            elif node.op_type in ("Div", "Mul"):
                constant = _constant(node.inputs[1 - position])
                if constant and (node.op_type == "Mul" or position == 0):
                    yield 1 / constant if node.op_type == "Mul" else constant


def _constant(value: ir.Value | None) -> float | None:
    tensor = None if value is None or value.is_graph_input() else value.const_value
    return float(tensor.numpy().reshape(-1)[0]) if tensor is not None and tensor.size == 1 else None
