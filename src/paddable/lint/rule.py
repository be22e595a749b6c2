"""What a lint rule is: one file, one problem, with its evidence and its cases.

The class docstring has fixed headings (`HEADINGS`); VALID and INVALID hold graphs as ONNX text. Tests and the pages in
``docs/lint`` are generated from them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

import onnx_ir as ir

from paddable.findings import Severity
from paddable.lint.subject import Subject

__all__ = ["HEADINGS", "BaseRule", "Evidence", "Match", "Rule", "measured", "reported"]

HEADINGS = ("What it does", "Why is this bad", "Example", "Use instead", "Fix safety")


@dataclass(frozen=True)
class Evidence:
    """Who found the fact: ``measured`` on something named, or ``reported`` somewhere."""

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
class Match:
    """One place where a rule applies.

    Attributes:
        what: what is wrong here, one sentence without a full stop.
        remedy: what to do.
        node: the node concerned; None for a graph input or output.
        value: name of the value concerned, where no node is.
        axis: the axis concerned, if one is.
        severity: overrides the rule's own.
    """

    what: str
    remedy: str
    node: ir.Node | None = None
    value: str = ""
    axis: int | None = None
    severity: Severity | None = None


class BaseRule(ABC):
    """What every rule states about itself, whatever it looks at.

    Attributes:
        code: stable code, never reused.
        name: names the problem, in kebab case; the documentation page is called so.
        severity: a rule without evidence stays a note.
        evidence: how the problem is known.
        VALID: graphs as ONNX text in which the rule finds nothing.
        INVALID: graphs as ONNX text in which it finds something.
    """

    code: ClassVar[str]
    name: ClassVar[str]
    severity: ClassVar[Severity]
    evidence: ClassVar[tuple[Evidence, ...]]
    VALID: ClassVar[tuple[str, ...]]
    INVALID: ClassVar[tuple[str, ...]]


class Rule(BaseRule):
    """A rule about a graph for any runtime. Rules hold no state.

    Attributes:
        reads_weights: the rule reads every weight, so it runs only when asked.
    """

    reads_weights: ClassVar[bool] = False

    @abstractmethod
    def check(self, subject: Subject) -> Iterator[Match]:
        """Yields each place of the graph where the problem is."""
