"""What an execution provider is to the compiler: one record, made in ``providers/<name>/provider.py``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import onnx_ir as ir

from paddable.linter.fix import GraphFix
from paddable.linter.provider_facts import ProviderFacts
from paddable.linter.rule import Rule
from paddable.linter.site import Placement, Site, sites_of
from paddable.linter.subject import Subject
from paddable.linter.view.graph import GraphView
from paddable.linter.view.light import confirmed_view
from paddable.providers.session_advice import SessionAdvice

__all__ = ["Provider"]


@dataclass(frozen=True)
class Provider:
    """One execution provider.

    Attributes:
        facts: what is known of it, each fact with its source. Our own name for it is the facts' name.
        advice: how to open a session there.
        rules: its own rules; those that test facts are asked besides.
        fixes: its fixes, in the order in which they are applied.
        forms: names of the forms that it runs faster than what exporters write; see ``paddable.forms``.
        forms_in_fp32: those that are tried before them where activations are in fp32.
        place: predicts where the nodes of a graph run; None where that is not modelled.
    """

    facts: ProviderFacts
    advice: SessionAdvice
    rules: tuple[type[Rule[Any]], ...] = ()
    fixes: tuple[type[GraphFix[Any]], ...] = ()
    forms: tuple[str, ...] = ()
    forms_in_fp32: tuple[str, ...] = ()
    place: Callable[[GraphView], Placement] | None = None

    @property
    def name(self) -> str:
        """Our name for it, which is also the name of its session advice."""
        return self.facts.name

    def forms_for(self, *, half: bool) -> tuple[str, ...]:
        """Names of the forms that a graph gets, whose activations are in half or in fp32."""
        return self.forms if half else (*self.forms_in_fp32, *self.forms)

    def sites(self, view: GraphView) -> list[Site[Any]]:
        """What its rules look at: each graph of a model, the main graph first."""
        subject = Subject(None, view)
        if self.place is None:
            return list(sites_of(subject, self.facts))
        return [Site(part.view, subject, self.facts, part) for part in self.place(view).walk()]

    def look(self, model: ir.Model) -> list[Site[Any]]:
        """What its fixes look at: sizes that only the file's own annotations state are not believed."""
        return self.sites(confirmed_view(model))

    def to_json(self) -> dict[str, Any]:
        """The facts and the session advice, for ``--json``."""
        return {
            "name": self.name,
            "shapes": self.facts.shapes,
            "highest_opset": self.facts.highest_opset,
            "unsupported": {op: str(fact) for op, fact in self.facts.unsupported.items()},
            "facts": self.facts.listed(),
            "forms": list(self.forms),
            "forms_in_fp32": list(self.forms_in_fp32),
            "session": self.advice.to_json(),
        }
