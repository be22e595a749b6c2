"""The table of rules: one function per operator type, which a user can extend."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from paddable.graph.facts.value import Value
from paddable.graph.rules.operation import Operation

__all__ = ["Rule", "find_rule", "known_operators", "rule"]

Rule = Callable[[Operation], Sequence[Value | None]]

_RULES: dict[tuple[str, str], Rule] = {}


def rule(*op_types: str, domain: str = "") -> Callable[[Rule], Rule]:
    """Register a rule for operator types.

    The rule receives an :class:`Operation` and returns the facts of each output, or calls ``operation.refuse``. A later
    registration of the same type replaces the earlier one.

    Example::

        @rule("MyActivation", domain="my.domain")
        def my_activation(operation):
            return [framewise(operation, zero_at_zero=True)]
    """

    def register(function: Rule) -> Rule:
        for op_type in op_types:
            _RULES[domain, op_type] = function
        return function

    return register


def find_rule(domain: str, op_type: str) -> Rule | None:
    """The rule of an operator, None when nobody wrote one."""
    return _RULES.get(("" if domain == "ai.onnx" else domain, op_type))


def known_operators() -> list[tuple[str, str]]:
    """Every (domain, operator) with a rule, sorted."""
    return sorted(_RULES)
