"""What a lint rule is: one file, one problem, with its evidence and its cases.

The class docstring has fixed headings (`HEADINGS`); VALID and INVALID hold graphs as ONNX text. Tests and the pages in
``docs/lint`` are generated from them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Generic

from paddable.findings import Severity
from paddable.linter.evidence import Evidence
from paddable.linter.site import PlacementT, Site
from paddable.linter.view.graph import NodeView

__all__ = ["HEADINGS", "Match", "Rule"]

HEADINGS = ("What it does", "Why is this bad", "Example", "Use instead", "Fix safety")


@dataclass(slots=True)
class Match:
    """One place where a rule applies.

    Attributes:
        what: what is wrong here, one sentence without a full stop.
        remedy: what to do.
        node: the node concerned; None for a graph input or output, or the graph as a whole.
        also: more nodes that the same match speaks of.
        value: name of the value concerned, where no node is.
        axis: the axis concerned, if one is.
        severity: overrides the rule's own.
        code: overrides the rule's own; one of its `also_codes`.
        fixable: whether the rule's fix applies to this place.
    """

    what: str
    remedy: str
    node: NodeView | None = None
    also: tuple[NodeView, ...] = ()
    value: str = ""
    severity: Severity | None = None
    axis: int | None = None
    code: str = ""
    fixable: bool = True


class Rule(ABC, Generic[PlacementT]):
    """A rule about a graph: for any provider, for providers of which some fact holds, or for one. Rules hold no state.

    A rule about any graph is a ``Rule[Any]``; one of a provider whose placement is modelled names the placement that
    it reads, such as ``Rule[Placement]`` of DirectML.

    Attributes:
        code: stable code, never reused.
        also_codes: more codes that the rule's matches may carry, each with a meaning of its own.
        name: names the problem, in kebab case; the documentation page and the file are called so.
        severity: a rule without evidence stays a note.
        evidence: how the problem is known.
        reads_weights: the rule reads every weight, so it runs only when asked.
        VALID: graphs as ONNX text in which the rule finds nothing.
        INVALID: graphs as ONNX text in which it finds something.
    """

    code: ClassVar[str]
    also_codes: ClassVar[tuple[str, ...]] = ()
    name: ClassVar[str]
    severity: ClassVar[Severity]
    evidence: ClassVar[tuple[Evidence, ...]]
    reads_weights: ClassVar[bool] = False
    VALID: ClassVar[tuple[str, ...]]
    INVALID: ClassVar[tuple[str, ...]]

    @abstractmethod
    def check(self, site: Site[PlacementT]) -> Iterator[Match]:
        """Yield each place of one graph where the problem is.

        Asked once for each graph of the model: the main graph first, then the bodies of If, Loop and Scan. A rule
        about the model as a whole speaks at the main graph (``site.is_main``).
        """
