"""Lint: hazards of a graph as it is written, for any runtime or for one execution provider, and what mends them.

A rule is one file: docstring, code, evidence, cases and check. Users add theirs with `register`, or through the entry
point group ``paddable.rules``.
"""

from paddable.linter.evidence import Evidence, Fact, measured, reported
from paddable.linter.provider_facts import ProviderFacts
from paddable.linter.registry import register, rules
from paddable.linter.rule import Match, Rule
from paddable.linter.run import lint_model
from paddable.linter.site import Placement, Site
from paddable.linter.subject import Kind, LengthAxis, RaggedInput, Runner, Subject

__all__ = [
    "Evidence",
    "Fact",
    "ProviderFacts",
    "Kind",
    "LengthAxis",
    "Match",
    "Placement",
    "RaggedInput",
    "Rule",
    "Runner",
    "Site",
    "Subject",
    "lint_model",
    "measured",
    "register",
    "reported",
    "rules",
]
