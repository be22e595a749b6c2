"""A graph as the probe sees it: nodes in an order, what each reads and writes, and its weights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property

import onnx_ir as ir

from paddable.divergence.constants import compute_constants
from paddable.divergence.unfused import unfused
from paddable.divergence.weights import Fingerprint, fingerprint
from paddable.graph.prepare.normalise import reads

__all__ = ["Plain", "is_linear"]

_SEQUENCES = frozenset(
    {"Optional", "SequenceConstruct", "SequenceEmpty", "SequenceErase", "SequenceInsert", "SequenceMap"}
    | {"SplitToSequence"}
)
"""Operators that give a list of arrays and not an array."""


class Plain:
    """A model in plain form (`paddable.graph.prepare.normalise`), its nodes in one topological order, its constants
    computed, and what ONNX Runtime has fused in its parts.

    Args:
        model: the model.
        nodes: its nodes in another topological order than the file's.

    Attributes:
        model: the model, with what constants alone make as constants.
        nodes: the nodes.
        place: of each node, its index.
    """

    def __init__(self, model: ir.Model, nodes: Sequence[ir.Node] | None = None) -> None:
        self.model = compute_constants(unfused(model)) if nodes is None else model
        self.nodes = list(self.model.graph) if nodes is None else list(nodes)
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

    @cached_property
    def kinds(self) -> dict[ir.Node, tuple[str, str]]:
        """What each node is for the other graph to have as well: a Gemm is a MatMul with what is behind it."""
        return {node: ("", "MatMul") if is_linear(node) else (node.domain, node.op_type) for node in self.nodes}

    def weights(self, node: ir.Node) -> list[ir.Value]:
        """The weights and constants that a node reads."""
        return [value for value in self.read[node] if value.const_value is not None]

    @cached_property
    def sequences(self) -> frozenset[ir.Value]:
        """Values that are lists of arrays: they have no shape to compare, and no piece can be fed with them."""
        return frozenset(value for node in self.nodes for value in node.outputs if _is_sequence(value))

    def look_ahead(self) -> None:
        """Make the fingerprints of all weights, on every core."""
        with ThreadPoolExecutor() as pool:
            list(pool.map(self.fingerprint, {value for node in self.nodes for value in self.weights(node)}))

    def fingerprint(self, value: ir.Value) -> Fingerprint:
        """The fingerprint of a weight."""
        if value not in self._fingerprints:
            assert value.const_value is not None
            self._fingerprints[value] = fingerprint(value.const_value)
        return self._fingerprints[value]


def is_linear(node: ir.Node) -> bool:
    """Whether a node multiplies what is computed with a stored matrix: MatMul, or Gemm of what lies straight."""
    held = node.inputs[1] if len(node.inputs) > 1 and not node.domain else None
    if node.op_type not in ("Gemm", "MatMul") or held is None or held.const_value is None:
        return False
    turned = node.attributes.get("transA")
    return len(held.const_value.shape) == 2 and (turned is None or not turned.as_int())


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
