"""What counts, and what takes a step where a count does: a rounding of it, or a difference that leaves its fraction.

    fires = floor(cumsum(a))        left = cumsum(a) - fires        slot = position mod 10        sin(cumsum(f / rate))

A count of 300 has two binary digits behind the point in half. Its floor is then another integer, and its fraction is
lost, although both are small; a sine takes nothing but the fraction of what turns. So what rounds a count stays in
fp32, with all arithmetic on the way from the count, and so does arithmetic in which a count meets another, wherever
they were moved to. What a cumulative sum adds up there stays too, back to the product that it comes from: a weight that
was rounded is off in one direction at every step.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import onnx_ir as ir

from paddable.precision.moves import MOVES

__all__ = ["steps_of_counts"]

_STEPS = {"Ceil", "Floor", "Mod", "Round"}
_TURNS = {"Cos", "Sin"}
"""What takes the fraction of a turn, and counts no more itself."""
_WAY = {"Abs", "Add", "Clip", "Div", "Max", "Min", "Mul", "Neg", "Relu", "Resize", "Sub"} | MOVES
_MEETS = {"Add", "Sub"}
_COUNTS = {"CumSum"}
_ADDENDS = {"HardSigmoid", "Sigmoid", "Softplus", "Sqrt", "Tanh", "Exp", "Pow", "Where"} | _WAY | _STEPS
_PRODUCTS = {"Conv", "Gemm", "MatMul"}


def steps_of_counts(graph: ir.Graph, counting: Collection[ir.Node | None]) -> Iterator[ir.Node]:
    """The nodes that take a step where a count does, and those on the way there.

    Args:
        graph: the graph, types of values known.
        counting: the nodes besides cumulative sums whose results count: positions, and what loses digits in half.
    """
    counts: set[ir.Value] = set()  # counts, and what arithmetic makes of them
    taking: set[ir.Node] = set()
    for node in graph:
        floats = [value for value in node.inputs if value is not None and value.dtype == ir.DataType.FLOAT]
        read = [value for value in floats if value in counts]
        source = node in counting or node.op_type in _COUNTS
        if source or (read and node.op_type in _WAY | _STEPS):
            counts.update(value for value in node.outputs if value.dtype == ir.DataType.FLOAT)
        meet = node.op_type in _MEETS and len(set(read)) > 1
        if read and (node.op_type in _STEPS | _TURNS or _asks(node) or meet):
            taking.add(node)
    stays: set[ir.Node] = set()
    waiting = list(taking)
    while waiting:
        node = waiting.pop()
        if node in stays:
            continue
        stays.add(node)
        producers = [value.producer() for value in node.inputs if value is not None and value in counts]
        waiting += [made for made in producers if made is not None and made.op_type in _WAY | _STEPS]
    in_front = {value.producer() for node in stays for value in node.inputs if value is not None}
    stays |= _added([node for node in in_front if node is not None and node.op_type in _COUNTS])
    for node in graph:
        if node in stays and not _asks(node):
            yield node


def _added(sums: Collection[ir.Node]) -> set[ir.Node]:
    """What cumulative sums add up, back to the products that make it."""
    found: set[ir.Node] = set()
    waiting = list(sums)
    while waiting:
        node = waiting.pop()
        for value in node.inputs:
            producer = None if value is None else value.producer()
            if producer is not None and producer not in found and producer.op_type in _ADDENDS | _PRODUCTS:
                found.add(producer)
                waiting += [producer] if producer.op_type in _ADDENDS else []
    return found


def _asks(node: ir.Node) -> bool:
    """Whether it makes no float of floats: a comparison, or a conversion to integers."""
    return all(value.dtype not in (None, ir.DataType.FLOAT) for value in node.outputs)
