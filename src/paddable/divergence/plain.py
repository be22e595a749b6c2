"""A graph as the probe sees it: nodes in an order, what each reads and writes, and its weights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import onnx_ir as ir

from paddable.divergence.weights import Fingerprint, fingerprint
from paddable.graph.prepare.normalise import reads

__all__ = ["Plain"]


class Plain:
    """A model in plain form (`paddable.graph.prepare.normalise`), its nodes in one topological order.

    Args:
        model: the model.
        nodes: its nodes in another topological order than the file's.

    Attributes:
        model: the model.
        nodes: the nodes.
        place: of each node, its index.
    """

    def __init__(self, model: ir.Model, nodes: Sequence[ir.Node] | None = None) -> None:
        self.model = model
        self.nodes = list(model.graph) if nodes is None else list(nodes)
        self.place = {node: index for index, node in enumerate(self.nodes)}
        self._fingerprints: dict[ir.Value, Fingerprint] = {}

    def canonical(self) -> Plain:
        """The same in the order in which a walk from the outputs finishes: it follows the structure, not the file."""
        found: dict[ir.Node, None] = {}
        stack = [(value.producer(), False) for value in reversed(self.model.graph.outputs)]
        while stack:
            node, finished = stack.pop()
            if node is None or node in found or node not in self.place:
                continue
            if finished:
                found[node] = None
                continue
            stack.append((node, True))
            stack += [(value.producer(), False) for value in reversed(self.read[node])]
        twin = Plain(self.model, list(found))
        twin._fingerprints = self._fingerprints
        return twin

    @cached_property
    def read(self) -> dict[ir.Node, tuple[ir.Value, ...]]:
        """What each node depends on, weights and captured values among it."""
        return {node: reads(node) for node in self.nodes}

    def inputs(self, node: ir.Node) -> Iterator[ir.Value]:
        """What a node reads that is computed or fed, not a weight."""
        return (value for value in self.read[node] if value.const_value is None)

    def weights(self, node: ir.Node) -> list[ir.Value]:
        """The weights and constants that a node reads."""
        return [value for value in self.read[node] if value.const_value is not None]

    def fingerprint(self, value: ir.Value) -> Fingerprint:
        """The fingerprint of a weight."""
        if value not in self._fingerprints:
            assert value.const_value is not None
            self._fingerprints[value] = fingerprint(value.const_value)
        return self._fingerprints[value]
