"""What is known of a target: a table of facts, each with its source. What nobody measured says so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from paddable.bundle.providers import PROVIDERS, SessionAdvice
from paddable.lint.rule import Evidence
from paddable.providers.view import GraphView

__all__ = ["Fact", "TableSite", "Target"]


@dataclass(frozen=True)
class Fact:
    """One thing that is known of a target, and who found it; ``evidence`` is None where nobody measured it."""

    text: str
    evidence: Evidence | None = None

    def __str__(self) -> str:
        return f"{self.text} ({self.evidence or 'not measured'})"


@dataclass(frozen=True)
class Target:
    """One execution provider.

    Attributes:
        name: our name, which is also the name of its session advice.
        shapes: ``required`` when a free dim stops the graph, ``preferred`` when it costs time, else ``free``.
        shapes_fact: why.
        highest_opset: the highest opset known to load; None where nobody measured it.
        unsupported: operators known not to run there, and what happens to them.
        facts: everything else.
    """

    name: str
    shapes: Literal["required", "preferred", "free"]
    shapes_fact: Fact
    highest_opset: int | None = None
    unsupported: Mapping[str, Fact] = field(default_factory=dict)
    facts: tuple[Fact, ...] = ()

    @property
    def advice(self) -> SessionAdvice:
        """How to open a session there."""
        return PROVIDERS[self.name]

    def to_json(self) -> dict[str, Any]:
        """The table, for ``--json``."""
        return {
            "name": self.name,
            "shapes": self.shapes,
            "highest_opset": self.highest_opset,
            "unsupported": {op: str(fact) for op, fact in self.unsupported.items()},
            "facts": [str(fact) for fact in (self.shapes_fact, *self.facts)],
            "session": self.advice.to_json(),
        }


@dataclass(frozen=True)
class TableSite:
    """What rules that read a table look at: one graph, and the target."""

    view: GraphView
    target: Target
