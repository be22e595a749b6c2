"""Names that are new: every value and node of a graph and of the graphs it nests has one of its own."""

from __future__ import annotations

import onnx_ir as ir

__all__ = ["Names"]


class Names:
    """The names in use in a graph, and fresh ones beside them; the same calls give the same names.

    Args:
        graph: the outermost graph; names inside its branches count, since a branch must not shadow an outer name.
    """

    def __init__(self, graph: ir.Graph) -> None:
        self._used: set[str] = set()
        self._counts: dict[str, int] = {}  # where each stem goes on: no name is ever given back
        for scope in (graph, *graph.subgraphs()):
            for value in (*scope.inputs, *scope.initializers.values()):
                self._used.add(value.name or "")
            for node in scope:
                self._used.add(node.name or "")
                self._used.update(output.name or "" for output in node.outputs)

    def fresh(self, stem: str) -> str:
        """``stem`` itself when it is free, else ``stem_1``, ``stem_2``, ...; taken from then on."""
        count = self._counts.get(stem, 0)
        name = f"{stem}_{count}" if count else stem
        while name in self._used or not name:
            count += 1
            name = f"{stem}_{count}"
        self._counts[stem] = count
        self._used.add(name)
        return name
