"""A graph as the probe sees it: nodes in an order, what each reads and writes, and its weights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import onnx_ir as ir

from paddable.divergence.weights import Fingerprint, fingerprint
from paddable.graph.prepare.normalise import reads

__all__ = ["Plain"]

_SEQUENCES = frozenset(
    {"Optional", "SequenceConstruct", "SequenceEmpty", "SequenceErase", "SequenceInsert", "SequenceMap"}
    | {"SplitToSequence"}
)
"""Operators that give a list of arrays and not an array."""


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

    @cached_property
    def sequences(self) -> frozenset[ir.Value]:
        """Values that are lists of arrays: they have no shape to compare, and no piece can be fed with them."""
        return frozenset(value for node in self.nodes for value in node.outputs if _is_sequence(value))

    def fingerprint(self, value: ir.Value) -> Fingerprint:
        """The fingerprint of a weight."""
        if value not in self._fingerprints:
            assert value.const_value is not None
            self._fingerprints[value] = fingerprint(value.const_value)
        return self._fingerprints[value]


def _is_sequence(value: ir.Value) -> bool:
    node = value.producer()
    if isinstance(value.type, ir.SequenceType | ir.OptionalType) or node is None:
        return isinstance(value.type, ir.SequenceType | ir.OptionalType)
    if node.op_type in ("Identity", "OptionalGetElement"):
        return node.inputs[0] is not None and _is_sequence(node.inputs[0])
    made_last = [
        body.outputs[len(body.outputs) - len(node.outputs) + node.outputs.index(value)]
        for body in (a.as_graph() for a in node.attributes.values() if a.type == ir.AttributeType.GRAPH)
        if len(body.outputs) >= len(node.outputs)
    ]
    return (node.op_type in _SEQUENCES and not node.domain) or any(map(_is_sequence, made_last))
