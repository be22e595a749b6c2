"""What a rule looks at: one graph of a model, with what is known of the provider that it is to run on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import numpy.typing as npt

from paddable.linter.provider_facts import ProviderFacts
from paddable.linter.subject import Kind, Subject
from paddable.linter.view.graph import Dim, GraphView, NodeView

__all__ = ["MOVES", "Placement", "PlacementT", "Site", "sites_of"]


MOVES = frozenset({"Cast", "Unsqueeze", "Squeeze", "Identity", "Reshape"})
"""Operators that leave a size what it is, or a list of sizes."""


class Placement(Protocol):
    """Where the nodes of one graph run on a provider, and those of the graphs inside it."""

    @property
    def view(self) -> GraphView:
        """The graph."""

    @property
    def capturable(self) -> bool:
        """Whether a session of this graph may have the options that the provider wants for fixed shapes."""

    def runs(self, node: NodeView) -> bool:
        """Whether the provider runs a node; else the CPU does."""

    def walk(self) -> Iterator[Any]:
        """The placement of this graph and of every graph inside it."""

    def to_json(self) -> dict[str, Any]:
        """The placement as ``--json`` prints it: at least ``summary``, a sentence, and ``cpu``, nodes with reasons."""


PlacementT = TypeVar("PlacementT", bound=Placement | None)


@dataclass(frozen=True)
class Site(Generic[PlacementT]):
    """One graph under lint. Values are named; a name is looked up in the graph and in those around it.

    Attributes:
        view: the graph.
        subject: the model that it belongs to.
        facts: what is known of the provider; None when lint is asked for no provider.
        placement: where the nodes run; None where that is not modelled.
    """

    view: GraphView
    subject: Subject
    facts: ProviderFacts | None
    placement: PlacementT

    @property
    def is_main(self) -> bool:
        """Whether this is the main graph, and not the body of an If, Loop or Scan."""
        return self.view.outer is None

    def everywhere(self) -> list[Site[None]]:
        """Every graph of the model, without a placement; for rules about the model as a whole."""
        return sites_of(self.subject, self.facts)

    def nodes(self, *ops: str) -> Iterator[NodeView]:
        """Nodes of ai.onnx, in order, on which an output depends: of the named operators, or of all."""
        for node in self.view.nodes:
            if not node.domain and (not ops or node.op in ops) and self.subject.is_alive(node):
                yield node

    def runs(self, node: NodeView) -> bool:
        """Whether the provider runs the node; taken for true where the placement is not modelled."""
        return self.placement is None or self.placement.runs(node)

    def kind(self, name: str) -> Kind:
        """What the value depends on; an input of a body or of the graph counts as data."""
        return self.subject.kind(self.view, name)

    def constant(self, name: str) -> npt.NDArray[Any] | None:
        """Contents of a small constant (up to 1,024 elements); None for anything else."""
        return self.view.constant(name) if name else None

    def shape(self, name: str) -> tuple[Dim, ...] | None:
        """Inferred dims: a size, a symbol, or None for one that nothing is known about; None without a rank."""
        return self.view.shape(name) if name else None

    def producer(self, name: str) -> NodeView | None:
        """The node that makes the value, in this graph or around it."""
        view: GraphView | None = self.view
        while view is not None:
            if name in view.producers:
                return view.producers[name]
            view = view.outer
        return None

    def computed(self, name: str) -> NodeView | None:
        """The node that computes the value, as ``producer``, but for nodes that only move or cast what it made."""
        producer = self.producer(name)
        while producer is not None and producer.op in MOVES:
            producer = self.producer(producer.inputs[0])
        return producer


def sites_of(subject: Subject, facts: ProviderFacts | None = None) -> list[Site[None]]:
    """Every graph of a model, the main graph first, without a placement."""
    return [Site(view, subject, facts, None) for view in subject.view.walk()]
