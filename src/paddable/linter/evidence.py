"""How a fact is known: measured on something named, or reported somewhere. What nobody measured says so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Evidence", "Fact", "measured", "reported"]


@dataclass(frozen=True)
class Evidence:
    """Who found a fact: ``measured`` on something named, or ``reported`` somewhere."""

    kind: Literal["measured", "reported"]
    where: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.where}"


def measured(where: str) -> Evidence:
    """A fact that a run showed; names what ran, and its version."""
    return Evidence("measured", where)


def reported(source: str) -> Evidence:
    """A fact that a source states: an issue, a document, a program's own code."""
    return Evidence("reported", source)


@dataclass(frozen=True)
class Fact:
    """One thing that is known of a provider, and who found it; ``evidence`` is None where nobody measured it."""

    text: str
    evidence: Evidence | None = None

    def __str__(self) -> str:
        return f"{self.text} ({self.evidence or 'not measured'})"
