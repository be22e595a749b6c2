"""What a graph makes of its constants alone: one exporter folds it into a weight, another leaves the nodes."""

from __future__ import annotations

import onnx_ir as ir

from paddable.divergence.fork import region
from paddable.divergence.pieces import Pieces
from paddable.divergence.plain import Plain
from paddable.divergence.side import Side
from paddable.gates.engine import Array

__all__ = ["Constants", "made_of_constants"]


def made_of_constants(plain: Plain, value: ir.Value) -> tuple[ir.Node, ...]:
    """The nodes that make a value of constants alone; none where an input reaches it, or where it is one itself."""
    nodes, above = region(plain, value, lambda _: False)
    return () if above else nodes


class Constants:
    """The numbers of constants, stored or computed.

    Args:
        sides: of the graphs that are asked about.
    """

    def __init__(self, *sides: Side) -> None:
        self._sides = sides
        self._computed: dict[ir.Value, Array | None] = {}

    def __call__(self, plain: Plain, value: ir.Value) -> Array | None:
        """The numbers; None for what an input reaches, and for weights stored as integers, which no other graph has."""
        if value.const_value is not None:
            return value.const_value.numpy()
        if value not in self._computed:
            nodes = made_of_constants(plain, value)
            integers = any(node.op_type == "DequantizeLinear" for node in nodes)
            self._computed[value] = None if integers or not nodes else self._run(plain, nodes, value)
        return self._computed[value]

    def _run(self, plain: Plain, nodes: tuple[ir.Node, ...], value: ir.Value) -> Array:
        side = next(side for side in self._sides if side.plain is plain)
        return side.run(Pieces(plain, {}, side.run).cut(nodes, {}, [value]), {})[str(value.name)]
