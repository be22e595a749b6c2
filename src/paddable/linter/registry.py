"""The rules that lint asks: our own, those of installed packages, those that a program registers.

A package names its rules as entry points: of the group ``paddable.rules`` for rules about any graph, of the group
``paddable.rules.NAME`` for rules of the provider NAME.
"""

from __future__ import annotations

from typing import Any, TypeVar

from paddable.errors import MisuseError
from paddable.linter.rule import Rule
from paddable.linter.rules import BUILT_IN
from paddable.plugins import plugins

__all__ = ["ENTRY_POINTS", "codes_of", "refuse_shared_codes", "register", "rules"]

ENTRY_POINTS = "paddable.rules"
"""Entry point group; each entry names a `Rule` class."""

RuleT = TypeVar("RuleT", bound=type[Rule[Any]])

_registered: dict[str, list[type[Rule[Any]]]] = {}
"""Rules from outside, by provider; those about any graph under the empty name."""


def register(rule: RuleT, *, provider: str = "") -> RuleT:
    """Add a rule; usable as a class decorator.

    Args:
        rule: the rule.
        provider: name of the provider that it speaks of; empty: it is asked of any graph.

    Raises:
        MisuseError: another rule has the code. Codes are for ever: results are compared by them.
    """
    known = [other for others in _registered.values() for other in others]
    refuse_shared_codes([*BUILT_IN, *known, rule])
    listed = _registered.setdefault(provider, [])
    if rule not in listed:
        listed.append(rule)
    return rule


def rules(provider: str = "") -> list[type[Rule[Any]]]:
    """Every rule about any graph, by code; or those that others added for a provider."""
    for rule in plugins(f"{ENTRY_POINTS}.{provider}" if provider else ENTRY_POINTS):
        register(rule, provider=provider)
    built_in = () if provider else BUILT_IN
    return sorted([*built_in, *_registered.get(provider, ())], key=lambda rule: rule.code)


def codes_of(rule: type[Rule[Any]]) -> tuple[str, ...]:
    """Every code that the rule's findings may carry."""
    return (rule.code, *rule.also_codes)


def refuse_shared_codes(asked: list[type[Rule[Any]]]) -> None:
    """Demand that no two rules share a code.

    Raises:
        MisuseError: two do.
    """
    owners: dict[str, type[Rule[Any]]] = {}
    for rule in asked:
        for code in codes_of(rule):
            owner = owners.setdefault(code, rule)
            if owner is not rule:
                raise MisuseError(
                    f"code {code} belongs to {owner.name!r} already", where=rule.name, fix="take a free code"
                )
