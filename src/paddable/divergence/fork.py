"""Where two runs part: the first nodes whose inputs agree and whose result does not.

A difference that does not reach an output is none: two values that were paired by mistake, or whose difference a later
node takes away. So the walk starts at the outputs that differ and follows the values that differ back to where nothing
above them does. What has no partner is looked through.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

import onnx_ir as ir

from paddable.divergence.plain import Plain

__all__ = ["Fork", "forks", "region"]


@dataclass(frozen=True)
class Fork:
    """One place where two runs part.

    Attributes:
        value: the first value that differs.
        nodes: what made it from values that agree, in order; the last made the value.
        inputs: those values.
    """

    value: ir.Value
    nodes: tuple[ir.Node, ...]
    inputs: tuple[ir.Value, ...]


def forks(
    plain: Plain, outputs: Collection[ir.Value], errors: Mapping[ir.Value, float], tolerance: float
) -> list[Fork]:
    """The forks that reach an output, in the order of the graph.

    Args:
        plain: the graph.
        outputs: the outputs that differ.
        errors: of each value that was compared.
        tolerance: above it, a value differs.
    """
    tainted: dict[ir.Value, bool] = {}
    for node in plain.nodes:
        inherited = any(tainted.get(value, False) for value in plain.inputs(node))
        for value in node.outputs:
            tainted[value] = errors[value] > tolerance if value in errors else inherited
    stack = list(outputs)
    seen: set[ir.Value] = set(stack)
    found: dict[ir.Value, None] = {}
    while stack:
        value = stack.pop()
        maker = value.producer()
        if maker is None or maker not in plain.place:
            continue
        above = [v for v in plain.inputs(maker) if tainted.get(v, False)]
        if not above and tainted.get(value, value in outputs):
            found[value] = None
        for v in above:
            if v not in seen:
                seen.add(v)
                stack.append(v)
    made = {value: node for node in plain.nodes for value in node.outputs}
    ordered = sorted(found, key=lambda value: plain.place[made[value]])
    return [Fork(value, *region(plain, value, lambda v: v in errors)) for value in ordered]


def region(
    plain: Plain, value: ir.Value, known: Callable[[ir.Value], bool]
) -> tuple[tuple[ir.Node, ...], tuple[ir.Value, ...]]:
    """The nodes between a value and the known values above it, in order, and those values.

    Args:
        plain: the graph.
        value: whose making is asked.
        known: whether a value has a partner that it was compared with.
    """
    nodes: dict[ir.Node, None] = {}
    inputs: dict[ir.Value, None] = {}
    stack = [value]
    while stack:
        current = stack.pop()
        node = current.producer()
        if node is None or node in nodes or node not in plain.place:
            continue
        nodes[node] = None
        for v in plain.inputs(node):
            if known(v) or v.producer() is None:
                inputs[v] = None
            else:
                stack.append(v)
    return tuple(sorted(nodes, key=lambda node: plain.place[node])), tuple(inputs)
