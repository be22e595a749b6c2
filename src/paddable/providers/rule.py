"""What a target's lint rule is: one file, one problem, with its evidence and its cases.

As `paddable.lint.Rule`, for rules that look at a graph through the eyes of one target: where nodes run, what the
target's table says. Rules hold no state; a fix starts from the matches of its rule.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

from paddable.findings import Severity
from paddable.lint.rule import BaseRule
from paddable.providers.view import NodeView

__all__ = ["Match", "TargetRule"]

SiteT = TypeVar("SiteT")


@dataclass(slots=True)
class Match:
    """One place where a rule applies.

    Attributes:
        what: what is wrong here, one sentence without a full stop.
        remedy: what to do.
        node: the node concerned; None for the graph as a whole.
        also: more nodes that the same match speaks of.
        value: name of the value concerned, for graph-level matches.
        severity: overrides the rule's own.
        axis: the axis concerned, if one is.
        fixable: whether the rule's fix applies to this place.
    """

    what: str
    remedy: str
    node: NodeView | None = None
    also: tuple[NodeView, ...] = ()
    value: str = ""
    severity: Severity | None = None
    axis: int | None = None
    fixable: bool = True


class TargetRule(BaseRule, Generic[SiteT]):
    """Base of all rules of a target.

    Attributes:
        supersedes: codes of general rules that say the same with less knowledge; their findings at the same node are
        dropped.
    """

    supersedes: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def check(self, site: SiteT) -> Iterator[Match]:
        """Yield each place of the graph where the problem is."""
