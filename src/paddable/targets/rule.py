"""What a target's lint rule is: one file, one problem, with its evidence and its cases.

The class docstring has fixed headings (What it does, Why is this bad, Example, Use instead, Fix safety); VALID and INVALID
hold graphs as ONNX text. Tests and the pages in ``docs/rules`` are generated from them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from paddable.findings import Severity
from paddable.targets.directml.placement import NodePlacement, Placement
from paddable.targets.view import GraphView, NodeView

__all__ = ["Evidence", "Match", "Site", "TargetRule", "measured", "reported"]


@dataclass(frozen=True)
class Evidence:
    """Who found the fact: ``measured`` on a provider and version, or ``reported`` somewhere."""

    kind: Literal["measured", "reported"]
    where: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.where}"


def measured(where: str = "onnxruntime-directml 1.24.4") -> Evidence:
    """A fact that a run showed, on the provider and version named."""
    return Evidence("measured", where)


def reported(source: str) -> Evidence:
    """A fact that a source states: an issue, a document, the provider's own code."""
    return Evidence("reported", source)


@dataclass(frozen=True)
class Site:
    """What a rule looks at: one graph and where its nodes run."""

    view: GraphView
    placement: Placement

    def on_directml(self, op: str | None = None) -> Iterator[NodeView]:
        """The nodes that run on DirectML, of one operator or all."""
        return (
            p.node
            for p in self.placement.nodes
            if p.on_directml and op in (None, p.node.op) and not (op and p.node.domain)
        )

    def placed(self, node: NodeView) -> NodePlacement:
        """Where a node runs."""
        return self.placement.by_index[node.index]

    def same_island(self, *nodes: NodeView) -> bool:
        """Whether the nodes are in one fused graph."""
        return any(all(node in island.nodes for node in nodes) for island in self.placement.islands)


@dataclass(frozen=True)
class Match:
    """One place where a rule applies.

    Attributes:
        what: what is wrong here, one sentence without a full stop.
        remedy: what to do.
        node: the node concerned; None for the graph as a whole.
        value: name of the value concerned, for graph-level matches.
        severity: overrides the rule's own.
        axis: the axis concerned, if one is.
        fixable: whether the rule's fix applies to this place.
    """

    what: str
    remedy: str
    node: NodeView | None = None
    value: str = ""
    severity: Severity | None = None
    axis: int | None = None
    fixable: bool = True


class TargetRule(ABC):
    """Base of all rules of one target. Rules hold no state: ``check`` yields matches, and a fix starts from the same ones."""

    code: ClassVar[str]
    name: ClassVar[str]
    severity: ClassVar[Severity]
    evidence: ClassVar[tuple[Evidence, ...]]
    VALID: ClassVar[tuple[str, ...]]
    INVALID: ClassVar[tuple[str, ...]]

    @abstractmethod
    def check(self, site: Site) -> Iterator[Match]:
        """Yield each place of the graph where the problem is."""
