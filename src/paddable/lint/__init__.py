"""Lint: hazards of a graph as it is written, for any runtime or for one execution provider, and what mends them.

A rule is one file: docstring, code, evidence, cases and check. Users add theirs with `register`, or through the entry
point group ``paddable.lint``.
"""

from paddable.lint.evidence import Evidence, Fact, measured, reported
from paddable.lint.facts import Facts
from paddable.lint.linter import lint_model
from paddable.lint.registry import register, rules
from paddable.lint.rule import Match, Rule
from paddable.lint.site import Placement, Site
from paddable.lint.subject import Kind, LengthAxis, RaggedInput, Runner, Subject

__all__ = [
    "Evidence",
    "Fact",
    "Facts",
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
