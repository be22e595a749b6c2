"""Lint of a graph that no target is named for: a lost length input, shapes that only a run can tell, frozen lengths.

A rule is one file in `rules`: docstring, code, evidence, cases and check. Users add theirs with `register`, or
through the entry point group ``paddable.lint``.
"""

from paddable.lint.linter import lint_file, lint_model
from paddable.lint.registry import register, rules
from paddable.lint.rule import BaseRule, Evidence, Match, Rule, measured, reported
from paddable.lint.subject import Kind, LengthAxis, RaggedInput, Runner, Subject

__all__ = [
    "BaseRule",
    "Evidence",
    "Kind",
    "LengthAxis",
    "Match",
    "RaggedInput",
    "Rule",
    "Runner",
    "Subject",
    "lint_file",
    "lint_model",
    "measured",
    "register",
    "reported",
    "rules",
]
