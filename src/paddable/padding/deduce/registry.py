"""The table of rules: one function per operator type, which a user can extend."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from paddable.graph.io.structure import EXTENSIONS
from paddable.padding.deduce.context import RuleContext
from paddable.padding.facts.facts import Facts

__all__ = ["Rule", "find_rule", "known_operators", "rule"]

Rule = Callable[[RuleContext], Sequence[Facts | None]]

_RULES: dict[tuple[str, str], Rule] = {}


def rule(*op_types: str, domain: str = "") -> Callable[[Rule], Rule]:
    """Register a rule for operator types.

    The rule receives a :class:`RuleContext` and returns the facts of each output, or calls ``context.refuse``. A later
    registration of the same type replaces the earlier one.

    Example::

        @rule("MyShuffle", domain="my.domain")
        def my_shuffle(context):
            context.refuse("MyShuffle mixes steps", "export the model without it")

    ``docs/guides/add_a_rule.md`` makes one that passes.
    """

    def register(function: Rule) -> Rule:
        for op_type in op_types:
            _RULES[domain, op_type] = function
            EXTENSIONS.add((domain, op_type))
        return function

    return register


def find_rule(domain: str, op_type: str) -> Rule | None:
    """The rule of an operator, None when nobody wrote one."""
    return _RULES.get(("" if domain == "ai.onnx" else domain, op_type))


def known_operators() -> list[tuple[str, str]]:
    """Every (domain, operator) with a rule, sorted."""
    return sorted(_RULES)
